#include "tilewright/interp/Interpreter.h"

#include "Machine.h"

#include <fmt/format.h>

namespace tilewright {

Expected<void> interpret(const Program &program, const Config &config, std::array<int64_t, 3> grid,
                         std::span<const RuntimeArgument> arguments, const InterpreterLimits &limits) {
  for (int64_t dim : grid)
    if (dim < 0)
      return fail(ErrorKind::User, "grid.empty",
                  fmt::format("the grid ({}, {}, {}) has a negative axis", grid[0], grid[1], grid[2]));
  TW_TRY(SymValues symbols, program.bind(config));
  interp::Machine machine(program, std::move(symbols), grid, limits);
  TW_CHECK(machine.prepare(arguments));
  for (int64_t z = 0; z < grid[2]; ++z)
    for (int64_t y = 0; y < grid[1]; ++y)
      for (int64_t x = 0; x < grid[0]; ++x)
        TW_CHECK(machine.runProgram({x, y, z}));
  return {};
}

} // namespace tilewright

#pragma once
#include "tilewright/program/Grid.h"
#include "tilewright/program/Program.h"

#include <array>
#include <cstddef>
#include <span>

namespace tilewright {

/// The value of one runtime argument: memory for pointers, a number for scalars.
struct RuntimeArgument {
  std::string name;
  /// Pointer arguments: the memory from the pointer on. An access outside of `memory` is an error
  /// (run.out-of-bounds). Null pointers have empty memory.
  std::span<std::byte> memory;
  int64_t integer = 0; ///< integer scalars
  double number = 0;   ///< float scalars
};

struct InterpreterLimits {
  uint64_t maxOps = UINT64_MAX;       ///< executed ops over all programs, before run.timeout
  uint64_t maxTileBytes = 1ull << 30; ///< bytes of one tile (8 a lane), before run.memory
  /// Compares every integer scalar with its `Value::sym` and fails (internal) where they differ: a test of
  /// lowering.
  bool checkSymbols = false;
};

/// Executes a Program for a configuration over the whole grid, one program after the other (axis 0 fastest),
/// slowly and exactly as Triton means it: the oracle. Pointers are checked on each access; lanes masked off
/// are not accessed. Float arithmetic is done in the op's dtype (f16/bf16 by rounding each f32 result); `dot`
/// accumulates in the accumulator's dtype in order of k; reductions combine in order of lanes (pairwise order
/// is not promised by Triton). On error, buffers keep whatever was written so far.
///
/// Where Triton leaves the result to the hardware, this is what the oracle does: x / 0 is 0 and x % 0 is x
/// for integers; a shift by the width or more leaves 0, or the sign; a masked-off lane without `other` loads
/// 0; float to integer saturates and NaN becomes 0; conversions to 8-bit floats saturate; a value stored by
/// two lanes is the later lane's; atomics of masked-off lanes return 0; `assume` and `device_print` do
/// nothing. Path conditions and static requirements of the Program are checked first (path.condition, or the
/// requirement's own code).
Expected<void> interpret(const Program &program, const Config &config, std::array<int64_t, 3> grid,
                         std::span<const RuntimeArgument> arguments, const InterpreterLimits &limits = {});

} // namespace tilewright

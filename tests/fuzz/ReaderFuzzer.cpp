// libFuzzer target: any text is a Program or gets a message, and a Program that passes the verifier prints,
// reads back and runs within its limits. Run by scripts/fuzz.sh (`make fuzz`).
#include "Require.h"
#include "tilewright/interp/Interpreter.h"
#include "tilewright/program/Text.h"

#include <array>

using namespace tilewright;
using fuzz::require;

namespace {

/// Runs it on a little memory: every access is checked, so the result is an answer or a message.
void execute(const Program &program) {
  std::array<std::byte, 4096> memory{};
  std::vector<RuntimeArgument> arguments;
  Config config;
  for (const Parameter &parameter : program.parameters) {
    if (parameter.kind == Parameter::Kind::Open)
      config.set(parameter.name, parameter.witness);
    else if (parameter.kind == Parameter::Kind::Pointer)
      arguments.push_back({parameter.name, memory, 0, 0});
    else
      arguments.push_back({parameter.name, {}, 7, 1.5});
  }
  InterpreterLimits limits;
  limits.maxOps = 1'000;
  limits.maxTileBytes = 1 << 16;
  const auto done = interpret(program, config, {1, 1, 1}, arguments, limits);
  require(done || !render(done.error()).empty(), "an error can be shown");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const auto program = readProgram(fuzz::fileOf(bytes, size, "fuzz.tw"));
  if (!program) {
    require(!render(program.error()).empty(), "an error can be shown");
    return 0;
  }
  if (const auto verified = verify(*program); !verified) {
    require(!render(verified.error()).empty(), "an error can be shown");
    return 0;
  }
  const std::string text = print(*program);
  const auto again = readProgram(std::make_shared<const SourceFile>("printed.tw", text));
  if (!again)
    std::fprintf(stderr, "%s\n%s", render(again.error()).c_str(), text.c_str());
  require(again.has_value(), "a printed program can be read");
  require(print(*again) == text, "what is read prints as it was");
  execute(*program);
  return 0;
}

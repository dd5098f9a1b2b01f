// libFuzzer target: whatever parses is lowered, or refused with a message that can be shown; a Program that
// comes out passes the verifier and survives its text form. Run by scripts/fuzz.sh (`make fuzz`).
#include "Require.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/program/Text.h"

using namespace tilewright;
using fuzz::require;

namespace {

/// Small bounds: an input that only unrolls for long tells nothing.
LoweringOptions boundedOptions() {
  LoweringOptions options;
  options.maxUnrolledIterations = 64;
  options.maxInlineDepth = 16;
  options.maxOps = 5'000;
  return options;
}

void checkProgram(const Program &program) {
  const auto verified = verify(program);
  if (!verified)
    std::fprintf(stderr, "%s", render(verified.error()).c_str());
  require(verified.has_value(), "a lowered program passes the verifier");
  const std::string text = print(program);
  const auto again = readProgram(std::make_shared<const SourceFile>("lowered.tw", text));
  if (!again)
    std::fprintf(stderr, "%s", render(again.error()).c_str());
  require(again.has_value(), "a printed program can be read");
  require(print(*again) == text, "what is read prints as it was");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const auto parsed = lang::parseTolerant(fuzz::fileOf(bytes, size, "fuzz.py"));
  size_t kernels = 0;
  for (const KernelDeclaration &kernel : kernelsOf(parsed.module)) {
    if (++kernels > 4)
      break;
    const auto program = lower(parsed.module, kernel.name, {}, boundedOptions());
    if (program)
      checkProgram(*program);
    else {
      require(program.error().kind != ErrorKind::Internal,
              "the source's fault is not called an internal error");
      require(!render(program.error()).empty(), "an error can be shown");
    }
  }
  return 0;
}

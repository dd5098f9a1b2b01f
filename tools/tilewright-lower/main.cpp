// Prints the Program of a kernel, for tests that compare it with Triton's own IR:
//
//     tilewright-lower FILE KERNEL [NAME=VALUE ...]     arguments as in `tilewright analyze -a`
//     tilewright-lower FILE KERNEL ... -w NAME=VALUE    a witness for an open parameter
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/program/Text.h"
#include "tilewright/support/Files.h"

#include <cstdio>
#include <cstring>

using namespace tilewright;

namespace {

Expected<std::string> programText(int argc, char **argv) {
  TW_TRY(SourceFilePtr source, readSourceFile(argv[1]));
  TW_TRY(lang::Module module, lang::parse(source));
  LaunchArguments arguments;
  LoweringOptions options;
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "-w") == 0 && i + 1 < argc) {
      TW_TRY(const Config witness, Config::parse(argv[++i]));
      for (const auto &[name, value] : witness.values())
        options.witness.set(name, value);
      continue;
    }
    TW_TRY(Argument argument, parseArgument(argv[i]));
    arguments.set(argument.name, argument.value);
  }
  TW_TRY(const Program program, lower(module, argv[2], arguments, options));
  TW_CHECK(verify(program));
  return print(program);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: tilewright-lower FILE KERNEL [NAME=VALUE ...] [-w NAME=VALUE ...]\n");
    return 2;
  }
  const auto text = programText(argc, argv);
  if (!text) {
    std::fprintf(stderr, "%s", render(text.error()).c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

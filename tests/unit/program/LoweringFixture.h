#pragma once
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/program/Text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace tilewright::test {

/// Source text of a kernel behind the two usual imports, lowered for arguments in the command line's
/// spelling.
struct Lowered {
  Expected<Program> program;
  lang::Module module;
};

inline Lowered lowerSource(const std::string &body, const std::vector<std::string> &arguments = {},
                           const std::string &witness = {}, const std::string &kernel = "k") {
  const auto source =
      std::make_shared<SourceFile>("k.py", "import triton\nimport triton.language as tl\n" + body);
  auto module = lang::parse(source);
  if (!module)
    return {Unexpected(module.error()), {}};
  LaunchArguments launch;
  for (const std::string &text : arguments) {
    auto argument = parseArgument(text);
    if (!argument)
      return {Unexpected(argument.error()), *std::move(module)};
    launch.set(argument->name, argument->value);
  }
  LoweringOptions options;
  if (!witness.empty())
    options.witness = *Config::parse(witness);
  auto program = lower(*module, kernel, launch, options);
  return {std::move(program), *std::move(module)};
}

/// The Program's text without line numbers, after verification; "" and a failed test when lowering fails.
inline std::string textOf(const Lowered &lowered) {
  if (!lowered.program) {
    ADD_FAILURE() << render(lowered.program.error());
    return {};
  }
  const auto verified = verify(*lowered.program);
  EXPECT_TRUE(verified) << (verified ? "" : render(verified.error())) << print(*lowered.program);
  const std::string text = print(*lowered.program);
  return std::regex_replace(text.substr(text.find('\n') + 1), std::regex(" @[0-9]+\n"), "\n");
}

inline std::string lowerText(const std::string &body, const std::vector<std::string> &arguments = {},
                             const std::string &witness = {}) {
  return textOf(lowerSource(body, arguments, witness));
}

/// The rendered error of a kernel that must not lower.
inline std::string errorOf(const std::string &body, const std::vector<std::string> &arguments = {},
                           const std::string &witness = {}) {
  const Lowered lowered = lowerSource(body, arguments, witness);
  if (lowered.program) {
    ADD_FAILURE() << "lowers to\n" << print(*lowered.program);
    return {};
  }
  return render(lowered.program.error());
}

} // namespace tilewright::test

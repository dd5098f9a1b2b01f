#pragma once
#include "tilewright/lang/Dump.h"
#include "tilewright/lang/Parser.h"

#include <gtest/gtest.h>

namespace tilewright::lang {

inline SourceFilePtr sourceOf(std::string text) {
  return std::make_shared<const SourceFile>("kernel.py", std::move(text));
}

/// The module, or a test failure with the diagnostics.
inline Module parsed(std::string text) {
  auto module = parse(sourceOf(std::move(text)));
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return Module{sourceOf(""), std::make_unique<AstArena>(), {}};
  }
  return *std::move(module);
}

/// The dump of the only statement.
inline std::string dumpOf(std::string text) {
  const Module module = parsed(std::move(text));
  if (module.body.size() != 1)
    return "not one statement";
  return dump(*module.body[0]);
}

/// "line:column: message", columns from 1 as an editor shows them; "ok" when the text is valid.
inline std::string errorOf(std::string text) {
  const auto module = parse(sourceOf(std::move(text)));
  if (module)
    return "ok";
  const Diagnostic &diagnostic = module.error().diagnostics.at(0);
  return std::to_string(diagnostic.location->line) + ":" + std::to_string(diagnostic.location->column + 1) +
         ": " + diagnostic.message;
}
inline std::string codeOf(std::string text) {
  const auto module = parse(sourceOf(std::move(text)));
  return module ? "ok" : module.error().code;
}

} // namespace tilewright::lang

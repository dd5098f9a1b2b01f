// libFuzzer target: any bytes give a tree or a located message, and what holds for every tree holds.
// Run by scripts/fuzz.sh (`make fuzz`).
#include "Require.h"
#include "tilewright/lang/Dump.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/lang/PrintSource.h"

using namespace tilewright;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const SourceFilePtr source = fuzz::fileOf(bytes, size, "fuzz.py");
  const auto strict = lang::parse(source);
  const auto tolerant = lang::parseTolerant(source);
  require(strict.has_value() == tolerant.diagnostics.empty(), "both parses agree whether the file is valid");
  require(!lang::dump(tolerant.module, true).empty(), "a tree can be shown");
  if (strict) {
    require(lang::dump(*strict, true) == lang::dump(tolerant.module, true), "both parses give the same tree");
    for (const lang::Stmt *statement : strict->body)
      if (const auto *expression = lang::dynCast<lang::ExprStmt>(statement))
        require(!lang::printSource(*expression->value).empty(), "an expression can be printed");
  } else {
    require(!render(strict.error()).empty(), "an error can be shown");
  }
  if (const auto expression = lang::parseExpression(source))
    require(!lang::dump(*expression, true).empty(), "a tree can be shown");
  return 0;
}

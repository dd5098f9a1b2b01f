// libFuzzer target: any bytes give a tree or a located message, and what holds for every tree holds.
//
//   cmake -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DTILEWRIGHT_BUILD_FUZZERS=ON
//   -DTILEWRIGHT_SANITIZE=address,undefined cmake --build build/fuzz --target parser_fuzzer &&
//   build/fuzz/bin/parser_fuzzer -max_len=4096 examples/
#include "tilewright/lang/Dump.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/lang/PrintSource.h"

#include <cstdlib>

using namespace tilewright;

namespace {

void require(bool holds) {
  if (!holds)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const auto source =
      std::make_shared<const SourceFile>("fuzz.py", std::string(reinterpret_cast<const char *>(bytes), size));
  const auto strict = lang::parse(source);
  const auto tolerant = lang::parseTolerant(source);
  require(strict.has_value() == tolerant.diagnostics.empty());
  require(!lang::dump(tolerant.module, true).empty());
  if (strict) {
    require(lang::dump(*strict, true) == lang::dump(tolerant.module, true));
    for (const lang::Stmt *statement : strict->body)
      if (const auto *expression = lang::dynCast<lang::ExprStmt>(statement))
        require(!lang::printSource(*expression->value).empty());
  } else {
    require(!render(strict.error()).empty());
  }
  if (const auto expression = lang::parseExpression(source))
    require(!lang::dump(*expression, true).empty());
  return 0;
}

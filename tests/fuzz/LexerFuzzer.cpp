// libFuzzer target: the tokens of any text are in order, inside the text, balanced, and end the file.
// Run by scripts/fuzz.sh (`make fuzz`).
#include "Require.h"
#include "lang/Lexer.h"
#include "lang/SourceText.h"

using namespace tilewright;
using fuzz::require;

namespace {

void checkTokens(const lang::TokenStream &stream, size_t size) {
  require(!stream.tokens.empty(), "there is a last token");
  require(stream.tokens.back().kind == lang::TokenKind::EndOfFile, "the last token ends the file");
  uint32_t last = 0;
  int64_t depth = 0;
  for (const lang::Token &token : stream.tokens) {
    require(token.begin <= token.end && token.end <= size, "a token lies inside of the text");
    // After a bracket that is never closed the lexer goes back to it.
    require(token.begin >= last || token.kind == lang::TokenKind::Error, "tokens are in order");
    last = token.begin;
    depth += token.kind == lang::TokenKind::Indent;
    depth -= token.kind == lang::TokenKind::Dedent;
    require(depth >= 0, "no block ends that has not begun");
  }
  require(depth == 0, "every block ends");
  for (const lang::LexError &error : stream.errors) {
    require(error.token < stream.tokens.size(), "an error has its token");
    require(stream.tokens[error.token].kind == lang::TokenKind::Error, "the token of an error is one");
    require(!render(error.diagnostic).empty(), "an error can be shown");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  const SourceFilePtr raw = fuzz::fileOf(bytes, size, "fuzz.py");
  auto decoded = lang::decodeSource(raw);
  if (!decoded) {
    require(!render(decoded.error()).empty(), "an error can be shown");
    return 0;
  }
  const SourceFilePtr &source = *decoded;
  checkTokens(lang::tokenize(*source), source->text().size());
  checkTokens(lang::tokenizeExpression(*source), source->text().size());
  return 0;
}

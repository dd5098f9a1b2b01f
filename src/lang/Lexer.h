#pragma once
#include "Token.h"
#include "tilewright/support/Diagnostic.h"

#include <string>
#include <vector>

namespace tilewright::lang {

/// CPython's own bounds (Parser/tokenizer.h).
inline constexpr size_t kMaxBrackets = 200;
inline constexpr size_t kMaxIndents = 100;

/// Why the lexer put an Error token.
struct LexError {
  uint32_t token = 0; ///< index of the Error token
  Diagnostic diagnostic;
  /// For a bracket that is never closed: its offset. A parser that fails behind it should blame the bracket.
  bool unclosedBracket = false;
  uint32_t opener = 0;
};

/// All tokens of a file at once: 12 bytes each, so that a parser may look ahead and come back freely.
///
///     if x:        If Name Colon Newline
///       f"{y!r}"   Indent FStringStart LeftBrace Name Exclamation Name RightBrace FStringEnd Newline Dedent
///
/// The tokens end with EndOfFile. An error does not end them: the lexer continues at the next line that
/// starts a top-level statement, with all blocks and brackets closed.
struct TokenStream {
  std::vector<Token> tokens;
  std::vector<LexError> errors;
};

/// The text must have passed `decodeSource`: UTF-8, no NUL, no byte order mark.
TokenStream tokenize(const SourceFile &source);
/// The same for a text that is one expression: line breaks and indentation mean nothing.
TokenStream tokenizeExpression(const SourceFile &source);

} // namespace tilewright::lang

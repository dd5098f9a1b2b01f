#pragma once
#include <cstdint>
#include <string_view>

namespace tilewright::lang {

enum class TokenKind : uint8_t {
#define TOKEN(name, text) name,
#include "Tokens.def"
};

/// A byte range of the source with a kind. Newline, Indent, Dedent and EndOfFile are empty or hold only
/// blanks; an Error token marks where the lexer gave up on a top-level statement (`Lexer::errors` says why).
struct Token {
  uint32_t begin = 0;
  uint32_t end = 0;
  TokenKind kind = TokenKind::EndOfFile;
};

/// As a message names it: "')'", "'if'", "end of line".
std::string_view tokenText(TokenKind kind);
bool isKeyword(TokenKind kind);
/// True for keywords and punctuation, which a message quotes.
bool hasFixedSpelling(TokenKind kind);
/// The keyword that is spelled so, or Name.
TokenKind keywordKind(std::string_view word);

} // namespace tilewright::lang

#include "Token.h"

#include <array>

namespace tilewright::lang {

namespace {

constexpr std::string_view kTexts[] = {
#define TOKEN(name, text) text,
#include "Tokens.def"
};

constexpr size_t kLongestKeyword = 8;
constexpr size_t kBuckets = 64;

constexpr size_t bucketOf(std::string_view word) {
  return (static_cast<unsigned char>(word[0]) * 7u + static_cast<unsigned char>(word[1]) * 3u + word.size()) %
         kBuckets;
}

struct Entry {
  TokenKind kind = TokenKind::Name;
  std::string_view text;
};

/// Open addressing; built at compile time.
constexpr auto kKeywords = [] {
  std::array<Entry, kBuckets + 8> table{};
  const auto add = [&](TokenKind kind, std::string_view text) {
    size_t slot = bucketOf(text);
    while (!table[slot].text.empty())
      ++slot;
    table[slot] = {kind, text};
  };
#define TOKEN(name, text)
#define KEYWORD(name, text) add(TokenKind::name, text);
#define OPERATOR(name, text)
#include "Tokens.def"
  return table;
}();

} // namespace

std::string_view tokenText(TokenKind kind) { return kTexts[static_cast<size_t>(kind)]; }

bool isKeyword(TokenKind kind) { return kind >= TokenKind::False && kind <= TokenKind::Yield; }

bool hasFixedSpelling(TokenKind kind) { return kind >= TokenKind::False; }

TokenKind keywordKind(std::string_view word) {
  if (word.size() < 2 || word.size() > kLongestKeyword)
    return TokenKind::Name;
  for (size_t slot = bucketOf(word); slot < kKeywords.size() && !kKeywords[slot].text.empty(); ++slot)
    if (kKeywords[slot].text == word)
      return kKeywords[slot].kind;
  return TokenKind::Name;
}

} // namespace tilewright::lang

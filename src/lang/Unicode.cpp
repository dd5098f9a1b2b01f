#include "Unicode.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tilewright::lang {

namespace {

struct CodePointRange {
  uint32_t first;
  uint32_t last;
};
struct Normalization {
  uint32_t codePoint;
  const char *utf8;
};
#include "UnicodeTables.inc"

bool contains(std::span<const CodePointRange> ranges, uint32_t codePoint) {
  const auto next =
      std::upper_bound(ranges.begin(), ranges.end(), codePoint,
                       [](uint32_t value, const CodePointRange &range) { return value < range.first; });
  return next != ranges.begin() && codePoint <= std::prev(next)->last;
}

bool isAsciiLetter(uint32_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

} // namespace

CodePoint decodeUtf8(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) -> uint32_t {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const uint32_t first = byte(0);
  if (first < 0x80)
    return {first, offset < text.size() ? 1u : 0u};
  if (first >= 0xc2 && first < 0xe0 && follows(1))
    return {(first & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  if (first >= 0xe0 && first < 0xf0 && follows(1) && follows(2)) {
    const uint32_t value = (first & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    if (value >= 0x800)
      return {value, 3};
  }
  if (first >= 0xf0 && first < 0xf5 && follows(1) && follows(2) && follows(3)) {
    const uint32_t value =
        (first & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
    if (value >= 0x10000 && value < 0x110000)
      return {value, 4};
  }
  return {0xfffd, 0};
}

void appendUtf8(std::string &out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

size_t findInvalidUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (i + 8 <= text.size()) {
      uint64_t word;
      std::memcpy(&word, text.data() + i, 8);
      if ((word & 0x8080808080808080ull) == 0) {
        i += 8;
        continue;
      }
    }
    const CodePoint next = decodeUtf8(text, i);
    if (next.length == 0 || (next.value >= 0xd800 && next.value < 0xe000))
      return i;
    i += next.length;
  }
  return std::string_view::npos;
}

bool isIdentifierStart(uint32_t c) {
  return c < 0x80 ? isAsciiLetter(c) || c == '_' : contains(kIdentifierStart, c);
}

bool isIdentifierContinue(uint32_t c) {
  return c < 0x80 ? isAsciiLetter(c) || c == '_' || (c >= '0' && c <= '9') : contains(kIdentifierContinue, c);
}

bool isPrintable(uint32_t c) { return c < 0x80 ? c >= 0x20 && c != 0x7f : contains(kPrintable, c); }

std::string normalizeIdentifier(std::string_view identifier) {
  std::string normal;
  for (size_t i = 0; i < identifier.size();) {
    const CodePoint next = decodeUtf8(identifier, i);
    const auto found =
        std::lower_bound(std::begin(kNormalizations), std::end(kNormalizations), next.value,
                         [](const Normalization &entry, uint32_t value) { return entry.codePoint < value; });
    if (found != std::end(kNormalizations) && found->codePoint == next.value)
      normal += found->utf8;
    else
      normal += identifier.substr(i, next.length);
    i += std::max(next.length, 1u);
  }
  return normal;
}

} // namespace tilewright::lang

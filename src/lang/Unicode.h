#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::lang {

/// A code point and the bytes it took; `length` 0 marks text that is not UTF-8. Lone surrogates decode,
/// because string values may hold them.
struct CodePoint {
  uint32_t value = 0;
  uint32_t length = 0;
};
CodePoint decodeUtf8(std::string_view text, size_t offset);
void appendUtf8(std::string &out, uint32_t codePoint);

/// Offset of the first byte that is not part of well-formed UTF-8 (surrogates are not), or npos.
size_t findInvalidUtf8(std::string_view text);

/// May a Python identifier start / continue with it (XID_Start plus '_' / XID_Continue)?
bool isIdentifierStart(uint32_t codePoint);
bool isIdentifierContinue(uint32_t codePoint);
/// Does `repr` print it as itself?
bool isPrintable(uint32_t codePoint);

/// An identifier as Python compares it: NFKC, character by character. Limitation: a letter followed by
/// combining marks is not composed (`e` + U+0301 stays two characters).
std::string normalizeIdentifier(std::string_view identifier);

} // namespace tilewright::lang

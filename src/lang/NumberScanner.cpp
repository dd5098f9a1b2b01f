#include "NumberScanner.h"

#include <fmt/format.h>

namespace tilewright::lang {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) {
  return isDigit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

class NumberScanner {
public:
  NumberScanner(std::string_view text, uint32_t begin) : text_(text), begin_(begin), pos_(begin) {}

  ScannedNumber scan() {
    const char second = static_cast<char>(peek(1) | 0x20);
    if (peek() == '0' && second == 'x')
      return scanBased("0123456789abcdefABCDEF", "hexadecimal");
    if (peek() == '0' && second == 'o')
      return scanBased("01234567", "octal");
    if (peek() == '0' && second == 'b')
      return scanBased("01", "binary");
    return scanDecimal();
  }

private:
  std::string_view text_;
  uint32_t begin_;
  uint32_t pos_;

  char peek(uint32_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }

  static ScannedNumber invalid(std::string message, uint32_t begin, uint32_t end, std::string help = {}) {
    return {end, std::move(message), begin, end, std::move(help)};
  }
  ScannedNumber invalidLiteral(std::string_view what) const {
    return invalid(fmt::format("invalid {} literal", what), begin_, pos_ + 1);
  }

  ScannedNumber scanBased(std::string_view digits, std::string_view what) {
    pos_ += 2;
    bool digitNeeded = true;
    if (peek() == '_')
      ++pos_;
    for (;; ++pos_) {
      const char c = peek();
      if (c != '\0' && digits.find(c) != digits.npos)
        digitNeeded = false;
      else if (c == '_' && !digitNeeded)
        digitNeeded = true;
      else
        break;
    }
    if (isDigit(peek()))
      return invalid(fmt::format("invalid digit '{}' in {} literal", peek(), what), pos_, pos_ + 1);
    return digitNeeded ? invalidLiteral(what) : finish(what);
  }

  /// Digits with single underscores between them; false when a digit is missing.
  bool skipDigits() {
    for (;;) {
      if (!isDigit(peek()))
        return false;
      while (isDigit(peek()))
        ++pos_;
      if (peek() != '_')
        return true;
      ++pos_;
    }
  }

  ScannedNumber scanDecimal() {
    bool integer = peek() != '.';
    if (integer && !skipDigits())
      return invalidLiteral("decimal");
    const uint32_t integerEnd = pos_;
    if (peek() == '.') {
      integer = false;
      ++pos_;
      if (isDigit(peek()) && !skipDigits())
        return invalidLiteral("decimal");
    }
    if ((peek() | 0x20) == 'e') {
      const uint32_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (isDigit(peek(1 + sign))) {
        integer = false;
        pos_ += 1 + sign;
        if (!skipDigits())
          return invalidLiteral("decimal");
      } else if (sign) {
        return invalidLiteral("decimal");
      }
    }
    if ((peek() | 0x20) == 'j') {
      ++pos_;
      return finish("imaginary");
    }
    if (integer && text_[begin_] == '0' &&
        text_.substr(begin_, integerEnd - begin_).find_first_not_of("0_") != text_.npos)
      return invalid("leading zeros in decimal integer literals are not permitted", begin_, integerEnd,
                     "write 0o... for an octal number");
    return finish("decimal");
  }

  /// `1if x else y` is (still) Python, `1abc` is not.
  ScannedNumber finish(std::string_view what) const {
    uint32_t end = pos_;
    while (end < text_.size() && isWord(text_[end]))
      ++end;
    bool allowed = end == pos_;
    for (const std::string_view word : {"and", "else", "for", "if", "in", "is", "not", "or"})
      allowed = allowed || text_.substr(pos_).starts_with(word);
    if (!allowed)
      return invalid(fmt::format("invalid {} literal", what), begin_, end);
    return {.end = pos_};
  }
};

} // namespace

ScannedNumber scanNumber(std::string_view text, uint32_t begin) { return NumberScanner(text, begin).scan(); }

} // namespace tilewright::lang

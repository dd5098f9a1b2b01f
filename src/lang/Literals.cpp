#include "Literals.h"
#include "Unicode.h"
#include "UnicodeNames.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace tilewright::lang {

namespace {

/// CPython's default for sys.set_int_max_str_digits.
constexpr size_t kMaxDecimalDigits = 4300;
/// Hexadecimal literals have no bound in CPython; this one keeps the conversion to decimal digits cheap.
constexpr size_t kMaxBasedDigits = 20000;

int digitValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string withoutUnderscores(std::string_view text) {
  std::string digits;
  digits.reserve(text.size());
  for (const char c : text)
    if (c != '_')
      digits += c;
  return digits;
}

std::string toDecimal(std::string_view digits, uint32_t base) {
  constexpr uint64_t kLimb = 1'000'000'000;
  std::vector<uint32_t> limbs{0}; // least significant first
  for (const char c : digits) {
    uint64_t carry = static_cast<uint64_t>(digitValue(c));
    for (uint32_t &limb : limbs) {
      carry += static_cast<uint64_t>(limb) * base;
      limb = static_cast<uint32_t>(carry % kLimb);
      carry /= kLimb;
    }
    if (carry)
      limbs.push_back(static_cast<uint32_t>(carry));
  }
  std::string text = fmt::format("{}", limbs.back());
  for (size_t i = limbs.size() - 1; i-- > 0;)
    text += fmt::format("{:09}", limbs[i]);
  return text;
}

std::optional<LiteralError> readInteger(std::string_view token, AstArena &arena, Constant::Value &value) {
  uint32_t base = 10;
  if (token.size() > 2 && token[0] == '0' && digitValue(token[1]) != 0 && token[1] != '_') {
    const char letter = static_cast<char>(token[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  }
  std::string digits = withoutUnderscores(base == 10 ? token : token.substr(2));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  int64_t small = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), small, static_cast<int>(base)).ec ==
      std::errc()) {
    value = small;
    return std::nullopt;
  }
  if (digits.size() > (base == 10 ? kMaxDecimalDigits : kMaxBasedDigits))
    return LiteralError{fmt::format("an integer literal of {} digits is too long", digits.size()), 0,
                        token.size()};
  value = BigIntValue{arena.copyText(base == 10 ? digits : toDecimal(digits, base))};
  return std::nullopt;
}

/// Too large for a double, rather than too small? `digits` is a decimal float that from_chars called out of
/// range.
bool overflows(std::string_view digits) {
  const size_t mantissaEnd = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, mantissaEnd);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t leading = mantissa.find_first_not_of("0.");
  int64_t exponent = 0;
  if (mantissaEnd < digits.size()) {
    const char *first = digits.data() + mantissaEnd + 1;
    if (*first == '+')
      ++first;
    const auto read = std::from_chars(first, digits.data() + digits.size(), exponent);
    if (read.ec == std::errc::result_out_of_range)
      return *first != '-';
  }
  return exponent + static_cast<int64_t>(point) - static_cast<int64_t>(leading) > 0;
}

double readFloat(std::string_view token) {
  const std::string digits = withoutUnderscores(token);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc::result_out_of_range)
    return overflows(digits) ? std::numeric_limits<double>::infinity() : 0.0;
  return value;
}

} // namespace

std::optional<LiteralError> readNumber(std::string_view text, AstArena &arena, Constant::Value &value) {
  const bool based =
      text.size() > 1 && text[0] == '0' && ((text[1] | 0x20) == 'x' || (text[1] | 0x20) == 'b');
  if (!based && (text.back() | 0x20) == 'j')
    value = ImaginaryValue{readFloat(text.substr(0, text.size() - 1))};
  else if (!based && text.find_first_of(".eE") != text.npos)
    value = readFloat(text);
  else
    return readInteger(text, arena, value);
  return std::nullopt;
}

StringShape shapeOf(std::string_view token) {
  StringShape shape;
  size_t i = 0;
  for (; token[i] != '"' && token[i] != '\''; ++i) {
    const char letter = static_cast<char>(token[i] | 0x20);
    shape.raw |= letter == 'r';
    shape.bytes |= letter == 'b';
    shape.unicode |= token[i] == 'u'; // CPython's `kind` ignores a capital U
    shape.formatted |= letter == 'f';
    shape.isTemplate |= letter == 't';
  }
  const bool triple = token.size() >= i + 3 && token[i + 1] == token[i] && token[i + 2] == token[i];
  const size_t quotes = triple ? 3 : 1;
  shape.contentBegin = i + quotes;
  shape.contentEnd = token.size() >= shape.contentBegin + quotes ? token.size() - quotes : token.size();
  return shape;
}

namespace {

class TextDecoder {
public:
  TextDecoder(std::string_view text, bool raw, bool bytes, std::string &out)
      : text_(text), raw_(raw), bytes_(bytes), out_(out) {}

  std::optional<LiteralError> decode() {
    while (i_ < text_.size()) {
      const size_t plain = i_;
      while (i_ < text_.size() && text_[i_] != '\\' && text_[i_] != '\r')
        ++i_;
      out_.append(text_.substr(plain, i_ - plain));
      if (i_ == text_.size())
        break;
      if (text_[i_] == '\r') {
        lineBreak();
        out_ += '\n';
      } else if (raw_) {
        out_ += text_[i_++];
      } else if (auto error = escape()) {
        return error;
      }
    }
    return std::nullopt;
  }

private:
  std::string_view text_;
  bool raw_;
  bool bytes_;
  std::string &out_;
  size_t i_ = 0;

  void lineBreak() { i_ += text_.substr(i_).starts_with("\r\n") ? 2 : 1; }

  std::optional<LiteralError> escape() {
    const size_t begin = i_++;
    if (i_ == text_.size()) {
      out_ += '\\';
      return std::nullopt;
    }
    const char c = text_[i_];
    constexpr std::string_view kLetters = "\\'\"abfnrtv";
    constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t letter = kLetters.find(c); letter != kLetters.npos) {
      out_ += kValues[letter];
      ++i_;
    } else if (c == '\n' || c == '\r') {
      lineBreak();
    } else if (c >= '0' && c <= '7') {
      uint32_t value = 0;
      for (int n = 0; n < 3 && i_ < text_.size() && text_[i_] >= '0' && text_[i_] <= '7'; ++n)
        value = value * 8 + static_cast<uint32_t>(text_[i_++] - '0');
      emit(bytes_ ? value & 0xff : value);
    } else if (c == 'x') {
      return hexadecimal(begin, 2);
    } else if (c == 'u' && !bytes_) {
      return hexadecimal(begin, 4);
    } else if (c == 'U' && !bytes_) {
      return hexadecimal(begin, 8);
    } else if (c == 'N' && !bytes_) {
      return named(begin);
    } else {
      out_ += '\\'; // an unknown escape stands for itself
    }
    return std::nullopt;
  }

  void emit(uint32_t value) {
    if (bytes_)
      out_ += static_cast<char>(value);
    else
      appendUtf8(out_, value);
  }

  std::optional<LiteralError> hexadecimal(size_t begin, size_t digits) {
    ++i_;
    uint32_t value = 0;
    for (size_t n = 0; n < digits; ++n, ++i_) {
      const int digit = i_ < text_.size() ? digitValue(text_[i_]) : -1;
      if (digit < 0)
        return LiteralError{fmt::format("'{}' needs {} hexadecimal digits", text_.substr(begin, 2), digits),
                            begin, i_};
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    if (value > 0x10ffff)
      return LiteralError{"the escape is beyond the last character, U+10FFFF", begin, i_};
    emit(value);
    return std::nullopt;
  }

  std::optional<LiteralError> named(size_t begin) {
    const size_t close = text_.find('}', i_);
    if (i_ + 1 >= text_.size() || text_[i_ + 1] != '{' || close == text_.npos || close == i_ + 2)
      return LiteralError{"malformed \\N escape: expected \\N{character name}", begin, i_ + 1};
    const std::string_view name = text_.substr(i_ + 2, close - i_ - 2);
    i_ = close + 1;
    const auto value = characterNamed(name);
    if (!value)
      return LiteralError{fmt::format("no character is named '{}'", name), begin, i_};
    emit(*value);
    return std::nullopt;
  }
};

} // namespace

std::optional<LiteralError> decodeText(std::string_view text, bool raw, bool bytes, std::string &out) {
  if (bytes)
    for (size_t i = 0; i < text.size(); ++i)
      if (static_cast<unsigned char>(text[i]) >= 0x80)
        return LiteralError{"bytes can only contain ASCII characters; write others as \\x..", i,
                            i + std::max<uint32_t>(1, decodeUtf8(text, i).length)};
  return TextDecoder(text, raw, bytes, out).decode();
}

} // namespace tilewright::lang

#include "PythonRepr.h"
#include "Unicode.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace tilewright::lang {

namespace {

/// Single quotes unless only those occur in the text.
char quoteFor(std::string_view text) {
  return text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
}

/// True when `c` was an escape that str and bytes share.
bool appendCommonEscape(std::string &out, char c, char quote) {
  if (c == quote || c == '\\')
    out += {'\\', c};
  else if (c == '\n')
    out += "\\n";
  else if (c == '\r')
    out += "\\r";
  else if (c == '\t')
    out += "\\t";
  else
    return false;
  return true;
}

void appendBytesRepr(std::string &out, std::string_view bytes) {
  const char quote = quoteFor(bytes);
  out += 'b';
  out += quote;
  for (const char c : bytes) {
    if (appendCommonEscape(out, c, quote))
      continue;
    if (c >= 0x20 && c < 0x7f)
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  out += quote;
}

/// The shortest digits that read back as the same double; exponents from 16 and below -4, as
/// `float.__repr__`.
void appendFloatRepr(std::string &out, double value, bool pointZero) {
  if (std::isinf(value)) {
    out += "inf";
    return;
  }
  char buffer[64];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(written.ptr - buffer));
  const size_t e = text.find('e');
  std::string digits(text.substr(0, 1));
  if (e > 2)
    digits += text.substr(2, e - 2);
  int exponent = 0;
  std::from_chars(buffer + e + (text[e + 1] == '+' ? 2 : 1), written.ptr, exponent);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits[0];
    if (count > 1) {
      out += '.';
      out += digits.substr(1);
    }
    out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<size_t>(-exponent - 1), '0');
    out += digits;
  } else if (exponent + 1 >= count) {
    out += digits;
    out.append(static_cast<size_t>(exponent + 1 - count), '0');
    if (pointZero)
      out += ".0";
  } else {
    out += digits.substr(0, static_cast<size_t>(exponent) + 1);
    out += '.';
    out += digits.substr(static_cast<size_t>(exponent) + 1);
  }
}

struct ReprWriter {
  std::string &out;
  void operator()(NoneValue) const { out += "None"; }
  void operator()(bool value) const { out += value ? "True" : "False"; }
  void operator()(EllipsisValue) const { out += "Ellipsis"; }
  void operator()(int64_t value) const { out += fmt::format("{}", value); }
  void operator()(BigIntValue value) const { out += value.digits; }
  void operator()(double value) const { appendFloatRepr(out, value, true); }
  void operator()(ImaginaryValue value) const {
    appendFloatRepr(out, value.imag, false);
    out += 'j';
  }
  void operator()(StrValue value) const { appendStrRepr(out, value.text); }
  void operator()(BytesValue value) const { appendBytesRepr(out, value.bytes); }
};

} // namespace

void appendStrRepr(std::string &out, std::string_view text) {
  const char quote = quoteFor(text);
  out += quote;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x80) {
      ++i;
      if (appendCommonEscape(out, c, quote))
        continue;
      if (c >= 0x20 && c != 0x7f)
        out += c;
      else
        out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
      continue;
    }
    const CodePoint next = decodeUtf8(text, i);
    if (isPrintable(next.value))
      out += text.substr(i, next.length);
    else if (next.value < 0x100)
      out += fmt::format("\\x{:02x}", next.value);
    else if (next.value < 0x10000)
      out += fmt::format("\\u{:04x}", next.value);
    else
      out += fmt::format("\\U{:08x}", next.value);
    i += std::max(next.length, 1u);
  }
  out += quote;
}

void appendRepr(std::string &out, const Constant::Value &value) { std::visit(ReprWriter{out}, value); }

} // namespace tilewright::lang

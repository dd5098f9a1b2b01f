#include "SourceText.h"
#include "Unicode.h"

#include <cctype>
#include <fmt/format.h>
#include <limits>

namespace tilewright::lang {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

enum class Encoding { Utf8, Ascii, Latin1, Unknown };

struct Cookie {
  SourceRange range; ///< of the encoding's name; invalid when there is no cookie
  Encoding encoding = Encoding::Utf8;
};

Encoding encodingNamed(std::string_view name) {
  std::string normal;
  for (const char c : name)
    normal += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (normal == "utf-8" || normal == "utf8" || normal.starts_with("utf-8-") || normal == "u8")
    return Encoding::Utf8;
  if (normal == "ascii" || normal == "us-ascii")
    return Encoding::Ascii;
  for (const std::string_view latin : {"latin-1", "latin1", "iso-8859-1", "iso8859-1", "iso-latin-1"})
    if (normal == latin || (normal.starts_with(latin) && normal[latin.size()] == '-'))
      return Encoding::Latin1;
  return Encoding::Unknown;
}

bool isCanonicalUtf8(std::string_view name) {
  return name.size() >= 5 && encodingNamed(name) == Encoding::Utf8 && (name[3] == '-' || name[3] == '_');
}

/// `# -*- coding: NAME -*-` on one line: ^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)
Cookie cookieOn(const SourceFile &file, uint32_t lineNumber) {
  const std::string_view line = file.line(lineNumber);
  const size_t hash = line.find_first_not_of(" \t\f\xef\xbb\xbf");
  if (hash == line.npos || line[hash] != '#')
    return {};
  for (size_t at = line.find("coding", hash); at != line.npos; at = line.find("coding", at + 1)) {
    size_t begin = at + 6;
    if (begin >= line.size() || (line[begin] != ':' && line[begin] != '='))
      continue;
    begin = line.find_first_not_of(" \t", begin + 1);
    size_t end = begin;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '-' ||
                                 line[end] == '_' || line[end] == '.'))
      ++end;
    if (begin >= line.size() || end == begin)
      continue;
    const uint32_t offset = file.lineStart(lineNumber);
    return {{&file, offset + static_cast<uint32_t>(begin), offset + static_cast<uint32_t>(end)},
            encodingNamed(line.substr(begin, end - begin))};
  }
  return {};
}

Cookie findCookie(const SourceFile &file) {
  const Cookie first = cookieOn(file, 1);
  if (first.range.valid() || file.lineCount() < 2)
    return first;
  std::string_view line = file.line(1);
  if (line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  const size_t content = line.find_first_not_of(" \t\f");
  if (content != line.npos && line[content] != '#')
    return {};
  return cookieOn(file, 2);
}

Unexpected encodingError(std::string message, SourceRange range, std::string help) {
  auto diagnostic = makeDiagnostic(Severity::Error, "lang.encoding", std::move(message), range);
  if (!help.empty())
    diagnostic.help(std::move(help));
  return fail(ErrorKind::User, std::move(diagnostic));
}

} // namespace

Expected<SourceFilePtr> decodeSource(SourceFilePtr source) {
  std::string_view text = source->text();
  if (text.size() >= std::numeric_limits<uint32_t>::max() / 2)
    return fail(ErrorKind::Refusal, "lang.encoding",
                fmt::format("{}: the file is larger than 2 GB", source->path()));
  const auto at = [&](size_t begin, size_t end) {
    return SourceRange{source.get(), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  };
  if (const size_t nul = text.find('\0'); nul != text.npos)
    return encodingError("the source holds a NUL byte", at(nul, nul + 1), "is this a text file?");
  const bool marked = text.starts_with(kByteOrderMark);
  const Cookie cookie = findCookie(*source);
  if (cookie.encoding == Encoding::Unknown)
    return encodingError(fmt::format("unknown encoding '{}'", cookie.range.text()), cookie.range,
                         "save the file as UTF-8 and drop the declaration");
  // CPython takes only this spelling of UTF-8 beside a mark.
  if (marked && cookie.range.valid() && !isCanonicalUtf8(cookie.range.text()))
    return encodingError(
        fmt::format("the file starts with a UTF-8 mark but declares '{}'", cookie.range.text()), cookie.range,
        "drop the declaration");
  if (cookie.encoding == Encoding::Latin1) {
    std::string decoded;
    decoded.reserve(text.size() + text.size() / 8);
    for (const char c : text)
      appendUtf8(decoded, static_cast<unsigned char>(c));
    return std::make_shared<const SourceFile>(source->path(), std::move(decoded));
  }
  if (const size_t invalid = findInvalidUtf8(text); invalid != text.npos)
    return encodingError(fmt::format("byte 0x{:02x} is not valid UTF-8 here",
                                     static_cast<unsigned>(static_cast<unsigned char>(text[invalid]))),
                         at(invalid, invalid + 1),
                         "save the file as UTF-8, or declare its encoding in the first line");
  if (marked)
    return std::make_shared<const SourceFile>(source->path(),
                                              std::string(text.substr(kByteOrderMark.size())));
  return source;
}

} // namespace tilewright::lang

#include "tilewright/support/Diagnostic.h"
#include "tilewright/support/Expected.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

std::string_view severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  case Severity::Help:
    return "help";
  }
  return "error";
}

ResolvedLocation resolve(const SourceRange &range) {
  ResolvedLocation out;
  if (!range.valid())
    return out;
  const auto begin = range.file->position(range.begin);
  out.path = range.file->path();
  out.line = begin.line;
  out.column = begin.column;
  out.lineText = std::string(range.file->line(begin.line));
  const auto lineEnd = static_cast<uint32_t>(std::max(out.lineText.size(), size_t{begin.column}));
  const uint32_t width = range.end > range.begin ? range.end - range.begin : 1;
  out.caretWidth = std::max(1u, std::min(width, lineEnd - begin.column));
  return out;
}

Diagnostic makeDiagnostic(Severity severity, std::string code, std::string message,
                          std::optional<SourceRange> where) {
  Diagnostic out;
  out.severity = severity;
  out.code = std::move(code);
  out.message = std::move(message);
  if (where && where->valid())
    out.location = resolve(*where);
  return out;
}

Diagnostic &Diagnostic::note(std::string text, std::optional<SourceRange> where) & {
  attached.push_back(makeDiagnostic(Severity::Note, {}, std::move(text), where));
  return *this;
}

Diagnostic &Diagnostic::help(std::string text) & {
  attached.push_back(makeDiagnostic(Severity::Help, {}, std::move(text)));
  return *this;
}

namespace {

/// Spaces up to the caret, keeping tabs so that both lines shift alike.
std::string caretIndent(const std::string &line, uint32_t column) {
  std::string indent;
  for (uint32_t i = 0; i < column && i < line.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (byte == '\t')
      indent += '\t';
    else if ((byte & 0xC0) != 0x80) // count code points, not continuation bytes
      indent += ' ';
  }
  return indent;
}

void renderInto(std::string &out, const Diagnostic &diagnostic) {
  constexpr size_t kLongestShownLine = 200;
  const auto &where = diagnostic.location;
  if (where && where->line)
    out += fmt::format("{}:{}:{}: ", where->path, where->line, where->column + 1);
  out += fmt::format("{}: {}", severityName(diagnostic.severity), diagnostic.message);
  if (!diagnostic.code.empty())
    out += fmt::format(" [{}]", diagnostic.code);
  out += '\n';
  if (where && where->line && !where->lineText.empty() && where->lineText.size() <= kLongestShownLine) {
    const size_t cut = std::min(where->lineText.find_first_not_of(" \t"), size_t{where->column});
    const std::string shown = where->lineText.substr(cut);
    out += "   " + shown + '\n';
    out += "   " + caretIndent(shown, where->column - static_cast<uint32_t>(cut)) + '^' +
           std::string(where->caretWidth - 1, '~') + '\n';
  }
  for (const auto &child : diagnostic.attached)
    renderInto(out, child);
}

} // namespace

std::string render(const Diagnostic &diagnostic) {
  std::string out;
  renderInto(out, diagnostic);
  return out;
}

std::string render(const Error &error) {
  if (error.diagnostics.empty())
    return fmt::format("error: {}{}\n", error.message,
                       error.code.empty() ? "" : fmt::format(" [{}]", error.code));
  std::string out;
  for (const auto &diagnostic : error.diagnostics)
    renderInto(out, diagnostic);
  return out;
}

} // namespace tilewright

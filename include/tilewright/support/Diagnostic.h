#pragma once
#include "tilewright/support/Source.h"

#include <optional>
#include <string>
#include <vector>

namespace tilewright {

enum class Severity : uint8_t { Error, Warning, Remark, Note, Help };
std::string_view severityName(Severity severity);

/// A location resolved to text, so that a diagnostic outlives the file that it speaks of.
struct ResolvedLocation {
  std::string path;
  uint32_t line = 0;       ///< from 1; 0 means the whole file
  uint32_t column = 0;     ///< bytes, from 0
  uint32_t caretWidth = 1; ///< bytes underlined on that line, at least 1
  std::string lineText;
};
ResolvedLocation resolve(const SourceRange &range);

/// What a user reads:
///
///     softmax.py:14:38: error: BLOCK must cover all of n_cols (one-shot): 512 < 781 [oneshot.short]
///        offs = tl.arange(0, BLOCK)
///                            ^~~~~
///     note: the row maximum at line 17 is taken over this tile only
///     help: leave BLOCK open and it will be chosen as 1024, or loop over the row
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code; ///< stable, dotted, e.g. "lang.syntax"; every code is listed in ReasonCodes.def
  std::string message;
  std::optional<ResolvedLocation> location;
  std::vector<Diagnostic> attached; ///< notes and helps

  Diagnostic &note(std::string text, std::optional<SourceRange> where = std::nullopt) &;
  Diagnostic &help(std::string text) &;
};

Diagnostic makeDiagnostic(Severity severity, std::string code, std::string message,
                          std::optional<SourceRange> where = std::nullopt);

/// Terminal text as shown above, ending in a line break.
std::string render(const Diagnostic &diagnostic);

} // namespace tilewright

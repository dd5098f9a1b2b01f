#include "LegacyFString.h"
#include "Lexer.h"

#include <algorithm>

namespace tilewright::lang {

LegacyLiterals::LegacyLiterals(const SourceFile &source) {
  std::vector<size_t> open;
  for (const Token &token : tokenize(source).tokens) {
    if (token.kind == TokenKind::FStringStart) {
      open.push_back(literals_.size());
      literals_.push_back({&source, token.begin, token.end});
    } else if (token.kind == TokenKind::FStringEnd && !open.empty()) {
      literals_[open.back()].end = token.end;
      open.pop_back();
    }
  }
}

SourceRange LegacyLiterals::enclosing(const SourceRange &spec) const {
  auto next =
      std::upper_bound(literals_.begin(), literals_.end(), spec.begin,
                       [](uint32_t offset, const SourceRange &literal) { return offset < literal.begin; });
  while (next != literals_.begin())
    if (const SourceRange &literal = *--next; literal.end > spec.begin)
      return literal;
  return spec;
}

std::optional<SourceRange> LegacyLiterals::tupleRange(const FormattedValue &field) const {
  const auto *tuple = dynCast<Tuple>(field.value);
  const std::string_view text = field.range.text();
  const size_t first = text.find_first_not_of(" \t\n", 1);
  if (!tuple || tuple->elts.empty() || first == text.npos)
    return std::nullopt;
  // A parenthesized tuple starts before its first element and ends at its ')'.
  if (tuple->range.begin < tuple->elts[0]->range.begin && tuple->range.text().starts_with('(') &&
      tuple->range.text().ends_with(')') && tuple->elts[0]->range.text()[0] != '(')
    return std::nullopt;
  return SourceRange{field.range.file, field.range.begin, tuple->range.end + 1};
}

} // namespace tilewright::lang

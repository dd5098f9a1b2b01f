#pragma once
#include "tilewright/lang/Ast.h"

#include <optional>
#include <vector>

namespace tilewright::lang {

/// The locations that CPython before 3.12 gave to the parts of f-strings. Only the printer needs them, to be
/// compared with such a CPython; the tree itself holds the exact ones.
class LegacyLiterals {
public:
  explicit LegacyLiterals(const SourceFile &source);

  /// The innermost f-string literal around a format specifier.
  SourceRange enclosing(const SourceRange &spec) const;
  /// The value `x, y` of `{x, y}`: it was parsed as "(x, y)", so the braces count. Nothing for other values.
  std::optional<SourceRange> tupleRange(const FormattedValue &field) const;

private:
  std::vector<SourceRange> literals_; ///< by begin
};

} // namespace tilewright::lang

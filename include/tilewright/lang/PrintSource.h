#pragma once
#include "tilewright/lang/Ast.h"

#include <string>

namespace tilewright::lang {

/// An expression as compact source on one line, for messages:
///
///     offs < n and (a + b) * c        x[:, None]        lambda meta: (cdiv(n, meta['BLOCK']),)
///
/// Parentheses appear only where they are needed; comments and line breaks are gone. Parsing the text again
/// gives an equal tree, except that an f-string is shown as it was written, with its line breaks as blanks.
std::string printSource(const Expr &expr);

} // namespace tilewright::lang

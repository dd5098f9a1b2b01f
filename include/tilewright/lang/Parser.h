#pragma once
#include "tilewright/lang/Ast.h"
#include "tilewright/support/Expected.h"

#include <vector>

namespace tilewright::lang {

/// Parses a whole Python file (3.9 to 3.14). Fails on the first syntax error with a located diagnostic:
/// code lang.syntax, lang.encoding (bytes that are no text) or lang.depth (nesting beyond the parser's bound;
/// the bound guarantees that no input overflows the stack, here or in a recursive walk over the tree).
Expected<Module> parse(SourceFilePtr source);

/// What could be understood of a file that may be broken.
struct ParseResult {
  Module module;                       ///< the top-level statements without errors, in order
  std::vector<Diagnostic> diagnostics; ///< one an error, in order; empty when the file is valid
};
/// Parses past errors: a broken top-level statement (a whole function or class) is reported and left out, and
/// the parse goes on with the next one, so that one broken kernel does not hide the others. It stops at the
/// thousandth error.
ParseResult parseTolerant(SourceFilePtr source);

/// Parses a lone expression: "(cdiv(n, BLOCK),)", "lambda meta: (meta['N'],)". Line breaks are blanks, as
/// inside parentheses, and comments are fine; anything else behind the expression is an error. A comma makes
/// a tuple without parentheses.
Expected<ExpressionModule> parseExpression(SourceFilePtr source);

} // namespace tilewright::lang

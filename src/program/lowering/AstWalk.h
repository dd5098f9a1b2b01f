#pragma once
#include "tilewright/lang/Ast.h"

#include <functional>

namespace tilewright::lowering {

/// Calls `visit` for an expression and everything inside it, outermost first. Bodies of lambdas are included.
void walkExpr(const lang::Expr *expr, const std::function<void(const lang::Expr &)> &visit);
/// Calls back for every statement and expression below, in source order; nested function and class bodies are
/// left out.
void walkBody(lang::Body body, const std::function<void(const lang::Stmt &)> &visitStmt,
              const std::function<void(const lang::Expr &)> &visitExpr);

/// Whether a `return` is reachable without entering a nested function.
bool containsReturn(lang::Body body);

/// A name that a body assigns, in order of first assignment. `certain` when every run through the body
/// assigns it (the assignment isn't inside an `if` or a loop).
struct AssignedName {
  std::string_view name;
  bool certain = false;
};
std::vector<AssignedName> assignedNames(lang::Body body);

/// "triton.language.sum" for Name/Attribute chains; empty for anything else.
std::string dottedName(const lang::Expr *expr);

} // namespace tilewright::lowering

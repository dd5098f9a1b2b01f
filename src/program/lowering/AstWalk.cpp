#include "AstWalk.h"

#include <algorithm>

namespace tilewright::lowering {

using namespace lang;

void walkExpr(const Expr *expr, const std::function<void(const Expr &)> &visit) {
  if (!expr)
    return;
  visit(*expr);
  const auto all = [&](Seq<const Expr *> exprs) {
    for (const Expr *e : exprs)
      walkExpr(e, visit);
  };
  const auto comprehension = [&](const Expr *element, Seq<const Comprehension *> generators) {
    walkExpr(element, visit);
    for (const Comprehension *g : generators) {
      walkExpr(g->target, visit);
      walkExpr(g->iter, visit);
      all(g->ifs);
    }
  };
  switch (expr->kind) {
  case ExprKind::BoolOp:
    return all(cast<BoolOp>(expr)->values);
  case ExprKind::NamedExpr:
    walkExpr(cast<NamedExpr>(expr)->target, visit);
    return walkExpr(cast<NamedExpr>(expr)->value, visit);
  case ExprKind::BinOp:
    walkExpr(cast<BinOp>(expr)->left, visit);
    return walkExpr(cast<BinOp>(expr)->right, visit);
  case ExprKind::UnaryOp:
    return walkExpr(cast<UnaryOp>(expr)->operand, visit);
  case ExprKind::Lambda:
    return walkExpr(cast<Lambda>(expr)->body, visit);
  case ExprKind::IfExp:
    walkExpr(cast<IfExp>(expr)->test, visit);
    walkExpr(cast<IfExp>(expr)->body, visit);
    return walkExpr(cast<IfExp>(expr)->orelse, visit);
  case ExprKind::Dict:
    all(cast<Dict>(expr)->keys);
    return all(cast<Dict>(expr)->values);
  case ExprKind::Set:
    return all(cast<Set>(expr)->elts);
  case ExprKind::ListComp:
    return comprehension(cast<ListComp>(expr)->elt, cast<ListComp>(expr)->generators);
  case ExprKind::SetComp:
    return comprehension(cast<SetComp>(expr)->elt, cast<SetComp>(expr)->generators);
  case ExprKind::GeneratorExp:
    return comprehension(cast<GeneratorExp>(expr)->elt, cast<GeneratorExp>(expr)->generators);
  case ExprKind::DictComp:
    walkExpr(cast<DictComp>(expr)->key, visit);
    return comprehension(cast<DictComp>(expr)->value, cast<DictComp>(expr)->generators);
  case ExprKind::Compare:
    walkExpr(cast<Compare>(expr)->left, visit);
    return all(cast<Compare>(expr)->comparators);
  case ExprKind::Call:
    walkExpr(cast<Call>(expr)->func, visit);
    all(cast<Call>(expr)->args);
    for (const Keyword *keyword : cast<Call>(expr)->keywords)
      walkExpr(keyword->value, visit);
    return;
  case ExprKind::FormattedValue:
    walkExpr(cast<FormattedValue>(expr)->value, visit);
    return walkExpr(cast<FormattedValue>(expr)->formatSpec, visit);
  case ExprKind::JoinedStr:
    return all(cast<JoinedStr>(expr)->values);
  case ExprKind::Attribute:
    return walkExpr(cast<lang::Attribute>(expr)->value, visit);
  case ExprKind::Subscript:
    walkExpr(cast<Subscript>(expr)->value, visit);
    return walkExpr(cast<Subscript>(expr)->slice, visit);
  case ExprKind::Starred:
    return walkExpr(cast<Starred>(expr)->value, visit);
  case ExprKind::List:
    return all(cast<List>(expr)->elts);
  case ExprKind::Tuple:
    return all(cast<Tuple>(expr)->elts);
  case ExprKind::Slice:
    walkExpr(cast<Slice>(expr)->lower, visit);
    walkExpr(cast<Slice>(expr)->upper, visit);
    return walkExpr(cast<Slice>(expr)->step, visit);
  default:
    return;
  }
}

void walkBody(Body body, const std::function<void(const Stmt &)> &visitStmt,
              const std::function<void(const Expr &)> &visitExpr) {
  const auto expr = [&](const Expr *e) { walkExpr(e, visitExpr); };
  for (const Stmt *stmt : body) {
    visitStmt(*stmt);
    switch (stmt->kind) {
    case StmtKind::Return:
      expr(cast<Return>(stmt)->value);
      break;
    case StmtKind::Assign:
      expr(cast<Assign>(stmt)->value);
      for (const Expr *target : cast<Assign>(stmt)->targets)
        expr(target);
      break;
    case StmtKind::AugAssign:
      expr(cast<AugAssign>(stmt)->value);
      expr(cast<AugAssign>(stmt)->target);
      break;
    case StmtKind::AnnAssign:
      expr(cast<AnnAssign>(stmt)->value);
      expr(cast<AnnAssign>(stmt)->target);
      break;
    case StmtKind::For:
      expr(cast<For>(stmt)->iter);
      expr(cast<For>(stmt)->target);
      walkBody(cast<For>(stmt)->body, visitStmt, visitExpr);
      walkBody(cast<For>(stmt)->orelse, visitStmt, visitExpr);
      break;
    case StmtKind::While:
      expr(cast<While>(stmt)->test);
      walkBody(cast<While>(stmt)->body, visitStmt, visitExpr);
      walkBody(cast<While>(stmt)->orelse, visitStmt, visitExpr);
      break;
    case StmtKind::If:
      expr(cast<If>(stmt)->test);
      walkBody(cast<If>(stmt)->body, visitStmt, visitExpr);
      walkBody(cast<If>(stmt)->orelse, visitStmt, visitExpr);
      break;
    case StmtKind::With:
      for (const WithItem *item : cast<With>(stmt)->items)
        expr(item->contextExpr);
      walkBody(cast<With>(stmt)->body, visitStmt, visitExpr);
      break;
    case StmtKind::Assert:
      expr(cast<Assert>(stmt)->test);
      expr(cast<Assert>(stmt)->msg);
      break;
    case StmtKind::Expr:
      expr(cast<ExprStmt>(stmt)->value);
      break;
    case StmtKind::Try:
      walkBody(cast<Try>(stmt)->body, visitStmt, visitExpr);
      for (const ExceptHandler *handler : cast<Try>(stmt)->handlers)
        walkBody(handler->body, visitStmt, visitExpr);
      walkBody(cast<Try>(stmt)->orelse, visitStmt, visitExpr);
      walkBody(cast<Try>(stmt)->finalbody, visitStmt, visitExpr);
      break;
    default:
      break;
    }
  }
}

bool containsReturn(Body body) {
  bool found = false;
  walkBody(body, [&](const Stmt &stmt) { found |= stmt.kind == StmtKind::Return; }, [](const Expr &) {});
  return found;
}

namespace {

void addName(std::vector<AssignedName> &names, std::string_view name, bool certain) {
  const auto known =
      std::find_if(names.begin(), names.end(), [&](const AssignedName &n) { return n.name == name; });
  if (known == names.end())
    names.push_back({name, certain});
  else
    known->certain |= certain;
}

void addTargets(std::vector<AssignedName> &names, const Expr *target, bool certain) {
  if (const auto *name = dynCast<Name>(target))
    addName(names, name->id, certain);
  else if (const auto *tuple = dynCast<Tuple>(target))
    for (const Expr *e : tuple->elts)
      addTargets(names, e, certain);
  else if (const auto *list = dynCast<List>(target))
    for (const Expr *e : list->elts)
      addTargets(names, e, certain);
  else if (const auto *starred = dynCast<Starred>(target))
    addTargets(names, starred->value, certain);
}

void collectAssigned(std::vector<AssignedName> &names, Body body, bool certain) {
  for (const Stmt *stmt : body) {
    // Walrus assignments hide in any expression of the statement itself.
    walkBody(
        Body(&stmt, 1), [](const Stmt &) {},
        [&](const Expr &e) {
          if (const auto *named = dynCast<NamedExpr>(&e))
            addTargets(names, named->target, false);
        });
    switch (stmt->kind) {
    case StmtKind::Assign:
      for (const Expr *target : cast<Assign>(stmt)->targets)
        addTargets(names, target, certain);
      break;
    case StmtKind::AugAssign:
      addTargets(names, cast<AugAssign>(stmt)->target, certain);
      break;
    case StmtKind::AnnAssign:
      if (cast<AnnAssign>(stmt)->value)
        addTargets(names, cast<AnnAssign>(stmt)->target, certain);
      break;
    case StmtKind::For:
      addTargets(names, cast<For>(stmt)->target, false);
      collectAssigned(names, cast<For>(stmt)->body, false);
      break;
    case StmtKind::While:
      collectAssigned(names, cast<While>(stmt)->body, false);
      break;
    case StmtKind::If:
      collectAssigned(names, cast<If>(stmt)->body, false);
      collectAssigned(names, cast<If>(stmt)->orelse, false);
      break;
    case StmtKind::With:
      for (const WithItem *item : cast<With>(stmt)->items)
        addTargets(names, item->optionalVars, certain);
      collectAssigned(names, cast<With>(stmt)->body, certain);
      break;
    default:
      break;
    }
  }
}

} // namespace

std::vector<AssignedName> assignedNames(Body body) {
  std::vector<AssignedName> names;
  collectAssigned(names, body, true);
  return names;
}

std::string dottedName(const Expr *expr) {
  if (const auto *name = dynCast<Name>(expr))
    return std::string(name->id);
  if (const auto *attribute = dynCast<lang::Attribute>(expr)) {
    const std::string base = dottedName(attribute->value);
    return base.empty() ? base : base + "." + std::string(attribute->attr);
  }
  return {};
}

} // namespace tilewright::lowering

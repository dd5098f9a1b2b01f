#include "AstWalk.h"
#include "FunctionLowerer.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

using namespace lang;

FrontValue FunctionLowerer::run(Body body) {
  returned_ = FrontValue::none();
  block(body, nullptr);
  return returned_;
}

FunctionLowerer::Flow FunctionLowerer::block(Body body, const Continuation *rest, size_t from) {
  for (size_t i = from; i < body.size(); ++i) {
    const Continuation here{body, i + 1, rest};
    if (const Flow flow = statement(body[i], &here); flow != Flow::Next)
      return flow;
  }
  return Flow::Next;
}

/// Which kernel parameters a statement that failed depends on, for the search that may assume something else
/// about them.
void FunctionLowerer::trace(LoweringFailure &failure, const Stmt *stmt) {
  if (std::exchange(failure.traced, true))
    return;
  const auto add = [&](const FrontValue &value) {
    std::vector<ValueId> leaves;
    flatten(value, leaves);
    c.traceOrigins(std::move(leaves), failure.suspects);
    c.traceOrigins(value.sym, failure.suspects);
    if (value.assumption != kNone)
      failure.suspects.insert(c.program.parameters[value.assumption].name);
    if (value.is(FrontKind::TypeObject)) // of some pointer, and nobody knows of which
      for (const Parameter &parameter : c.program.parameters)
        if (parameter.kind == Parameter::Kind::Pointer)
          failure.deciders.insert(parameter.name);
  };
  const auto names = [&](const Expr &expr) {
    if (const auto *name = dynCast<Name>(&expr))
      if (const auto found = scope_.find(name->id); found != scope_.end())
        add(found->second);
  };
  if (const auto *branch = dynCast<If>(stmt))
    walkExpr(branch->test, names);
  else if (const auto *loop = dynCast<While>(stmt))
    walkExpr(loop->test, names);
  else
    walkBody(Body(&stmt, 1), [](const Stmt &) {}, names);
  for (const PathCondition &path : c.program.pathConditions)
    c.traceOrigins(path.condition, failure.deciders);
}

FunctionLowerer::Flow FunctionLowerer::statement(const Stmt *stmt, const Continuation *rest) {
  ++c.steps;
  if (isKernel_)
    c.furthest = std::max(c.furthest, stmt->range.begin);
  try {
    c.here = stmt->range;
    return constexprOnly_ ? hostStatement(stmt, rest) : deviceStatement(stmt, rest);
  } catch (LoweringFailure &failure) {
    trace(failure, stmt);
    throw;
  }
}

FunctionLowerer::Flow FunctionLowerer::deviceStatement(const Stmt *stmt, const Continuation *rest) {
  switch (stmt->kind) {
  case StmtKind::Pass:
    return Flow::Next;
  case StmtKind::Expr: {
    const Expr *value = cast<ExprStmt>(stmt)->value;
    if (!isa<Constant>(value)) // a docstring, or `...`
      eval(value);
    return Flow::Next;
  }
  case StmtKind::Assign: {
    const auto *assignment = cast<Assign>(stmt);
    FrontValue value = eval(assignment->value);
    c.here = stmt->range;
    for (const Expr *target : assignment->targets)
      assign(target, value);
    return Flow::Next;
  }
  case StmtKind::AugAssign: {
    const auto *augmented = cast<AugAssign>(stmt);
    const FrontValue left = eval(augmented->target);
    const FrontValue right = eval(augmented->value);
    c.here = stmt->range;
    assign(augmented->target, binary(augmented->op, left, right, stmt->range));
    return Flow::Next;
  }
  case StmtKind::AnnAssign:
    annotatedAssign(cast<AnnAssign>(stmt));
    return Flow::Next;
  case StmtKind::If:
    return ifStatement(cast<If>(stmt), rest);
  case StmtKind::For:
    forStatement(cast<For>(stmt));
    return Flow::Next;
  case StmtKind::While:
    whileStatement(cast<While>(stmt));
    return Flow::Next;
  case StmtKind::Return: {
    if (loopDepth_ > 0)
      c.unsupported(stmt->range,
                    "cannot have `return` statements inside `while` or `for` statements in triton");
    const Expr *value = cast<Return>(stmt)->value;
    returned_ = value ? eval(value) : FrontValue::none();
    return Flow::Returned;
  }
  case StmtKind::Assert:
    deviceAssert(cast<Assert>(stmt));
    return Flow::Next;
  case StmtKind::Break:
    c.unsupported(stmt->range, "`break` is not possible in a kernel",
                  "use a `while` loop whose condition says when it ends");
  case StmtKind::Continue:
    c.unsupported(stmt->range, "`continue` is not possible in a kernel",
                  "put the rest of the loop's body under an `if`");
  case StmtKind::FunctionDef:
    c.unsupported(stmt->range, "nested function definitions are not allowed inside a @triton.jit function",
                  "move the helper to module level and decorate it with @triton.jit");
  case StmtKind::With:
    return withStatement(cast<With>(stmt), rest);
  default:
    c.unsupported(stmt->range, fmt::format("a statement of kind {} is not supported inside a kernel",
                                           nodeName(stmt->kind)));
  }
}

/// A scope of triton's (`with tl.async_task([0]):`) tells the compiler where its body runs, not what it
/// computes.
FunctionLowerer::Flow FunctionLowerer::withStatement(const With *stmt, const Continuation *rest) {
  for (const WithItem *item : stmt->items) {
    const auto *call = dynCast<Call>(item->contextExpr);
    const FrontValue callee = call ? eval(call->func) : FrontValue::none();
    if (!callee.is(FrontKind::Builtin) || item->optionalVars)
      c.unsupported(item->contextExpr->range, "`with` takes only scopes of triton.language inside a kernel");
    c.remark("lower.assumed",
             fmt::format("the scope {} is read as a hint: its body is lowered as it stands",
                         item->contextExpr->range.text()),
             item->contextExpr->range);
  }
  return block(stmt->body, rest);
}

void FunctionLowerer::bindName(std::string_view name, FrontValue value) {
  std::vector<ValueId> leaves;
  flatten(value, leaves);
  for (ValueId leaf : leaves)
    c.nameValue(leaf, name);
  defined_.emplace(name);
  define(name, std::move(value));
}

void FunctionLowerer::assign(const Expr *target, const FrontValue &value) {
  if (const auto *name = dynCast<Name>(target)) {
    const bool keepsConstexpr = constexprNames_.erase(std::string(name->id)) > 0;
    bindName(name->id, keepsConstexpr ? value : materialized(value));
    return;
  }
  if (const auto *field = dynCast<lang::Attribute>(target))
    if (const auto *self = dynCast<Name>(field->value))
      if (const auto found = scope_.find(self->id); found != scope_.end() && found->second.record) {
        found->second.record->insert_or_assign(std::string(field->attr), value);
        return;
      }
  Seq<const Expr *> targets;
  if (const auto *tuple = dynCast<Tuple>(target))
    targets = tuple->elts;
  else if (const auto *list = dynCast<List>(target))
    targets = list->elts;
  else
    c.unsupported(target->range,
                  isa<Subscript>(target) ? "a tile cannot be assigned to by index"
                                         : "assignment to an attribute is not possible in a kernel",
                  isa<Subscript>(target) ? "tl.where with a mask builds the changed tile" : "");
  if (!value.is(FrontKind::Tuple))
    c.failType(target->range, fmt::format("cannot unpack {}", describe(value)));
  for (const Expr *e : targets)
    if (isa<Starred>(e))
      c.unsupported(e->range, "starred assignment targets are not supported");
  const size_t wanted = targets.size(), given = value.items->size();
  if (given < wanted) // more of them are left alone, as Triton does
    c.failType(target->range,
               fmt::format("not enough values to unpack (expected {}, got {})", wanted, given));
  for (size_t i = 0; i < wanted; ++i)
    assign(targets[i], (*value.items)[i]);
}

void FunctionLowerer::annotatedAssign(const AnnAssign *stmt) {
  const auto *name = dynCast<Name>(stmt->target);
  const std::string annotation = names_.resolve(stmt->annotation);
  const bool isConstexpr = annotation == "triton.language.constexpr";
  if (!stmt->value) {
    if (name && isConstexpr)
      constexprNames_.insert(std::string(name->id));
    return;
  }
  FrontValue value = eval(stmt->value);
  c.here = stmt->range;
  if (!isConstexpr || !name)
    return assign(stmt->target, value);
  if (scope_.count(name->id))
    c.fail(stmt->range, "lower.type",
           fmt::format("{} is already defined; a constexpr cannot be reassigned", name->id));
  if (value.isRuntime())
    c.failType(stmt->value->range,
               fmt::format("{} is declared tl.constexpr, but its value is only known at run time", name->id));
  define(name->id, std::move(value));
}

std::string FunctionLowerer::messageText(const Expr *expr) {
  if (!expr)
    return {};
  if (isa<Constant>(expr) || isa<JoinedStr>(expr)) {
    const FrontValue value = eval(expr);
    return value.is(FrontKind::String) ? value.text : std::string(expr->range.text());
  }
  return std::string(expr->range.text());
}

void FunctionLowerer::staticAssert(const Call *call) {
  if (call->args.empty() || call->args.size() > 2)
    c.fail(call->range, "lower.call", "`static_assert` requires one or two positional arguments only");
  const Expr *conditionExpr = call->args[0];
  const FrontValue value = eval(conditionExpr);
  if (value.isRuntime())
    c.failType(conditionExpr->range, "assertion condition could not be determined at compile-time; it may "
                                     "depend on `constexpr` values only");
  const SymInt condition = value.is(FrontKind::Bool) ? value.sym
                           : value.is(FrontKind::Int)
                               ? c.syms.logicalNot(c.syms.eq(value.sym, c.syms.constant(0)))
                               : c.syms.constant(c.truth(value, conditionExpr->range));
  const std::string rule(conditionExpr->range.text());
  // The message is looked at only when it is needed: it may be wrong in ways that a passing assertion never
  // shows.
  std::string message;
  if (call->args.size() == 2)
    message = messageText(call->args[1]);
  const std::string text = message.empty() ? rule : message;
  // A message with the witness's numbers in it would be wrong for every other candidate: the rule speaks for
  // itself.
  const bool general = call->args.size() == 2 && isa<Constant>(call->args[1]);
  c.require(condition, "static_assert", general ? text : rule, call->range,
            "static assertion failed: " + text);
}

void FunctionLowerer::deviceAssert(const Assert *stmt) {
  const FrontValue value = eval(stmt->test);
  const std::string message = messageText(stmt->msg);
  c.here = stmt->range;
  const ValueId condition = emit.cast(emit.toTensor(value.isNumber() || value.isRuntime()
                                                        ? value
                                                        : c.boolean(c.truth(value, stmt->test->range))),
                                      DType::Int1);
  Attributes attributes;
  attributes.set("message", message);
  c.createOp(OpKind::DeviceAssert, {condition}, {}, std::move(attributes));
}

} // namespace tilewright::lowering

#include "ConstexprArithmetic.h"
#include "FunctionLowerer.h"
#include "HostFunctions.h"

#include "ModuleConditions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace tilewright::lowering {

using namespace lang;

namespace {

/// Keeps the location of emitted ops at the expression being lowered.
class Here {
public:
  Here(LoweringContext &c, const SourceRange &range) : c_(c), previous_(c.here) { c.here = range; }
  ~Here() { c_.here = previous_; }
  Here(const Here &) = delete;
  Here &operator=(const Here &) = delete;

private:
  LoweringContext &c_;
  SourceRange previous_;
};

/// Python's builtins that Triton lets a kernel use.
constexpr std::array<std::string_view, 13> kPythonBuiltins = {
    "range",   "len",     "min",   "max",  "int",  "float", "isinstance",
    "getattr", "hasattr", "print", "list", "bool", "tuple"};

} // namespace

FrontValue FunctionLowerer::eval(const Expr *expr) {
  const Here here(c, expr->range);
  switch (expr->kind) {
  case ExprKind::Constant:
    return constantValue(cast<Constant>(expr));
  case ExprKind::Name:
    return nameValue(cast<Name>(expr));
  case ExprKind::Attribute:
    return attributeValue(cast<lang::Attribute>(expr));
  case ExprKind::BinOp: {
    const auto *op = cast<BinOp>(expr);
    const FrontValue left = eval(op->left);
    const FrontValue right = eval(op->right);
    return binary(op->op, left, right, expr->range);
  }
  case ExprKind::UnaryOp:
    return unary(cast<UnaryOp>(expr));
  case ExprKind::Compare:
    return comparison(cast<Compare>(expr));
  case ExprKind::BoolOp:
    return boolean(cast<BoolOp>(expr));
  case ExprKind::IfExp:
    return conditionalExpression(cast<IfExp>(expr));
  case ExprKind::Call:
    return call(cast<Call>(expr));
  case ExprKind::Subscript: {
    const FrontValue object = eval(cast<Subscript>(expr)->value);
    const FrontValue index = eval(cast<Subscript>(expr)->slice);
    return subscript(object, index, expr->range);
  }
  case ExprKind::Slice: {
    const auto *slice = cast<Slice>(expr);
    FrontValue value = FrontValue::tuple({slice->lower ? eval(slice->lower) : FrontValue::none(),
                                          slice->upper ? eval(slice->upper) : FrontValue::none(),
                                          slice->step ? eval(slice->step) : FrontValue::none()});
    value.kind = FrontKind::Slice;
    return value;
  }
  case ExprKind::Tuple:
  case ExprKind::List: {
    std::vector<FrontValue> items;
    for (const Expr *e : expr->kind == ExprKind::Tuple ? cast<Tuple>(expr)->elts : cast<List>(expr)->elts) {
      if (const auto *starred = dynCast<Starred>(e)) {
        const FrontValue inner = eval(starred->value);
        if (!inner.is(FrontKind::Tuple))
          c.failType(e->range, fmt::format("cannot unpack {}", describe(inner)));
        items.insert(items.end(), inner.items->begin(), inner.items->end());
        continue;
      }
      items.push_back(eval(e));
    }
    return FrontValue::tuple(std::move(items));
  }
  case ExprKind::JoinedStr:
    return formatted(cast<JoinedStr>(expr));
  case ExprKind::ListComp:
    return comprehension(cast<ListComp>(expr)->elt, cast<ListComp>(expr)->generators, expr->range);
  case ExprKind::NamedExpr: {
    const auto *named = cast<NamedExpr>(expr);
    const FrontValue value = materialized(eval(named->value));
    assign(named->target, value);
    return value;
  }
  case ExprKind::GeneratorExp:
    if (constexprOnly_)
      return comprehension(cast<GeneratorExp>(expr)->elt, cast<GeneratorExp>(expr)->generators, expr->range);
    [[fallthrough]];
  default:
    c.unsupported(expr->range, fmt::format("{} is not supported inside a kernel", nodeName(expr->kind)));
  }
}

FrontValue FunctionLowerer::constantValue(const Constant *constant) {
  if (const auto *flag = constant->asBool())
    return c.boolean(*flag);
  if (const auto *integer = constant->asInt())
    return c.integer(*integer);
  if (const auto *number = constant->asFloat())
    return FrontValue::floating(*number);
  if (const auto *text = constant->asStr())
    return FrontValue::string(std::string(*text));
  if (constant->isNone())
    return FrontValue::none();
  if (const auto *large = std::get_if<BigIntValue>(&constant->value))
    return constexprInteger(c, large->digits, constant->range);
  c.unsupported(constant->range, "this kind of constant is not supported inside a kernel");
}

FrontValue FunctionLowerer::nameValue(const Name *name) {
  if (const auto found = scope_.find(name->id); found != scope_.end())
    return found->second;
  if (const auto known = session_.names.find(name); known != session_.names.end())
    return known->second;
  return remembered(name, globalValue(name->id, name->range));
}

bool FunctionLowerer::isLocal(const Expr *expr) const {
  while (const auto *attribute = dynCast<lang::Attribute>(expr))
    expr = attribute->value;
  const auto *name = dynCast<Name>(expr);
  return !name || scope_.count(name->id) > 0;
}

FrontValue FunctionLowerer::attributeValue(const lang::Attribute *expr) {
  const bool local = isLocal(expr);
  if (!local)
    if (const auto known = session_.names.find(expr); known != session_.names.end())
      return known->second;
  FrontValue value = attribute(eval(expr->value), expr->attr, expr->range);
  return local ? value : remembered(expr, std::move(value));
}

FrontValue FunctionLowerer::remembered(const Expr *expr, FrontValue value) {
  const bool isName = value.is(FrontKind::Builtin) || value.is(FrontKind::Module) ||
                      (value.is(FrontKind::Function) && !allowsPlainGlobals()) ||
                      (value.is(FrontKind::TypeObject) && value.type.shape.empty());
  if (isName && !value.record)
    session_.names.emplace(expr, value);
  return value;
}

FrontValue FunctionLowerer::globalValue(std::string_view name, const SourceRange &range) {
  const Meaning meaning = names_.lookup(name);
  if (meaning.kind != Meaning::Kind::Unknown)
    return valueOfMeaning(meaning, name, range);
  for (const std::string_view builtin : kPythonBuiltins)
    if (builtin == name)
      return FrontValue::named(FrontKind::Builtin, "python." + std::string(name));
  c.fail(range, "lower.name", fmt::format("{} is not defined", name));
}

FrontValue FunctionLowerer::valueOfMeaning(const Meaning &meaning, std::string_view name,
                                           const SourceRange &range, bool plainToo) {
  if (meaning.kind == Meaning::Kind::External) {
    if (auto known = foreignValue(meaning.path))
      return *std::move(known);
    return valueOfPath(meaning.path);
  }
  if (meaning.kind == Meaning::Kind::Scope) {
    FrontValue module = FrontValue::named(FrontKind::Module, std::string(name));
    module.scope = meaning.scope;
    return module;
  }
  const Binding &binding = *meaning.binding;
  if (const auto known = session_.globals.find(&binding); known != session_.globals.end())
    return known->second;
  const auto refuse = [&](const FrontValue *value) -> FrontValue {
    // Dtypes and functions may stand in plain globals.
    if (value && (value->is(FrontKind::TypeObject) || value->is(FrontKind::Function) ||
                  value->is(FrontKind::Builtin) || value->is(FrontKind::Module)))
      return *value;
    c.fail(range, "lower.name",
           fmt::format(
               "cannot access global variable {} from within a @triton.jit function: only globals made as "
               "`{} = tl.constexpr(...)` can be used",
               name, name),
           {},
           fmt::format("line {} assigns it; wrap that value in tl.constexpr(...)", binding.location.line()));
  };
  switch (binding.kind) {
  case Binding::Kind::Jit: {
    FrontValue function = FrontValue::named(FrontKind::Function, std::string(name));
    function.function = binding.function;
    return function;
  }
  case Binding::Kind::Python: {
    // The host's side calls ordinary functions, a kernel does not.
    const bool plain = std::all_of(
        binding.function->decorators.begin(), binding.function->decorators.end(), [](const std::string &d) {
          return d == "functools.lru_cache" || d == "functools.cache" || d == "staticmethod";
        });
    FrontValue function = FrontValue::named(
        plain && allowsPlainGlobals() ? FrontKind::Function : FrontKind::Foreign, std::string(name));
    function.function = binding.function;
    return function;
  }
  case Binding::Kind::Argument:
    c.fail(
        range, "lower.name",
        fmt::format("{} is an argument of the function around the kernel, which only runs on the host", name),
        {}, "make it a tl.constexpr parameter of the kernel");
  default:
    break;
  }
  if (!session_.evaluating.insert(&binding).second)
    c.fail(range, "lower.name", fmt::format("the global {} is defined by itself", name));
  const bool isConstexpr = binding.kind == Binding::Kind::Constexpr || plainToo || allowsPlainGlobals();
  FrontValue value;
  try {
    FunctionLowerer evaluator(session_, *meaning.scope);
    evaluator.evaluatingGlobal_ = true;
    value = evaluator.eval(binding.value);
  } catch (const LoweringFailure &) {
    // Perhaps the host side of the file says it.
    const auto host = hostValue(*meaning.scope, binding.value);
    session_.evaluating.erase(&binding);
    if (!host) {
      if (!isConstexpr)
        return refuse(nullptr);
      throw;
    }
    value = frontOf(*host);
  }
  session_.evaluating.erase(&binding);
  if (value.isRuntime())
    c.fail(range, "lower.name", fmt::format("the global {} has no value of compile time", name));
  if (!isConstexpr)
    return refuse(&value);
  return session_.globals.insert_or_assign(&binding, std::move(value)).first->second;
}

FrontValue FunctionLowerer::frontOf(const HostValue &value) {
  if (const auto *flag = std::get_if<bool>(&value))
    return c.boolean(*flag);
  if (const auto *integer = std::get_if<int64_t>(&value))
    return c.integer(*integer);
  if (const auto *number = std::get_if<double>(&value))
    return FrontValue::floating(*number);
  if (const auto *text = std::get_if<std::string>(&value))
    return FrontValue::string(*text);
  return FrontValue::none();
}

FunctionLowerer::FunctionLowerer(Session &session, const ModuleScope &names)
    : session_(session), c(session.context), emit(session.emit), names_(names) {
  auto &sources = c.program.sources; // locations point into them
  if (std::find(sources.begin(), sources.end(), names.source()) == sources.end())
    sources.push_back(names.source());
}

FrontValue FunctionLowerer::binary(BinaryOperator op, const FrontValue &a, const FrontValue &b,
                                   const SourceRange &range) {
  if (a.isRuntime() || b.isRuntime())
    return FrontValue::runtime(emit.binary(op, a, b));
  return constexprBinary(c, op, a, b, range);
}

FrontValue FunctionLowerer::compare(CompareOperator op, const FrontValue &a, const FrontValue &b,
                                    const SourceRange &range) {
  const bool identity = op == CompareOperator::Is || op == CompareOperator::IsNot;
  const bool membership = op == CompareOperator::In || op == CompareOperator::NotIn;
  if (identity || membership || (!a.isRuntime() && !b.isRuntime()))
    return constexprCompare(c, op, a, b, range);
  return FrontValue::runtime(emit.compare(op, a, b));
}

FrontValue FunctionLowerer::comparison(const Compare *expr) {
  FrontValue left = eval(expr->left);
  std::vector<FrontValue> results;
  for (size_t i = 0; i < expr->ops.size(); ++i) {
    FrontValue right = eval(expr->comparators[i]);
    results.push_back(compare(expr->ops[i], left, right, expr->range));
    left = std::move(right);
  }
  return results.size() == 1 ? results[0] : combineBooleans(BoolOperator::And, results, expr->range);
}

FrontValue FunctionLowerer::boolean(const BoolOp *expr) {
  std::vector<FrontValue> values;
  for (const Expr *e : expr->values) {
    values.push_back(eval(e));
    const FrontValue &last = values.back();
    // Short circuit: what follows isn't even looked at. Conditions are kept as expressions as long as nothing
    // that follows could fail or act; deciding them here would split the Program without need.
    if (!last.isRuntime() && e != expr->values.back()) {
      const bool plain = last.is(FrontKind::Bool) && last.sym.isConstant();
      if (last.is(FrontKind::Bool) && !plain && (last.witness != 0) == (expr->op == BoolOperator::And))
        continue;
      if (c.truth(last, e->range) == (expr->op == BoolOperator::Or))
        break;
    }
  }
  return combineBooleans(expr->op, values, expr->range);
}

FrontValue FunctionLowerer::combineBooleans(BoolOperator op, const std::vector<FrontValue> &values,
                                            const SourceRange &range) {
  // All conditions of compile time: one condition.
  bool allConditions = true, anyRuntime = false;
  for (const FrontValue &v : values) {
    allConditions &= v.is(FrontKind::Bool);
    anyRuntime |= v.isRuntime();
  }
  if (allConditions) {
    FrontValue result = values[0];
    for (size_t i = 1; i < values.size(); ++i) {
      const SymInt sym = op == BoolOperator::And ? c.syms.logicalAnd(result.sym, values[i].sym)
                                                 : c.syms.logicalOr(result.sym, values[i].sym);
      result = c.condition(sym, range);
    }
    return result;
  }
  if (!anyRuntime) {
    for (const FrontValue &v : values)
      if (c.truth(v, range) == (op == BoolOperator::Or))
        return v;
    return values.back();
  }
  // Mixed: a known value either decides or has no effect.
  std::vector<FrontValue> runtime;
  for (const FrontValue &v : values) {
    if (v.isRuntime())
      runtime.push_back(v);
    else if (c.truth(v, range) == (op == BoolOperator::Or))
      return v;
  }
  while (runtime.size() > 1) {
    const FrontValue right = runtime.back();
    runtime.pop_back();
    const FrontValue left = runtime.back();
    runtime.back() = FrontValue::runtime(emit.logical(op, left, right));
  }
  return runtime[0];
}

FrontValue FunctionLowerer::unary(const UnaryOp *expr) {
  FrontValue operand = eval(expr->operand);
  if (!operand.isRuntime())
    return constexprUnary(c, expr->op, operand, expr->range);
  switch (expr->op) {
  case UnaryOperator::USub:
    return FrontValue::runtime(emit.negate(operand.value));
  case UnaryOperator::Invert:
    return FrontValue::runtime(emit.invert(operand.value));
  case UnaryOperator::Not:
    return FrontValue::runtime(emit.logicalNot(operand.value));
  case UnaryOperator::UAdd:
    break;
  }
  return operand;
}

FrontValue FunctionLowerer::formatted(const JoinedStr *expr) {
  std::string text;
  for (const Expr *part : expr->values) {
    if (const auto *value = dynCast<FormattedValue>(part)) {
      const FrontValue inner = eval(value->value);
      if (inner.isRuntime())
        c.unsupported(part->range, "cannot evaluate f-string containing non-constexpr conversion values",
                      "tl.device_print prints values of run time");
      text += pythonText(inner);
    } else {
      text += pythonText(eval(part));
    }
  }
  return FrontValue::string(std::move(text));
}

FrontValue FunctionLowerer::comprehension(const Expr *element, Seq<const Comprehension *> generators,
                                          const SourceRange &range) {
  if (generators.size() != 1)
    c.unsupported(range, "nested comprehensions are not supported");
  const Comprehension *generator = generators[0];
  const FrontValue iterable = eval(generator->iter);
  if (!iterable.is(FrontKind::Tuple))
    c.unsupported(generator->iter->range, "only tuple comprehensions are supported");
  std::vector<FrontValue> items;
  for (const FrontValue &item : *iterable.items) {
    assign(generator->target, item);
    bool keep = true;
    for (const Expr *condition : generator->ifs)
      keep = keep && c.truth(eval(condition), condition->range);
    if (keep)
      items.push_back(eval(element));
  }
  return FrontValue::tuple(std::move(items));
}

FrontValue FunctionLowerer::materialized(const FrontValue &value) {
  if (constexprOnly_ || evaluatingGlobal_)
    return value;
  if (value.isNumber())
    return FrontValue::runtime(emit.toTensor(value));
  // An aggregate keeps what it holds; a tuple's items are values like any other, also those of a named one.
  if (value.is(FrontKind::Tuple) && (!value.scope || value.scope->isNamedTuple())) {
    std::vector<FrontValue> items;
    for (const FrontValue &item : *value.items)
      items.push_back(materialized(item));
    FrontValue result = FrontValue::tuple(std::move(items));
    result.fields = value.fields;
    result.scope = value.scope;
    return result;
  }
  return value;
}

std::string FunctionLowerer::describe(const FrontValue &value) { return emit.typeName(value); }

} // namespace tilewright::lowering

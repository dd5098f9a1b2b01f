#include "AstWalk.h"
#include "FunctionLowerer.h"

#include <fmt/format.h>

namespace tilewright::lowering {

using namespace lang;

void FunctionLowerer::flatten(const FrontValue &value, std::vector<ValueId> &out) {
  if (value.isRuntime())
    out.push_back(value.value);
  else if (value.is(FrontKind::Tuple))
    for (const FrontValue &item : *value.items)
      flatten(item, out);
}

FrontValue FunctionLowerer::rebuilt(const FrontValue &form, const std::vector<ValueId> &values,
                                    size_t &next) {
  if (form.isRuntime())
    return FrontValue::runtime(values[next++]);
  if (!form.is(FrontKind::Tuple))
    return form;
  std::vector<FrontValue> items;
  for (const FrontValue &item : *form.items)
    items.push_back(rebuilt(item, values, next));
  FrontValue result = FrontValue::tuple(std::move(items));
  result.fields = form.fields;
  result.scope = form.scope;
  return result;
}

bool FunctionLowerer::sameForm(const FrontValue &a, const FrontValue &b) {
  if (a.kind != b.kind)
    return false;
  if (a.isRuntime()) {
    const Type x = c.typeOf(a.value), y = c.typeOf(b.value);
    return x.kind == y.kind && x.dtype == y.dtype && emit.sameShape(x.shape, y.shape);
  }
  if (a.is(FrontKind::Tuple)) {
    if (a.items->size() != b.items->size())
      return false;
    for (size_t i = 0; i < a.items->size(); ++i)
      if (!sameForm((*a.items)[i], (*b.items)[i]))
        return false;
    return true;
  }
  if (a.isIntegral())
    return a.sym == b.sym;
  return a.number == b.number && a.text == b.text && a.type == b.type && a.function == b.function;
}

ValueId FunctionLowerer::spelledAs(ValueId value, const Type &type) {
  return c.typeOf(value) == type ? value : c.create(OpKind::Reshape, {value}, type);
}

ValueId FunctionLowerer::conditionValue(const FrontValue &value, const SourceRange &range) {
  const Type type = c.typeOf(value.value);
  if (type.kind >= Type::Kind::BlockPointer)
    c.failType(range, fmt::format("{} has no truth value", describe(value)));
  ValueId condition = value.value;
  if (!type.isScalar()) {
    if (c.valueOf(emit.elementCount(type.shape), range) != 1)
      c.unsupported(range, "boolean value of Tensor with more than one value is ambiguous",
                    "reduce it to a scalar, e.g. with tl.max");
    condition = emit.unsplat(condition);
  }
  return emit.cast(condition, DType::Int1);
}

FunctionLowerer::Flow FunctionLowerer::ifStatement(const If *stmt, const Continuation *rest) {
  const FrontValue test = eval(stmt->test);
  c.here = stmt->test->range;
  if (!test.isRuntime()) {
    if (!test.isIntegral() && !test.isNone() && !test.is(FrontKind::String) && !test.is(FrontKind::Tuple))
      c.unsupported(
          stmt->test->range,
          fmt::format("`if` conditionals can only accept values of type bool, int, NoneType, not {}",
                      describe(test)));
    return block(c.truth(test, stmt->test->range) ? stmt->body : stmt->orelse, rest);
  }
  const ValueId condition = conditionValue(test, stmt->test->range);
  if (containsReturn(stmt->body) || containsReturn(stmt->orelse)) {
    if (loopDepth_ > 0)
      c.unsupported(stmt->range,
                    "cannot have `return` statements inside `while` or `for` statements in triton");
    return isKernel_ ? kernelReturnIf(condition, stmt) : returningIf(condition, stmt, rest);
  }
  structuredIf(condition, stmt);
  return Flow::Next;
}

/// Lowers one side of a branch into a region of its own and hands back what the names stand for at its end;
/// the lowerer's own names are as before.
template <class Run> FunctionLowerer::Branch FunctionLowerer::branch(Run &&run) {
  Branch result;
  const Scope before = scope_;
  const auto definedBefore = std::exchange(defined_, {});
  const auto constexprBefore = constexprNames_;
  result.region = c.builder.newRegion();
  c.builder.enter(result.region);
  result.returned = run() == Flow::Returned;
  c.builder.leave();
  result.scope = std::exchange(scope_, before);
  result.defined = std::exchange(defined_, definedBefore);
  constexprNames_ = constexprBefore;
  return result;
}

void FunctionLowerer::structuredIf(ValueId condition, const If *stmt) {
  const SourceRange here = c.here = stmt->range;
  const OpId op = c.createOp(OpKind::If, {condition}, {});
  const Scope before = scope_;
  Branch thenBranch = branch([&] { return block(stmt->body, nullptr); });
  Branch elseBranch = branch([&] { return block(stmt->orelse, nullptr); });
  c.here = here;
  mergeBranches(op, thenBranch, elseBranch, before, stmt->range);
}

FunctionLowerer::Flow FunctionLowerer::kernelReturnIf(ValueId condition, const If *stmt) {
  const SourceRange here = c.here = stmt->range;
  const OpId op = c.createOp(OpKind::If, {condition}, {});
  const Scope before = scope_;
  Branch thenBranch = branch([&] { return block(stmt->body, nullptr); });
  Branch elseBranch = branch([&] { return block(stmt->orelse, nullptr); });
  c.here = here;
  mergeBranches(op, thenBranch, elseBranch, before, stmt->range);
  return thenBranch.returned && elseBranch.returned ? Flow::Returned : Flow::Next;
}

void FunctionLowerer::mergeBranches(OpId op, Branch &thenBranch, Branch &elseBranch, const Scope &before,
                                    const SourceRange &range) {
  std::vector<std::string> names;
  const auto differs = [](const FrontValue &a, const FrontValue &b) {
    std::vector<ValueId> x, y;
    flatten(a, x);
    flatten(b, y);
    return x != y;
  };
  // Where one side ends the program, the other side's values are what follows sees.
  const bool both = !thenBranch.returned && !elseBranch.returned;
  const Branch &lasting = thenBranch.returned ? elseBranch : thenBranch;
  for (const auto &[name, value] : before) {
    const FrontValue &a = thenBranch.returned ? lasting.scope.at(name) : thenBranch.scope.at(name);
    const FrontValue &b = elseBranch.returned ? lasting.scope.at(name) : elseBranch.scope.at(name);
    if (!differs(a, b) && (both || !differs(a, value)))
      continue;
    for (const auto &[side, text] : {std::pair(&a, "then"), std::pair(&b, "else")})
      if (!sameForm(*side, value))
        c.failType(range,
                   fmt::format("initial value for `{}` is of type {}, but the {} block redefines it as {}",
                               name, describe(value), text, describe(*side)));
    names.push_back(name);
  }
  for (const std::string &name : lasting.defined) {
    if (before.count(name) || (both && !elseBranch.defined.count(name)))
      continue;
    if (both) {
      const FrontValue &a = thenBranch.scope.at(name), &b = elseBranch.scope.at(name);
      if (!sameForm(a, b))
        c.failType(range, fmt::format("mismatched type for {} between then block ({}) and else block ({})",
                                      name, describe(a), describe(b)));
    }
    names.push_back(name);
  }

  // Yield the values of both sides; results take their place.
  std::vector<Type> types;
  std::vector<ValueId> leaves;
  for (const std::string &name : names)
    flatten(lasting.scope.at(name), leaves);
  for (ValueId leaf : leaves)
    types.push_back(c.typeOf(leaf));
  std::vector<ValueId> sides[2];
  Branch *branches[2] = {&thenBranch, &elseBranch};
  for (int side = 0; side < 2; ++side) {
    const Branch &current = *branches[side];
    c.program.regions[current.region].parent = op;
    c.program.ops[op].regions.push_back(current.region);
    c.builder.enter(current.region);
    if (current.returned) {
      c.createOp(OpKind::Return, {}, {});
    } else {
      for (const std::string &name : names)
        flatten(current.scope.at(name), sides[side]);
      for (size_t i = 0; i < types.size(); ++i)
        sides[side][i] = spelledAs(sides[side][i], types[i]);
      c.createOp(OpKind::Yield, sides[side], {});
    }
    c.builder.leave();
  }
  if (thenBranch.returned && elseBranch.returned)
    return;
  std::vector<ValueId> results;
  const SymInt condition = c.symOf(c.program.ops[op].operands[0]);
  for (size_t i = 0; i < types.size(); ++i) {
    Value value;
    value.type = types[i];
    value.definingOp = op;
    value.index = static_cast<uint32_t>(i);
    value.name = c.program.values[leaves[i]].name;
    const std::string name = value.name;
    const ValueId id = static_cast<ValueId>(c.program.values.size());
    c.program.values.push_back(std::move(value));
    c.program.ops[op].results.push_back(id);
    SymInt sym;
    if (both && condition.valid() && c.symOf(sides[0][i]).valid() && c.symOf(sides[1][i]).valid())
      sym = c.syms.select(condition, c.symOf(sides[0][i]), c.symOf(sides[1][i]));
    else if (!both)
      sym = c.symOf(sides[thenBranch.returned ? 1 : 0][i]);
    c.setSym(id, sym, name.empty() ? "merged" : name);
    results.push_back(id);
  }
  size_t next = 0;
  for (const std::string &name : names)
    bindName(name, rebuilt(lasting.scope.at(name), results, next));
}

/// A helper's `if` with a `return` inside: what follows the `if` becomes the end of the branch that goes on,
/// and the two returned values are merged.
FunctionLowerer::Flow FunctionLowerer::returningIf(ValueId condition, const If *stmt,
                                                   const Continuation *rest) {
  const SourceRange here = c.here = stmt->range;
  const OpId op = c.createOp(OpKind::If, {condition}, {});
  FrontValue values[2];
  Branch branches[2];
  for (int side = 0; side < 2; ++side) {
    branches[side] = branch([&] {
      Flow flow = block(side == 0 ? stmt->body : stmt->orelse, rest);
      for (const Continuation *next = rest; next && flow == Flow::Next; next = next->next)
        flow = block(next->body, next->next, next->from);
      if (flow == Flow::Next)
        returned_ = FrontValue::none();
      values[side] = returned_;
      return Flow::Next;
    });
  }
  c.here = here;
  returned_ = mergeReturns(op, branches[0].region, values[0], branches[1].region, values[1], stmt->range);
  return Flow::Returned;
}

FrontValue FunctionLowerer::mergeReturns(OpId op, RegionId thenRegion, const FrontValue &a,
                                         RegionId elseRegion, const FrontValue &b, const SourceRange &range) {
  const RegionId regions[2] = {thenRegion, elseRegion};
  FrontValue sides[2] = {a, b};
  for (int side = 0; side < 2; ++side) {
    c.program.regions[regions[side]].parent = op;
    c.program.ops[op].regions.push_back(regions[side]);
    c.builder.enter(regions[side]);
    // Numbers that differ between the sides become SSA values there.
    if (!sameForm(a, b) || a.isRuntime())
      sides[side] = materialized(sides[side]);
    c.builder.leave();
  }
  if (!sameForm(sides[0], sides[1]))
    c.failType(range, fmt::format("return type mismatch: {} and {}", describe(sides[0]), describe(sides[1])));
  std::vector<ValueId> values[2];
  std::vector<Type> types;
  for (int side = 0; side < 2; ++side) {
    flatten(sides[side], values[side]);
    c.builder.enter(regions[side]);
    for (size_t i = 0; i < values[side].size(); ++i) {
      if (side == 0)
        types.push_back(c.typeOf(values[0][i]));
      else
        values[1][i] = spelledAs(values[1][i], types[i]);
    }
    c.createOp(OpKind::Yield, values[side], {});
    c.builder.leave();
  }
  const SymInt condition = c.symOf(c.program.ops[op].operands[0]);
  std::vector<ValueId> results;
  for (size_t i = 0; i < types.size(); ++i) {
    Value value;
    value.type = types[i];
    value.definingOp = op;
    value.index = static_cast<uint32_t>(i);
    const ValueId id = static_cast<ValueId>(c.program.values.size());
    c.program.values.push_back(std::move(value));
    c.program.ops[op].results.push_back(id);
    const SymInt x = c.symOf(values[0][i]), y = c.symOf(values[1][i]);
    c.setSym(id, condition.valid() && x.valid() && y.valid() ? c.syms.select(condition, x, y) : SymInt(),
             "merged");
    results.push_back(id);
  }
  size_t next = 0;
  return rebuilt(sides[0], results, next);
}

FrontValue FunctionLowerer::conditionalExpression(const IfExp *expr) {
  const FrontValue test = eval(expr->test);
  if (!test.isRuntime())
    return eval(c.truth(test, expr->test->range) ? expr->body : expr->orelse);
  const SourceRange here = c.here;
  const ValueId condition = conditionValue(test, expr->test->range);
  const OpId op = c.createOp(OpKind::If, {condition}, {});
  FrontValue values[2];
  Branch branches[2];
  for (int side = 0; side < 2; ++side)
    branches[side] = branch([&] {
      values[side] = materialized(eval(side == 0 ? expr->body : expr->orelse));
      return Flow::Next;
    });
  c.here = here;
  if (!sameForm(values[0], values[1]))
    c.failType(expr->range,
               fmt::format("ternary expression with dynamic condition has inconsistent types {} and {}",
                           describe(values[0]), describe(values[1])));
  return mergeReturns(op, branches[0].region, values[0], branches[1].region, values[1], expr->range);
}

} // namespace tilewright::lowering

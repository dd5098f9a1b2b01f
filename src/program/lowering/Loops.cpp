#include "AstWalk.h"
#include "FunctionLowerer.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::lowering {

using namespace lang;

namespace {

/// The arguments of `range`, `tl.range` and `tl.static_range`, by Python's rule for one, two or three.
struct Bounds {
  FrontValue lower, upper, step;
};

} // namespace

void FunctionLowerer::checkCarried(const std::string &name, const FrontValue &before, const FrontValue &after,
                                   const SourceRange &range) {
  if (before.isRuntime() != after.isRuntime() || (!before.isRuntime() && !before.is(FrontKind::Tuple)))
    c.failType(range, before.isRuntime()
                          ? fmt::format("loop carried variable {} changed type, was {} but is now {}", name,
                                        describe(before), describe(after))
                          : fmt::format("cannot reassign constexpr {} in the loop", name));
  if (!sameForm(before, after))
    c.failType(range, fmt::format("loop-carried variable {} has initial type {} but is re-assigned to {} in "
                                  "loop; please make sure that the "
                                  "type stays consistent",
                                  name, describe(before), describe(after)));
}

/// Which names a loop carries: those that live before it and stand for another value after its body.
/// Assignments that every iteration reaches need no proof; for the others (under an `if` that may be static,
/// or in an inner loop) the body is lowered once on trial and taken back.
FunctionLowerer::Carried FunctionLowerer::carriedNames(Body body, const SourceRange &range,
                                                       const std::string &indexName, const Type &indexType) {
  Carried carried;
  bool needsTrial = false;
  std::vector<std::string> candidates;
  for (const AssignedName &assigned : assignedNames(body)) {
    const auto live = scope_.find(assigned.name);
    if (live == scope_.end() || assigned.name == indexName)
      continue;
    candidates.emplace_back(assigned.name);
    needsTrial |= !assigned.certain || !live->second.isRuntime();
  }
  std::sort(candidates.begin(), candidates.end());
  if (needsTrial) {
    const LoweringContext::Mark mark = c.mark();
    const Scope before = scope_;
    const auto definedBefore = defined_;
    const auto constexprBefore = constexprNames_;
    const RegionId region = c.builder.newRegion();
    c.builder.enter(region);
    if (!indexName.empty()) {
      const ValueId index = c.builder.addArgument(region, indexType, indexName);
      c.setSym(index, {}, indexName);
      bindName(indexName, FrontValue::runtime(index));
    }
    ++c.discoveryDepth;
    ++loopDepth_;
    block(body, nullptr);
    --loopDepth_;
    --c.discoveryDepth;
    std::vector<std::string> changed;
    for (const std::string &name : candidates) {
      std::vector<ValueId> x, y;
      const FrontValue &was = before.at(name), &now = scope_.at(name);
      flatten(was, x);
      flatten(now, y);
      if (x == y && was.kind == now.kind)
        continue;
      checkCarried(name, was, now, range);
      changed.push_back(name);
    }
    candidates = std::move(changed);
    c.builder.leave();
    scope_ = before;
    defined_ = definedBefore;
    constexprNames_ = constexprBefore;
    c.rollback(mark);
  }
  for (std::string &name : candidates) {
    carried.initial.push_back(scope_.at(name));
    carried.names.push_back(std::move(name));
  }
  return carried;
}

void FunctionLowerer::forStatement(const For *stmt) {
  if (!stmt->orelse.empty())
    c.unsupported(stmt->range, "`else` after a loop is not supported in a kernel");
  const auto *iterator = dynCast<Call>(stmt->iter);
  FrontValue callee = iterator ? eval(iterator->func) : FrontValue::none();
  const auto is = [&](std::string_view name) { return callee.is(FrontKind::Builtin) && callee.text == name; };
  // `parallel` hands iterations to the parts of one core; what they compute is that of a plain range.
  if (!is("python.range") && !is("range") && !is("static_range") && !is("parallel"))
    c.unsupported(stmt->iter->range, "only `range`, `tl.range` and `tl.static_range` iterators are supported",
                  "write `for i in tl.static_range(len(items))` to go through a tuple");
  if (!isa<Name>(stmt->target))
    c.unsupported(stmt->target->range, "a loop's index must be one name");
  CallArguments arguments = callArguments(iterator);
  if (is("static_range"))
    return staticFor(stmt, arguments);
  runtimeFor(stmt, arguments);
}

namespace {

Bounds boundsOf(LoweringContext &c, const std::vector<FrontValue> &positional,
                const std::vector<std::pair<std::string, FrontValue>> &keywords, const SourceRange &range) {
  std::vector<FrontValue> p = positional;
  // tl.range and tl.static_range name their parameters arg1, arg2, step.
  for (const auto &[name, value] : keywords) {
    if (name == "arg1" || name == "arg2")
      p.push_back(value);
  }
  std::optional<FrontValue> step;
  for (const auto &[name, value] : keywords)
    if (name == "step" && !value.isNone())
      step = value;
  if (p.empty() || p.size() > 3)
    c.fail(range, "lower.call",
           fmt::format("range takes one to three arguments, but {} were given", p.size()));
  if (p.size() >= 2 && p[1].isNone())
    p.erase(p.begin() + 1);
  if (p.size() == 3)
    step = p[2];
  if (p.size() == 1)
    return {c.integer(0), p[0], step.value_or(c.integer(1))};
  return {p[0], p[1], step.value_or(c.integer(1))};
}

} // namespace

/// `range(...)` as the tuple of its integers, for what runs while the kernel is compiled.
FrontValue FunctionLowerer::rangeItems(const CallArguments &arguments) {
  const Bounds bounds = boundsOf(c, arguments.positional, arguments.keywords, arguments.range);
  for (const FrontValue *bound : {&bounds.lower, &bounds.upper, &bounds.step})
    if (!bound->isIntegral())
      c.failType(arguments.range, fmt::format("range needs integers here, not {}", describe(*bound)));
  const int64_t lower = c.concrete(bounds.lower, arguments.range),
                upper = c.concrete(bounds.upper, arguments.range),
                step = c.concrete(bounds.step, arguments.range);
  std::vector<FrontValue> items;
  for (int64_t i = lower; step > 0 ? i < upper : step < 0 && i > upper; i += step) {
    if (items.size() >= c.options.maxUnrolledIterations)
      c.fail(arguments.range, "lower.limit",
             fmt::format("a range of more than {} integers", c.options.maxUnrolledIterations));
    items.push_back(c.integer(i));
  }
  return FrontValue::tuple(std::move(items));
}

void FunctionLowerer::staticFor(const For *stmt, const CallArguments &arguments) {
  const Bounds bounds = boundsOf(c, arguments.positional, arguments.keywords, arguments.range);
  for (const FrontValue *bound : {&bounds.lower, &bounds.upper, &bounds.step})
    if (!bound->isIntegral())
      c.failType(arguments.range,
                 fmt::format("static_range needs constexpr integers, not {}", describe(*bound)));
  const int64_t lower = c.concrete(bounds.lower, arguments.range),
                upper = c.concrete(bounds.upper, arguments.range),
                step = c.concrete(bounds.step, arguments.range);
  if (step == 0)
    c.fail(arguments.range, "lower.type", "static_range's step must not be zero");
  const auto index = cast<Name>(stmt->target)->id;
  for (int64_t i = lower; step > 0 ? i < upper : i > upper; i += step) {
    if (++c.unrolled > c.options.maxUnrolledIterations)
      c.fail(stmt->range, "lower.limit",
             fmt::format("static_range unrolls more than {} iterations", c.options.maxUnrolledIterations), {},
             "use `range` or `tl.range` for long loops");
    define(index, c.integer(i));
    block(stmt->body, nullptr);
  }
}

void FunctionLowerer::runtimeFor(const For *stmt, const CallArguments &arguments) {
  Bounds bounds = boundsOf(c, arguments.positional, arguments.keywords, arguments.range);
  c.here = stmt->iter->range;
  const bool backwards = bounds.step.isIntegral() && bounds.step.witness < 0;
  if (bounds.step.isIntegral() && bounds.step.witness == 0)
    c.fail(arguments.range, "lower.type", "a loop's step must not be zero",
           bounds.step.sym.isConstant() ? SymInt() : c.syms.lt(c.syms.constant(0), bounds.step.sym));
  if (backwards) {
    c.decide(c.syms.lt(bounds.step.sym, c.syms.constant(0)), true, arguments.range);
    bounds.step = FrontValue::integer(c.syms.neg(bounds.step.sym), -bounds.step.witness);
    std::swap(bounds.lower, bounds.upper);
  }
  ValueId range[3];
  const FrontValue *parts[3] = {&bounds.lower, &bounds.upper, &bounds.step};
  for (int i = 0; i < 3; ++i) {
    range[i] = emit.toTensor(*parts[i]);
    const Type type = c.typeOf(range[i]);
    if (type.kind != Type::Kind::Value || !isInteger(type.dtype))
      c.failLoaded(arguments.range,
                   fmt::format("for loop bounds and step must all be ints, not {}", emit.typeName(type)),
                   {range[i]});
    if (!type.isScalar()) {
      if (c.valueOf(emit.elementCount(type.shape), c.here) != 1)
        c.failType(arguments.range,
                   fmt::format("for loop bounds must be scalars, not {}", emit.typeName(type)));
      range[i] = emit.unsplat(range[i]);
    }
  }
  const DType dtype = emit.promoteIntegers(
      emit.promoteIntegers(c.typeOf(range[0]).dtype, c.typeOf(range[1]).dtype), c.typeOf(range[2]).dtype);
  const Type indexType = Type::scalar(dtype);
  for (ValueId &bound : range)
    bound = emit.cast(bound, dtype);
  const std::string indexName(cast<Name>(stmt->target)->id);

  // The carried values and the body.
  const Carried carried = carriedNames(stmt->body, stmt->range, indexName, indexType);
  std::vector<ValueId> operands(range, range + 3), initial;
  for (const FrontValue &value : carried.initial)
    flatten(value, initial);
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Type> types;
  for (ValueId value : initial)
    types.push_back(c.typeOf(value));
  Attributes attributes;
  for (const auto &[name, value] : arguments.keywords) {
    if (value.isNone() || name == "step" || name == "arg1" || name == "arg2")
      continue;
    const std::string key = name == "loop_unroll_factor" ? "unroll" : name;
    if (value.is(FrontKind::Bool)) {
      if (c.truth(value, arguments.range))
        attributes.set(key, true);
    } else if (value.is(FrontKind::Int)) {
      if (value.sym.isConstant())
        attributes.set(key, value.witness);
      else
        attributes.set(key, value.sym);
    }
  }
  c.here = stmt->range;
  const OpId op = c.createOp(OpKind::For, std::move(operands), types, std::move(attributes));
  const RegionId region = c.builder.newRegion(op);
  c.program.ops[op].regions.push_back(region);

  const ValueId counter = c.builder.addArgument(region, indexType, backwards ? "" : indexName);
  const SymInt lower = c.symOf(range[0]), upper = c.symOf(range[1]), step = c.symOf(range[2]);
  SymRange bound;
  if (lower.valid())
    bound.min = lower.range().min;
  if (upper.valid() && upper.range().max != INT64_MAX)
    bound.max = std::max(upper.range().max - 1, bound.min);
  int64_t divisor = 1;
  if (lower.valid() && step.valid())
    divisor = std::max<int64_t>(1, std::gcd(lower.divisor(), step.divisor()));
  c.program.values[counter].sym = c.syms.newSymbol(SymbolKind::LoopIndex, indexName, bound, divisor);

  const Scope before = scope_;
  const auto definedBefore = defined_;
  const auto constexprBefore = constexprNames_;
  c.builder.enter(region);
  std::vector<ValueId> inside;
  for (const Type &type : types)
    inside.push_back(c.builder.addArgument(region, type));
  size_t next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i) {
    const FrontValue value = rebuilt(carried.initial[i], inside, next);
    bindName(carried.names[i], value);
  }
  for (ValueId value : inside)
    c.setSym(value, {}, c.program.values[value].name);
  ValueId index = counter;
  if (backwards) {
    index = emit.binary(BinaryOperator::Sub, FrontValue::runtime(range[1]), FrontValue::runtime(index));
    index = emit.binary(BinaryOperator::Add, FrontValue::runtime(index), FrontValue::runtime(range[0]));
  }
  bindName(indexName, FrontValue::runtime(index));
  // On a trial run of an enclosing loop only the carried names and their types matter.
  if (c.discoveryDepth == 0) {
    ++loopDepth_;
    block(stmt->body, nullptr);
    --loopDepth_;
  }
  c.here = stmt->range;
  std::vector<ValueId> yielded;
  for (size_t i = 0; i < carried.names.size(); ++i) {
    const FrontValue &now = scope_.at(carried.names[i]);
    checkCarried(carried.names[i], carried.initial[i], now, stmt->range);
    flatten(now, yielded);
  }
  for (size_t i = 0; i < yielded.size(); ++i)
    yielded[i] = spelledAs(yielded[i], types[i]);
  c.createOp(OpKind::Yield, std::move(yielded), {});
  c.builder.leave();

  scope_ = before;
  defined_ = definedBefore;
  constexprNames_ = constexprBefore;
  std::vector<ValueId> results = c.program.ops[op].results;
  next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    bindName(carried.names[i], rebuilt(carried.initial[i], results, next));
  for (ValueId value : results)
    c.setSym(value, {}, c.program.values[value].name);
}

void FunctionLowerer::whileStatement(const While *stmt) {
  if (!stmt->orelse.empty())
    c.unsupported(stmt->range, "`else` after a loop is not supported in a kernel");
  const Carried carried = carriedNames(stmt->body, stmt->range, {}, {});
  std::vector<ValueId> initial;
  for (const FrontValue &value : carried.initial)
    flatten(value, initial);
  std::vector<Type> types;
  for (ValueId value : initial)
    types.push_back(c.typeOf(value));
  c.here = stmt->range;
  const OpId op = c.createOp(OpKind::While, initial, types);
  const Scope before = scope_;
  const auto definedBefore = defined_;
  const auto constexprBefore = constexprNames_;
  // Region 0 decides, region 1 is the body; both see the carried values as their arguments.
  for (int part = 0; part < 2; ++part) {
    const RegionId region = c.builder.newRegion(op);
    c.program.ops[op].regions.push_back(region);
    c.builder.enter(region);
    std::vector<ValueId> inside;
    for (const Type &type : types)
      inside.push_back(c.builder.addArgument(region, type));
    size_t next = 0;
    scope_ = before;
    for (size_t i = 0; i < carried.names.size(); ++i)
      bindName(carried.names[i], rebuilt(carried.initial[i], inside, next));
    for (ValueId value : inside)
      c.setSym(value, {}, c.program.values[value].name);
    std::vector<ValueId> yielded;
    if (part == 0) {
      const FrontValue test = eval(stmt->test);
      c.here = stmt->test->range;
      if (!test.isRuntime() && !test.isNumber())
        c.failType(stmt->test->range,
                   fmt::format("a loop's condition must be a bool, not {}", describe(test)));
      yielded = {conditionValue(FrontValue::runtime(emit.toTensor(test)), stmt->test->range)};
    } else {
      if (c.discoveryDepth == 0) {
        ++loopDepth_;
        block(stmt->body, nullptr);
        --loopDepth_;
      }
      c.here = stmt->range;
      for (size_t i = 0; i < carried.names.size(); ++i) {
        const FrontValue &now = scope_.at(carried.names[i]);
        checkCarried(carried.names[i], carried.initial[i], now, stmt->range);
        flatten(now, yielded);
      }
      for (size_t i = 0; i < yielded.size(); ++i)
        yielded[i] = spelledAs(yielded[i], types[i]);
    }
    c.createOp(OpKind::Yield, std::move(yielded), {});
    c.builder.leave();
  }
  scope_ = before;
  defined_ = definedBefore;
  constexprNames_ = constexprBefore;
  const std::vector<ValueId> results = c.program.ops[op].results;
  size_t next = 0;
  for (size_t i = 0; i < carried.names.size(); ++i)
    bindName(carried.names[i], rebuilt(carried.initial[i], results, next));
  for (ValueId value : results)
    c.setSym(value, {}, c.program.values[value].name);
}

} // namespace tilewright::lowering

#include "Monomials.h"
#include "Tracer.h"

#include <algorithm>

namespace tilewright::analysis {

namespace {

/// Unrolled loops can build expressions of exponential text; past this an expression is an unknown.
constexpr uint32_t kMaxWeight = 600;

bool endsInReturn(const Program &program, RegionId region) {
  const auto &ops = program.region(region).ops;
  return std::any_of(ops.begin(), ops.end(), [&](OpId op) { return program.op(op).kind == OpKind::Return; });
}

} // namespace

Tracer::Tracer(const Program &program, Trace &result)
    : program_(program), result_(result), indices_(result.indices), context_(result.indices.context()) {
  result_.values.resize(program.values.size());
  result_.loopOf.assign(program.ops.size(), kNone);
  result_.guardOf.resize(program.ops.size());
}

void Tracer::run() {
  if (program_.regions.empty())
    return;
  for (uint32_t i = 0; i < program_.parameters.size(); ++i) {
    const Parameter &parameter = program_.parameters[i];
    if (parameter.value == kNone || parameter.value >= program_.values.size())
      continue;
    if (parameter.kind == Parameter::Kind::Pointer) {
      IndexValue &value = at(parameter.value);
      value.kind = IndexValue::Kind::Pointer;
      value.expr = constant(0);
      value.buffers = {i};
    } else if (parameter.kind == Parameter::Kind::Scalar && isInteger(parameter.type.dtype)) {
      if (parameter.symbol.valid())
        setInteger(parameter.value, parameter.companion.valid() ? parameter.companion : parameter.symbol);
      else
        setOpaque(parameter.value, kNone);
    }
  }
  visitRegion(0);
  finish();
}

void Tracer::visitRegion(RegionId region) {
  yields_.emplace_back();
  const SymInt outerGuard = guard_;
  for (OpId id : program_.region(region).ops) {
    result_.loopOf[id] = loop_;
    result_.guardOf[id] = guard_;
    const Op &op = program_.op(id);
    if (op.kind == OpKind::Yield) {
      yields_.back() = op.operands;
      continue;
    }
    visit(id);
    for (ValueId value : op.results)
      if (at(value).known() && at(value).expr.valid() && at(value).expr.weight() > kMaxWeight) {
        if (at(value).kind == IndexValue::Kind::Integer)
          setOpaque(value, id);
        else
          at(value).expr = indices_.opaque(id, allLanes(program_.value(value).type), false);
      }
  }
  guard_ = outerGuard;
}

void Tracer::visitIf(OpId id) {
  const Op &op = program_.op(id);
  const SymInt condition = integer(op.operands[0]);
  const SymInt outer = guard_;
  std::vector<ValueId> yields[2];
  for (size_t branch = 0; branch < 2 && branch < op.regions.size(); ++branch) {
    guard_ = conjunction(outer, branch == 0 ? condition : context_.logicalNot(condition));
    visitRegion(op.regions[branch]);
    yields[branch] = std::move(yields_.back());
    yields_.pop_back();
  }
  guard_ = outer;
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (i >= yields[0].size() || i >= yields[1].size()) {
      setOpaque(op.results[i], id);
      continue;
    }
    at(op.results[i]) =
        merge(id, condition, at(yields[0][i]), at(yields[1][i]), program_.value(op.results[i]).type);
  }
  // What follows an early return runs under the opposite condition. (visitRegion restores the guard at its
  // end.)
  if (op.regions.size() > 0 && endsInReturn(program_, op.regions[0]))
    guard_ = conjunction(outer, context_.logicalNot(condition));
  else if (op.regions.size() > 1 && endsInReturn(program_, op.regions[1]))
    guard_ = conjunction(outer, condition);
}

IndexValue Tracer::merge(OpId op, SymInt condition, const IndexValue &a, const IndexValue &b,
                         const Type &type) {
  IndexValue merged;
  if (a.kind != b.kind || !a.known()) {
    if (type.kind == Type::Kind::Value && isInteger(type.dtype)) {
      merged.kind = IndexValue::Kind::Integer;
      merged.expr = indices_.opaque(op, allLanes(type), type.dtype == DType::Int1);
    }
    return merged;
  }
  merged = a;
  for (uint32_t buffer : b.buffers)
    if (std::find(merged.buffers.begin(), merged.buffers.end(), buffer) == merged.buffers.end())
      merged.buffers.push_back(buffer);
  if (a.buffers.empty() || b.buffers.empty())
    merged.buffers.clear();
  const auto choose = [&](SymInt x, SymInt y) { return context_.select(condition, x, y); };
  merged.expr = choose(a.expr, b.expr);
  if (a.kind == IndexValue::Kind::Block) {
    if (a.shape.size() != b.shape.size())
      return {};
    for (size_t d = 0; d < a.shape.size(); ++d) {
      merged.shape[d] = choose(a.shape[d], b.shape[d]);
      merged.strides[d] = choose(a.strides[d], b.strides[d]);
      if (d < a.offsets.size() && d < b.offsets.size())
        merged.offsets[d] = choose(a.offsets[d], b.offsets[d]);
    }
  }
  return merged;
}

/// The body sees init + symbol: lanes of the initial value stay visible, and the symbol is what the loop has
/// added.
Tracer::Carried Tracer::enterCarried(OpId loop, ValueId init, ValueId argument) {
  Carried carried{at(init), {}};
  IndexValue value = carried.init;
  const Type &type = program_.value(argument).type;
  if (value.kind == IndexValue::Kind::Block) {
    for (SymInt &offset : value.offsets) {
      carried.symbols.push_back(indices_.carry(loop, false));
      offset = context_.add(offset, carried.symbols.back());
    }
  } else if (value.known() && type.dtype != DType::Int1) {
    carried.symbols.push_back(indices_.carry(loop, !type.shape.empty()));
    value.expr = context_.add(value.expr, carried.symbols.back());
  } else if (value.known()) {
    value.expr = indices_.opaque(loop, allLanes(type), true);
  }
  at(argument) = std::move(value);
  return carried;
}

/// Decides what each carried symbol is: value at the end of the body minus value at its start, if that
/// difference is the same in every iteration. Sets the loop's results.
void Tracer::leaveCarried(OpId id, const std::vector<Carried> &carried, const std::vector<ValueId> &yields,
                          const LoopRecord &loop, uint32_t firstSymbol) {
  const Op &op = program_.op(id);
  const auto isInvariant = [&](SymInt step) {
    for (uint32_t symbol : indices_.symbolsIn(step)) {
      const IndexKind kind = indices_.of(symbol).kind;
      if (kind == IndexKind::Lane)
        return false;
      const bool varies = kind == IndexKind::Iteration || kind == IndexKind::Carry ||
                          kind == IndexKind::Loaded || kind == IndexKind::Opaque;
      if (varies && symbol >= firstSymbol)
        return false;
    }
    return true;
  };
  for (size_t i = 0; i < carried.size() && i < op.results.size(); ++i) {
    const Carried &entry = carried[i];
    const ValueId result = op.results[i];
    IndexValue final = entry.init;
    bool resolved = i < yields.size() && at(yields[i]).kind == entry.init.kind && !entry.symbols.empty();
    const auto advance = [&](SymInt start, SymInt end, SymInt symbol) -> SymInt {
      const SymInt step = context_.sub(end, context_.add(start, symbol));
      if (!isInvariant(step))
        return {};
      resolved_[symbol.symbolId()] = context_.mul(step, loop.iteration);
      resolvedOrder_.push_back(symbol.symbolId());
      if (step.isConstant(0))
        return start;
      return loop.trip.valid() ? context_.add(start, context_.mul(step, loop.trip)) : SymInt();
    };
    if (resolved && entry.init.kind == IndexValue::Kind::Block) {
      const IndexValue &end = at(yields[i]);
      resolved = end.offsets.size() == entry.symbols.size();
      for (size_t d = 0; resolved && d < entry.symbols.size(); ++d) {
        final.offsets[d] = advance(entry.init.offsets[d], end.offsets[d], entry.symbols[d]);
        if (!final.offsets[d].valid())
          final.offsets[d] = indices_.opaque(id, 0, false);
      }
    } else if (resolved) {
      const IndexValue &end = at(yields[i]);
      final.expr = advance(entry.init.expr, end.expr, entry.symbols[0]);
      if (!final.expr.valid())
        resolved = false;
      for (uint32_t buffer : end.buffers)
        if (std::find(final.buffers.begin(), final.buffers.end(), buffer) == final.buffers.end())
          final.buffers.push_back(buffer);
    }
    if (resolved)
      at(result) = std::move(final);
    else if (entry.init.kind == IndexValue::Kind::Pointer) {
      at(result) = entry.init;
      at(result).expr = indices_.opaque(id, allLanes(program_.value(result).type), false);
    } else
      setOpaque(result, id);
  }
}

void Tracer::visitFor(OpId id) {
  const Op &op = program_.op(id);
  const uint32_t firstSymbol = context_.symbolCount();
  LoopRecord loop;
  loop.op = id;
  loop.parent = loop_;
  loop.lower = integer(op.operands[0]);
  loop.upper = integer(op.operands[1]);
  loop.step = integer(op.operands[2]);
  loop.iteration = indices_.iteration(id);
  const bool descending = loop.step.range().max < 0;
  loop.trip = descending ? context_.cdiv(context_.sub(loop.lower, loop.upper), context_.neg(loop.step))
                         : context_.cdiv(context_.sub(loop.upper, loop.lower), loop.step);
  const Region &body = program_.region(op.regions[0]);
  if (!body.arguments.empty())
    setInteger(body.arguments[0], context_.add(loop.lower, context_.mul(loop.step, loop.iteration)));
  std::vector<Carried> carried;
  for (size_t i = 3; i < op.operands.size() && i - 2 < body.arguments.size(); ++i) {
    carried.push_back(enterCarried(id, op.operands[i], body.arguments[i - 2]));
    loop.carriedArguments.push_back(body.arguments[i - 2]);
  }
  const uint32_t number = static_cast<uint32_t>(result_.loops.size());
  result_.loops.push_back(loop);
  const uint32_t outer = std::exchange(loop_, number);
  visitRegion(op.regions[0]);
  loop_ = outer;
  const std::vector<ValueId> yields = std::move(yields_.back());
  yields_.pop_back();
  result_.loops[number].carriedYields = yields;
  leaveCarried(id, carried, yields, loop, firstSymbol);
}

void Tracer::visitWhile(OpId id) {
  const Op &op = program_.op(id);
  const uint32_t firstSymbol = context_.symbolCount();
  LoopRecord loop;
  loop.op = id;
  loop.parent = loop_;
  loop.iteration = indices_.iteration(id);
  const Region &condition = program_.region(op.regions[0]);
  const Region &body = program_.region(op.regions[1]);
  std::vector<Carried> carried;
  for (size_t i = 0; i < op.operands.size() && i < condition.arguments.size() && i < body.arguments.size();
       ++i) {
    carried.push_back(enterCarried(id, op.operands[i], condition.arguments[i]));
    at(body.arguments[i]) = at(condition.arguments[i]);
    loop.carriedArguments.push_back(body.arguments[i]);
  }
  const uint32_t number = static_cast<uint32_t>(result_.loops.size());
  result_.loops.push_back(loop);
  const uint32_t outerLoop = std::exchange(loop_, number);
  const SymInt outerGuard = guard_;
  visitRegion(op.regions[0]);
  const std::vector<ValueId> tested = std::move(yields_.back());
  yields_.pop_back();
  SymInt test;
  if (!tested.empty())
    test = integer(tested[0]);
  guard_ = conjunction(guard_, test);
  visitRegion(op.regions[1]);
  guard_ = outerGuard;
  loop_ = outerLoop;
  const std::vector<ValueId> yields = std::move(yields_.back());
  yields_.pop_back();
  result_.loops[number].carriedYields = yields;
  leaveCarried(id, carried, yields, loop, firstSymbol);

  // a + s*iteration <= 0 with s > 0 holds for floor(-a / s) + 1 iterations.
  test = test.valid() ? indices_.substitute(test, resolved_) : test;
  if (!test.valid() || (test.op() != SymOp::Lt && test.op() != SymOp::Le))
    return;
  SymInt excess = context_.sub(test.operands()[0], test.operands()[1]);
  if (test.op() == SymOp::Lt)
    excess = context_.add(excess, constant(1));
  SymInt step = constant(0), start = constant(0);
  for (const Monomial &monomial : monomialsOf(excess)) {
    const SymInt product = productOf(context_, monomial);
    if (!indices_.mentions(product, loop.iteration))
      start = context_.add(start, product);
    else if (const SymInt rest = divideExactly(product, loop.iteration);
             rest.valid() && !indices_.mentions(rest, loop.iteration))
      step = context_.add(step, rest);
    else
      return;
  }
  if (!step.isConstant(0))
    result_.loops[number].trip = context_.add(context_.floorDiv(context_.neg(start), step), constant(1));
}

void Tracer::finish() {
  // Outer loops first, so that what an inner loop starts from is already plain.
  std::unordered_map<uint32_t, SymInt> full;
  for (auto symbol = resolvedOrder_.rbegin(); symbol != resolvedOrder_.rend(); ++symbol)
    full[*symbol] = indices_.substitute(resolved_[*symbol], full);
  const auto settle = [&](SymInt &expr) {
    for (int round = 0; round < 4 && expr.valid(); ++round) {
      const SymInt next = indices_.substitute(expr, full);
      if (next == expr)
        break;
      expr = next;
    }
  };
  for (AccessRecord &access : result_.accesses) {
    for (SymInt *expr : {&access.offset, &access.mask, &access.guard})
      settle(*expr);
    for (SymInt &offset : access.declaredOffset)
      settle(offset);
    for (SymInt &extent : access.declaredExtent)
      settle(extent);
  }
  for (LoopRecord &loop : result_.loops)
    for (SymInt *expr : {&loop.lower, &loop.upper, &loop.step, &loop.trip})
      settle(*expr);
  for (SymInt &guard : result_.guardOf)
    settle(guard);
  for (IndexValue &value : result_.values)
    if (value.known())
      settle(value.expr);
}

SymInt Tracer::integer(ValueId value) {
  if (at(value).kind == IndexValue::Kind::Integer)
    return at(value).expr;
  const Type &type = program_.value(value).type;
  return indices_.opaque(program_.value(value).definingOp, allLanes(type), type.dtype == DType::Int1);
}

void Tracer::setInteger(ValueId value, SymInt expr) {
  at(value) = {};
  at(value).kind = IndexValue::Kind::Integer;
  at(value).expr = expr;
}

void Tracer::setOpaque(ValueId value, OpId op) {
  const Type &type = program_.value(value).type;
  at(value) = {};
  if (type.kind == Type::Kind::Value && isInteger(type.dtype))
    setInteger(value, indices_.opaque(op, allLanes(type), type.dtype == DType::Int1));
  else if (type.isPointer()) {
    at(value).kind = IndexValue::Kind::Pointer;
    at(value).expr = indices_.opaque(op, allLanes(type), false);
  }
}

void Tracer::setResultsOpaque(OpId id) {
  for (ValueId value : program_.op(id).results)
    setOpaque(value, id);
}

SymInt Tracer::conjunction(SymInt a, SymInt b) {
  return !a.valid() ? b : !b.valid() ? a : context_.logicalAnd(a, b);
}

uint32_t Tracer::allLanes(const Type &type) {
  uint32_t axes = 0;
  for (size_t d = 0; d < type.shape.size(); ++d)
    if (!type.shape[d].isConstant(1))
      axes |= 1u << d;
  return axes;
}

} // namespace tilewright::analysis

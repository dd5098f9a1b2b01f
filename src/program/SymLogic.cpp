#include "SymContextImpl.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tilewright {

using namespace symbolic;

SymInt SymContext::Impl::truth(SymInt a) {
  return isBoolean(a) ? a : context.logicalNot(context.eq(a, constant(0)));
}

/// `term` is a product with atom = y // d.
bool SymContext::Impl::nonNegativeAcrossDivision(SymInt e, const Term &term, SymInt atom, int depth) {
  const SymInt y = atom.operands()[0], d = atom.operands()[1];
  const auto whole = build({term});
  if (!whole)
    return false;
  const SymInt base = context.sub(e, *whole);
  // rest*d*(y // d) = rest*(y - y % d)
  const Sum divisor = sumOf(d);
  Term others = term;
  others.factors.erase(std::find(others.factors.begin(), others.factors.end(), atom));
  if (const auto rest = divisor.size() == 1 ? divideExactly(others, divisor[0]) : std::nullopt)
    if (const auto factor = build({*rest}))
      return provablyNonNegative(context.add(base, context.mul(*factor, context.sub(y, context.mod(y, d)))), depth - 1);
  // d*e >= -(d - 1) is enough for an integer e, and y - (d - 1) <= d*(y // d) <= y.
  if (!others.factors.empty() || d.range().min <= 0 || !fits(others.coefficient))
    return false;
  const SymInt slack = context.sub(d, constant(1));
  const SymInt bound = others.coefficient < 0 ? y : context.sub(y, slack);
  const SymInt scaled = context.add(context.mul(d, base),
                                    context.mul(constant(static_cast<int64_t>(others.coefficient)), bound));
  return provablyNonNegative(context.add(scaled, slack), depth - 1);
}

/// `term` is c*(y % d); with d > 0 that is at least 0 and at most d - 1, and at most y when y >= 0.
bool SymContext::Impl::nonNegativeAcrossModulo(SymInt e, const Term &term, SymInt atom, int depth) {
  const SymInt y = atom.operands()[0], d = atom.operands()[1];
  const auto whole = build({term});
  if (!whole || term.factors.size() != 1 || d.range().min <= 0 || !fits(term.coefficient))
    return false;
  const SymInt base = context.sub(e, *whole), coefficient = constant(static_cast<int64_t>(term.coefficient));
  if (term.coefficient > 0)
    return provablyNonNegative(base, depth - 1);
  return provablyNonNegative(context.add(base, context.mul(coefficient, context.sub(d, constant(1)))), depth - 1) ||
         (y.range().min >= 0 && provablyNonNegative(context.add(base, context.mul(coefficient, y)), depth - 1));
}

bool SymContext::Impl::provablyNonNegative(SymInt e, int depth) {
  if (e.range().min >= 0)
    return true;
  if (depth == 0 || e.range().max < 0)
    return false;
  for (const Term &term : sumOf(e))
    for (SymInt atom : term.factors) {
      const SymOp op = atom.op();
      if (op == SymOp::FloorDiv) {
        if (nonNegativeAcrossDivision(e, term, atom, depth))
          return true;
        continue;
      }
      if (op == SymOp::Mod) {
        if (nonNegativeAcrossModulo(e, term, atom, depth))
          return true;
        continue;
      }
      if (term.factors.size() != 1 || (op != SymOp::Min && op != SymOp::Max && op != SymOp::Select))
        continue;
      const auto whole = build({term});
      if (!whole || !fits(term.coefficient))
        continue;
      const SymInt base = context.sub(e, *whole), coefficient = constant(static_cast<int64_t>(term.coefficient));
      // The least of the cases counts for +min and -max and for a select; for +max and -min any case will do.
      const bool all = op == SymOp::Select || (op == SymOp::Min) == (term.coefficient > 0);
      const auto cases = op == SymOp::Select ? atom.operands().subspan(1) : atom.operands();
      const auto holds = [&](SymInt value) {
        return provablyNonNegative(context.add(base, context.mul(coefficient, value)), depth - 1);
      };
      if (all ? std::all_of(cases.begin(), cases.end(), holds) : std::any_of(cases.begin(), cases.end(), holds))
        return true;
    }
  return false;
}

bool SymContext::provablyLe(SymInt a, SymInt b) { return a == b || impl_->provablyNonNegative(sub(b, a)); }
bool SymContext::provablyEqual(SymInt a, SymInt b) {
  return a == b || sub(a, b).isConstant(0) || (provablyLe(a, b) && provablyLe(b, a));
}

SymInt SymContext::Impl::extremum(SymOp op, SymInt a, SymInt b) {
  std::vector<SymInt> operands;
  for (SymInt side : {a, b})
    if (side.op() == op)
      operands.insert(operands.end(), side.operands().begin(), side.operands().end());
    else
      operands.push_back(side);
  std::vector<SymInt> kept;
  for (size_t i = 0; i < operands.size(); ++i) {
    bool dominated = false;
    for (size_t k = 0; k < operands.size() && !dominated; ++k) {
      if (k == i)
        continue;
      const bool beaten = op == SymOp::Min ? context.provablyLe(operands[k], operands[i])
                                           : context.provablyLe(operands[i], operands[k]);
      // Of two equal ones the first stays.
      dominated = beaten && (k < i || !context.provablyEqual(operands[i], operands[k]));
    }
    if (!dominated)
      kept.push_back(operands[i]);
  }
  if (kept.size() == 1)
    return kept[0];
  std::sort(kept.begin(), kept.end(), [](SymInt x, SymInt y) {
    if (x.isConstant() != y.isConstant())
      return y.isConstant();
    return compareStructure(x, y) < 0;
  });
  return intern(op, 0, std::move(kept));
}

SymInt SymContext::min(SymInt a, SymInt b) { return impl_->extremum(SymOp::Min, a, b); }
SymInt SymContext::max(SymInt a, SymInt b) { return impl_->extremum(SymOp::Max, a, b); }

SymInt SymContext::Impl::nonNegative(SymInt e) {
  if (e.range().min >= 0)
    return constant(1);
  if (e.range().max < 0)
    return constant(0);
  if (provablyNonNegative(e))
    return constant(1);
  const SymInt opposite = context.sub(constant(-1), e);
  if (provablyNonNegative(opposite))
    return constant(0);

  Sum sum = sumOf(e);
  Wide offset = 0;
  if (sum.back().factors.empty()) {
    offset = sum.back().coefficient;
    sum.pop_back();
  }
  Wide common = 0;
  for (const Term &term : sum)
    common = fits(term.coefficient) ? std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(term.coefficient)) : 1;
  Sum left, right;
  for (Term &term : sum) {
    if (common > 1)
      term.coefficient /= common;
    if (term.coefficient > 0)
      right.push_back(term);
    else
      left.push_back({-term.coefficient, term.factors});
  }
  if (common > 1)
    offset = offset >= 0 ? offset / common : -((-offset + common - 1) / common);

  // left <= right + offset. The constant goes to the emptier side; < or <= is chosen so that it is even, which is
  // how people write bounds: n < 16, BLOCK <= 1024.
  bool strict = false;
  if (offset != 0) {
    const bool onRight = offset > 0;
    Wide bound = onRight ? offset : -offset;
    if (bound % 2 != 0) {
      strict = true;
      bound += onRight ? 1 : -1;
    }
    if (bound != 0)
      (onRight ? right : left).push_back({bound, {}});
  }
  const auto l = build(left), r = build(right);
  if (!l || !r)
    return intern(SymOp::Le, 0, {constant(0), e});
  return intern(strict ? SymOp::Lt : SymOp::Le, 0, {*l, *r});
}

SymInt SymContext::le(SymInt a, SymInt b) { return a == b ? constant(1) : impl_->nonNegative(sub(b, a)); }
SymInt SymContext::lt(SymInt a, SymInt b) { return a == b ? constant(0) : impl_->nonNegative(add(sub(b, a), constant(-1))); }

SymInt SymContext::eq(SymInt a, SymInt b) {
  if (a == b)
    return constant(1);
  for (const auto &[x, y] : {std::pair(a, b), std::pair(b, a)})
    if (isBoolean(x)) {
      if (y.isConstant(1))
        return x;
      if (y.isConstant(0))
        return logicalNot(x);
    }
  const SymInt difference = sub(a, b);
  if (difference.isConstant(0))
    return constant(1);
  if (difference.range().min > 0 || difference.range().max < 0)
    return constant(0);
  if (impl_->provablyNonNegative(add(difference, constant(-1))) ||
      impl_->provablyNonNegative(sub(constant(-1), difference)))
    return constant(0);

  Sum sum = sumOf(difference);
  Wide offset = 0;
  if (sum.back().factors.empty()) {
    offset = sum.back().coefficient;
    sum.pop_back();
  }
  // A constant that the other terms' common divisor does not divide can never be met.
  if (const auto varying = impl_->build(sum); varying && varying->divisor() > 1 && offset % varying->divisor() != 0)
    return constant(0);
  Wide common = offset < 0 ? -offset : offset;
  if (!fits(common))
    common = 1;
  for (const Term &term : sum)
    common = fits(term.coefficient) ? std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(term.coefficient)) : 1;
  const bool flip = sum.front().coefficient < 0;
  Sum left, right;
  if (offset != 0)
    sum.push_back({offset, {}});
  for (Term &term : sum) {
    if (common > 1)
      term.coefficient /= common;
    if (flip)
      term.coefficient = -term.coefficient;
    if (term.coefficient > 0 && !term.factors.empty())
      left.push_back(term);
    else
      right.push_back({-term.coefficient, term.factors});
  }
  // Both sides without negative constants.
  if (!right.empty() && right.back().factors.empty() && right.back().coefficient < 0 && right.size() > 1) {
    left.push_back({-right.back().coefficient, {}});
    right.pop_back();
  }
  const auto l = impl_->build(left), r = impl_->build(right);
  if (!l || !r)
    return impl_->intern(SymOp::Eq, 0, {difference, constant(0)});
  return impl_->intern(SymOp::Eq, 0, {*l, *r});
}

SymInt SymContext::logicalNot(SymInt a) {
  if (const auto value = a.constant())
    return constant(*value == 0);
  switch (a.op()) {
  case SymOp::Lt:
    return le(a.operands()[1], a.operands()[0]);
  case SymOp::Le:
    return lt(a.operands()[1], a.operands()[0]);
  case SymOp::Not:
    return impl_->truth(a.operands()[0]);
  case SymOp::And:
  case SymOp::Or: {
    const SymOp other = a.op() == SymOp::And ? SymOp::Or : SymOp::And;
    SymInt result = logicalNot(a.operands()[0]);
    for (SymInt operand : a.operands().subspan(1))
      result = impl_->junction(other, result, logicalNot(operand));
    return result;
  }
  default:
    if (!isBoolean(a))
      return eq(a, constant(0));
    return impl_->intern(SymOp::Not, 0, {a});
  }
}

SymInt SymContext::Impl::junction(SymOp op, SymInt a, SymInt b) {
  const int64_t neutral = op == SymOp::And ? 1 : 0;
  std::vector<SymInt> operands;
  for (SymInt side : {truth(a), truth(b)}) {
    if (side.isConstant(1 - neutral))
      return side;
    if (side.isConstant(neutral))
      continue;
    if (side.op() == op)
      operands.insert(operands.end(), side.operands().begin(), side.operands().end());
    else
      operands.push_back(side);
  }
  std::sort(operands.begin(), operands.end(), [](SymInt x, SymInt y) { return compareStructure(x, y) < 0; });
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  if (operands.empty())
    return constant(neutral);
  if (operands.size() == 1)
    return operands[0];
  for (SymInt operand : operands)
    if (operand.op() != SymOp::And && operand.op() != SymOp::Or &&
        std::find(operands.begin(), operands.end(), context.logicalNot(operand)) != operands.end())
      return constant(1 - neutral);
  return intern(op, 0, std::move(operands));
}

SymInt SymContext::logicalAnd(SymInt a, SymInt b) { return impl_->junction(SymOp::And, a, b); }
SymInt SymContext::logicalOr(SymInt a, SymInt b) { return impl_->junction(SymOp::Or, a, b); }

SymInt SymContext::select(SymInt condition, SymInt ifTrue, SymInt ifFalse) {
  const SymInt c = impl_->truth(condition);
  if (const auto value = c.constant())
    return *value ? ifTrue : ifFalse;
  if (ifTrue == ifFalse)
    return ifTrue;
  if (ifTrue.isConstant(1) && ifFalse.isConstant(0))
    return c;
  if (ifTrue.isConstant(0) && ifFalse.isConstant(1))
    return logicalNot(c);
  if (c.op() == SymOp::Not)
    return select(c.operands()[0], ifFalse, ifTrue);
  if (c.op() == SymOp::Lt || c.op() == SymOp::Le) {
    if (c == le(ifTrue, ifFalse) || c == lt(ifTrue, ifFalse))
      return min(ifTrue, ifFalse);
    if (c == le(ifFalse, ifTrue) || c == lt(ifFalse, ifTrue))
      return max(ifTrue, ifFalse);
  }
  return impl_->intern(SymOp::Select, 0, {c, ifTrue, ifFalse});
}

SymInt SymContext::bit(SymOp op, SymInt a, SymInt b) {
  const auto x = a.constant(), y = b.constant();
  if (x && y) {
    const int64_t operands[] = {*x, *y};
    if (const auto value = apply(op, operands))
      return constant(*value);
    return impl_->intern(op, 0, {a, b});
  }
  if (op == SymOp::Shl && y && *y >= 0 && *y <= 62)
    return mul(a, constant(int64_t(1) << *y));
  if (op == SymOp::Shr && y && *y >= 0 && *y <= 62)
    return floorDiv(a, constant(int64_t(1) << *y));
  if (op == SymOp::Shl || op == SymOp::Shr)
    return impl_->intern(op, 0, {a, b});
  if (isBoolean(a) && isBoolean(b) && op != SymOp::Xor)
    return op == SymOp::BitAnd ? logicalAnd(a, b) : logicalOr(a, b);
  for (const auto &[value, other] : {std::pair(y, a), std::pair(x, b)}) {
    if (!value)
      continue;
    if (*value == 0)
      return op == SymOp::BitAnd ? constant(0) : other;
    if (op == SymOp::BitAnd && *value == -1)
      return other;
    // Two's complement: the low bits are the residue, for negative numbers too.
    if (op == SymOp::BitAnd && *value > 0 && *value < INT64_MAX && std::has_single_bit(static_cast<uint64_t>(*value) + 1))
      return mod(other, constant(*value + 1));
  }
  if (a == b)
    return op == SymOp::Xor ? constant(0) : a;
  if (compareStructure(b, a) < 0)
    std::swap(a, b);
  return impl_->intern(op, 0, {a, b});
}

} // namespace tilewright

#include "SymContextImpl.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tilewright {

using namespace symbolic;

SymInt SymContext::Impl::truth(SymInt a) {
  return isBoolean(a) ? a : context.logicalNot(context.eq(a, constant(0)));
}

namespace {

SymRange rangeOf(const Sum &sum) {
  SymRange total{0, 0};
  for (const Term &term : sum) {
    const int64_t coefficient = fits(term.coefficient) ? static_cast<int64_t>(term.coefficient)
                                : term.coefficient > 0 ? INT64_MAX
                                                       : INT64_MIN;
    SymRange range = productRange(term.factors);
    range = multiplyRanges(range, {coefficient, coefficient});
    total = addRanges(total, range);
  }
  return total;
}

/// The largest known common divisor of the terms.
int64_t divisorOf(const Sum &sum) {
  int64_t result = 0;
  for (const Term &term : sum)
    result = std::gcd(result, knownDivisor(term));
  return result;
}

/// sum without its i-th term, plus `replacement`.
Sum replaced(const Sum &sum, size_t i, const Sum &replacement) {
  Sum result = sum;
  result.erase(result.begin() + static_cast<ptrdiff_t>(i));
  return plus(std::move(result), replacement);
}

bool nonNegativeSum(const Sum &sum, int depth);

/// Term i is others*(y // d) with d > 0. It is replaced by something that is not larger and free of the
/// division: y - (d - 1) <= d*(y // d) <= y.
bool nonNegativeAcrossDivision(const Sum &sum, size_t i, SymInt atom, int depth) {
  const Sum y = sumOf(atom.operands()[0]), d = sumOf(atom.operands()[1]);
  if (atom.operands()[1].range().min <= 0)
    return false;
  Term others = sum[i];
  others.factors.erase(std::find(others.factors.begin(), others.factors.end(), atom));
  const Sum low = plus(minus(y, d), {Term{1, {}}});
  if (const auto rest = d.size() == 1 ? divideExactly(others, d[0]) : std::nullopt) {
    const SymRange sign = rangeOf({*rest});
    if (sign.min < 0 && sign.max > 0)
      return false;
    const auto bound = times({*rest}, sign.min >= 0 ? low : y);
    return bound && nonNegativeSum(replaced(sum, i, *bound), depth - 1);
  }
  // d*sum >= -(d - 1) is enough for an integer sum.
  if (!others.factors.empty())
    return false;
  Sum base = sum;
  base.erase(base.begin() + static_cast<ptrdiff_t>(i));
  const auto scaled = times(d, base), bound = times({others}, others.coefficient < 0 ? y : low);
  return scaled && bound && nonNegativeSum(plus(plus(minus(*scaled, {Term{1, {}}}), *bound), d), depth - 1);
}

/// Term i is c*(y % d); with d > 0 that is at least 0 and at most d - 1, and at most y when y >= 0.
bool nonNegativeAcrossModulo(const Sum &sum, size_t i, SymInt atom, int depth) {
  const SymInt y = atom.operands()[0], d = atom.operands()[1];
  const Term &term = sum[i];
  if (term.factors.size() != 1 || d.range().min <= 0)
    return false;
  if (term.coefficient > 0)
    return nonNegativeSum(replaced(sum, i, {}), depth - 1);
  const auto withTop = times({Term{term.coefficient, {}}}, minus(sumOf(d), {Term{1, {}}}));
  if (withTop && nonNegativeSum(replaced(sum, i, *withTop), depth - 1))
    return true;
  const auto withWhole = times({Term{term.coefficient, {}}}, sumOf(y));
  return y.range().min >= 0 && withWhole && nonNegativeSum(replaced(sum, i, *withWhole), depth - 1);
}

/// Term i is c*min(...), c*max(...) or c*select(...). The least of the cases counts for +min, -max and a
/// select; for +max and -min any case will do.
bool nonNegativeAcrossCases(const Sum &sum, size_t i, SymInt atom, int depth) {
  const Term &term = sum[i];
  if (term.factors.size() != 1)
    return false;
  const bool all = atom.op() == SymOp::Select || (atom.op() == SymOp::Min) == (term.coefficient > 0);
  const auto cases = atom.op() == SymOp::Select ? atom.operands().subspan(1) : atom.operands();
  const auto holds = [&](SymInt value) {
    const auto scaled = times({Term{term.coefficient, {}}}, sumOf(value));
    return scaled && nonNegativeSum(replaced(sum, i, *scaled), depth - 1);
  };
  return all ? std::all_of(cases.begin(), cases.end(), holds)
             : std::any_of(cases.begin(), cases.end(), holds);
}

/// Tries ranges first, then replaces divisions, remainders, minima, ... by their bounds, `depth` of them at
/// most. Works on sums and interns nothing: most attempts fail, and should leave nothing behind.
bool nonNegativeSum(const Sum &sum, int depth) {
  const SymRange range = rangeOf(sum);
  if (range.min >= 0)
    return true;
  if (depth == 0 || range.max < 0)
    return false;
  for (size_t i = 0; i < sum.size(); ++i)
    for (SymInt atom : sum[i].factors) {
      bool proved = false;
      if (atom.op() == SymOp::FloorDiv)
        proved = nonNegativeAcrossDivision(sum, i, atom, depth);
      else if (atom.op() == SymOp::Mod)
        proved = nonNegativeAcrossModulo(sum, i, atom, depth);
      else if (atom.op() == SymOp::Min || atom.op() == SymOp::Max || atom.op() == SymOp::Select)
        proved = nonNegativeAcrossCases(sum, i, atom, depth);
      if (proved)
        return true;
    }
  return false;
}

constexpr int kProofDepth = 2;

} // namespace

bool SymContext::Impl::provablyNonNegative(const Sum &sum) { return nonNegativeSum(sum, kProofDepth); }

bool SymContext::provablyLe(SymInt a, SymInt b) {
  return a == b || impl_->provablyNonNegative(minus(sumOf(b), sumOf(a)));
}
bool SymContext::provablyEqual(SymInt a, SymInt b) {
  return a == b || minus(sumOf(a), sumOf(b)).empty() || (provablyLe(a, b) && provablyLe(b, a));
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
      const bool isMin = op == SymOp::Min;
      const auto beats = [&](size_t a, size_t b) {
        return isMin ? context.provablyLe(operands[a], operands[b])
                     : context.provablyLe(operands[b], operands[a]);
      };
      dominated = beats(k, i) && (k < i || !beats(i, k)); // of two equal ones the first stays
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

SymInt SymContext::Impl::nonNegative(Sum sum) {
  if (provablyNonNegative(sum))
    return constant(1);
  const Sum opposite = minus({Term{-1, {}}}, sum);
  if (provablyNonNegative(opposite))
    return constant(0);
  const Sum whole = sum;
  Wide offset = 0;
  if (sum.back().factors.empty()) {
    offset = sum.back().coefficient;
    sum.pop_back();
  }
  Wide common = 0;
  for (const Term &term : sum)
    common = fits(term.coefficient)
                 ? std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(term.coefficient))
                 : 1;
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

  // left <= right + offset. The constant goes to the emptier side; < or <= is chosen so that it is even,
  // which is how people write bounds: n < 16, BLOCK <= 1024.
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
  if (!l || !r) {
    // The sides of a comparison may overflow where its difference did not, and the other way round.
    const auto difference = build(whole);
    return difference ? intern(SymOp::Le, 0, {constant(0), *difference}) : SymInt();
  }
  return intern(strict ? SymOp::Lt : SymOp::Le, 0, {*l, *r});
}

SymInt SymContext::le(SymInt a, SymInt b) {
  const SymInt result = a == b ? constant(1) : impl_->nonNegative(minus(sumOf(b), sumOf(a)));
  return result.valid() ? result : impl_->intern(SymOp::Le, 0, {a, b});
}
SymInt SymContext::lt(SymInt a, SymInt b) {
  const SymInt result =
      a == b ? constant(0) : impl_->nonNegative(plus(minus(sumOf(b), sumOf(a)), {Term{-1, {}}}));
  return result.valid() ? result : impl_->intern(SymOp::Lt, 0, {a, b});
}

SymInt SymContext::Impl::equalsTruth(SymInt a, SymInt b) {
  for (const auto &[x, y] : {std::pair(a, b), std::pair(b, a)})
    if (isBoolean(x)) {
      if (y.isConstant(1))
        return x;
      if (y.isConstant(0))
        return context.logicalNot(x);
    }
  return {};
}

SymInt SymContext::eq(SymInt a, SymInt b) {
  if (a == b)
    return constant(1);
  if (const SymInt result = impl_->equalsTruth(a, b); result.valid())
    return result;
  Sum sum = minus(sumOf(a), sumOf(b));
  if (sum.empty())
    return constant(1);
  if (impl_->provablyNonNegative(plus(sum, {Term{-1, {}}})) ||
      impl_->provablyNonNegative(minus({Term{-1, {}}}, sum)))
    return constant(0);

  Wide offset = 0;
  if (sum.back().factors.empty()) {
    offset = sum.back().coefficient;
    sum.pop_back();
  }
  // A constant that the other terms' common divisor does not divide can never be met.
  if (const int64_t divisor = divisorOf(sum); divisor > 1 && offset % divisor != 0)
    return constant(0);
  Wide common = offset < 0 ? -offset : offset;
  if (!fits(common))
    common = 1;
  for (const Term &term : sum)
    common = fits(term.coefficient)
                 ? std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(term.coefficient))
                 : 1;
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
    return impl_->intern(SymOp::Eq, 0, {a, b});
  // Moving terms may have left a truth value alone: x + 1 == 1.
  if (const SymInt result = impl_->equalsTruth(*l, *r); result.valid())
    return result;
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
    if (op == SymOp::BitAnd && *value > 0 && *value < INT64_MAX &&
        std::has_single_bit(static_cast<uint64_t>(*value) + 1))
      return mod(other, constant(*value + 1));
  }
  if (a == b)
    return op == SymOp::Xor ? constant(0) : a;
  if (compareStructure(b, a) < 0)
    std::swap(a, b);
  return impl_->intern(op, 0, {a, b});
}

} // namespace tilewright

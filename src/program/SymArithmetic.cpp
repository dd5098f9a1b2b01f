#include "SymContextImpl.h"

#include <algorithm>
#include <numeric>

namespace tilewright {

using namespace symbolic;

namespace {

/// A product of two sums is written out when it has at most this many terms.
constexpr size_t kMaxDistributedTerms = 32;

bool nonZero(SymInt e) { return e.range().min > 0 || e.range().max < 0; }

/// Factors that occur in every term (with multiplicity).
std::vector<SymInt> commonFactors(const Sum &sum, std::vector<SymInt> common) {
  for (const Term &term : sum) {
    std::vector<SymInt> remaining = term.factors, kept;
    for (SymInt factor : common)
      if (const auto found = std::find(remaining.begin(), remaining.end(), factor);
          found != remaining.end()) {
        kept.push_back(factor);
        remaining.erase(found);
      }
    common = std::move(kept);
  }
  return common;
}

Wide wideFloorDivide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

} // namespace

std::optional<SymInt> SymContext::Impl::build(Sum sum) {
  normalise(sum);
  if (sum.empty())
    return constant(0);
  std::vector<SymInt> terms;
  for (Term &term : sum) {
    if (!fits(term.coefficient))
      return std::nullopt;
    const int64_t coefficient = static_cast<int64_t>(term.coefficient);
    if (term.factors.empty())
      terms.push_back(constant(coefficient));
    else if (coefficient == 1 && term.factors.size() == 1)
      terms.push_back(term.factors[0]);
    else {
      std::vector<SymInt> operands;
      if (coefficient != 1)
        operands.push_back(constant(coefficient));
      operands.insert(operands.end(), term.factors.begin(), term.factors.end());
      terms.push_back(intern(SymOp::Mul, 0, std::move(operands)));
    }
  }
  return terms.size() == 1 ? terms[0] : intern(SymOp::Add, 0, std::move(terms));
}

SymInt SymContext::add(SymInt a, SymInt b) {
  if (a.isConstant(0))
    return b;
  if (b.isConstant(0))
    return a;
  if (const auto sum = impl_->build(plus(sumOf(a), sumOf(b))))
    return *sum;
  return impl_->intern(SymOp::Add, 0, compareStructure(a, b) <= 0 ? std::vector{a, b} : std::vector{b, a});
}

SymInt SymContext::sub(SymInt a, SymInt b) { return add(a, neg(b)); }
SymInt SymContext::neg(SymInt a) { return mul(constant(-1), a); }

SymInt SymContext::mul(SymInt a, SymInt b) {
  if (a.isConstant(1))
    return b;
  if (b.isConstant(1))
    return a;
  if (a.isConstant(0) || b.isConstant(0))
    return constant(0);
  const Sum x = sumOf(a), y = sumOf(b);
  if (x.size() == 1 || y.size() == 1 || x.size() * y.size() <= kMaxDistributedTerms)
    if (auto product = times(x, y))
      if (const auto built = impl_->build(*std::move(product)))
        return *built;
  return impl_->intern(SymOp::Mul, 0, compareStructure(a, b) <= 0 ? std::vector{a, b} : std::vector{b, a});
}

std::optional<SymContext::Impl::Division> SymContext::Impl::divide(SymInt a, SymInt b) {
  const SymInt zero = constant(0), one = constant(1);
  Sum rest = sumOf(a), denominator = sumOf(b), quotient;
  const bool positive = b.range().min > 0;
  const auto constantDivisor = b.constant();

  // Whole multiples of the denominator leave the numerator.
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < rest.size() && !progress; ++i) {
      std::optional<Term> q = divideExactly(rest[i], denominator[0]);
      if (!q && constantDivisor && rest[i].factors.empty())
        q = Term{wideFloorDivide(rest[i].coefficient, *constantDivisor), {}};
      if (!q || q->coefficient == 0)
        continue;
      auto multiple = times({*q}, denominator);
      if (!multiple)
        return std::nullopt;
      Sum smaller = minus(rest, *multiple);
      // With a sum as denominator, one term that divides is not enough: the numerator must get shorter.
      const bool constantReduced = constantDivisor && rest[i].factors.empty();
      if (smaller.size() >= rest.size() && !constantReduced)
        continue;
      rest = std::move(smaller);
      quotient.push_back(*q);
      progress = true;
    }
  }
  // So do terms that are known to be multiples of a constant denominator.
  if (constantDivisor && rest.size() > 1)
    for (size_t i = 0; i < rest.size() && rest.size() > 1;) {
      if (!rest[i].factors.empty() && knownDivisor(rest[i]) % *constantDivisor == 0) {
        const auto term = build({rest[i]});
        if (!term)
          return std::nullopt;
        quotient = plus(std::move(quotient), sumOf(context.floorDiv(*term, b)));
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
      } else
        ++i;
    }
  normalise(quotient);

  Division result{zero, zero, one, {}, {}};
  const auto finish = [&](const Sum &q) -> std::optional<Division> {
    const auto built = build(q);
    if (!built)
      return std::nullopt;
    result.quotient = *built;
    return result;
  };
  if (rest.empty())
    return finish(quotient);

  // A factor that numerator and denominator share is cancelled; a constant that does not share it only
  // contributes its whole part (exact for a positive denominator).
  Sum varying = rest;
  Wide offset = 0;
  if (varying.back().factors.empty()) {
    offset = varying.back().coefficient;
    varying.pop_back();
  }
  Wide common = 0;
  for (const Sum *side : {&varying, &denominator})
    for (const Term &term : *side)
      if (fits(term.coefficient))
        common = std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(term.coefficient));
      else
        common = 1;
  if (common > 1 && offset % common != 0 && !positive)
    common = std::gcd(static_cast<int64_t>(common), static_cast<int64_t>(offset));
  std::vector<SymInt> shared;
  if (offset == 0)
    shared = commonFactors(
        denominator, commonFactors(varying, varying.empty() ? std::vector<SymInt>{} : varying[0].factors));
  if (common < 1)
    common = 1;
  if (common > 1 || !shared.empty()) {
    const Wide left = offset - wideFloorDivide(offset, common) * common;
    offset = wideFloorDivide(offset, common);
    const Term factor{common, shared};
    for (Sum *side : {&varying, &denominator})
      for (Term &term : *side)
        term = *divideExactly(term, factor);
    if (offset != 0)
      varying.push_back({offset, {}});
    rest = varying;
    const auto scale = build({factor});
    const auto remainder = build({Term{left, {}}});
    if (!scale || !remainder)
      return std::nullopt;
    result.scale = *scale;
    result.remainder = *remainder;
  }
  const auto numerator = build(rest), divisor = build(denominator);
  if (!numerator || !divisor)
    return std::nullopt;

  if (result.scale != one) {
    // The smaller problem may come apart further (and its denominator may have become 1).
    const auto inner = divide(*numerator, *divisor);
    if (!inner)
      return std::nullopt;
    quotient = plus(std::move(quotient), sumOf(inner->quotient));
    result.remainder = context.add(result.remainder, context.mul(result.scale, inner->remainder));
    result.scale = context.mul(result.scale, inner->scale);
    result.numerator = inner->numerator;
    result.denominator = inner->denominator;
    result.exact = inner->exact;
    return finish(quotient);
  }

  // Ranges may say which multiple of the denominator the numerator lies in.
  std::optional<int64_t> whole;
  const SymRange range = numerator->range();
  if (constantDivisor && *constantDivisor > 0 && range.min != INT64_MIN && range.max != INT64_MAX) {
    const int64_t low = floorDivide(range.min, *constantDivisor);
    if (low == floorDivide(range.max, *constantDivisor))
      whole = low;
  } else if (positive && !divisor->isConstant()) {
    if (range.min >= 0 && provablyNonNegative(minus(minus(denominator, rest), {Term{1, {}}})))
      whole = 0;
    else if (range.max < 0 && provablyNonNegative(plus(denominator, rest)))
      whole = -1;
  }
  if (whole) {
    quotient = plus(std::move(quotient), {Term{*whole, {}}});
    const SymInt multiple = context.mul(constant(*whole), *divisor);
    result.remainder =
        context.add(result.remainder, context.mul(result.scale, context.sub(*numerator, multiple)));
    return finish(quotient);
  }
  result.numerator = *numerator;
  result.denominator = *divisor;
  result.exact = constantDivisor && numerator->divisor() % *constantDivisor == 0;
  return finish(quotient);
}

SymInt SymContext::floorDiv(SymInt a, SymInt b) {
  const auto raw = [&] { return impl_->intern(SymOp::FloorDiv, 0, {a, b}); };
  if (b.isConstant(1))
    return a;
  if (const auto d = b.constant(); d && *d < 0 && *d != INT64_MIN)
    return floorDiv(neg(a), constant(-*d));
  if (!nonZero(b) || b.isConstant(INT64_MIN))
    return raw();
  if (a.isConstant(0))
    return constant(0);
  const auto parts = impl_->divide(a, b);
  if (!parts)
    return raw();
  if (!parts->numerator.valid())
    return parts->quotient;
  // (x // p + c) // q = (x + c*p) // (p*q) for a positive q.
  if (parts->denominator.range().min > 0) {
    Sum inner = sumOf(parts->numerator);
    Wide offset = 0;
    if (inner.back().factors.empty()) {
      offset = inner.back().coefficient;
      inner.pop_back();
    }
    if (fits(offset) && inner.size() == 1 && inner[0].coefficient == 1 && inner[0].factors.size() == 1 &&
        inner[0].factors[0].op() == SymOp::FloorDiv) {
      const SymInt x = inner[0].factors[0].operands()[0], p = inner[0].factors[0].operands()[1];
      const SymInt shifted = add(x, mul(constant(static_cast<int64_t>(offset)), p));
      return add(parts->quotient, floorDiv(shifted, mul(p, parts->denominator)));
    }
  }
  // -(-n // B) is a ceiling too: only terms with a minus turn into a ceiling of their opposite.
  if (parts->denominator.range().min > 0) {
    const Sum numerator = sumOf(parts->numerator);
    if (std::all_of(numerator.begin(), numerator.end(),
                    [](const Term &term) { return term.factors.empty() || term.coefficient < 0; }) &&
        std::any_of(numerator.begin(), numerator.end(),
                    [](const Term &term) { return !term.factors.empty(); }))
      return sub(parts->quotient, cdiv(neg(parts->numerator), parts->denominator));
  }
  // With a symbolic denominator the numerator's constant is kept non-negative, so that cdiv(M, B) is one
  // atom, (B + M - 1) // B, and products of such stay products.
  const SymInt last =
      parts->numerator.op() == SymOp::Add ? parts->numerator.operands().back() : parts->numerator;
  if (!parts->denominator.isConstant() && last.constant().value_or(0) < 0) {
    const SymInt shifted = add(parts->numerator, parts->denominator);
    return add(add(parts->quotient, constant(-1)),
               impl_->intern(SymOp::FloorDiv, 0, {shifted, parts->denominator}));
  }
  return add(parts->quotient, impl_->intern(SymOp::FloorDiv, 0, {parts->numerator, parts->denominator}));
}

SymInt SymContext::mod(SymInt a, SymInt b) {
  const auto raw = [&] { return impl_->intern(SymOp::Mod, 0, {a, b}); };
  if (b.isConstant(1) || b.isConstant(-1))
    return constant(0);
  if (!nonZero(b))
    return raw();
  if (const auto d = b.constant(); d && *d < 0) {
    // a % -d = -((-a) % d)
    return *d == INT64_MIN ? raw() : neg(mod(neg(a), constant(-*d)));
  }
  if (a.isConstant(0))
    return constant(0);
  const auto parts = impl_->divide(a, b);
  if (!parts)
    return raw();
  if (!parts->numerator.valid() || parts->exact)
    return parts->remainder;
  // (y % m + r) % d = (y + r) % d when d divides m.
  Sum numerator = sumOf(parts->numerator), divisor = sumOf(parts->denominator);
  if (divisor.size() == 1)
    for (Term &term : numerator)
      if (term.factors.size() == 1 && term.factors[0].op() == SymOp::Mod) {
        const Sum modulus = sumOf(term.factors[0].operands()[1]);
        if (modulus.size() != 1 || !divideExactly(modulus[0], divisor[0]))
          continue;
        const SymInt value = term.factors[0].operands()[0];
        const Sum replaced = sumOf(value);
        const auto scaled = times({Term{term.coefficient, {}}}, replaced);
        if (!scaled)
          continue;
        Sum rest = minus(numerator, {term});
        if (const auto simpler = impl_->build(plus(std::move(rest), *scaled)))
          return add(parts->remainder, mul(parts->scale, mod(*simpler, parts->denominator)));
      }
  return add(parts->remainder,
             mul(parts->scale, impl_->intern(SymOp::Mod, 0, {parts->numerator, parts->denominator})));
}

SymInt SymContext::cdiv(SymInt a, SymInt b) { return floorDiv(add(add(a, b), constant(-1)), b); }

SymInt SymContext::nextPow2(SymInt a) {
  if (a.op() == SymOp::NextPow2)
    return a;
  return impl_->intern(SymOp::NextPow2, 0, {a});
}

} // namespace tilewright

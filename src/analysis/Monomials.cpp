#include "Monomials.h"

#include <algorithm>
#include <numeric>

namespace tilewright::analysis {

namespace {

void appendFactors(SymInt product, Monomial &monomial) {
  if (const auto value = product.constant()) {
    int64_t scaled = 0;
    if (__builtin_mul_overflow(monomial.coefficient, *value, &scaled))
      monomial.factors.push_back(product);
    else
      monomial.coefficient = scaled;
  } else if (product.op() == SymOp::Mul)
    for (SymInt factor : product.operands())
      appendFactors(factor, monomial);
  else
    monomial.factors.push_back(product);
}

bool takeFactor(std::vector<SymInt> &factors, SymInt factor) {
  const auto found = std::find(factors.begin(), factors.end(), factor);
  if (found == factors.end())
    return false;
  factors.erase(found);
  return true;
}

} // namespace

std::vector<Monomial> monomialsOf(SymInt expression) {
  std::vector<Monomial> monomials;
  const auto append = [&](const auto &self, SymInt e) -> void {
    if (e.op() == SymOp::Add) {
      for (SymInt operand : e.operands())
        self(self, operand);
      return;
    }
    Monomial monomial;
    appendFactors(e, monomial);
    if (monomial.coefficient != 0)
      monomials.push_back(std::move(monomial));
  };
  append(append, expression);
  return monomials;
}

SymInt productOf(SymContext &context, const Monomial &monomial) {
  SymInt product = context.constant(monomial.coefficient);
  for (SymInt factor : monomial.factors)
    product = context.mul(product, factor);
  return product;
}

SymInt sumOf(SymContext &context, const std::vector<Monomial> &monomials) {
  SymInt sum = context.constant(0);
  for (const Monomial &monomial : monomials)
    sum = context.add(sum, productOf(context, monomial));
  return sum;
}

SymInt divideExactly(SymInt a, SymInt b) {
  SymContext &context = a.context();
  if (b.isConstant(1))
    return a;
  if (a == b)
    return context.constant(1);
  const auto divisors = monomialsOf(b);
  if (divisors.size() != 1) {
    // A sum divides its own multiples, which normalisation may or may not have written out.
    if (divisors.empty())
      return {};
    const auto dividend = monomialsOf(a);
    if (dividend.empty())
      return a;
    const auto first = divideExactly(productOf(context, dividend[0]), productOf(context, divisors[0]));
    return first.valid() && context.mul(first, b) == a ? first : SymInt();
  }
  const Monomial &divisor = divisors[0];
  std::vector<Monomial> quotient;
  for (Monomial monomial : monomialsOf(a)) {
    if (monomial.coefficient == INT64_MIN || monomial.coefficient % divisor.coefficient != 0)
      return {};
    monomial.coefficient /= divisor.coefficient;
    for (SymInt factor : divisor.factors)
      if (!takeFactor(monomial.factors, factor))
        return {};
    quotient.push_back(std::move(monomial));
  }
  return sumOf(context, quotient);
}

Monomial commonFactor(const std::vector<Monomial> &monomials) {
  Monomial common;
  if (monomials.empty())
    return common;
  common = monomials[0];
  common.coefficient = common.coefficient == INT64_MIN ? 1 : std::abs(common.coefficient);
  for (size_t i = 1; i < monomials.size(); ++i) {
    common.coefficient = std::gcd(common.coefficient, monomials[i].coefficient);
    std::vector<SymInt> remaining = monomials[i].factors, kept;
    for (SymInt factor : common.factors)
      if (takeFactor(remaining, factor))
        kept.push_back(factor);
    common.factors = std::move(kept);
  }
  return common;
}

bool asDivision(SymInt expression, Division &division) {
  if (!expression.valid())
    return false;
  SymContext &context = expression.context();
  // (n - 1) // B + 1 is what cdiv(n, B) becomes when n is a number.
  if (expression.op() == SymOp::Add && expression.operands().size() == 2 &&
      expression.operands()[0].op() == SymOp::FloorDiv && expression.operands()[1].isConstant(1)) {
    const SymInt quotient = expression.operands()[0];
    division = {context.add(quotient.operands()[0], context.constant(1)), quotient.operands()[1], true};
    return true;
  }
  if (expression.op() != SymOp::FloorDiv)
    return false;
  const SymInt numerator = expression.operands()[0], step = expression.operands()[1];
  const SymInt rounded = context.add(context.sub(numerator, step), context.constant(1));
  // n + B - 1 gets shorter when B - 1 is taken away, n does not.
  const bool ceiling = step.isConstant()
                           ? numerator.op() == SymOp::Add && numerator.operands().back().isConstant() &&
                                 *numerator.operands().back().constant() == *step.constant() - 1
                           : rounded.weight() < numerator.weight();
  division = {ceiling ? rounded : numerator, step, ceiling};
  return true;
}

} // namespace tilewright::analysis

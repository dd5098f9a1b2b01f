#include "SymSum.h"

#include <algorithm>

namespace tilewright::symbolic {

namespace {

constexpr Wide kCoefficientLimit = Wide(1) << 120;

bool isLarge(Wide value) { return value > kCoefficientLimit || value < -kCoefficientLimit; }

/// Symbols first, then the rest by kind.
int rank(SymOp op) { return op == SymOp::Symbol ? 0 : op == SymOp::Constant ? 1 : 2 + static_cast<int>(op); }

std::vector<SymInt> mergeFactors(const std::vector<SymInt> &a, const std::vector<SymInt> &b) {
  std::vector<SymInt> merged;
  merged.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged),
             [](SymInt x, SymInt y) { return compareStructure(x, y) < 0; });
  return merged;
}

void append(SymInt expression, Wide coefficient, Sum &out);

/// A product node as a term; nothing when its constants are too large to multiply.
std::optional<Term> termOf(SymInt product) {
  Term term;
  for (SymInt operand : product.operands()) {
    Term part;
    if (const auto value = operand.constant())
      part.coefficient = *value;
    else if (operand.op() == SymOp::Mul) {
      auto inner = termOf(operand);
      if (!inner)
        return std::nullopt;
      part = *std::move(inner);
    } else
      part.factors = {operand};
    if (__builtin_mul_overflow(term.coefficient, part.coefficient, &term.coefficient) ||
        isLarge(term.coefficient))
      return std::nullopt;
    term.factors = mergeFactors(term.factors, part.factors);
  }
  return term;
}

void append(SymInt expression, Wide coefficient, Sum &out) {
  if (const auto value = expression.constant()) {
    out.push_back({coefficient * *value, {}});
    return;
  }
  if (expression.op() == SymOp::Add) {
    for (SymInt operand : expression.operands())
      append(operand, coefficient, out);
    return;
  }
  if (expression.op() == SymOp::Mul)
    if (auto term = termOf(expression); term && !isLarge(term->coefficient)) {
      Wide product;
      if (!__builtin_mul_overflow(term->coefficient, coefficient, &product)) {
        term->coefficient = product;
        out.push_back(*std::move(term));
        return;
      }
    }
  out.push_back({coefficient, {expression}});
}

void sortAndMerge(Sum &sum) {
  for (size_t i = 0; i < sum.size(); ++i) // a lone sum as a factor is part of this sum after all
    if (sum[i].factors.size() == 1 && sum[i].factors[0].op() == SymOp::Add && fits(sum[i].coefficient)) {
      const Term term = std::move(sum[i]);
      sum.erase(sum.begin() + static_cast<ptrdiff_t>(i));
      append(term.factors[0], term.coefficient, sum);
      --i;
    }
  std::stable_sort(sum.begin(), sum.end(), [](const Term &a, const Term &b) {
    if (a.factors.empty() != b.factors.empty())
      return b.factors.empty();
    return compareFactors(a.factors, b.factors) < 0;
  });
  Sum merged;
  for (Term &term : sum) {
    if (!merged.empty() && merged.back().factors == term.factors)
      merged.back().coefficient += term.coefficient;
    else
      merged.push_back(std::move(term));
    if (merged.back().coefficient == 0)
      merged.pop_back();
  }
  sum = std::move(merged);
}

Term without(const Term &term, size_t factor) {
  Term rest = term;
  rest.factors.erase(rest.factors.begin() + static_cast<ptrdiff_t>(factor));
  return rest;
}

Term multiplied(const Term &term, SymInt factor) {
  const Sum other = sumOf(factor);
  if (other.size() != 1)
    return {term.coefficient, mergeFactors(term.factors, {factor})};
  return {term.coefficient * other[0].coefficient, mergeFactors(term.factors, other[0].factors)};
}

/// When `term` is wanted*(y' // d) with y' = y or y + d: that y'.
SymInt numeratorOf(const Term &term, const Term &wanted, SymInt y, SymInt d) {
  if (term.coefficient != wanted.coefficient || term.factors.size() != wanted.factors.size() + 1)
    return {};
  for (size_t g = 0; g < term.factors.size(); ++g) {
    const SymInt atom = term.factors[g];
    if (atom.op() != SymOp::FloorDiv || atom.operands()[1] != d || without(term, g).factors != wanted.factors)
      continue;
    const SymInt divided = atom.operands()[0];
    if (divided == y)
      return divided;
    Sum difference = sumOf(divided);
    for (SymInt part : {y, d})
      for (const Term &t : sumOf(part))
        difference.push_back({-t.coefficient, t.factors});
    sortAndMerge(difference);
    if (difference.empty())
      return divided;
  }
  return {};
}

/// Finds one `rest*(y % d)` with its partner `rest*d*(y // d)` (or a whole division that is known to be
/// exact) and replaces them by rest*y.
bool rejoinDivision(Sum &sum) {
  for (size_t i = 0; i < sum.size(); ++i)
    for (size_t f = 0; f < sum[i].factors.size(); ++f) {
      const SymInt atom = sum[i].factors[f];
      Sum replacement;
      size_t partner = i;
      if (atom.op() == SymOp::Mod) {
        const SymInt y = atom.operands()[0], d = atom.operands()[1];
        const Term wanted = multiplied(without(sum[i], f), d);
        SymInt divided; // y, or y + d: floor division keeps the constant of its numerator non-negative
        for (partner = 0; partner < sum.size() && !divided.valid(); ++partner)
          divided = numeratorOf(sum[partner], wanted, y, d);
        if (!divided.valid())
          continue;
        --partner;
        const auto product = times({without(sum[i], f)}, sumOf(divided));
        if (!product)
          continue;
        replacement = *product;
      } else if (atom.op() == SymOp::FloorDiv) {
        const auto d = atom.operands()[1].constant();
        if (!d || *d <= 0 || atom.operands()[0].divisor() % *d != 0 || sum[i].coefficient % *d != 0)
          continue;
        Term rest = without(sum[i], f);
        rest.coefficient /= *d;
        const auto product = times({rest}, sumOf(atom.operands()[0]));
        if (!product)
          continue;
        replacement = *product;
      } else
        continue;
      sum.erase(sum.begin() + static_cast<ptrdiff_t>(std::max(i, partner)));
      if (partner != i)
        sum.erase(sum.begin() + static_cast<ptrdiff_t>(std::min(i, partner)));
      sum.insert(sum.end(), replacement.begin(), replacement.end());
      return true;
    }
  return false;
}

} // namespace

int compareStructure(SymInt a, SymInt b) {
  if (a == b)
    return 0;
  if (a.op() != b.op())
    return rank(a.op()) < rank(b.op()) ? -1 : 1;
  if (a.op() == SymOp::Symbol) {
    // By kind and name before age, so that a Program's text reads back with its terms in the same order.
    const Symbol &x = *a.node()->symbol, &y = *b.node()->symbol;
    if (x.kind != y.kind)
      return x.kind < y.kind ? -1 : 1;
    if (const int order = x.name.compare(y.name))
      return order < 0 ? -1 : 1;
  }
  if (a.node()->value != b.node()->value)
    return a.node()->value < b.node()->value ? -1 : 1;
  return compareFactors(a.operands(), b.operands());
}

int compareFactors(std::span<const SymInt> a, std::span<const SymInt> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (const int order = compareStructure(a[i], b[i]))
      return order;
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

Sum sumOf(SymInt expression) {
  Sum sum;
  append(expression, 1, sum);
  return sum;
}

void normalise(Sum &sum) {
  sortAndMerge(sum);
  while (rejoinDivision(sum))
    sortAndMerge(sum);
}

Sum plus(Sum a, const Sum &b) {
  a.insert(a.end(), b.begin(), b.end());
  normalise(a);
  return a;
}

Sum minus(Sum a, const Sum &b) {
  for (const Term &term : b)
    a.push_back({-term.coefficient, term.factors});
  normalise(a);
  return a;
}

std::optional<Sum> times(const Sum &a, const Sum &b) {
  Sum product;
  for (const Term &x : a)
    for (const Term &y : b) {
      Term term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient) ||
          isLarge(term.coefficient))
        return std::nullopt;
      term.factors = mergeFactors(x.factors, y.factors);
      product.push_back(std::move(term));
    }
  sortAndMerge(product);
  return product;
}

int64_t knownDivisor(const Term &term) {
  Wide divisor = term.coefficient < 0 ? -term.coefficient : term.coefficient;
  for (SymInt factor : term.factors) {
    const Wide next = divisor * factor.divisor();
    if (!fits(next))
      break;
    divisor = next;
  }
  return fits(divisor) ? static_cast<int64_t>(divisor) : 1;
}

std::optional<Term> divideExactly(const Term &a, const Term &b) {
  if (b.coefficient == 0 || a.coefficient % b.coefficient != 0)
    return std::nullopt;
  Term quotient{a.coefficient / b.coefficient, a.factors};
  for (SymInt factor : b.factors) {
    const auto found = std::find(quotient.factors.begin(), quotient.factors.end(), factor);
    if (found == quotient.factors.end())
      return std::nullopt;
    quotient.factors.erase(found);
  }
  return quotient;
}

} // namespace tilewright::symbolic

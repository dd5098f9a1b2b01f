#pragma once
#include "SymBounds.h"

namespace tilewright::symbolic {

/// coefficient * product of factors. Factors are sorted and are never constants, sums or products (a sum only
/// where distributing would have grown too large). No factors: a constant.
struct Term {
  Wide coefficient = 1;
  std::vector<SymInt> factors;
};
/// The normal form while it is worked on: distinct products with non-zero coefficients, the constant last.
using Sum = std::vector<Term>;

/// An order by structure, not by age: the same expression sorts the same whichever thread built it first.
int compareStructure(SymInt a, SymInt b);
int compareFactors(std::span<const SymInt> a, std::span<const SymInt> b);

Sum sumOf(SymInt expression);
/// Sorts, collects like terms, and applies  d*(y // d) + y % d = y.
void normalise(Sum &sum);
Sum plus(Sum a, const Sum &b);
Sum minus(Sum a, const Sum &b);
/// Nothing when a coefficient leaves 128 bits.
std::optional<Sum> times(const Sum &a, const Sum &b);
/// The largest d that is known to divide the term's value.
int64_t knownDivisor(const Term &term);
/// a / b when it comes out exactly.
std::optional<Term> divideExactly(const Term &a, const Term &b);

} // namespace tilewright::symbolic

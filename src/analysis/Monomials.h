#pragma once
#include "tilewright/program/SymInt.h"

#include <vector>

namespace tilewright::analysis {

/// One summand of an expression in normal form: coefficient * product of factors. A factor is a symbol or an
/// atom (floor division, modulo, min, ...), now and then a sum that normalisation left undistributed.
///
///     B*(pid // 4) - n + 3   =   1·{B, pid // 4},  -1·{n},  3·{}
struct Monomial {
  int64_t coefficient = 1;
  std::vector<SymInt> factors;
};

std::vector<Monomial> monomialsOf(SymInt expression);
SymInt productOf(SymContext &context, const Monomial &monomial);
SymInt sumOf(SymContext &context, const std::vector<Monomial> &monomials);

/// a / b when b divides every summand of a without remainder; invalid otherwise.
SymInt divideExactly(SymInt a, SymInt b);

/// The largest constant and all factors that every summand shares: BLOCK*x + BLOCK*GROUP*y gives BLOCK.
Monomial commonFactor(const std::vector<Monomial> &monomials);

/// x // d written as a count of steps: `ceiling` says whether the last, partial step is counted.
///
///     (n + B - 1) // B  ->  total n, step B, ceiling        n // B  ->  total n, step B, not ceiling
struct Division {
  SymInt total;
  SymInt step;
  bool ceiling = false;
};
/// Nothing when the expression is not a single floor division.
bool asDivision(SymInt expression, Division &division);

} // namespace tilewright::analysis

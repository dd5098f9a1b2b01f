#pragma once
#include "tilewright/program/SymInt.h"

namespace tilewright::symbolic {

/// 128-bit integers hold any product of two 64-bit ones, so that overflow is seen instead of suffered.
__extension__ typedef __int128 Wide;

inline bool fits(Wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

int64_t floorDivide(int64_t a, int64_t b); ///< b != 0, and not INT64_MIN / -1
int64_t floorModulo(int64_t a, int64_t b); ///< b != 0
/// Smallest power of two >= x (1 for x <= 1); nothing past 2^62.
std::optional<int64_t> nextPowerOfTwo(int64_t x);

/// Range, divisor and weight of a node that is about to be created.
struct Facts {
  SymRange range;
  int64_t divisor = 1;
  uint32_t weight = 1;
};
Facts factsOf(SymOp op, int64_t value, std::span<const SymInt> operands);

SymRange addRanges(SymRange a, SymRange b);
SymRange multiplyRanges(SymRange a, SymRange b);
/// Of a product of sorted factors: equal ones count as a power, so x*x is known to be non-negative.
SymRange productRange(std::span<const SymInt> factors);

/// The value of one operation on known operands; nothing when it is undefined or overflows.
std::optional<int64_t> apply(SymOp op, std::span<const int64_t> operands);

/// Always 0 or 1.
bool isBoolean(SymInt expression);

} // namespace tilewright::symbolic

#include "SymBounds.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tilewright::symbolic {

namespace {

constexpr int64_t kLow = INT64_MIN;
constexpr int64_t kHigh = INT64_MAX;

int64_t saturate(Wide value) {
  return value < kLow ? kLow : value > kHigh ? kHigh : static_cast<int64_t>(value);
}

/// Sum of two lower (or two upper) bounds where the extreme values mean "unbounded".
int64_t addLow(int64_t a, int64_t b) { return a == kLow || b == kLow ? kLow : saturate(Wide(a) + b); }
int64_t addHigh(int64_t a, int64_t b) { return a == kHigh || b == kHigh ? kHigh : saturate(Wide(a) + b); }

int64_t multiplyBounds(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  const bool infinite = a == kLow || a == kHigh || b == kLow || b == kHigh;
  if (infinite)
    return (a < 0) == (b < 0) ? kHigh : kLow;
  return saturate(Wide(a) * b);
}

/// Quotient of bounds, b != 0; infinite numerators stay infinite, infinite denominators give the limit.
int64_t divideBounds(int64_t a, int64_t b) {
  if (a == kLow || a == kHigh)
    return (a < 0) == (b < 0) ? kHigh : kLow;
  if (b == kHigh)
    return a < 0 ? -1 : 0;
  if (b == kLow)
    return a > 0 ? -1 : 0;
  return floorDivide(a, b);
}

SymRange divideRanges(SymRange a, SymRange b) {
  if (b.min == 0 && b.max == 0)
    return {};
  if (b.min == 0)
    b.min = 1;
  if (b.max == 0)
    b.max = -1;
  if (b.min < 0 && b.max > 0) {
    if (a.min == kLow || a.max == kHigh)
      return {};
    const Wide largest =
        std::max<Wide>(a.min < 0 ? -Wide(a.min) : Wide(a.min), a.max < 0 ? -Wide(a.max) : Wide(a.max));
    return {saturate(-largest), saturate(largest)};
  }
  const int64_t corners[] = {divideBounds(a.min, b.min), divideBounds(a.min, b.max),
                             divideBounds(a.max, b.min), divideBounds(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

SymRange moduloRange(SymRange a, SymRange b) {
  SymRange result{0, 0};
  if (b.max > 0) {
    result.max = b.max == kHigh ? kHigh : b.max - 1;
    if (a.min >= 0)
      result.max = std::min(result.max, a.max);
  }
  if (b.min < 0) {
    result.min = b.min == kLow ? kLow : b.min + 1;
    if (a.max <= 0)
      result.min = std::max(result.min, a.min);
  }
  return result;
}

SymRange hull(SymRange a, SymRange b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

SymRange intersect(SymRange a, SymRange b) {
  const SymRange both{std::max(a.min, b.min), std::min(a.max, b.max)};
  return both.min <= both.max ? both : a;
}

/// The range of a sum with one of its terms taken out; nothing when `part` is not a term of it.
std::optional<SymRange> rangeWithout(SymInt sum, SymInt part) {
  if (sum.op() != SymOp::Add)
    return std::nullopt;
  SymRange rest{0, 0};
  bool found = false;
  for (SymInt operand : sum.operands())
    if (operand == part && !found)
      found = true;
    else
      rest = addRanges(rest, operand.range());
  return found ? std::optional(rest) : std::nullopt;
}

int64_t productDivisor(std::span<const SymInt> factors) {
  int64_t result = 1;
  for (SymInt factor : factors) {
    const Wide product = Wide(result) * factor.divisor();
    result = fits(product) ? static_cast<int64_t>(product) : std::max(result, factor.divisor());
  }
  return result;
}

int64_t commonDivisor(std::span<const SymInt> operands) {
  int64_t result = 0;
  for (SymInt operand : operands)
    result = std::gcd(result, operand.divisor());
  return std::max<int64_t>(result, 1);
}

} // namespace

int64_t floorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

int64_t floorModulo(int64_t a, int64_t b) {
  if (b == -1)
    return 0;
  const int64_t rest = a % b;
  return (rest != 0 && (rest < 0) != (b < 0)) ? rest + b : rest;
}

std::optional<int64_t> nextPowerOfTwo(int64_t x) {
  if (x <= 1)
    return 1;
  if (x > (int64_t(1) << 62))
    return std::nullopt;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(x)));
}

SymRange addRanges(SymRange a, SymRange b) { return {addLow(a.min, b.min), addHigh(a.max, b.max)}; }

SymRange multiplyRanges(SymRange a, SymRange b) {
  const int64_t corners[] = {multiplyBounds(a.min, b.min), multiplyBounds(a.min, b.max),
                             multiplyBounds(a.max, b.min), multiplyBounds(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

SymRange productRange(std::span<const SymInt> factors) {
  SymRange total{1, 1};
  for (size_t i = 0; i < factors.size();) {
    size_t end = i + 1;
    while (end < factors.size() && factors[end] == factors[i])
      ++end;
    const SymRange base = factors[i].range();
    SymRange power = base;
    for (size_t k = i + 1; k < end; ++k)
      power = multiplyRanges(power, base);
    if ((end - i) % 2 == 0)
      power.min = std::max<int64_t>(power.min, base.min > 0 ? multiplyBounds(base.min, base.min) : 0);
    total = multiplyRanges(total, power);
    i = end;
  }
  return total;
}

Facts factsOf(SymOp op, int64_t value, std::span<const SymInt> operands) {
  Facts facts;
  uint64_t weight = 1;
  for (SymInt operand : operands)
    weight += operand.weight();
  facts.weight = static_cast<uint32_t>(std::min<uint64_t>(weight, UINT32_MAX));
  switch (op) {
  case SymOp::Constant:
    facts.range = {value, value};
    facts.divisor = value == kLow ? int64_t(1) << 62 : value < 0 ? -value : value;
    break;
  case SymOp::Symbol:
    break; // set by newSymbol
  case SymOp::Add:
    facts.range = operands[0].range();
    for (SymInt operand : operands.subspan(1))
      facts.range = addRanges(facts.range, operand.range());
    facts.divisor = commonDivisor(operands);
    break;
  case SymOp::Mul:
    facts.range = productRange(operands);
    facts.divisor = productDivisor(operands);
    break;
  case SymOp::FloorDiv:
    facts.range = divideRanges(operands[0].range(), operands[1].range());
    if (const auto rest = rangeWithout(operands[0], operands[1]))
      facts.range = intersect(facts.range, addRanges(divideRanges(*rest, operands[1].range()), {1, 1}));
    if (const auto d = operands[1].constant(); d && *d > 0 && operands[0].divisor() % *d == 0)
      facts.divisor = std::max<int64_t>(1, operands[0].divisor() / *d);
    break;
  case SymOp::Mod:
    facts.range = moduloRange(operands[0].range(), operands[1].range());
    facts.divisor = std::max<int64_t>(1, std::gcd(operands[0].divisor(), operands[1].divisor()));
    break;
  case SymOp::Min:
  case SymOp::Max:
    facts.range = operands[0].range();
    for (SymInt operand : operands.subspan(1)) {
      const SymRange other = operand.range();
      facts.range =
          op == SymOp::Min
              ? SymRange{std::min(facts.range.min, other.min), std::min(facts.range.max, other.max)}
              : SymRange{std::max(facts.range.min, other.min), std::max(facts.range.max, other.max)};
    }
    facts.divisor = commonDivisor(operands);
    break;
  case SymOp::Select:
    facts.range = hull(operands[1].range(), operands[2].range());
    facts.divisor = commonDivisor(operands.subspan(1));
    break;
  case SymOp::NextPow2: {
    const SymRange range = operands[0].range();
    const int64_t low = nextPowerOfTwo(range.min).value_or(int64_t(1) << 62);
    facts.range = {low, range.max == kHigh ? kHigh : nextPowerOfTwo(range.max).value_or(kHigh)};
    facts.divisor = low; // every larger power of two is a multiple of the smallest possible one
    break;
  }
  case SymOp::Lt:
  case SymOp::Le:
  case SymOp::Eq:
  case SymOp::And:
  case SymOp::Or:
  case SymOp::Not:
    facts.range = {0, 1};
    break;
  case SymOp::BitAnd:
    if (operands[0].range().min >= 0 || operands[1].range().min >= 0) {
      facts.range.min = 0;
      if (operands[0].range().min >= 0)
        facts.range.max = operands[0].range().max;
      if (operands[1].range().min >= 0)
        facts.range.max = std::min(facts.range.max, operands[1].range().max);
    }
    break;
  case SymOp::BitOr:
  case SymOp::Xor:
    if (operands[0].range().min >= 0 && operands[1].range().min >= 0) {
      const int64_t larger = std::max(operands[0].range().max, operands[1].range().max);
      facts.range.min = 0;
      facts.range.max = larger == kHigh
                            ? kHigh
                            : static_cast<int64_t>((uint64_t(1) << std::bit_width(uint64_t(larger))) - 1);
    }
    break;
  case SymOp::Shl:
    if (operands[0].range().min >= 0)
      facts.range.min = operands[0].range().min;
    break;
  case SymOp::Shr:
    facts.range = hull(operands[0].range(),
                       {operands[0].range().min < 0 ? -1 : 0, operands[0].range().max < 0 ? -1 : 0});
    break;
  }
  return facts;
}

std::optional<int64_t> apply(SymOp op, std::span<const int64_t> operands) {
  int64_t result = 0;
  switch (op) {
  case SymOp::Constant:
  case SymOp::Symbol:
    return std::nullopt;
  case SymOp::Add: {
    Wide sum = 0;
    for (int64_t operand : operands)
      sum += operand;
    return fits(sum) ? std::optional(static_cast<int64_t>(sum)) : std::nullopt;
  }
  case SymOp::Mul:
    result = 1;
    for (int64_t operand : operands)
      if (operand == 0)
        return 0;
    for (int64_t operand : operands)
      if (__builtin_mul_overflow(result, operand, &result))
        return std::nullopt;
    return result;
  case SymOp::FloorDiv:
    if (operands[1] == 0 || (operands[0] == kLow && operands[1] == -1))
      return std::nullopt;
    return floorDivide(operands[0], operands[1]);
  case SymOp::Mod:
    return operands[1] == 0 ? std::nullopt : std::optional(floorModulo(operands[0], operands[1]));
  case SymOp::Min:
    return *std::min_element(operands.begin(), operands.end());
  case SymOp::Max:
    return *std::max_element(operands.begin(), operands.end());
  case SymOp::Select:
    return operands[0] != 0 ? operands[1] : operands[2];
  case SymOp::NextPow2:
    return nextPowerOfTwo(operands[0]);
  case SymOp::Lt:
    return operands[0] < operands[1];
  case SymOp::Le:
    return operands[0] <= operands[1];
  case SymOp::Eq:
    return operands[0] == operands[1];
  case SymOp::And:
    return std::all_of(operands.begin(), operands.end(), [](int64_t value) { return value != 0; });
  case SymOp::Or:
    return std::any_of(operands.begin(), operands.end(), [](int64_t value) { return value != 0; });
  case SymOp::Not:
    return operands[0] == 0;
  case SymOp::Xor:
    return operands[0] ^ operands[1];
  case SymOp::BitAnd:
    return operands[0] & operands[1];
  case SymOp::BitOr:
    return operands[0] | operands[1];
  case SymOp::Shl: {
    if (operands[1] < 0 || operands[1] > 62)
      return operands[0] == 0 && operands[1] > 0 ? std::optional<int64_t>(0) : std::nullopt;
    const Wide shifted = Wide(operands[0]) * (Wide(1) << operands[1]);
    return fits(shifted) ? std::optional(static_cast<int64_t>(shifted)) : std::nullopt;
  }
  case SymOp::Shr:
    if (operands[1] < 0)
      return std::nullopt;
    return operands[0] >> std::min<int64_t>(operands[1], 63);
  }
  return std::nullopt;
}

bool isBoolean(SymInt expression) {
  const SymRange range = expression.range();
  return range.min >= 0 && range.max <= 1;
}

} // namespace tilewright::symbolic

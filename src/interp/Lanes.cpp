#include "Lanes.h"

#include <cmath>
#include <limits>

namespace tilewright::interp {

namespace {

constexpr double powerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// A binary float format narrower than double.
struct Format {
  int mantissaBits;
  int exponentBits;
  int bias;
  bool hasInfinity;       ///< IEEE-like: the largest exponent means infinity and NaN
  bool nanIsNegativeZero; ///< "fnuz": NaN is the pattern of -0, and the largest exponent is ordinary
  bool saturates;

  constexpr int width() const { return mantissaBits + exponentBits; } ///< without the sign
  constexpr uint64_t mantissaMask() const { return (uint64_t(1) << mantissaBits) - 1; }
  constexpr uint64_t exponentMask() const { return (uint64_t(1) << exponentBits) - 1; }
  /// Without infinity and "fnuz", NaN is all ones (e4m3fn).
  constexpr bool nanIsAllOnes() const { return !hasInfinity && !nanIsNegativeZero; }
  constexpr double smallestNormal() const { return powerOfTwo(1 - bias); }
  constexpr double quantum() const { return powerOfTwo(1 - bias - mantissaBits); } ///< the smallest subnormal
  constexpr double largest() const {
    const int topExponent = static_cast<int>(exponentMask()) - (hasInfinity ? 1 : 0) - bias;
    return (2.0 - powerOfTwo(-mantissaBits) * (nanIsAllOnes() ? 2 : 1)) * powerOfTwo(topExponent);
  }
};

const Format &formatOf(DType dtype) {
  static constexpr Format kF32{23, 8, 127, true, false, false};
  static constexpr Format kF16{10, 5, 15, true, false, false};
  static constexpr Format kBF16{7, 8, 127, true, false, false};
  static constexpr Format kE4M3{3, 4, 7, false, false, true};
  static constexpr Format kE5M2{2, 5, 15, true, false, true};
  static constexpr Format kE4B15{3, 4, 15, false, false, true};
  static constexpr Format kE4B8{3, 4, 8, false, true, true};
  static constexpr Format kE5B16{2, 5, 16, false, true, true};
  switch (dtype) {
  case DType::Float16:
    return kF16;
  case DType::BFloat16:
    return kBF16;
  case DType::Fp8E4M3:
    return kE4M3;
  case DType::Fp8E5M2:
    return kE5M2;
  case DType::Fp8E4B15:
    return kE4B15;
  case DType::Fp8E4B8:
    return kE4B8;
  case DType::Fp8E5B16:
    return kE5B16;
  default:
    return kF32;
  }
}

// Exponent and mantissa of a narrow format, read as the top bits of a double, give the value scaled by a
// power of two: for subnormals too, which become subnormal doubles. So one exact multiplication converts in
// either direction.

uint64_t encodeSmall(const Format &format, double value) {
  const uint64_t sign = std::signbit(value) ? uint64_t(1) << format.width() : 0;
  if (std::isnan(value)) {
    if (format.nanIsNegativeZero)
      return uint64_t(1) << format.width();
    if (format.nanIsAllOnes())
      return sign | ((uint64_t(1) << format.width()) - 1);
    // The payload is kept, so that a value that is only moved keeps its bits; an empty one would mean
    // infinity.
    const uint64_t payload =
        std::bit_cast<uint64_t>(value) >> (52 - format.mantissaBits) & format.mantissaMask();
    return sign | (format.exponentMask() << format.mantissaBits) |
           (payload != 0 ? payload : uint64_t(1) << (format.mantissaBits - 1));
  }
  if (std::isinf(value))
    return sign | (format.exponentMask() << format.mantissaBits);
  if (value == 0)
    return format.nanIsNegativeZero ? 0 : sign;
  return sign | std::bit_cast<uint64_t>(std::fabs(value) * powerOfTwo(format.bias - 1023)) >>
                    (52 - format.mantissaBits);
}

double decodeSmall(const Format &format, uint64_t bits) {
  const bool negative = bits >> format.width() & 1;
  bits &= (uint64_t(1) << format.width()) - 1;
  double value;
  const bool topExponent = bits >> format.mantissaBits == format.exponentMask();
  if (format.hasInfinity && topExponent && (bits & format.mantissaMask()) != 0)
    value = std::bit_cast<double>(uint64_t(0x7ff) << 52 | (bits & format.mantissaMask())
                                                              << (52 - format.mantissaBits));
  else if (format.nanIsNegativeZero ? negative && bits == 0
           : format.hasInfinity     ? false
                                    : bits == (uint64_t(1) << format.width()) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (format.hasInfinity && topExponent)
    value = std::numeric_limits<double>::infinity();
  else
    value = std::bit_cast<double>(bits << (52 - format.mantissaBits)) * powerOfTwo(1023 - format.bias);
  return negative ? -value : value;
}

} // namespace

Rounding roundingNamed(std::string_view name) {
  return name == "rtz"   ? Rounding::TowardsZero
         : name == "rtn" ? Rounding::Down
         : name == "rtp" ? Rounding::Up
                         : Rounding::NearestEven;
}

double roundTo(DType dtype, double value, Rounding rounding) {
  if (dtype == DType::Float64 || std::isnan(value) || value == 0)
    return value;
  if (std::isinf(value))
    return formatOf(dtype).saturates ? std::copysign(formatOf(dtype).largest(), value) : value;
  if (dtype == DType::Float32 && rounding == Rounding::NearestEven)
    return static_cast<float>(value);
  const Format &format = formatOf(dtype);
  const bool away = rounding == (value < 0 ? Rounding::Down : Rounding::Up);
  double result;
  if (std::fabs(value) < format.smallestNormal()) {
    // Subnormal: whole multiples of one quantum. Adding and taking away 1.5 * 2^52 quanta rounds to nearest
    // even.
    if (rounding != Rounding::NearestEven) {
      const double quanta = std::fabs(value) / format.quantum();
      result = (away ? std::ceil(quanta) : std::floor(quanta)) * format.quantum();
    } else {
      volatile const double magic = format.quantum() * 6755399441055744.0;
      result = (value + magic) - magic;
    }
    result = std::copysign(result, value);
  } else {
    // Normal: drop the surplus mantissa bits of the double; a carry goes into the exponent by itself.
    const int surplus = 52 - format.mantissaBits;
    uint64_t bits = std::bit_cast<uint64_t>(value);
    if (rounding == Rounding::NearestEven)
      bits += (uint64_t(1) << (surplus - 1)) - 1 + (bits >> surplus & 1);
    else if (away)
      bits += (uint64_t(1) << surplus) - 1;
    result = std::bit_cast<double>(bits & ~((uint64_t(1) << surplus) - 1));
  }
  if (std::fabs(result) > format.largest()) {
    const bool finite = format.saturates || (rounding != Rounding::NearestEven && !away);
    result = std::copysign(finite ? format.largest() : std::numeric_limits<double>::infinity(), result);
  }
  return result;
}

uint64_t encode(DType dtype, Cell cell) {
  if (!isFloat(dtype))
    return static_cast<uint64_t>(cell.i);
  if (dtype == DType::Float64)
    return std::bit_cast<uint64_t>(cell.f);
  if (dtype == DType::Float32 && !std::isnan(cell.f))
    return std::bit_cast<uint32_t>(static_cast<float>(cell.f));
  return encodeSmall(formatOf(dtype), cell.f);
}

Cell decode(DType dtype, uint64_t bits) {
  Cell cell;
  if (dtype == DType::Int1)
    cell.i = (bits & 0xff) != 0;
  else if (!isFloat(dtype))
    cell.i = wrap(dtype, static_cast<int64_t>(bits));
  else if (dtype == DType::Float64)
    cell.f = std::bit_cast<double>(bits);
  else if (const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
           dtype == DType::Float32 && !std::isnan(value))
    cell.f = value;
  else
    cell.f = decodeSmall(formatOf(dtype), bits);
  return cell;
}

namespace {

/// Integers past 2^53 lie between two doubles; which one, the rounding says.
double integerAsDouble(DType from, int64_t value, Rounding rounding) {
  __extension__ typedef __int128 Wide;
  const bool isUnsigned = from == DType::UInt64;
  const Wide exact = isUnsigned ? static_cast<Wide>(static_cast<uint64_t>(value)) : static_cast<Wide>(value);
  const double nearest =
      isUnsigned ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
  const Wide taken = static_cast<Wide>(nearest);
  const bool down = rounding == Rounding::Down || (rounding == Rounding::TowardsZero && exact > 0);
  const bool up = rounding == Rounding::Up || (rounding == Rounding::TowardsZero && exact < 0);
  if (down && taken > exact)
    return std::nextafter(nearest, -HUGE_VAL);
  return up && taken < exact ? std::nextafter(nearest, HUGE_VAL) : nearest;
}

} // namespace

Cell convert(DType from, DType to, Cell cell, Rounding rounding) {
  Cell result;
  if (isFloat(from)) {
    if (isFloat(to))
      result.f = roundTo(to, cell.f, rounding);
    else if (to == DType::Int1)
      result.i = cell.f != 0;
    else if (std::isnan(cell.f))
      result.i = 0;
    else {
      const int bits = static_cast<int>(bitWidth(to));
      const bool isSignedTarget = isSigned(to);
      const double low = isSignedTarget ? -std::ldexp(1.0, bits - 1) : 0.0;
      const double high = std::ldexp(1.0, isSignedTarget ? bits - 1 : bits);
      const double whole = std::trunc(cell.f);
      if (whole >= high)
        result.i = static_cast<int64_t>(isSignedTarget ? (uint64_t(1) << (bits - 1)) - 1
                                                       : ~uint64_t(0) >> (64 - bits));
      else if (whole <= low)
        result.i = isSignedTarget ? static_cast<int64_t>(~uint64_t(0) << (bits - 1)) : 0;
      else
        result.i = to == DType::UInt64 ? static_cast<int64_t>(static_cast<uint64_t>(whole))
                                       : static_cast<int64_t>(whole);
    }
    return result;
  }
  if (isFloat(to)) {
    if (to == DType::Float32 && rounding == Rounding::NearestEven)
      result.f = from == DType::UInt64 ? static_cast<float>(static_cast<uint64_t>(cell.i))
                                       : static_cast<float>(cell.i);
    else
      result.f = roundTo(to, integerAsDouble(from, cell.i, rounding), rounding);
    return result;
  }
  result.i = to == DType::Int1 ? cell.i != 0 : wrap(to, cell.i);
  return result;
}

} // namespace tilewright::interp

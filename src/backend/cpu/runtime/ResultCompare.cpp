#include "ResultCompare.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tilewright::cpu {

namespace {

/// A short float: sign, exponent, fraction. `hasInfinity` false: the top exponent holds numbers (the "fn"
/// formats), and NaN is all ones; `nanIsMinusZero`: the "fnuz" formats.
struct FloatFormat {
  int exponentBits;
  int fractionBits;
  int bias;
  bool hasInfinity = true;
  bool nanIsMinusZero = false;
};

double decode(uint32_t bits, FloatFormat format) {
  const int width = 1 + format.exponentBits + format.fractionBits;
  const bool negative = (bits >> (width - 1)) & 1;
  const uint32_t exponent = (bits >> format.fractionBits) & ((1u << format.exponentBits) - 1);
  const uint32_t fraction = bits & ((1u << format.fractionBits) - 1);
  const uint32_t topExponent = (1u << format.exponentBits) - 1;
  const uint32_t topFraction = (1u << format.fractionBits) - 1;
  if (format.nanIsMinusZero && bits == 1u << (width - 1))
    return NAN;
  if (format.hasInfinity && exponent == topExponent)
    return fraction ? NAN : negative ? -INFINITY : INFINITY;
  if (!format.hasInfinity && !format.nanIsMinusZero && exponent == topExponent && fraction == topFraction)
    return NAN;
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - format.bias - format.fractionBits)
                               : std::ldexp(fraction + (1u << format.fractionBits),
                                            static_cast<int>(exponent) - format.bias - format.fractionBits);
  return negative ? -magnitude : magnitude;
}

constexpr FloatFormat formatOf(DType dtype) {
  switch (dtype) {
  case DType::Float16:
    return {5, 10, 15};
  case DType::BFloat16:
    return {8, 7, 127};
  case DType::Fp8E5M2:
    return {5, 2, 15};
  case DType::Fp8E5B16:
    return {5, 2, 16, false, true};
  case DType::Fp8E4B8:
    return {4, 3, 8, false, true};
  case DType::Fp8E4B15:
    return {4, 3, 15, false};
  default:
    return {4, 3, 7, false};
  }
}

template <class Bits> Bits load(std::span<const std::byte> bytes, uint64_t index) {
  Bits bits;
  std::memcpy(&bits, bytes.data() + index * sizeof(Bits), sizeof bits);
  return bits;
}

/// Calls `use` with a function that reads element i as a double.
template <class Use> auto withReader(DType dtype, Use use) {
  using Bytes = std::span<const std::byte>;
  switch (dtype) {
  case DType::Float64:
    return use([](Bytes bytes, uint64_t i) { return std::bit_cast<double>(load<uint64_t>(bytes, i)); });
  case DType::Float32:
    return use(
        [](Bytes bytes, uint64_t i) { return double{std::bit_cast<float>(load<uint32_t>(bytes, i))}; });
  case DType::Float16:
  case DType::BFloat16:
    return use([format = formatOf(dtype)](Bytes bytes, uint64_t i) {
      return decode(load<uint16_t>(bytes, i), format);
    });
  default:
    return use([format = formatOf(dtype)](Bytes bytes, uint64_t i) {
      return decode(load<uint8_t>(bytes, i), format);
    });
  }
}

template <class Read>
Comparison compareFloats(std::span<const std::byte> got, std::span<const std::byte> reference, uint64_t count,
                         Tolerance tolerance, Read read) {
  double squares = 0;
  uint64_t finite = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double value = read(reference, i);
    if (std::isfinite(value)) {
      squares += value * value;
      ++finite;
    }
  }
  const double rms = finite ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  Comparison out{.elements = count};
  for (uint64_t i = 0; i < count; ++i) {
    const double a = read(got, i), b = read(reference, i);
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                      (std::isfinite(a) && std::isfinite(b) &&
                       std::abs(a - b) <= tolerance.relative * std::max(std::abs(b), rms));
    if (!same && out.different++ == 0) {
      out.firstIndex = i;
      out.got = a;
      out.expected = b;
    }
  }
  return out;
}

Comparison compareIntegers(std::span<const std::byte> got, std::span<const std::byte> reference,
                           size_t width) {
  Comparison out{.elements = got.size() / width};
  const auto asNumber = [width](const std::byte *at) {
    int64_t value = 0;
    std::memcpy(&value, at, width);
    const int shift = static_cast<int>(64 - 8 * width);
    return static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift);
  };
  for (uint64_t i = 0; i < out.elements; ++i) {
    if (std::memcmp(got.data() + i * width, reference.data() + i * width, width) != 0 &&
        out.different++ == 0) {
      out.firstIndex = i;
      out.got = asNumber(got.data() + i * width);
      out.expected = asNumber(reference.data() + i * width);
    }
  }
  return out;
}

double unitRoundoff(DType dtype) {
  switch (dtype) {
  case DType::Float64:
    return std::ldexp(1.0, -52);
  case DType::Float32:
    return std::ldexp(1.0, -23);
  default:
    return isFloat(dtype) ? std::ldexp(1.0, -formatOf(dtype).fractionBits) : 0;
  }
}

} // namespace

Tolerance toleranceFor(DType stored, DType accumulator, double terms) {
  if (!isFloat(stored))
    return {};
  constexpr double kUlpsOfResult = 4;
  constexpr double kUlpsPerRootTerm = 4;
  const double accumulated = isFloat(accumulator) ? unitRoundoff(accumulator) : 0;
  return {kUlpsOfResult * unitRoundoff(stored) +
          kUlpsPerRootTerm * accumulated * std::sqrt(std::max(1.0, terms))};
}

Comparison compareBuffers(std::span<const std::byte> got, std::span<const std::byte> reference, DType dtype,
                          Tolerance tolerance) {
  const size_t width = std::max<size_t>(1, byteSize(dtype));
  if (got.empty() || std::memcmp(got.data(), reference.data(), got.size()) == 0)
    return {.elements = got.size() / width};
  if (!isFloat(dtype))
    return compareIntegers(got, reference, width);
  return withReader(
      dtype, [&](auto read) { return compareFloats(got, reference, got.size() / width, tolerance, read); });
}

} // namespace tilewright::cpu

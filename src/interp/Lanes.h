#pragma once
#include "tilewright/program/Type.h"

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tilewright::interp {

/// One lane of a tile. Integers of every width, truth values and pointers are held in `i`, sign- or
/// zero-extended as their dtype says (u64: the bit pattern); floats of every width in `f`, always exactly
/// representable in their dtype.
union Cell {
  int64_t i = 0;
  double f;
};
using Lanes = std::vector<Cell>;

/// The value that an integer of that dtype has when only its low bits are kept.
inline int64_t wrap(DType dtype, int64_t value) {
  switch (dtype) {
  case DType::Int1:
    return value & 1;
  case DType::Int8:
    return static_cast<int8_t>(value);
  case DType::Int16:
    return static_cast<int16_t>(value);
  case DType::Int32:
    return static_cast<int32_t>(value);
  case DType::UInt8:
    return static_cast<uint8_t>(value);
  case DType::UInt16:
    return static_cast<uint16_t>(value);
  case DType::UInt32:
    return static_cast<uint32_t>(value);
  default:
    return value;
  }
}

/// a < b as the dtype orders them.
inline bool lessInteger(DType dtype, int64_t a, int64_t b) {
  return dtype == DType::UInt64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

enum class Rounding : uint8_t { NearestEven, TowardsZero, Down, Up };
/// "rtz", "rtn", "rtp"; nearest for anything else.
Rounding roundingNamed(std::string_view name);

/// The nearest value of a float dtype. Past the largest finite value: infinity where the format has one (f64
/// to bf16), the largest finite value for the 8-bit formats (as the hardware conversions that Triton uses
/// saturate).
double roundTo(DType dtype, double value, Rounding rounding = Rounding::NearestEven);

/// Memory representation, in the low bytes. A bool is one byte, 0 or 1; any other byte reads as true.
uint64_t encode(DType dtype, Cell cell);
Cell decode(DType dtype, uint64_t bits);

/// Triton's conversion between dtypes; float to integer truncates and saturates (NaN gives 0), anything to
/// bool is "not zero".
Cell convert(DType from, DType to, Cell cell, Rounding rounding = Rounding::NearestEven);

/// Runs f(T{}, i) for each lane with T the type that arithmetic of that dtype is done in (double for f64,
/// else float), and rounds the result to the dtype.
template <class F> void floatLanes(DType dtype, Cell *out, size_t count, F f) {
  if (dtype == DType::Float64)
    for (size_t i = 0; i < count; ++i)
      out[i].f = f(double(), i);
  else if (dtype == DType::Float32)
    for (size_t i = 0; i < count; ++i)
      out[i].f = f(float(), i);
  else
    for (size_t i = 0; i < count; ++i)
      out[i].f = roundTo(dtype, f(float(), i));
}

/// Runs f(i) for each lane and wraps the result.
template <class F> void integerLanes(DType dtype, Cell *out, size_t count, F f) {
  for (size_t i = 0; i < count; ++i)
    out[i].i = wrap(dtype, static_cast<int64_t>(f(i)));
}

} // namespace tilewright::interp

#pragma once
#include <cmath>
#include <limits>

namespace tilewright::interp {

/// The smaller of two floats, with -0 below +0. One NaN gives the other operand, or NaN when it propagates.
template <class T> T minimum(T a, T b, bool propagateNan = false) {
  if (propagateNan && (std::isnan(a) || std::isnan(b)))
    return std::numeric_limits<T>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? a : b;
  return std::fmin(a, b);
}

/// The larger of two floats, with the same rules.
template <class T> T maximum(T a, T b, bool propagateNan = false) {
  if (propagateNan && (std::isnan(a) || std::isnan(b)))
    return std::numeric_limits<T>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return std::fmax(a, b);
}

} // namespace tilewright::interp

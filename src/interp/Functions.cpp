#include "Functions.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace tilewright::interp {

namespace {

constexpr double kPi = 3.14159265358979323846;

/// The inverse of erf, by Newton's method from a rough start; each step doubles the number of right digits.
double inverseErf(double y) {
  if (std::fabs(y) >= 1)
    return std::fabs(y) == 1 ? std::copysign(INFINITY, y) : NAN;
  // Winitzki's approximation, good to about 2e-3.
  const double a = 0.147, l = std::log1p(-y * y), half = 2 / (kPi * a) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - l / a) - half), y);
  for (int step = 0; step < 4; ++step) {
    // erf(x) - y, written so that nothing cancels near +-1
    const double error = std::signbit(y) ? std::erfc(-x) - (1 + y) : (1 - y) - std::erfc(x);
    x -= error * std::sqrt(kPi) / 2 * std::exp(x * x);
  }
  return x;
}

/// erfc scaled by exp(x^2): by the continued fraction where erfc itself would be 0.
double scaledErfc(double x) {
  if (x < 20)
    return std::exp(x * x) * std::erfc(x);
  double tail = 0;
  for (int k = 24; k > 0; --k)
    tail = k / 2.0 / (x + tail);
  return 1 / (std::sqrt(kPi) * (x + tail));
}
double inverseErfc(double y) {
  if (y > 0.5)
    return inverseErf(1 - y);
  if (y <= 0)
    return y == 0 ? INFINITY : NAN;
  // Newton's method on log(erfc): its slope stays tame where erfc is tiny.
  double x = std::sqrt(-std::log(y));
  for (int step = 0; step < 60; ++step) {
    const double value = std::erfc(x);
    const double slope = -2 / std::sqrt(kPi) * std::exp(-x * x) / value;
    const double change = (std::log(value) - std::log(y)) / slope;
    x -= change;
    if (std::fabs(change) < 1e-16 * std::fabs(x))
      break;
  }
  return x;
}
double normalCdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
double inverseNormalCdf(double p) { return -std::sqrt(2.0) * inverseErfc(2 * p); }
double clearedLowWord(double x) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(1 / x) & 0xffffffff00000000u);
}

/// One operation in another rounding mode. The operands are volatile so that nothing is computed before the
/// mode is set.
template <int Mode, class T, class F> double rounded(F operation, T a, T b = 0, T c = 0) {
  const int before = std::fegetround();
  std::fesetround(Mode);
  volatile T x = a, y = b, z = c;
  volatile T result = operation(x, y, z);
  std::fesetround(before);
  return static_cast<double>(result);
}

#define TW_ONE(name, expression)                                                                             \
  LibraryFunction {                                                                                          \
    name, 1, [](const double *a) -> double {                                                                 \
      const double x = a[0];                                                                                 \
      return expression;                                                                                     \
    }                                                                                                        \
  }
#define TW_TWO(name, expression)                                                                             \
  LibraryFunction {                                                                                          \
    name, 2, [](const double *a) -> double {                                                                 \
      const double x = a[0], y = a[1];                                                                       \
      return expression;                                                                                     \
    }                                                                                                        \
  }
/// An operation in three rounding modes, each in f64 and f32.
#define TW_MODE(name, count, mode, expression)                                                               \
  LibraryFunction {                                                                                          \
    name, count,                                                                                             \
        [](const double *a) {                                                                                \
          return rounded<mode>([]([[maybe_unused]] double x, [[maybe_unused]] double y,                      \
                                  [[maybe_unused]] double z) -> double { return expression; },               \
                               a[0], a[1], a[2]);                                                            \
        },                                                                                                   \
        [](const double *a) {                                                                                \
          return rounded<mode>([]([[maybe_unused]] float x, [[maybe_unused]] float y,                        \
                                  [[maybe_unused]] float z) -> float { return expression; },                 \
                               static_cast<float>(a[0]), static_cast<float>(a[1]),                           \
                               static_cast<float>(a[2]));                                                    \
        }                                                                                                    \
  }
#define TW_MODES(name, count, expression)                                                                    \
  TW_MODE(name "_rz", count, FE_TOWARDZERO, expression),                                                     \
      TW_MODE(name "_rd", count, FE_DOWNWARD, expression), TW_MODE(name "_ru", count, FE_UPWARD, expression)

const LibraryFunction kFunctions[] = {
    TW_ONE("abs", std::fabs(x)),
    TW_ONE("fabs", std::fabs(x)),
    TW_ONE("exp", std::exp(x)),
    TW_ONE("exp2", std::exp2(x)),
    TW_ONE("exp10", std::pow(10.0, x)),
    TW_ONE("expm1", std::expm1(x)),
    TW_ONE("log", std::log(x)),
    TW_ONE("log2", std::log2(x)),
    TW_ONE("log10", std::log10(x)),
    TW_ONE("log1p", std::log1p(x)),
    TW_ONE("logb", std::logb(x)),
    TW_ONE("sqrt", std::sqrt(x)),
    TW_ONE("sqrt_rn", std::sqrt(x)),
    TW_MODES("sqrt", 1, std::sqrt(x)),
    TW_ONE("rsqrt", 1 / std::sqrt(x)),
    TW_ONE("rsqrt_rn", 1 / std::sqrt(x)),
    TW_ONE("cbrt", std::cbrt(x)),
    TW_ONE("rcbrt", 1 / std::cbrt(x)),
    TW_ONE("sin", std::sin(x)),
    TW_ONE("cos", std::cos(x)),
    TW_ONE("tan", std::tan(x)),
    TW_ONE("asin", std::asin(x)),
    TW_ONE("acos", std::acos(x)),
    TW_ONE("atan", std::atan(x)),
    TW_ONE("sinh", std::sinh(x)),
    TW_ONE("cosh", std::cosh(x)),
    TW_ONE("tanh", std::tanh(x)),
    TW_ONE("asinh", std::asinh(x)),
    TW_ONE("acosh", std::acosh(x)),
    TW_ONE("atanh", std::atanh(x)),
    TW_ONE("sinpi", std::sin(kPi *std::remainder(x, 2.0))),
    TW_ONE("cospi", std::cos(kPi *std::remainder(x, 2.0))),
    TW_ONE("sigmoid", 1 / (1 + std::exp(-x))),
    TW_ONE("erf", std::erf(x)),
    TW_ONE("erfc", std::erfc(x)),
    TW_ONE("erfcx", scaledErfc(x)),
    TW_ONE("erfinv", inverseErf(x)),
    TW_ONE("erfcinv", inverseErfc(x)),
    TW_ONE("normcdf", normalCdf(x)),
    TW_ONE("normcdfinv", inverseNormalCdf(x)),
    TW_ONE("lgamma", std::lgamma(x)),
    TW_ONE("tgamma", std::tgamma(x)),
    TW_ONE("j0", ::j0(x)),
    TW_ONE("j1", ::j1(x)),
    TW_ONE("y0", ::y0(x)),
    TW_ONE("y1", ::y1(x)),
    TW_ONE("cyl_bessel_i0", std::cyl_bessel_i(0.0, std::fabs(x))),
    TW_ONE("cyl_bessel_i1", std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x)),
    TW_ONE("floor", std::floor(x)),
    TW_ONE("ceil", std::ceil(x)),
    TW_ONE("trunc", std::trunc(x)),
    TW_ONE("round", std::round(x)),
    TW_ONE("rint", std::nearbyint(x)),
    TW_ONE("nearbyint", std::nearbyint(x)),
    TW_ONE("rcp", 1 / x),
    TW_ONE("rcp_rn", 1 / x),
    TW_MODES("rcp", 1, 1 / x),
    TW_ONE("rcp64h", clearedLowWord(x)),
    TW_ONE("isnan", std::isnan(x)),
    TW_ONE("isinf", std::isinf(x)),
    TW_ONE("finite", std::isfinite(x)),
    TW_ONE("isfinite", std::isfinite(x)),
    TW_ONE("signbit", std::signbit(x)),
    TW_TWO("pow", std::pow(x, y)),
    TW_TWO("atan2", std::atan2(x, y)),
    TW_TWO("fmod", std::fmod(x, y)),
    TW_TWO("remainder", std::remainder(x, y)),
    TW_TWO("hypot", std::hypot(x, y)),
    TW_TWO("rhypot", 1 / std::hypot(x, y)),
    TW_TWO("copysign", std::copysign(x, y)),
    TW_TWO("fdim", std::fdim(x, y)),
    TW_TWO("fmin", std::fmin(x, y)),
    TW_TWO("fmax", std::fmax(x, y)),
    TW_TWO("div_rn", x / y),
    TW_MODES("div", 2, x / y),
    TW_TWO("mul_rn", x *y),
    TW_MODES("mul", 2, x *y),
    TW_TWO("add_rn", x + y),
    TW_MODES("add", 2, x + y),
    TW_TWO("sub_rn", x - y),
    TW_MODES("sub", 2, x - y),
    TW_TWO("ldexp", std::ldexp(x, static_cast<int>(y))),
    TW_TWO("jn", ::jn(static_cast<int>(x), y)),
    TW_TWO("yn", ::yn(static_cast<int>(x), y)),
    {"nextafter", 2, [](const double *a) { return std::nextafter(a[0], a[1]); },
     [](const double *a) -> double {
       return std::nextafter(static_cast<float>(a[0]), static_cast<float>(a[1]));
     }},
    {"fma", 3, [](const double *a) { return std::fma(a[0], a[1], a[2]); }},
    TW_MODES("fma", 3, std::fma(x, y, z)),
    {"norm3d", 3, [](const double *a) { return std::hypot(a[0], a[1], a[2]); }},
    {"rnorm3d", 3, [](const double *a) { return 1 / std::hypot(a[0], a[1], a[2]); }},
    {"norm4d", 4, [](const double *a) { return std::hypot(std::hypot(a[0], a[1]), std::hypot(a[2], a[3])); }},
    {"rnorm4d", 4,
     [](const double *a) { return 1 / std::hypot(std::hypot(a[0], a[1]), std::hypot(a[2], a[3])); }},
};
#undef TW_ONE
#undef TW_TWO
#undef TW_MODE
#undef TW_MODES

const LibraryFunction *exactly(std::string_view name) {
  for (const LibraryFunction &function : kFunctions)
    if (function.name == name)
      return &function;
  return nullptr;
}

} // namespace

const LibraryFunction *findFunction(std::string_view name) {
  if (const LibraryFunction *found = exactly(name))
    return found;
  if (name.starts_with("__nv_")) {
    name.remove_prefix(5);
    if (name.starts_with("fast_"))
      name.remove_prefix(5);
    if (const LibraryFunction *found = exactly(name))
      return found;
  }
  return name.ends_with('f') || name.ends_with('d') ? exactly(name.substr(0, name.size() - 1)) : nullptr;
}

} // namespace tilewright::interp

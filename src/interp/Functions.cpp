#include "Functions.h"

#include <cmath>
#include <iterator>

namespace tilewright::interp {

namespace {

constexpr double kPi = 3.14159265358979323846;

double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double exp10Of(double x) { return std::pow(10.0, x); }
double reciprocal(double x) { return 1 / x; }
double isNan(double x) { return std::isnan(x); }
double isInfinite(double x) { return std::isinf(x); }
double isFinite(double x) { return std::isfinite(x); }
double signBit(double x) { return std::signbit(x); }
double sinPi(double x) { return std::sin(kPi * std::remainder(x, 2.0)); }
double cosPi(double x) { return std::cos(kPi * std::remainder(x, 2.0)); }
double divide(double x, double y) { return x / y; }
double multiply(double x, double y) { return x * y; }
double sum(double x, double y) { return x + y; }
double difference(double x, double y) { return x - y; }
double reciprocalHypot(double x, double y) { return 1 / std::hypot(x, y); }
double scaleByPower(double x, double n) { return std::ldexp(x, static_cast<int>(n)); }

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

using Unary = double (*)(double);
using Binary = double (*)(double, double);
using Ternary = double (*)(double, double, double);

constexpr LibraryFunction one(std::string_view name, Unary f) { return {name, 1, f, nullptr, nullptr}; }
constexpr LibraryFunction two(std::string_view name, Binary f) { return {name, 2, nullptr, f, nullptr}; }
constexpr LibraryFunction three(std::string_view name, Ternary f) { return {name, 3, nullptr, nullptr, f}; }

const LibraryFunction kFunctions[] = {
    one("abs", std::fabs),
    one("fabs", std::fabs),
    one("exp", std::exp),
    one("exp2", std::exp2),
    one("exp10", exp10Of),
    one("expm1", std::expm1),
    one("log", std::log),
    one("log2", std::log2),
    one("log10", std::log10),
    one("log1p", std::log1p),
    one("sqrt", std::sqrt),
    one("sqrt_rn", std::sqrt),
    one("rsqrt", reciprocalRoot),
    one("rsqrt_rn", reciprocalRoot),
    one("cbrt", std::cbrt),
    one("sin", std::sin),
    one("cos", std::cos),
    one("tan", std::tan),
    one("asin", std::asin),
    one("acos", std::acos),
    one("atan", std::atan),
    one("sinh", std::sinh),
    one("cosh", std::cosh),
    one("tanh", std::tanh),
    one("asinh", std::asinh),
    one("acosh", std::acosh),
    one("atanh", std::atanh),
    one("sinpi", sinPi),
    one("cospi", cosPi),
    one("sigmoid", sigmoid),
    one("erf", std::erf),
    one("erfc", std::erfc),
    one("erfinv", inverseErf),
    one("lgamma", std::lgamma),
    one("tgamma", std::tgamma),
    one("floor", std::floor),
    one("ceil", std::ceil),
    one("trunc", std::trunc),
    one("round", std::round),
    one("rint", std::nearbyint),
    one("nearbyint", std::nearbyint),
    one("rcp", reciprocal),
    one("rcp_rn", reciprocal),
    one("isnan", isNan),
    one("isinf", isInfinite),
    one("finite", isFinite),
    one("isfinite", isFinite),
    one("signbit", signBit),
    one("fast_exp", std::exp),
    one("fast_log", std::log),
    one("fast_sin", std::sin),
    one("fast_cos", std::cos),
    one("fast_tanh", std::tanh),
    two("pow", std::pow),
    two("atan2", std::atan2),
    two("fmod", std::fmod),
    two("remainder", std::remainder),
    two("hypot", std::hypot),
    two("rhypot", reciprocalHypot),
    two("copysign", std::copysign),
    two("fdim", std::fdim),
    two("fmin", std::fmin),
    two("fmax", std::fmax),
    two("div_rn", divide),
    two("mul_rn", multiply),
    two("add_rn", sum),
    two("sub_rn", difference),
    two("ldexp", scaleByPower),
    two("scalbn", scaleByPower),
    two("fast_dividef", divide),
    two("fast_powf", std::pow),
    three("fma", std::fma),
    three("fma_rn", std::fma),
};

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
    if (const LibraryFunction *found = exactly(name))
      return found;
  }
  return name.ends_with('f') || name.ends_with('d') ? exactly(name.substr(0, name.size() - 1)) : nullptr;
}

} // namespace tilewright::interp

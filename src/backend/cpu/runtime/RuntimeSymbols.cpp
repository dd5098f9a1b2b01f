#include "RuntimeSymbols.h"

#include <cmath>
#include <cstring>

extern "C" {
// From libgcc; LLVM calls them where the machine has no conversion instruction.
void __extendhfsf2();
void __truncsfhf2();
void __truncdfhf2();
}

namespace tilewright::cpu {

namespace {

template <class Function> void *addressOf(Function *function) { return reinterpret_cast<void *>(function); }

#define UNARY(name)                                                                                          \
  {#name, addressOf(static_cast<double (*)(double)>(::name))}, {                                             \
    #name "f", addressOf(static_cast<float (*)(float)>(::name##f))                                           \
  }
#define BINARY(name)                                                                                         \
  {#name, addressOf(static_cast<double (*)(double, double)>(::name))}, {                                     \
    #name "f", addressOf(static_cast<float (*)(float, float)>(::name##f))                                    \
  }

const RuntimeSymbol kSymbols[] = {
    UNARY(acos),
    UNARY(acosh),
    UNARY(asin),
    UNARY(asinh),
    UNARY(atan),
    UNARY(atanh),
    UNARY(cbrt),
    UNARY(ceil),
    UNARY(cos),
    UNARY(cosh),
    UNARY(erf),
    UNARY(erfc),
    UNARY(exp),
    UNARY(exp2),
    UNARY(expm1),
    UNARY(floor),
    UNARY(log),
    UNARY(log10),
    UNARY(log1p),
    UNARY(log2),
    UNARY(nearbyint),
    UNARY(rint),
    UNARY(round),
    UNARY(roundeven),
    UNARY(sin),
    UNARY(sinh),
    UNARY(sqrt),
    UNARY(tan),
    UNARY(tanh),
    UNARY(tgamma),
    UNARY(lgamma),
    UNARY(trunc),
    BINARY(atan2),
    BINARY(copysign),
    BINARY(fdim),
    BINARY(fmax),
    BINARY(fmin),
    BINARY(fmod),
    BINARY(hypot),
    BINARY(nextafter),
    BINARY(pow),
    BINARY(remainder),
    {"fma", addressOf(static_cast<double (*)(double, double, double)>(::fma))},
    {"fmaf", addressOf(static_cast<float (*)(float, float, float)>(::fmaf))},
    {"ldexp", addressOf(static_cast<double (*)(double, int)>(::ldexp))},
    {"ldexpf", addressOf(static_cast<float (*)(float, int)>(::ldexpf))},
    {"sincos", addressOf(static_cast<void (*)(double, double *, double *)>(::sincos))},
    {"sincosf", addressOf(static_cast<void (*)(float, float *, float *)>(::sincosf))},
    {"memcpy", addressOf(static_cast<void *(*)(void *, const void *, size_t)>(::memcpy))},
    {"memmove", addressOf(static_cast<void *(*)(void *, const void *, size_t)>(::memmove))},
    {"memset", addressOf(static_cast<void *(*)(void *, int, size_t)>(::memset))},
    {"__extendhfsf2", addressOf(__extendhfsf2)},
    {"__truncsfhf2", addressOf(__truncsfhf2)},
    {"__truncdfhf2", addressOf(__truncdfhf2)},
};
#undef UNARY
#undef BINARY

} // namespace

std::span<const RuntimeSymbol> runtimeSymbols() { return kSymbols; }

} // namespace tilewright::cpu

#pragma once
#include <span>
#include <string_view>

namespace tilewright::cpu {

/// Functions outside of its own object that compiled code may call: libm, the memory functions that LLVM
/// introduces, and half-precision conversions for machines without F16C. Anything else fails to load:
/// generated code has no business with the rest of the process.
struct RuntimeSymbol {
  std::string_view name;
  void *address;
};
std::span<const RuntimeSymbol> runtimeSymbols();

} // namespace tilewright::cpu

#pragma once
#include <cstdint>
#include <string>

namespace tilewright::cpu {

/// The instruction set that code is generated for. Free of LLVM types so that anybody may ask.
struct CpuIsa {
  std::string cpu;               ///< LLVM's CPU name, "znver4"
  std::string features;          ///< LLVM's feature string, "+avx2,+fma,..."
  uint32_t vectorBytes = 32;     ///< native vector width: 64 with AVX-512, 32 with AVX2, 16 otherwise
  uint32_t vectorRegisters = 16; ///< 32 with AVX-512
  bool fma = true;
  bool avx512 = false;
  bool f16Conversion = true; ///< F16C
  bool bf16 = false;         ///< AVX512_BF16
};
/// The running machine. TILEWRIGHT_CPU_ISA=avx2 or =sse2 restricts it (for tests and for measuring both).
CpuIsa hostIsa();

} // namespace tilewright::cpu

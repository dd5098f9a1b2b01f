#pragma once
#include "tilewright/target/Target.h"

namespace tilewright {

/// The vector instruction sets that the CPU back end generates for.
enum class CpuVectors : uint8_t { Sse2, Avx2, Avx512, Neon };
std::string_view name(CpuVectors vectors); ///< "sse2", "avx2", "avx512", "neon"
int64_t vectorBytes(CpuVectors vectors);

/// Default rates of one core for an instruction set, and bandwidths of the caches that are already listed.
/// Orders of magnitude that rank candidates; a description with `"based_on": "cpu"` replaces them by measured
/// ones.
void addCpuRates(Target &target, CpuVectors vectors);

} // namespace tilewright

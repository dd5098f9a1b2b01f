#pragma once
#include "tilewright/analysis/KernelFacts.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright {

/// Why a constraint does not hold, in the user's names and with numbers:
///
///     BLOCK must cover all of n_cols: 512 < 781
///     SUB must divide BLOCK: 512 is no multiple of 384
///     whole vectors (static_assert): BLOCK % 16 == 0 with BLOCK = 100
std::string violationText(const Constraint &constraint, const LaunchSymbols &symbols,
                          std::span<const int64_t> values);

} // namespace tilewright

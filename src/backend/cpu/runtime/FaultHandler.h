#pragma once
#include "GuardedMemory.h"

namespace tilewright::cpu {

/// Exit status of a worker whose kernel touched a guard; the fault record says which.
inline constexpr int kOutOfBoundsExit = 43;

/// From now on a segmentation fault is classified against `memory` (null: not at all), written to its fault
/// record, and ends the process. One process-wide setting, because signal handlers are.
void watchFaults(const GuardedMemory *memory);

} // namespace tilewright::cpu

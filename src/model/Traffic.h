#pragma once
#include "Workload.h"

namespace tilewright::model {

/// Bytes of one access that come from beyond a cache of some size, over the whole grid.
///
/// Loops around an access, and then the axes of the grid, are taken from the inside out. A loop that moves
/// the access multiplies its bytes. One that does not touches the same bytes again: they come from the cache
/// if everything that one iteration touches fits in it.
///
///     for k: A[m, k], B[k, n]      both move with k: no reuse
///     axis 0 of the grid: n        A does not move: reused when one program's A and B panels fit
double bytesBeyond(double cacheBytes, const Workload &load, const AccessLoad &access);

/// Everything that the launch touches, each byte once.
double uniqueBytes(const Workload &load);
/// What one program touches, each byte once.
double programBytes(const Workload &load);

} // namespace tilewright::model

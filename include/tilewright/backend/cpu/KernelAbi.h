#pragma once
#include <cstdint>

namespace tilewright::cpu {

/// What compiled code is given: the runtime arguments of the Program in order (pointers as addresses,
/// integers sign-extended to 64 bits, floats as the bits of a double) and the grid.
struct KernelFrame {
  const uint64_t *arguments;
  int64_t grid[3];
};

/// Compiled code runs a span of the linearised grid (axis 0 fastest) in one call, so that launch-invariant
/// values are computed once a span: `pidBegin <= pid < pidEnd`. `scratch` is this thread's arena, 64-byte
/// aligned, of at least the bytes that the artifact asks for; tiles that must be materialised live there,
/// never on the stack. Returns 0, or 1 + the index of the device assertion that failed.
using KernelSpan = int32_t (*)(const KernelFrame *frame, int64_t pidBegin, int64_t pidEnd, void *scratch);

} // namespace tilewright::cpu

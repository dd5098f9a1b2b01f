#pragma once
#include "tilewright/backend/cpu/CpuIsa.h"

#include <cstdint>

namespace tilewright::cpu {

/// The part of a dot's accumulator that is held in registers over the whole k loop: `rows` times `vectors`
/// native vectors.
///
/// One step of k loads `vectors` vectors of B and broadcasts `rows` elements of A; rows*vectors independent
/// fused multiply-adds hide the latency of each other. rows*vectors + vectors + 1 must fit the register file.
/// Measured on Zen 4 (AVX-512): 8x2, 8x3 and 12x2 are within 3 % of each other at 97 % of the peak; with 16
/// registers 4x2, 6x2 and 4x3.
///
/// Rows and vectors divide the tile, so there is one micro-kernel and no remainder code.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1; ///< elements of one vector
};

RegisterTile chooseRegisterTile(const CpuIsa &isa, int64_t m, int64_t n, int64_t elementBytes);

} // namespace tilewright::cpu

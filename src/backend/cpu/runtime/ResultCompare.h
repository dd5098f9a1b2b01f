#pragma once
#include "tilewright/program/Type.h"

#include <cstddef>
#include <span>
#include <string>

namespace tilewright::cpu {

/// How far a float may be from the reference: `relative` times the larger of the reference's magnitude there
/// and the root mean square of the whole buffer (a sum that cancels to nearly nothing has the rounding of its
/// terms).
struct Tolerance {
  double relative = 0;
};

/// `terms`: the longest chain of additions behind one result (reduction length; 1 without). Candidates may
/// add in another order, whose rounding grows like the square root of the length; accumulation is in f32
/// unless `accumulator` says less or more. A few ulp of the stored type are always allowed: approximations
/// and fused multiply-adds differ that much.
Tolerance toleranceFor(DType stored, DType accumulator, double terms);

struct Comparison {
  uint64_t elements = 0;
  uint64_t different = 0;
  uint64_t firstIndex = 0; ///< of the first difference
  double got = 0, expected = 0;
  bool equal() const { return different == 0; }
};

/// Integers bit by bit; floats within the tolerance, NaN equal to NaN, infinities equal to themselves.
Comparison compareBuffers(std::span<const std::byte> got, std::span<const std::byte> reference, DType dtype,
                          Tolerance tolerance);

} // namespace tilewright::cpu

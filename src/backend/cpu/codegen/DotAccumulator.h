#pragma once
#include "TileEvaluator.h"

namespace tilewright::cpu {

/// The carried tile that a dot may accumulate into where it is, instead of into a buffer of its own. Three
/// forms, each with nobody else reading the old tile and the loop carrying the result on in the same place:
///
///     acc = tl.dot(a, b, acc)               the tile is the accumulator
///     acc += tl.dot(a, b)                   `result` is the sum; the product is never seen alone
///     acc = tl.dot(a, b, acc * scale)       the tile is first scaled in place (`needsInit`)
struct DotAccumulator {
  TileBuffer buffer;
  ValueId result = kNone; ///< the value that the buffer holds after the dot
  bool needsInit = false; ///< the accumulator operand must be evaluated into the buffer first
};
std::optional<DotAccumulator> findCarriedAccumulator(const BoundProgram &program,
                                                     const TileEvaluator &evaluator, const Op &dot);

} // namespace tilewright::cpu

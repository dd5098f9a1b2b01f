#pragma once
#include "TileAccess.h"

namespace tilewright::cpu {

/// One condition of a mask that bounds one axis from above:
///
///     rows[:, None] < n_rows      axis 0 of the compare, true exactly for index < n_rows - rows[0]
///
/// A loop nest uses it twice: where the condition holds for a whole chunk of lanes, loads and stores need no
/// mask; and where nothing happens beyond it, the loop ends there (it is *clipped*). A store does nothing
/// beyond its mask, so it is always clipped. A reduction is clipped only if all masked-off lanes hold one
/// value, which is then combined in closed form.
struct Bound {
  ValueId compare = kNone;  ///< canonical id of the comparison (or of the `rem`, see `wraps`)
  unsigned compareAxis = 0; ///< the axis of the comparison's own shape
  int nestAxis = 0;
  bool fromLeft = true; ///< the moving side is the left operand
  int64_t plus = 0;     ///< the limit is  other side - moving side at 0 + plus
  /// Not a mask but an index taken modulo something, `(start + lanes) % n`: below the bound it is the index
  /// itself, and the access is contiguous. Never clips.
  bool wraps = false;
  friend bool operator==(const Bound &a, const Bound &b) {
    return a.compare == b.compare && a.nestAxis == b.nestAxis;
  }
};

/// Maps the axes of a value to the axes of the nest that reads it; -1 for an axis that is read at index 0.
using AxisMap = llvm::SmallVector<int, 4>;
AxisMap identityMap(size_t rank);
/// The map of an operand of a shape op, given the map of its result; nothing when elements are moved in
/// another way.
std::optional<AxisMap> operandMap(const BoundProgram &program, const Op &op, const AxisMap &result);

/// The bound below which an integer `rem` leaves its left operand as it is, if it has that form.
std::optional<Bound> wrapBound(const BoundProgram &program, TileAccess &access, ValueId remainder,
                               const AxisMap &map);

/// Adds the bounds among the conditions that `mask` is an `and` of.
void collectBounds(const BoundProgram &program, TileAccess &access, ValueId mask, const AxisMap &map,
                   llvm::SmallVectorImpl<Bound> &bounds);

} // namespace tilewright::cpu

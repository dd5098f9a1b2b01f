#pragma once
#include "BoundProgram.h"

namespace tilewright::cpu {

/// How a tile value moves when one index of the tile moves by one.
struct AxisStep {
  enum class Kind : uint8_t {
    Zero,     ///< it does not: the value is the same along this axis
    Constant, ///< by a known number
    Uniform,  ///< by a number that is only known at run time, the same everywhere (a stride argument)
    Other,    ///< in some other way
  };
  Kind kind = Kind::Zero;
  int64_t value = 0;

  bool isZero() const { return kind == Kind::Zero; }
  bool isConstant(int64_t number) const { return kind == Kind::Constant && value == number; }
  friend bool operator==(const AxisStep &, const AxisStep &) = default;
};
using AxisSteps = llvm::SmallVector<AxisStep, 4>;

/// A tile (or pointer) that a loop carries and only ever moves by amounts that are the same for the whole
/// tile: it is kept as its initial value plus one running scalar, never in memory.
///
///     a_tile += BLOCK_K * stride_ak        init: a_tile before the loop, deltas: {BLOCK_K * stride_ak}
struct Induction {
  ValueId init = kNone;
  llvm::SmallVector<ValueId, 2> deltas;
};

/// Structural facts on index and pointer tiles: steps per axis, base pointers, inductions. Cached; built for
/// one compilation.
class TileAccess {
public:
  explicit TileAccess(const BoundProgram &program) : p_(program) {}

  /// One step per axis of the value's shape; pointers step in elements.
  const AxisSteps &steps(ValueId id);
  bool isUniform(ValueId id); ///< all steps are zero (scalars too)
  /// The body argument that a pointer value is derived from, or kNone.
  ValueId base(ValueId pointer);
  /// Whether region argument `argument` of a `for` is an induction.
  const Induction *induction(ValueId argument);

  /// Whether a load may see what a store writes. Parameters with different names are taken to be either the
  /// same buffer or disjoint ones, never shifted against each other: an element is then only met again
  /// through an equal map, or through one that repeats it along an axis (see
  /// docs/rationale/cpu-loop-nests.md). `sameNest`: both are in the body of one loop nest over the same
  /// positions.
  bool mayConflict(const Op &load, const Op &store, bool sameNest);

private:
  AxisSteps compute(ValueId id);
  std::optional<Induction> findInduction(ValueId argument);

  const BoundProgram &p_;
  std::map<ValueId, AxisSteps> steps_;
  std::map<ValueId, ValueId> bases_;
  std::map<ValueId, std::optional<Induction>> inductions_;
};

} // namespace tilewright::cpu

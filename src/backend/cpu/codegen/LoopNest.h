#pragma once
#include "TileEvaluator.h"
#include "TilePlan.h"

namespace tilewright::cpu {

/// What a nest over some tile values will read: found by walking the values as the evaluator will.
struct NestSurvey {
  llvm::SmallVector<Bound, 4> bounds;   ///< of masks of loads and conditions of selects
  llvm::SmallVector<int, 4> axisScores; ///< contiguous accesses along the axis, less strided ones
  int64_t widestBytes = 1;              ///< of the types that are computed with
  unsigned operations = 0;              ///< vector operations, a transcendental function counting for many
  llvm::SmallVector<ValueId, 4>
      passing; ///< planned to be stored while computing, read at the nest's own positions
  /// Whether a body is short beside the control of its loop and the latency of one addition: worth unrolling.
  bool isCheap() const { return operations <= 12; }
};

/// Loop nests over one iteration space: outer axes as scalar loops, one axis in native-width vectors.
///
///     for i in 0 .. limit0                     clipped where a store's mask ends
///       for j in 0 .. whole chunks             no masks: all bounds hold
///       for j in .. limit1                     the rest, every mask in force
///
/// The body is emitted twice at most, so the size of the code does not depend on the tile.
class LoopNest {
public:
  LoopNest(Emission &emission, LaneBuilder &lanes, TileAccess &access, TileEvaluator &evaluator,
           const TilePlan &plan)
      : e_(emission), p_(emission.program), lanes_(lanes), access_(access), evaluator_(evaluator),
        plan_(plan) {}

  struct Request {
    llvm::SmallVector<int64_t, 4> shape;
    llvm::SmallVector<ValueId, 4> values;  ///< tiles of that shape that the body evaluates
    llvm::SmallVector<ValueId, 2> targets; ///< pointer tiles of that shape that the body stores to
    llvm::SmallVector<ValueId, 2> masks;   ///< masks of stores: the nest is clipped by bounds of all of them
    /// Limits that are not conditions of a mask (block pointers): all indices of the axis below hold.
    struct AxisLimit {
      int axis;
      mlir::Value limit; ///< 64-bit, within 0..size
      bool clips;        ///< nothing happens beyond it
    };
    llvm::SmallVector<AxisLimit, 4> limits;
    int contiguousAxis = -1;  ///< where the body's own accesses are contiguous, if it knows
    bool scalar = false;      ///< one element at a time, in row-major order
    int64_t elementBytes = 1; ///< of what the body reads or writes by itself
  };
  using Body = llvm::function_ref<void(const Position &)>;
  void emit(const Request &request, Body body);

  /// Writes a tile to the arena.
  void materialise(ValueId value, const TileBuffer &buffer);

  NestSurvey survey(llvm::ArrayRef<ValueId> values, llvm::ArrayRef<int64_t> shape);
  int chooseVectorAxis(const NestSurvey &survey, llvm::ArrayRef<ValueId> targets,
                       llvm::ArrayRef<int64_t> shape) const;
  int64_t chooseLanes(const NestSurvey &survey, int64_t size) const;
  /// The first index of the axis that is out of bounds, within 0..size; emitted at the current place.
  mlir::Value limitOf(const Bound &bound, int64_t size);
  llvm::SmallVector<StoredTile, 2> passingTiles(const NestSurvey &survey);

  /// The chunks of the vector axis: [0, mainEnd) in steps of `mainStep` without masks, [mainEnd, end) with
  /// masks.
  struct Chunks {
    mlir::Value mainEnd, end;
    int64_t mainStep = 1;
    bool hasRest = true;
  };
  /// `holds`: (optional i1) whether the bounds of outer axes hold; `limit`: up to where those of this axis
  /// do; `end`: where the axis ends. Null values stand for "always" and "the whole size".
  Chunks chunks(int64_t size, int64_t lanes, int64_t unroll, mlir::Value holds, mlir::Value limit,
                mlir::Value end);
  /// Lanes of a chunk at `start` that are below the end of the axis; nothing when all are.
  std::optional<Lane> existingLanes(const Lane &start, int64_t size);
  /// Which lanes of an index are below `end` (64-bit scalar at an outer level), as a mask.
  Lane lanesBelow(Lane position, mlir::Value end);

private:
  void walk(ValueId value, const AxisMap &map, llvm::ArrayRef<int64_t> shape, NestSurvey &survey,
            std::set<std::pair<ValueId, std::vector<int>>> &seen);

  Emission &e_;
  const BoundProgram &p_;
  LaneBuilder &lanes_;
  TileAccess &access_;
  TileEvaluator &evaluator_;
  const TilePlan &plan_;
};

} // namespace tilewright::cpu

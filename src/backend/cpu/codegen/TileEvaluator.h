#pragma once
#include "Clipping.h"
#include "LaneBuilder.h"
#include "TileAccess.h"

namespace tilewright::cpu {

/// A bound that the loops guarantee (see Clipping.h), from which loop level inwards.
struct AssumedBound {
  Bound bound;
  int level = 0;
};

/// A tile that lives in the arena and may be read instead of being computed again.
struct StoredTile {
  ValueId value = kNone;
  TileBuffer buffer;
  /// Only elements inside these bounds were written.
  llvm::SmallVector<Bound, 2> inside;
  /// Pointers whose cache lines are asked for while the tile is computed, or kNone (TilePlan::streamsInto).
  ValueId target = kNone;
};

/// Emits a tile value where and when somebody needs it: `at(value, position)` walks back through the
/// Program's ops to scalars, loads and tiles in the arena, and emits just what this one position takes. Tiles
/// therefore never exist as a whole unless they are stored in the arena.
class TileEvaluator {
public:
  TileEvaluator(Emission &emission, LaneBuilder &lanes, TileAccess &access)
      : e_(emission), p_(emission.program), lanes_(lanes), access_(access) {}

  Lane at(ValueId value, const Position &position);
  /// A scalar, or element 0 of a tile.
  Lane first(ValueId value);

  /// Whether the value can be computed here without reading memory or the arena: from scalars that exist by
  /// now.
  bool isAvailable(ValueId value) const;
  /// Writes to the arena, lanes past the end of the tile left out.
  void store(const TileBuffer &buffer, const Position &position, const Lane &value);

  // --- what is known outside of nests ---
  void setScalar(ValueId value, Lane lane) { scalars_[p_.canonical(value)] = std::move(lane); }
  const Lane *findScalar(ValueId value) const;
  void setInductionOffset(ValueId argument, Lane offset) { offsets_[argument] = std::move(offset); }
  void addStored(StoredTile tile) { stored_.push_back(std::move(tile)); }
  /// Tiles added after a mark are forgotten when the region that made them ends.
  size_t mark() const { return stored_.size(); }
  void release(size_t mark) { stored_.resize(mark); }
  const StoredTile *findStored(ValueId value) const;
  /// The result of a loop that moved an induction: `init` plus the final offset.
  void bindResult(ValueId result, ValueId init, Lane offset) {
    movedResults_[result] = {init, std::move(offset)};
  }

  // --- the nest being emitted ---
  struct Nest {
    Position current;                           ///< the position of the chunk that is being emitted
    llvm::SmallVector<AssumedBound, 4> assumed; ///< bounds that hold here
    bool assume = false;
    std::optional<Lane> existing; ///< lanes that exist in the tile, when the chunk may reach past its end
    ValueId beyond = kNone;       ///< evaluating lanes where this comparison is false and the index unknown
    llvm::SmallVector<Bound, 4> domain;       ///< only elements inside these bounds are visited
    llvm::SmallVector<StoredTile, 2> passing; ///< tiles to store while they are computed
  };
  void beginNest(Nest nest);
  Nest &nest() { return nest_; }
  void endNest(); ///< passing tiles become stored ones
  /// Forgets what was computed inside loops that are closed by now.
  void leaveLevel();

private:
  using Key = std::vector<const void *>;
  Lane compute(ValueId value, const Position &position);
  Lane reshape(const Op &op, ValueId value, const Position &position);
  Lane loadAt(const Op &op, const Position &position);
  void prefetch(ValueId target, const Position &position);
  const Lane *assumedLane(ValueId value, const Position &position, Lane &storage);
  bool isCurrent(const Position &position) const;
  bool covers(const StoredTile &tile, const Position &position) const;

  Emission &e_;
  const BoundProgram &p_;
  LaneBuilder &lanes_;
  TileAccess &access_;
  std::map<ValueId, Lane> scalars_;
  std::map<ValueId, Lane> offsets_;
  std::map<ValueId, std::pair<ValueId, Lane>> movedResults_;
  std::vector<StoredTile> stored_;
  std::map<Key, Lane> memo_;
  Nest nest_;
};

} // namespace tilewright::cpu

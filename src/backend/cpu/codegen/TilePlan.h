#pragma once
#include "TileAccess.h"

#include <set>

namespace tilewright::cpu {

/// Decides, before anything is emitted, which tiles are kept in the arena and which stores share a loop nest.
///
/// A tile is computed where it is used. That is wrong when a store in between changes what a load would read,
/// and wasteful when an expensive function would be computed twice:
///  - `atDefinition`: loads that some later store may overwrite before their last use; expensive tiles used
///  in an inner loop.
///  - `whileComputing`: expensive tiles with several consumers; the first nest that computes one also stores
///  it.
class TilePlan {
public:
  TilePlan(const BoundProgram &program, TileAccess &access);

  bool storeAtDefinition(ValueId value) const { return atDefinition_.contains(value); }
  bool storeWhileComputing(ValueId value) const { return whileComputing_.contains(value); }
  /// The pointer tile that a later store writes, element for element from this tile kept while computing;
  /// kNone if there is not exactly one. Asking for its cache lines while the tile is computed overlaps their
  /// way with the computation.
  ValueId streamsInto(ValueId tile) const;
  /// The stores that are emitted together with `last`, in order; empty for a store that is emitted with a
  /// later one.
  llvm::ArrayRef<OpId> storeGroup(OpId last) const;

private:
  void groupStores();
  void groupStores(RegionId region);
  void findConsumers();
  void findOverwrittenLoads();
  void findSharedWork();
  void findStreams();
  bool isRoot(const Op &op) const;
  bool isVirtual(ValueId value) const;
  uint32_t groupOf(OpId op) const;
  bool isExpensive(ValueId value);
  bool insideLoopWithout(OpId op, RegionId region, OpId *loop = nullptr) const;

  const BoundProgram &p_;
  TileAccess &access_;
  std::map<OpId, std::vector<OpId>> groups_; ///< by last store
  std::map<OpId, OpId> groupLeader_;         ///< member to last store
  std::map<ValueId, std::set<OpId>> consumers_;
  std::map<ValueId, bool> expensive_;
  std::set<ValueId> atDefinition_;
  std::set<ValueId> whileComputing_;
  std::map<ValueId, ValueId> streams_;
};

} // namespace tilewright::cpu

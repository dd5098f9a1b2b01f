#pragma once
#include "tilewright/program/Program.h"
#include "tilewright/support/Expected.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <map>

namespace tilewright::cpu {

/// A Program for one configuration: every tile shape and every constant is a number, equal pure values share
/// one canonical id, and each op knows where it stands. Read-only; made once per compilation.
///
/// Canonical ids are how code generation sees that the mask of a load and the mask of a store are the same
/// condition although the kernel wrote `offs < n` twice. Loads are never merged: memory may have changed in
/// between.
class BoundProgram {
public:
  static Expected<BoundProgram> create(const Program &program, const Config &config);

  const Program &program() const { return *program_; }
  const Value &value(ValueId id) const { return program_->values[id]; }
  const Op &op(OpId id) const { return program_->ops[id]; }

  llvm::ArrayRef<int64_t> shape(ValueId id) const { return shapes_[id]; }
  size_t rank(ValueId id) const { return shapes_[id].size(); }
  bool isTile(ValueId id) const { return !shapes_[id].empty(); }

  /// The first value that is equal to this one and visible wherever this one is.
  ValueId canonical(ValueId id) const { return canonical_[id]; }
  /// The op that computes the canonical value, or null for region arguments.
  const Op *definition(ValueId id) const;
  /// The value of an integer scalar that the configuration decides, through splats and broadcasts.
  std::optional<int64_t> constantOf(ValueId id) const;
  std::optional<double> floatConstantOf(ValueId id) const;
  std::optional<int64_t> evaluate(SymInt expression) const;

  /// Ops without a live result or an effect generate nothing.
  bool isLive(OpId id) const { return live_[id]; }
  /// Preorder number: regions are numbered inside their op.
  uint32_t position(OpId id) const { return positions_[id]; }
  /// The region that holds the op.
  RegionId regionOf(OpId id) const { return regionOf_[id]; }
  /// The ops that hold this region, innermost first.
  llvm::SmallVector<OpId> parentsOf(RegionId region) const;
  OpId idOf(const Op &op) const { return static_cast<OpId>(&op - program_->ops.data()); }
  /// Ops that read the value (its canonical class) directly.
  llvm::ArrayRef<OpId> users(ValueId id) const { return users_[canonical_[id]]; }

private:
  struct ScopedKeys;
  void number(RegionId region, uint32_t &next);
  void merge(RegionId region, std::map<std::string, ValueId> visible);
  void markLive();
  void collectUsers();

  const Program *program_ = nullptr;
  SymValues bindings_;
  std::vector<llvm::SmallVector<int64_t, 4>> shapes_;
  std::vector<ValueId> canonical_;
  std::vector<bool> live_;
  std::vector<uint32_t> positions_;
  std::vector<RegionId> regionOf_;
  std::vector<llvm::SmallVector<OpId, 4>> users_;
};

/// Ops whose result depends on nothing but their operands and attributes, element for element or by moving
/// elements.
bool isPure(OpKind kind);
/// Ops that change memory or end the program.
bool hasEffect(OpKind kind);
/// Elementwise ops: result element i depends on the operands' element i alone.
bool isElementwise(OpKind kind);

} // namespace tilewright::cpu

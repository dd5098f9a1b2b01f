#pragma once
#include "LoopNest.h"
#include "tilewright/backend/cpu/EmitModule.h"

namespace tilewright::cpu {

/// Emits the KernelSpan function: walks the Program's regions in order, emits scalars where they stand, and
/// hands the ops that make tiles happen (stores, reductions, dots, scans, atomics, carried tiles) to their
/// loop nests.
class KernelEmitter {
public:
  KernelEmitter(mlir::MLIRContext &context, const BoundProgram &program, const CpuIsa &isa);
  Expected<EmittedModule> emit();

private:
  // EmitModule.cpp: the function and its loop over program ids
  void emitArguments(mlir::Value frame);
  void emitProgram(mlir::Value pid, mlir::Value frame);

  // EmitControl.cpp
  void emitRegion(RegionId region, size_t firstOp = 0);
  void emitOp(const Op &op);
  void emitScalar(const Op &op);
  void emitFor(const Op &op);
  void emitWhile(const Op &op);
  void emitIf(const Op &op, RegionId rest, size_t restFirst);
  bool endsInReturn(const Op &op) const;
  bool containsReturn(RegionId region) const;

  // EmitCarried.cpp: tiles that cross the border of a loop or branch
  struct Carried {
    ValueId argument = kNone; ///< region argument
    ValueId init = kNone;
    ValueId result = kNone;
    const Induction *induction = nullptr;
    std::optional<TileBuffer> buffer; ///< tiles that are not inductions
  };
  void storeCarriedInit(const Carried &carried);
  void updateCarried(llvm::ArrayRef<Carried> carried, llvm::ArrayRef<ValueId> next);
  /// Carried tiles that `value` reads, and whether all reads are at the element's own place.
  struct CarriedReads {
    std::set<ValueId> arguments;
    std::set<ValueId> elsewhere;
  };
  void collectReads(ValueId value, bool inPlace, CarriedReads &reads,
                    std::set<std::pair<ValueId, bool>> &seen) const;

  // EmitStore.cpp
  void emitStores(llvm::ArrayRef<OpId> stores);
  void emitScalarStore(const Op &op);
  void emitAtomicRmw(const Op &op);
  void emitAtomicCas(const Op &op);
  mlir::Value atomicAt(const Op &op, const Position &position);
  void emitAssert(const Op &op);
  void recordFailure(const Op &op, mlir::Value holds);

  // EmitBlock.cpp: block pointers and descriptors
  struct BlockHandle {
    Lane base;
    llvm::SmallVector<Lane, 4> shape, strides, offsets; ///< one uniform integer an axis
    bool padsWithNan = false;
  };
  bool isBlock(ValueId value) const { return p_.value(value).type.kind == Type::Kind::BlockPointer; }
  void emitBlockHandle(const Op &op);
  void emitBlockAccess(const Op &op);

  // EmitReduce.cpp
  void emitReduce(const Op &op);
  // EmitScan.cpp
  void emitScan(const Op &op);
  void emitHistogram(const Op &op);
  // EmitDot.cpp
  void emitDot(const Op &op);

  bool isScalar(ValueId value) const { return p_.value(value).type.shape.empty(); }
  void keepAtDefinition(const Op &op);

  Emission e_;
  const BoundProgram &p_;
  LaneBuilder lanes_;
  TileAccess access_;
  TilePlan plan_;
  TileEvaluator evaluator_;
  LoopNest nests_;
  std::map<ValueId, BlockHandle> blocks_;
  std::vector<std::string> assertions_;
  int64_t failureSlot_ = -1; ///< arena offset of the 1 + index of the first failed assertion
  mlir::Value grid_[3];
};

} // namespace tilewright::cpu

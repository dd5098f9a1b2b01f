#pragma once
#include "BoundProgram.h"
#include "MlirHeaders.h"
#include "ScratchPlan.h"
#include "tilewright/backend/cpu/CpuIsa.h"

namespace tilewright::cpu {

/// What every part of code generation shares: the builder, the open loops, the arena and the first refusal.
///
/// A refusal does not unwind: the emitter that meets an unsupported form notes it and goes on with a
/// placeholder; the module is thrown away at the end. That keeps recursive emission free of error plumbing.
class Emission {
public:
  Emission(mlir::MLIRContext &context, const BoundProgram &program, const CpuIsa &isa)
      : builder(&context), loc(builder.getUnknownLoc()), program(program), isa(isa) {}

  mlir::OpBuilder builder;
  mlir::Location loc;
  const BoundProgram &program;
  const CpuIsa &isa;
  ScratchPlan scratch;
  mlir::Value scratchBase;
  mlir::Block *entryBlock = nullptr; ///< constants live here, so that they dominate everything
  std::vector<std::string> remarks;

  /// Native vector lanes of the nest being emitted; 1 in a scalar nest.
  int64_t lanes = 1;

  // --- refusals ---
  void refuse(const Op *op, std::string text);
  const std::optional<Error> &refusal() const { return refusal_; }

  // --- loops of the current nest; level n is inside n of them ---
  int level() const { return static_cast<int>(open_.size()); }
  /// Opens a loop and moves into its body. `inits` become loop-carried.
  mlir::scf::ForOp openLoop(mlir::Value lower, mlir::Value upper, mlir::Value step,
                            mlir::ValueRange inits = {});
  /// Leaves the innermost loop; `yields` match its inits. Returns the loop's results.
  mlir::ValueRange closeLoop(mlir::ValueRange yields = {});
  /// Runs `emit` at the end of the code of an outer level, before the loop that is open there.
  template <class Function> auto atLevel(int level, Function &&emit) {
    if (level >= this->level())
      return emit();
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(open_[level]);
    return emit();
  }

  // --- constants, all in the entry block ---
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value index(int64_t value) { return constant(builder.getI64Type(), value); }
  mlir::Value boolean(bool value) { return constant(builder.getI1Type(), int64_t{value}); }
  mlir::Value splatConstant(mlir::TypedAttr attribute);
  /// 0, 1, 2, ... as a vector of `type`.
  mlir::Value iota(mlir::Type element, int64_t lanes);

  // --- types ---
  mlir::Type elementType(DType dtype) const; ///< as computed with: i1 for bool, iN, f16, bf16, f32, f64
  mlir::Type memoryType(DType dtype) const;  ///< as stored: i8 for bool, i16 for half floats
  mlir::VectorType vectorOf(mlir::Type element) const { return mlir::VectorType::get({lanes}, element); }
  mlir::Type pointerType() { return mlir::LLVM::LLVMPointerType::get(builder.getContext()); }
  /// `scratchBase + bytes`.
  mlir::Value scratchAt(int64_t bytes);

private:
  llvm::SmallVector<mlir::Operation *, 8> open_;
  std::optional<Error> refusal_;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants_;
  llvm::DenseMap<int64_t, mlir::Value> scratchAddresses_;
};

} // namespace tilewright::cpu

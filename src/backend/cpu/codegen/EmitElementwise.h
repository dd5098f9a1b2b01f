#pragma once
#include "Emission.h"

namespace tilewright::cpu {

/// Emits one elementwise op on operands that are all scalars or all vectors of the same lane count. `from` is
/// the dtype of the deciding operand (the source of a cast, the sides of a comparison), `to` that of the
/// result.
///
/// f16 and bf16 are computed in f32 and rounded after each op, as Triton's half arithmetic is defined.
/// Integer division never traps: a zero divisor (which only lanes that are masked off may have) is replaced,
/// and -1 negates.
mlir::Value emitElementwise(Emission &emission, const Op &op, DType from, DType to,
                            llvm::ArrayRef<mlir::Value> operands);

/// Combines two values of a dtype by the kind of a reduction: "sum", "max", ... `reassociate` allows LLVM to
/// reorder.
mlir::Value emitCombine(Emission &emission, std::string_view kind, DType dtype, bool propagateNan,
                        mlir::Value left, mlir::Value right);

/// Value conversion with Triton's rules (bool is x != 0).
mlir::Value emitCast(Emission &emission, const Op *op, DType from, DType to, mlir::Value value);

/// `value` with element type `element` in place of its own, keeping the lane count.
mlir::Type withElement(mlir::Type shaped, mlir::Type element);

/// Float additions and multiplications may be contracted (a*b + c in one rounding), as Triton's other targets
/// do.
mlir::arith::FastMathFlags contractFlags();
/// The same, and sums may be taken in any order.
mlir::arith::FastMathFlags reassociateFlags();

} // namespace tilewright::cpu

#pragma once
#include "tilewright/backend/cpu/CpuIsa.h"
#include "tilewright/support/Expected.h"

#include <mlir/IR/BuiltinOps.h>

namespace tilewright::cpu {

/// A vector may span a few registers (an index vector beside a vector of bytes does), never a tile: wide
/// vectors make compile time grow with the tile and spill. Refused with `internal`, naming the operation.
Expected<void> checkVectorWidths(mlir::ModuleOp module, const CpuIsa &isa);

/// After lowering: only the LLVM dialect is left, stack slots are small and of constant size.
Expected<void> checkLlvmDialect(mlir::ModuleOp module);

} // namespace tilewright::cpu

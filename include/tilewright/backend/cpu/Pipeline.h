#pragma once
#include "tilewright/backend/cpu/CpuIsa.h"
#include "tilewright/backend/cpu/EmitModule.h"
#include "tilewright/backend/cpu/ObjectCode.h"

#include <memory>
#include <mlir/IR/MLIRContext.h>

namespace tilewright::cpu {

/// A context for one compilation: single-threaded, with the dialects that code generation emits and the
/// pipeline lowers through. A context is never shared between compilations, which makes parallel compilation
/// safe.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// What the pipeline accepts, in any mixture: func, scf, cf, arith, math, index, ub, vector (1-D of native
/// width, or n-D with register-sized rows) and the LLVM dialect for memory. Transcendental functions on f32
/// vectors become inline polynomials, f16 and bf16 ones are computed in f32, the rest call libm lane by lane.
///
/// Example of the smallest module that can be launched:
///
///     func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
///       %0 = arith.constant 0 : i32
///       return %0 : i32
///     }
///
/// Runs MLIR passes → LLVM IR → optimisation → object bytes. `compile.failed` or `internal` with the
/// verifier's text when the module is wrong: a vector wider than a few registers, a stack slot beyond a few
/// KiB or of dynamic size, an operation that has no lowering, a call of a symbol that the loader would
/// refuse.
Expected<ObjectCode> compileModule(EmittedModule emitted, const CpuIsa &isa);

/// The module after MLIR lowering (LLVM dialect), in place. Part of compileModule; public for tests and for
/// dumps.
Expected<void> lowerToLlvmDialect(mlir::ModuleOp module, const CpuIsa &isa);

} // namespace tilewright::cpu

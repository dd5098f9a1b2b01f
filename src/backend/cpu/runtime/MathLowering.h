#pragma once
#include "tilewright/backend/cpu/CpuIsa.h"

#include <memory>
#include <mlir/Pass/Pass.h>

namespace tilewright::cpu {

/// Turns transcendental functions into inline arithmetic where that is about as exact as libm (exp, exp2,
/// log, log2, tanh, erf, ... on f32 vectors and scalars; without AVX-512, results of exp below the
/// smallest normal number become 0), computes f16 and bf16 functions in f32, and rounds
/// to bf16 with integer arithmetic (exact, also for subnormals, on every machine). What is left goes to LLVM
/// intrinsics or libm in later passes.
///
///     %y = math.exp %x : vector<16xf32>   ==>   range reduction, polynomial, scaling: 13 vector operations
///     on AVX-512
std::unique_ptr<mlir::Pass> makeMathLoweringPass(const CpuIsa &isa);

} // namespace tilewright::cpu

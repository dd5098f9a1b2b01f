#pragma once
#include "tilewright/backend/cpu/CpuIsa.h"
#include "tilewright/program/Program.h"
#include "tilewright/support/Expected.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

namespace tilewright::cpu {

/// The emitted module and what a launch of it needs.
struct EmittedModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string entry;                   ///< symbol of the KernelSpan function
  int64_t scratchBytes = 0;            ///< arena per thread
  std::vector<std::string> assertions; ///< messages of device assertions, by index
  std::vector<std::string> remarks;    ///< why a fast path was refused: "code: text"
};

/// Emits one KernelSpan function for a configuration: scf/arith/math/vector on native-width vectors plus
/// LLVM-dialect memory operations, ready for the runtime's lowering pipeline. The context must have the
/// dialects of `registerCpuDialects` loaded. Size of the emitted code does not depend on tile sizes.
Expected<EmittedModule> emitModule(mlir::MLIRContext &context, const Program &program, const Config &config,
                                   const LaunchArguments &arguments, const CpuIsa &isa);

/// Loads just the dialects that emitModule uses.
void registerCpuDialects(mlir::MLIRContext &context);

} // namespace tilewright::cpu

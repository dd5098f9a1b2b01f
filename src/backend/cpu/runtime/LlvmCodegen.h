#pragma once
#include "tilewright/backend/cpu/CpuIsa.h"
#include "tilewright/backend/cpu/ObjectCode.h"
#include "tilewright/support/Expected.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <memory>

namespace tilewright::cpu {

/// A machine for position-independent code on `isa`. One for each compilation: it is not thread-safe.
Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuIsa &isa);

/// Sets CPU, features and preferred vector width on every function: LLVM reads them there, not only on the
/// machine.
void setTargetAttributes(llvm::Module &module, const llvm::TargetMachine &machine, const CpuIsa &isa);

/// Scalar clean-up of code that is already vectorised and blocked. The vectorisers and unrollers stay off:
/// loops over native vectors come from code generation, and a second opinion costs compile time.
Expected<void> optimize(llvm::Module &module, llvm::TargetMachine &machine);

Expected<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tilewright::cpu

#include "tilewright/backend/cpu/Pipeline.h"

#include "LlvmCodegen.h"
#include "Stopwatch.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/Target/LLVMIR/Export.h>

namespace tilewright::cpu {

Expected<ObjectCode> compileModule(EmittedModule emitted, const CpuIsa &isa) {
  ObjectCode code;
  code.entry = std::move(emitted.entry);
  code.scratchBytes = emitted.scratchBytes;
  code.assertions = std::move(emitted.assertions);
  code.remarks = std::move(emitted.remarks);

  Stopwatch watch;
  TW_CHECK(lowerToLlvmDialect(*emitted.module, isa));
  code.times.lowerNs = watch.lapNs();

  llvm::LLVMContext context;
  const auto module =
      mlir::translateModuleToLLVMIR(*emitted.module, context, "kernel", /*disableVerification=*/true);
  if (!module)
    return fail(ErrorKind::Internal, "internal", "the lowered module cannot be written as LLVM IR");
  TW_TRY(const auto machine, makeTargetMachine(isa));
  setTargetAttributes(*module, *machine, isa);
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (llvm::verifyModule(*module, &stream))
    return fail(ErrorKind::Internal, "internal", "LLVM's verifier refuses the generated code: " + complaint);
  const llvm::Function *entry = module->getFunction(code.entry);
  if (!entry || entry->isDeclaration())
    return fail(ErrorKind::Internal, "internal",
                "the generated module does not define its entry " + code.entry);
  code.times.translateNs = watch.lapNs();

  TW_CHECK(optimize(*module, *machine));
  code.times.optimizeNs = watch.lapNs();
  TW_TRY(code.object, emitObject(*module, *machine));
  code.times.codegenNs = watch.lapNs();
  return code;
}

} // namespace tilewright::cpu

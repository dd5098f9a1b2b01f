#include "LlvmCodegen.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <mutex>

namespace tilewright::cpu {

namespace {

/// On softmax and f32 matmul this gives the speed of LLVM's O2 pipeline for 40 % of its time (5-8 ms against
/// 13-18 ms).
constexpr llvm::StringLiteral kPipeline = "always-inline,"
                                          "function(sroa<modify-cfg>,early-cse<memssa>,"
                                          "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,"
                                          "loop-mssa(loop-rotate,licm),early-cse<memssa>,loop(indvars),gvn,"
                                          "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg)";

void initializeTargetsOnce() {
  static std::once_flag done; // LLVM's registry is process-wide
  std::call_once(done, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

} // namespace

Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuIsa &isa) {
  initializeTargetsOnce();
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string why;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (!target)
    return fail(ErrorKind::Unavailable, "target.unavailable",
                "LLVM has no code generator for this machine: " + why);
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, isa.cpu, isa.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                  /*JIT=*/true));
  if (!machine)
    return fail(ErrorKind::Internal, "internal", "LLVM refuses a target machine for " + isa.cpu);
  return machine;
}

void setTargetAttributes(llvm::Module &module, const llvm::TargetMachine &machine, const CpuIsa &isa) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", isa.cpu);
    function.addFnAttr("target-features", isa.features);
    function.addFnAttr("prefer-vector-width", std::to_string(8 * isa.vectorBytes));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

Expected<void> optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes;
  if (auto error = builder.parsePassPipeline(passes, kPipeline))
    return fail(ErrorKind::Internal, "internal",
                "LLVM does not know the CPU back end's passes: " + llvm::toString(std::move(error)));
  passes.run(module, modules);
  return {};
}

Expected<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return fail(ErrorKind::Internal, "internal", "LLVM cannot write object files for this machine");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

} // namespace tilewright::cpu

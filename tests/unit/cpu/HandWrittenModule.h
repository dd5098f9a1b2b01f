#pragma once
#include "backend/cpu/runtime/LoadedKernel.h"
#include "backend/cpu/runtime/ObjectCodeFormat.h"
#include "tilewright/backend/cpu/Pipeline.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <mlir/Parser/Parser.h>
#include <thread>

namespace tilewright::cpu {

/// Compiles MLIR text whose entry is @kernel.
inline Expected<ObjectCode> compileText(std::string_view text, const CpuIsa &isa = hostIsa()) {
  const auto context = makeContext();
  EmittedModule emitted;
  emitted.module =
      mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()), context.get());
  if (!emitted.module)
    return fail(ErrorKind::User, "internal", "the test's MLIR text cannot be parsed");
  emitted.entry = "kernel";
  emitted.assertions = {"first", "second"};
  return compileModule(std::move(emitted), isa);
}

inline Expected<std::shared_ptr<LoadedKernel>> loadText(std::string_view text, const CpuIsa &isa = hostIsa(),
                                                        uint32_t threads = 4, int64_t scratchBytes = 0) {
  TW_TRY(auto code, compileText(text, isa));
  code.scratchBytes = scratchBytes;
  TW_TRY(const auto jit, Jit::create());
  return LoadedKernel::load(*jit, std::make_shared<LaunchPool>(threads), std::move(code));
}

inline Expected<void> launch(const CompiledKernel &kernel, std::initializer_list<void *> pointers,
                             std::array<int64_t, 3> grid) {
  std::vector<uint64_t> arguments;
  for (void *pointer : pointers)
    arguments.push_back(reinterpret_cast<uint64_t>(pointer));
  return kernel.launch(arguments, grid);
}

} // namespace tilewright::cpu

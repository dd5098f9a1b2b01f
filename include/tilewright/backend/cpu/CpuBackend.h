#pragma once
#include "tilewright/backend/Backend.h"

#include <chrono>

namespace tilewright::cpu {

struct CpuOptions {
  /// Compile in this process instead of in workers: for the worker itself and for tests. A crash of the
  /// compiler then is a crash of the caller.
  bool compileInProcess = false;
  uint32_t compileWorkers = 0; ///< 0: one for each CPU
  uint32_t threads = 0;        ///< of a launch; 0: TILEWRIGHT_THREADS, else the CPUs this process may use
  std::string workerProgram;   ///< empty: searched for (see target.unavailable's text)
  std::chrono::milliseconds compileTimeout{60'000};
  std::chrono::milliseconds checkTimeout{10'000};
};

/// The CPU back end. Compilation and trials run in worker processes, so that neither a crash of the compiler
/// nor a wild kernel reaches the caller; `load` brings finished code into this process.
std::unique_ptr<Backend> makeCpuBackend(CpuOptions options = {});

} // namespace tilewright::cpu

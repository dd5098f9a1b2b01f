#pragma once
#include "tilewright/backend/cpu/KernelAbi.h"

#include <atomic>
#include <cstddef>
#include <memory>

namespace tilewright::cpu {

/// What one program of a kernel took lately, in nanoseconds; 0 before the first launch. Only a hint: it
/// decides whether a small grid is worth waking other threads.
using ProgramCost = std::atomic<float>;

/// A grid to run.
struct GridRun {
  KernelSpan span = nullptr;
  const KernelFrame *frame = nullptr;
  int64_t programs = 0;
  size_t scratchBytes = 0;
  uint32_t maxThreads = 0; ///< 0: all
  ProgramCost *cost = nullptr;
};

/// Spreads the programs of a launch over threads (oneTBB). One program, one thread, or a grid that is known
/// to be shorter than waking a thread takes: runs on the caller's thread and touches nothing else. Otherwise
/// every thread claims chunks of neighbouring programs until none is left, so that slow programs do not hold
/// up a fixed partition. Thread-safe.
class LaunchPool {
public:
  /// `threads` beyond the machine's CPUs are not started.
  explicit LaunchPool(uint32_t threads);
  ~LaunchPool();
  uint32_t threads() const { return threads_; }

  /// 0, 1 + the index of a failed device assertion, or kNoScratch.
  int32_t run(const GridRun &grid) const;
  static constexpr int32_t kNoScratch = -1;

private:
  struct Arena;
  int32_t runParallel(const GridRun &grid, int64_t begin, uint32_t lanes) const;

  const uint32_t threads_;
  const std::unique_ptr<Arena> arena_;
};

/// TILEWRIGHT_THREADS, else the CPUs that this process may use.
uint32_t launchThreads();

} // namespace tilewright::cpu

#include "LaunchPool.h"

#include "ScratchArena.h"
#include "Stopwatch.h"

#include <algorithm>
#include <cstdlib>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <sched.h>
#include <thread>

namespace tilewright::cpu {

namespace tbb = oneapi::tbb;

namespace {

/// Below this, waking another thread costs more than it brings (benchmarks/cpu/LaunchBenchmark.cpp, a grid of
/// 2 to 64 empty programs inline against spread).
constexpr double kBreakEvenNs = 15'000;
/// Chunks a lane gets on average: enough to even out programs of different length, few enough that
/// launch-invariant work at the start of a span stays small.
constexpr int64_t kChunksPerLane = 8;

int32_t runSpan(const GridRun &grid, int64_t begin, int64_t end) {
  void *scratch = nullptr;
  if (grid.scratchBytes > 0 && !(scratch = ScratchArena::ofThisThread().atLeast(grid.scratchBytes)))
    return LaunchPool::kNoScratch;
  return grid.span(grid.frame, begin, end, scratch);
}

} // namespace

struct LaunchPool::Arena {
  explicit Arena(uint32_t threads) : arena(static_cast<int>(threads)) {}
  mutable tbb::task_arena arena;
};

LaunchPool::LaunchPool(uint32_t threads)
    : threads_(std::clamp(threads, 1u, static_cast<uint32_t>(tbb::info::default_concurrency()))),
      arena_(threads_ > 1 ? std::make_unique<Arena>(threads_) : nullptr) {}
LaunchPool::~LaunchPool() = default;

int32_t LaunchPool::run(const GridRun &grid) const {
  const auto allowed = grid.maxThreads == 0 ? threads_ : std::min(grid.maxThreads, threads_);
  const auto lanes = static_cast<uint32_t>(std::min<int64_t>(allowed, grid.programs));
  if (lanes <= 1)
    return runSpan(grid, 0, grid.programs);

  Stopwatch watch;
  const double expected =
      static_cast<double>(grid.cost->load(std::memory_order_relaxed)) * static_cast<double>(grid.programs);
  int64_t done = 0;
  if (expected > 0 && expected < kBreakEvenNs) {
    // The hint may come from a launch with other arguments: an eighth at a time, and spread the rest when it
    // was wrong.
    double spent = 0;
    const int64_t step = std::max<int64_t>(1, grid.programs / 8);
    while (done < grid.programs && spent < 2 * kBreakEvenNs) {
      const int64_t end = std::min(done + step, grid.programs);
      if (const int32_t failed = runSpan(grid, done, end))
        return failed;
      done = end;
      spent += watch.lapNs();
    }
    grid.cost->store(static_cast<float>(spent / static_cast<double>(done)), std::memory_order_relaxed);
    if (done == grid.programs)
      return 0;
  }
  const int32_t failed = runParallel(grid, done, lanes);
  const double perProgram = watch.lapNs() * lanes / static_cast<double>(grid.programs - done);
  grid.cost->store(static_cast<float>(perProgram), std::memory_order_relaxed);
  return failed;
}

int32_t LaunchPool::runParallel(const GridRun &grid, int64_t begin, uint32_t lanes) const {
  const int64_t chunk = std::max<int64_t>(1, (grid.programs - begin) / (kChunksPerLane * lanes));
  std::atomic<int64_t> next{begin};
  std::atomic<int32_t> failed{0};
  const auto lane = [&](uint32_t) {
    while (failed.load(std::memory_order_relaxed) == 0) {
      const int64_t from = next.fetch_add(chunk, std::memory_order_relaxed);
      if (from >= grid.programs)
        return;
      if (const int32_t code = runSpan(grid, from, std::min(from + chunk, grid.programs))) {
        int32_t none = 0;
        failed.compare_exchange_strong(none, code, std::memory_order_relaxed);
      }
    }
  };
  arena_->arena.execute([&] { tbb::parallel_for(uint32_t{0}, lanes, lane, tbb::simple_partitioner{}); });
  return failed.load(std::memory_order_relaxed);
}

uint32_t launchThreads() {
  if (const char *wanted = std::getenv("TILEWRIGHT_THREADS")) {
    const long count = std::strtol(wanted, nullptr, 10);
    if (count > 0 && count < 4096)
      return static_cast<uint32_t>(count);
  }
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<uint32_t>(std::max(1, CPU_COUNT(&allowed)));
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace tilewright::cpu

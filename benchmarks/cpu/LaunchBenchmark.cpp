// What a launch costs beyond the kernel's own work, what loading costs, and when a small grid should stay on
// one thread. The kernels are hand-written MLIR, so nothing of the front end is measured.
#include "../../tests/unit/cpu/HandWrittenModule.h"

#include <benchmark/benchmark.h>

using namespace tilewright;
using namespace tilewright::cpu;

namespace {

constexpr std::string_view kEmpty = R"(
  func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
    %ok = arith.constant 0 : i32
    return %ok : i32
  })";

/// Spends about 25 ns in each program.
constexpr std::string_view kShortPrograms = R"(
  func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
    scf.for %pid = %begin to %end step %c1 : i64 {
      scf.for %i = %c0 to %c64 step %c1 : i64 {
        %v = llvm.load volatile %frame : !llvm.ptr -> i64
      }
    }
    %ok = arith.constant 0 : i32
    return %ok : i32
  })";

template <class T> T orDie(Expected<T> value) {
  if (!value) {
    std::fputs(render(value.error()).c_str(), stderr);
    std::exit(1);
  }
  return std::move(*value);
}

void relaunchOneProgram(benchmark::State &state) {
  const auto kernel = orDie(loadText(kEmpty));
  const uint64_t arguments[4] = {};
  for (auto _ : state)
    benchmark::DoNotOptimize(kernel->launch(arguments, {1, 1, 1}));
}
BENCHMARK(relaunchOneProgram);

void relaunchWithScratch(benchmark::State &state) {
  const auto kernel = orDie(loadText(kEmpty, hostIsa(), 4, 1 << 16));
  const uint64_t arguments[4] = {};
  for (auto _ : state)
    benchmark::DoNotOptimize(kernel->launch(arguments, {1, 1, 1}));
}
BENCHMARK(relaunchWithScratch);

/// Grids of short programs, on one thread and as the pool decides: the crossing is LaunchPool.cpp's
/// kBreakEvenNs.
void smallGrid(benchmark::State &state) {
  const auto kernel = orDie(loadText(kShortPrograms, hostIsa(), static_cast<uint32_t>(state.range(1))));
  const uint64_t arguments[4] = {};
  for (auto _ : state)
    benchmark::DoNotOptimize(kernel->launch(arguments, {state.range(0), 1, 1}));
}
BENCHMARK(smallGrid)
    ->ArgsProduct({{16, 64, 256, 1024, 4096}, {1, 64}})
    ->ArgNames({"programs", "threads"})
    ->UseRealTime();

/// Waking the other threads for nothing: the cost that a grid must be worth.
void spreadEmptyGrid(benchmark::State &state) {
  const LaunchPool pool(64);
  const KernelFrame frame{};
  ProgramCost cost{0};
  const KernelSpan nothing = [](const KernelFrame *, int64_t, int64_t, void *) { return 0; };
  for (auto _ : state) {
    cost.store(0); // unknown: spread
    benchmark::DoNotOptimize(pool.run({.span = nothing, .frame = &frame, .programs = 1024, .cost = &cost}));
  }
}
BENCHMARK(spreadEmptyGrid)->UseRealTime();

void loadObject(benchmark::State &state) {
  const auto code = orDie(compileText(kShortPrograms));
  const auto jit = orDie(Jit::create());
  for (auto _ : state)
    benchmark::DoNotOptimize(orDie(jit->load(code)));
}
BENCHMARK(loadObject);

void compileSmallModule(benchmark::State &state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(orDie(compileText(kShortPrograms)));
}
BENCHMARK(compileSmallModule)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();

#include "backend/cpu/runtime/LaunchPool.h"
#include "backend/cpu/runtime/ScratchArena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace tilewright::cpu;

namespace {

/// arguments[0] is an array of counters, one a program.
int32_t countPrograms(const KernelFrame *frame, int64_t begin, int64_t end, void *) {
  auto *counters = reinterpret_cast<std::atomic<int> *>(frame->arguments[0]);
  for (int64_t pid = begin; pid < end; ++pid)
    counters[pid].fetch_add(1);
  return 0;
}

int32_t failAtProgram700(const KernelFrame *, int64_t begin, int64_t end, void *) {
  return begin <= 700 && 700 < end ? 3 : 0;
}

int32_t fillScratch(const KernelFrame *, int64_t, int64_t, void *scratch) {
  std::fill_n(static_cast<std::byte *>(scratch), 5000, std::byte{7});
  return reinterpret_cast<uintptr_t>(scratch) % 64 == 0 ? 0 : 1;
}

} // namespace

TEST(RuntimeLaunch, EveryProgramRunsExactlyOnce) {
  const LaunchPool pool(8);
  for (const float hint : {0.0f, 1.0f, 1e9f}) {
    for (const int64_t programs : {1, 2, 7, 64, 1000, 100'000}) {
      std::vector<std::atomic<int>> counters(static_cast<size_t>(programs));
      const uint64_t argument = reinterpret_cast<uint64_t>(counters.data());
      const KernelFrame frame{&argument, {programs, 1, 1}};
      ProgramCost cost{hint};
      ASSERT_EQ(pool.run({.span = countPrograms, .frame = &frame, .programs = programs, .cost = &cost}), 0);
      for (const auto &counter : counters)
        ASSERT_EQ(counter.load(), 1) << programs << " programs, hint " << hint;
    }
  }
}

TEST(RuntimeLaunch, AFailedAssertionIsReportedFromAnyThread) {
  const LaunchPool pool(8);
  const KernelFrame frame{};
  for (const float hint : {0.0f, 1.0f}) {
    ProgramCost cost{hint};
    EXPECT_EQ(pool.run({.span = failAtProgram700, .frame = &frame, .programs = 1000, .cost = &cost}), 3);
  }
}

TEST(RuntimeLaunch, ScratchIsAlignedAndGrows) {
  const LaunchPool pool(2);
  const KernelFrame frame{};
  ProgramCost cost{0};
  for (const size_t bytes : {size_t{5000}, size_t{5001}, size_t{100'000}, size_t{5000}})
    EXPECT_EQ(
        pool.run(
            {.span = fillScratch, .frame = &frame, .programs = 100, .scratchBytes = bytes, .cost = &cost}),
        0)
        << bytes;
  EXPECT_EQ(pool.run({.span = fillScratch,
                      .frame = &frame,
                      .programs = 1,
                      .scratchBytes = size_t{1} << 60,
                      .cost = &cost}),
            LaunchPool::kNoScratch);
}

TEST(RuntimeLaunchDeathTest, RunningPastTheScratchFaults) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto *scratch = static_cast<volatile char *>(ScratchArena::ofThisThread().atLeast(64));
        scratch[64] = 1;
      },
      "");
}

TEST(RuntimeLaunch, ManyThreadsMayLaunchAtOnce) {
  const LaunchPool pool(4);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::vector<std::atomic<int>> counters(200);
        const uint64_t argument = reinterpret_cast<uint64_t>(counters.data());
        const KernelFrame frame{&argument, {200, 1, 1}};
        ProgramCost cost{0};
        pool.run({.span = countPrograms, .frame = &frame, .programs = 200, .cost = &cost});
        for (const auto &counter : counters)
          wrong += counter.load() != 1;
      }
    });
  for (auto &caller : callers)
    caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(RuntimeLaunch, ThreadCountComesFromTheEnvironment) {
  setenv("TILEWRIGHT_THREADS", "3", 1);
  EXPECT_EQ(launchThreads(), 3u);
  setenv("TILEWRIGHT_THREADS", "many", 1);
  EXPECT_GE(launchThreads(), 1u);
  unsetenv("TILEWRIGHT_THREADS");
}

#include "tilewright/backend/cpu/CpuBackend.h"
#include "tilewright/program/Text.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::cpu;
using testing::HasSubstr;

namespace {

constexpr const char *kAdd = R"(
kernel @add(%x: ptr<f32>, %y: ptr<f32>, %n: i32 = n in 0..2147483647, open BLOCK = 64 in 1..1048576) {
  symbol pid0: program_id in 0..2147483647
  %pid = program_id {axis = 0} : i32 = pid0
  %0 = constant {value = BLOCK} : i32
  %1 = mul %pid, %0 : i32 = BLOCK*pid0
  %2 = iota {end = BLOCK, start = 0} : tile<BLOCK x i32>
  %3 = splat %1 : tile<BLOCK x i32>
  %offs = add %3, %2 : tile<BLOCK x i32>
  %4 = splat %n : tile<BLOCK x i32>
  %mask = compare %offs, %4 {predicate = "lt"} : tile<BLOCK x i1>
  %5 = splat %x : tile<BLOCK x ptr<f32>>
  %6 = addptr %5, %offs : tile<BLOCK x ptr<f32>>
  %v = load %6, %mask : tile<BLOCK x f32>
  %w = add %v, %v : tile<BLOCK x f32>
  %7 = splat %y : tile<BLOCK x ptr<f32>>
  %8 = addptr %7, %offs : tile<BLOCK x ptr<f32>>
  store %8, %w, %mask
  return
})";

class RuntimeBackend : public testing::Test {
protected:
  void SetUp() override {
    auto read = readProgram(std::make_shared<SourceFile>("add.tw", kAdd));
    ASSERT_TRUE(read) << render(read.error());
    program = std::move(*read);
    arguments.set("x", TensorSpec{DType::Float32, {1000}, {}, {}});
    arguments.set("y", TensorSpec{DType::Float32, {1000}, {}, {}});
    arguments.set("n", int64_t{1000});
    facts.effects = {.reads = {"x"}, .writes = {"y"}};
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
  }

  static Candidate candidateOf(int64_t block) {
    Candidate candidate;
    candidate.config.set("BLOCK", block);
    candidate.grid = {(1000 + block - 1) / block, 1, 1};
    return candidate;
  }
  std::vector<RuntimeArgument> buffers(int64_t n = 1000) {
    return {{.name = "x", .memory = std::as_writable_bytes(std::span(x))},
            {.name = "y", .memory = std::as_writable_bytes(std::span(y))},
            {.name = "n", .integer = n}};
  }

  Program program;
  KernelFacts facts;
  LaunchArguments arguments;
  std::vector<float> x = std::vector<float>(1000), y = std::vector<float>(1000, -1);
};

} // namespace

TEST_F(RuntimeBackend, CompilesInAWorkerAndLaunchesHere) {
  const auto backend = makeCpuBackend();
  const auto artifact = backend->compile(program, candidateOf(64), arguments);
  ASSERT_TRUE(artifact) << render(artifact.error());
  EXPECT_GT(artifact->compileNs, 0);
  EXPECT_TRUE(artifact->bytesUsed.contains("scratch"));
  const auto kernel = backend->load(*artifact);
  ASSERT_TRUE(kernel) << render(kernel.error());
  const uint64_t words[] = {reinterpret_cast<uint64_t>(x.data()), reinterpret_cast<uint64_t>(y.data()), 1000};
  const auto launched = (*kernel)->launch(words, candidateOf(64).grid);
  ASSERT_TRUE(launched) << render(launched.error());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], 2 * x[i]) << i;
  const auto tooFew = (*kernel)->launch(std::span(words).first(2), {1, 1, 1});
  ASSERT_FALSE(tooFew);
  EXPECT_EQ(tooFew.error().code, "arg.missing");
}

TEST_F(RuntimeBackend, WorkerAndThisProcessCompileTheSameCode) {
  const auto there = makeCpuBackend()->compile(program, candidateOf(128), arguments);
  const auto here = makeCpuBackend({.compileInProcess = true})->compile(program, candidateOf(128), arguments);
  ASSERT_TRUE(there) << render(there.error());
  ASSERT_TRUE(here) << render(here.error());
  EXPECT_EQ(there->digest, here->digest);
}

TEST_F(RuntimeBackend, ManyThreadsCompileAtOnce) {
  const auto backend = makeCpuBackend({.compileWorkers = 2});
  std::vector<std::string> errors(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      if (const auto artifact = backend->compile(program, candidateOf(int64_t{16} << i), arguments);
          !artifact)
        errors[i] = render(artifact.error());
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_THAT(errors, testing::Each(""));
}

TEST_F(RuntimeBackend, TrialsOfCompiledCandidatesAgree) {
  const auto backend = makeCpuBackend();
  const auto given = buffers();
  const auto session = backend->openSession(program, facts, arguments, given);
  ASSERT_TRUE(session) << render(session.error());
  for (const int64_t block : {32, 256, 2048}) {
    const auto artifact = backend->compile(program, candidateOf(block), arguments);
    ASSERT_TRUE(artifact) << render(artifact.error());
    const auto checked = (*session)->check(*artifact, candidateOf(block));
    EXPECT_EQ(checked.outcome, TrialOutcome::Ok) << block << ": " << checked.text;
    const auto timed = (*session)->measure(*artifact, candidateOf(block), {});
    EXPECT_EQ(timed.samplesNs.size(), 5u) << timed.text;
  }
  EXPECT_THAT(y, testing::Each(-1.0f));
}

TEST_F(RuntimeBackend, AKernelThatWritesTooFarIsNamedAndTheCallerLives) {
  const auto backend = makeCpuBackend();
  const auto given = buffers(1024); // the mask promises 1024 elements, the memory holds 1000
  const auto session = backend->openSession(program, facts, arguments, given);
  ASSERT_TRUE(session);
  LaunchArguments lying = arguments;
  lying.set("n", int64_t{1024});
  const auto artifact = backend->compile(program, candidateOf(64), lying);
  ASSERT_TRUE(artifact) << render(artifact.error());
  const auto checked = (*session)->check(*artifact, candidateOf(64));
  EXPECT_EQ(checked.code, "run.out-of-bounds");
  EXPECT_THAT(checked.text, testing::AnyOf(HasSubstr("past the end of x: at byte"),
                                           HasSubstr("past the end of y: at byte")));
}

TEST_F(RuntimeBackend, ThreadLimitOfTheConfigurationIsPartOfTheCode) {
  const auto backend = makeCpuBackend();
  auto limited = candidateOf(64);
  limited.config.set("cpu_threads", int64_t{1});
  const auto all = backend->compile(program, candidateOf(64), arguments),
             one = backend->compile(program, limited, arguments);
  ASSERT_TRUE(all);
  ASSERT_TRUE(one);
  EXPECT_NE(all->digest, one->digest);
}

TEST_F(RuntimeBackend, ACompilerThatHangsIsStopped) {
  const auto backend = makeCpuBackend({.compileTimeout = std::chrono::milliseconds(1)});
  const auto artifact = backend->compile(program, candidateOf(64), arguments);
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, "compile.timeout");
}

TEST_F(RuntimeBackend, ACompilerThatCrashesHitsOnlyItsCandidate) {
  const std::string program = testing::TempDir() + "crashing-worker-" + std::to_string(getpid());
  std::ofstream(program) << "#!/bin/sh\necho 'assertion of the day' >&2\nkill -SEGV $$\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto backend = makeCpuBackend({.compileWorkers = 1, .workerProgram = program});
  for (int attempt = 0; attempt < 3; ++attempt) { // the pool hands out a fresh worker each time
    const auto artifact = backend->compile(this->program, candidateOf(64), arguments);
    ASSERT_FALSE(artifact);
    EXPECT_EQ(artifact.error().code, "compile.failed");
    EXPECT_THAT(artifact.error().message,
                testing::AllOf(HasSubstr("signal 11"), HasSubstr("assertion of the day")));
  }
  std::filesystem::remove(program);
}

TEST_F(RuntimeBackend, AMissingWorkerIsAPlainError) {
  const auto artifact =
      makeCpuBackend({.workerProgram = "/nonexistent/worker"})->compile(program, candidateOf(64), arguments);
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, "target.unavailable");
}

TEST_F(RuntimeBackend, ToolchainNamesVersionsAndMachine) {
  EXPECT_THAT(makeCpuBackend()->toolchain(),
              testing::AllOf(HasSubstr("LLVM 22"), HasSubstr("tilewright"), HasSubstr("threads=")));
}

TEST_F(RuntimeBackend, DamagedArtifactsDoNotLoad) {
  Artifact artifact;
  artifact.bytes = "nonsense";
  const auto kernel = makeCpuBackend()->load(artifact);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("cannot be read"));
}

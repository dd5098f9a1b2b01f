#include "HandWrittenModule.h"

#include "backend/cpu/runtime/WorkerProcess.h"
#include "tilewright/backend/cpu/CpuBackend.h"
#include "tilewright/program/Text.h"

#include <csignal>
#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::cpu;
using testing::HasSubstr;

namespace {

/// Wraps a kernel body that sees %x, %y (pointers to f32) and %n (the third argument, i64).
std::string moduleText(std::string_view body) {
  std::string text = R"(
    func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
      %arguments = llvm.load %frame : !llvm.ptr -> !llvm.ptr
      %x = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
      %yslot = llvm.getelementptr %arguments[1] : (!llvm.ptr) -> !llvm.ptr, i64
      %y = llvm.load %yslot : !llvm.ptr -> !llvm.ptr
      %nslot = llvm.getelementptr %arguments[2] : (!llvm.ptr) -> !llvm.ptr, i64
      %n = llvm.load %nslot : !llvm.ptr -> i64
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %ok = arith.constant 0 : i32
)";
  text += body;
  return text + "\n return %ok : i32 }";
}

/// y[i] = x[i] + addend for 0 <= i < n
std::string addText(std::string_view addend) {
  return moduleText(R"(
      %c = arith.constant )" +
                    std::string(addend) + R"( : f32
      scf.for %i = %c0 to %n step %c1 : i64 {
        %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %to = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %v = llvm.load %from : !llvm.ptr -> f32
        %w = arith.addf %v, %c : f32
        llvm.store %w, %to : f32, !llvm.ptr
      })");
}

Artifact artifactOf(std::string_view text) {
  auto code = compileText(text);
  EXPECT_TRUE(code) << render(code.error());
  Artifact artifact;
  artifact.bytes = encode(*code);
  artifact.digest = code->digest();
  artifact.entry = code->entry;
  return artifact;
}

class RuntimeSession : public testing::Test {
protected:
  void SetUp() override {
    auto read = readProgram(
        std::make_shared<SourceFile>("t.tw", "kernel @k(%x: ptr<f32>, %y: ptr<f32>, %n: i64 = n) {\n}\n"));
    ASSERT_TRUE(read) << render(read.error());
    program = std::move(*read);
    facts.effects = {.reads = {"x"}, .writes = {"y"}};
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i);
  }

  std::unique_ptr<TrialSession> open(std::span<std::byte> xMemory, std::span<std::byte> yMemory, int64_t n,
                                     CpuOptions options = {}) {
    const std::vector<RuntimeArgument> buffers = {
        {.name = "n", .integer = n}, {.name = "x", .memory = xMemory}, {.name = "y", .memory = yMemory}};
    auto session = makeCpuBackend(std::move(options))->openSession(program, facts, {}, buffers);
    EXPECT_TRUE(session) << render(session.error());
    return session ? std::move(*session) : nullptr;
  }
  std::unique_ptr<TrialSession> open(int64_t n, CpuOptions options = {}) {
    return open(std::as_writable_bytes(std::span(x)), std::as_writable_bytes(std::span(y)), n,
                std::move(options));
  }

  Program program;
  KernelFacts facts;
  Candidate candidate;
  std::vector<float> x = std::vector<float>(1001), y = std::vector<float>(1001, -1);
};

} // namespace

TEST_F(RuntimeSession, TrialsDoNotTouchTheCallersMemory) {
  const auto session = open(1001);
  const auto result = session->check(artifactOf(addText("1.0")), candidate);
  EXPECT_EQ(result.outcome, TrialOutcome::Ok) << result.text;
  EXPECT_THAT(y, testing::Each(-1.0f));
}

TEST_F(RuntimeSession, ResultsAreComparedWithTheFirstOne) {
  const auto session = open(1001);
  EXPECT_EQ(session->check(artifactOf(addText("1.0")), candidate).outcome, TrialOutcome::Ok);
  EXPECT_EQ(session->check(artifactOf(addText("1.0000001")), candidate).outcome, TrialOutcome::Ok)
      << "within rounding";
  const auto wrong = session->check(artifactOf(addText("2.0")), candidate);
  EXPECT_EQ(wrong.outcome, TrialOutcome::WrongResult);
  EXPECT_EQ(wrong.code, "wrong-result");
  EXPECT_THAT(wrong.text, HasSubstr("y differs from the reference in 1001 of 1001 elements"));
}

TEST_F(RuntimeSession, TimesShortKernelsManyTimesPerSample) {
  const auto session = open(16);
  const auto result = session->measure(artifactOf(addText("1.0")), candidate, {.samples = 7});
  ASSERT_EQ(result.outcome, TrialOutcome::Ok) << result.text;
  ASSERT_EQ(result.samplesNs.size(), 7u);
  EXPECT_GT(result.samplesNs[0], 0);
  EXPECT_LT(result.samplesNs[0], 20'000);
}

TEST_F(RuntimeSession, ReadsPastTheEndAreNamedAndSurvived) {
  const auto session = open(1002);
  const auto result = session->check(artifactOf(addText("1.0")), candidate);
  EXPECT_EQ(result.outcome, TrialOutcome::OutOfBounds);
  EXPECT_EQ(result.code, "run.out-of-bounds");
  EXPECT_THAT(result.text, HasSubstr("reads past the end of x: at byte 4004 of 4004"));
}

TEST_F(RuntimeSession, WritesFarBeforeTheStartAreNamed) {
  const auto session = open(1001);
  const auto result = session->check(artifactOf(moduleText(R"(
      %far = arith.constant -1000000000 : i64
      %to = llvm.getelementptr %y[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = arith.constant 1.0 : f32
      llvm.store %v, %to : f32, !llvm.ptr)")),
                                     candidate);
  EXPECT_EQ(result.code, "run.out-of-bounds");
  EXPECT_THAT(result.text, HasSubstr("writes 4000000000 bytes before the start of y"));
}

TEST_F(RuntimeSession, NullPointersAreNamed) {
  const auto session = open({}, std::as_writable_bytes(std::span(y)), 1);
  const auto result = session->check(artifactOf(addText("1.0")), candidate);
  EXPECT_EQ(result.code, "run.out-of-bounds");
  EXPECT_THAT(result.text, HasSubstr("reads through a null pointer (x)"));
}

TEST_F(RuntimeSession, CrashesAreSurvivedAndTheNextTrialRuns) {
  const auto session = open(1001);
  const auto good = artifactOf(addText("1.0"));
  EXPECT_EQ(session->check(good, candidate).outcome, TrialOutcome::Ok);
  const auto crash = session->check(artifactOf(moduleText("llvm.intr.trap")), candidate);
  EXPECT_EQ(crash.outcome, TrialOutcome::Crashed);
  EXPECT_EQ(crash.code, "run.crashed");
  EXPECT_THAT(crash.text, HasSubstr("Illegal instruction"));
  EXPECT_EQ(session->check(good, candidate).outcome, TrialOutcome::Ok);
  EXPECT_EQ(session->check(artifactOf(addText("3.0")), candidate).outcome, TrialOutcome::WrongResult)
      << "the reference outlives the worker";
}

TEST_F(RuntimeSession, EndlessKernelsAreStopped) {
  const auto session = open(1001, {.checkTimeout = std::chrono::milliseconds(300)});
  const auto endless = artifactOf(moduleText(R"(
      %forever = arith.constant true
      scf.while : () -> () {
        %now = llvm.load volatile %y : !llvm.ptr -> i32
        scf.condition(%forever)
      } do {
        scf.yield
      })"));
  const auto checked = session->check(endless, candidate);
  EXPECT_EQ(checked.outcome, TrialOutcome::TimedOut);
  EXPECT_EQ(checked.code, "run.timeout");
  const auto timed = session->measure(endless, candidate, {.timeout = std::chrono::milliseconds(200)});
  EXPECT_EQ(timed.code, "run.timeout");
  EXPECT_EQ(session->check(artifactOf(addText("1.0")), candidate).outcome, TrialOutcome::Ok);
}

TEST_F(RuntimeSession, OverlappingArgumentsStayOverlapping) {
  // y is x one element further: x[0] runs through the whole buffer.
  std::vector<float> memory(1002, 0);
  memory[0] = 5;
  facts.effects = {.reads = {"x"}, .writes = {"y"}};
  const auto bytes = std::as_writable_bytes(std::span(memory));
  const auto session = open(bytes.first(4004), bytes.subspan(4), 1001);
  EXPECT_EQ(session->check(artifactOf(addText("0.0")), candidate).outcome, TrialOutcome::Ok);
  const auto fill = session->check(artifactOf(moduleText(R"(
      %five = arith.constant 5.0 : f32
      scf.for %i = %c0 to %n step %c1 : i64 {
        %to = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %five, %to : f32, !llvm.ptr
      })")),
                                   candidate);
  EXPECT_EQ(fill.outcome, TrialOutcome::Ok) << fill.text;
}

TEST_F(RuntimeSession, WritesThatTheAnalysisMissedAreRestoredAndCompared) {
  facts.effects = {};
  const auto session = open(1001);
  const auto inPlace = artifactOf(moduleText(R"(
      %v = llvm.load %y : !llvm.ptr -> f32
      %one = arith.constant 1.0 : f32
      %w = arith.addf %v, %one : f32
      llvm.store %w, %y : f32, !llvm.ptr)"));
  EXPECT_EQ(session->check(inPlace, candidate).outcome, TrialOutcome::Ok);
  EXPECT_EQ(session->check(inPlace, candidate).outcome, TrialOutcome::Ok);
  EXPECT_EQ(session->measure(inPlace, candidate, {}).outcome, TrialOutcome::Ok);
  EXPECT_EQ(session->check(inPlace, candidate).outcome, TrialOutcome::Ok);
}

TEST_F(RuntimeSession, DeviceAssertionsCarryTheirMessage) {
  const auto session = open(1001);
  const auto result =
      session->check(artifactOf(moduleText("%two = arith.constant 2 : i32\n return %two : i32 }\n func.func "
                                           "@unused() -> i32 {\n %ok = arith.constant 0 : i32")),
                     candidate);
  EXPECT_EQ(result.outcome, TrialOutcome::Failed);
  EXPECT_EQ(result.code, "run.device-assert");
  EXPECT_EQ(result.text, "second");
}

TEST_F(RuntimeSession, AMissingWorkerIsAPlainError) {
  const std::vector<RuntimeArgument> buffers = {{.name = "n"}, {.name = "x"}, {.name = "y"}};
  const auto session =
      makeCpuBackend({.workerProgram = "/nonexistent/worker"})->openSession(program, facts, {}, buffers);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, "target.unavailable");
}

TEST(RuntimeWorker, ThatDiesWhileCompilingIsReplaced) {
  auto worker = WorkerProcess::start(*findWorker());
  ASSERT_TRUE(worker) << render(worker.error());
  kill((*worker)->pid(), SIGABRT);
  const auto answer = (*worker)->exchange({"{}", {}, -1}, std::chrono::seconds(5));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().signal, SIGABRT);
  EXPECT_FALSE((*worker)->alive());
}

TEST(RuntimeWorker, AnswersNonsenseWithAnError) {
  auto worker = WorkerProcess::start(*findWorker());
  ASSERT_TRUE(worker);
  const auto answer = (*worker)->exchange({"not json", {}, -1}, std::chrono::seconds(5));
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->header, HasSubstr("cannot be read"));
}

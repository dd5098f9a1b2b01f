#include "HandWrittenModule.h"

#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::cpu;
using testing::HasSubstr;

namespace {

constexpr std::string_view kExpOverSpan = R"(
  func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
    %arguments = llvm.load %frame : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
    %slot = llvm.getelementptr %arguments[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %y = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : i64
    scf.for %pid = %begin to %end step %c1 : i64 {
      %lanes = arith.constant 8 : i64
      %offset = arith.muli %pid, %lanes : i64
      %from = llvm.getelementptr %x[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %to = llvm.getelementptr %y[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
      %e = math.exp %v : vector<8xf32>
      llvm.store %e, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
    }
    %ok = arith.constant 0 : i32
    return %ok : i32
  }
)";

} // namespace

TEST(RuntimePipeline, RunsAHandWrittenKernelOverTheWholeGrid) {
  const auto kernel = loadText(kExpOverSpan);
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<float> x(8 * 100), y(x.size(), -1);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0.01f * static_cast<float>(i) - 4;
  const auto launched = launch(**kernel, {x.data(), y.data()}, {10, 5, 2});
  ASSERT_TRUE(launched) << render(launched.error());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(y[i], std::exp(x[i]), 2e-7 * std::exp(x[i])) << i;
}

TEST(RuntimePipeline, RecordsTheTimeOfEveryStage) {
  const auto code = compileText(kExpOverSpan);
  ASSERT_TRUE(code) << render(code.error());
  EXPECT_GT(code->times.lowerNs, 0);
  EXPECT_GT(code->times.translateNs, 0);
  EXPECT_GT(code->times.optimizeNs, 0);
  EXPECT_GT(code->times.codegenNs, 0);
  RecordProperty("compileUs", static_cast<int>(code->times.totalNs() / 1000));
}

TEST(RuntimePipeline, CompilesForSmallerMachinesThanThisOne) {
  for (const char *wanted : {"sse2", "avx2"}) {
    setenv("TILEWRIGHT_CPU_ISA", wanted, 1);
    const CpuIsa isa = hostIsa();
    unsetenv("TILEWRIGHT_CPU_ISA");
    const auto kernel = loadText(kExpOverSpan, isa);
    ASSERT_TRUE(kernel) << wanted << render(kernel.error());
    std::vector<float> x(16, 1), y(16);
    ASSERT_TRUE(launch(**kernel, {x.data(), y.data()}, {2, 1, 1}));
    EXPECT_FLOAT_EQ(y[15], std::exp(1.0f)) << wanted;
  }
}

TEST(RuntimePipeline, RefusesATileAsOneVector) {
  const auto code = compileText(R"(
    func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
      %v = llvm.load %scratch : !llvm.ptr -> vector<4096xf32>
      llvm.store %v, %frame : vector<4096xf32>, !llvm.ptr
      %ok = arith.constant 0 : i32
      return %ok : i32
    })");
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, "internal");
  EXPECT_THAT(code.error().message, HasSubstr("vector<4096xf32>"));
}

TEST(RuntimePipeline, RefusesStackSlotsOfDynamicSize) {
  const auto code = compileText(R"(
    func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
      %p = llvm.alloca %begin x f32 : (i64) -> !llvm.ptr
      llvm.store %begin, %p : i64, !llvm.ptr
      %ok = arith.constant 0 : i32
      return %ok : i32
    })");
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("dynamic size"));
}

TEST(RuntimePipeline, RefusesCallsOutOfTheAllowedSymbols) {
  const auto kernel = loadText(R"(
    llvm.func @system(!llvm.ptr) -> i32
    func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
      %r = llvm.call @system(%frame) : (!llvm.ptr) -> i32
      return %r : i32
    })");
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("system"));
}

TEST(RuntimePipeline, CompilesInParallel) {
  std::vector<std::thread> threads;
  std::vector<std::string> digests(6);
  for (auto &digest : digests)
    threads.emplace_back([&digest] {
      if (const auto code = compileText(kExpOverSpan))
        digest = code->digest();
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_FALSE(digests[0].empty());
  EXPECT_THAT(digests, testing::Each(digests[0]));
}

TEST(RuntimePipeline, EncodedCodeComesBackAndDamageIsNoticed) {
  const auto code = compileText(kExpOverSpan);
  ASSERT_TRUE(code);
  const std::string bytes = encode(*code);
  const auto back = decodeObjectCode(bytes);
  ASSERT_TRUE(back) << render(back.error());
  EXPECT_EQ(back->digest(), code->digest());
  for (const size_t place : {size_t{0}, size_t{12}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x20);
    EXPECT_FALSE(decodeObjectCode(damaged)) << place;
  }
  EXPECT_FALSE(decodeObjectCode(bytes.substr(0, 9)));
}

#include "KernelRun.h"

#include <chrono>
#include <cmath>
#include <numeric>

using namespace tilewright;
using tilewright::testing::KernelRun;

namespace {

const char *const kAdd = R"(
kernel @add(%x: ptr<f32>, %y: ptr<f32>, %out: ptr<f32>, %n: i32 = n, open BLOCK = 16) {
  %pid = program_id {axis = 0} : i32 = pid0
  %0 = constant {value = BLOCK} : i32
  %1 = mul %pid, %0 : i32
  %2 = splat %1 : tile<BLOCK x i32>
  %3 = iota {start = 0, end = BLOCK} : tile<BLOCK x i32>
  %offs = add %2, %3 : tile<BLOCK x i32>
  %4 = splat %n : tile<BLOCK x i32>
  %mask = compare %offs, %4 {predicate = "lt"} : tile<BLOCK x i1>
  %5 = splat %x : tile<BLOCK x ptr<f32>>
  %6 = addptr %5, %offs : tile<BLOCK x ptr<f32>>
  %a = load %6, %mask : tile<BLOCK x f32>
  %7 = splat %y : tile<BLOCK x ptr<f32>>
  %8 = addptr %7, %offs : tile<BLOCK x ptr<f32>>
  %b = load %8, %mask : tile<BLOCK x f32>
  %c = add %a, %b : tile<BLOCK x f32>
  %9 = splat %out : tile<BLOCK x ptr<f32>>
  %10 = addptr %9, %offs : tile<BLOCK x ptr<f32>>
  store %10, %c, %mask
})";

TEST(Kernels, AddWithMask) {
  for (int64_t n : {1, 16, 17, 100}) {
    for (int64_t block : {1, 16, 64}) {
      std::vector<float> x(static_cast<size_t>(n)), y(x.size()), out(x.size(), -1);
      std::iota(x.begin(), x.end(), 0.5f);
      std::iota(y.begin(), y.end(), 100.f);
      KernelRun(kAdd)
          .buffer("x", x)
          .buffer("y", y)
          .buffer("out", out)
          .integer("n", n)
          .set("BLOCK", block)
          .run({(n + block - 1) / block, 1, 1});
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(out[i], x[i] + y[i]);
    }
  }
}

TEST(Kernels, OutOfBoundsNamesBufferElementAndLine) {
  // Both buffers in one allocation: running off the end of x would land in y.
  std::vector<float> memory(64), out(16);
  std::vector<float> dummy;
  auto program = readProgram(std::make_shared<SourceFile>("kernel.tw", kAdd));
  ASSERT_TRUE(program);
  Config config;
  config.set("BLOCK", int64_t(16));
  const auto bytes = std::as_writable_bytes(std::span(memory));
  const std::vector<RuntimeArgument> arguments = {{"x", bytes.subspan(0, 40), 0, 0},
                                                  {"y", bytes.subspan(40, 64), 0, 0},
                                                  {"out", std::as_writable_bytes(std::span(out)), 0, 0},
                                                  {"n", {}, 16, 0}};
  const auto done = interpret(*program, config, {1, 1, 1}, arguments);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "run.out-of-bounds");
  EXPECT_EQ(done.error().message, "the kernel reads element 10 of x, which has 10 elements of f32");
  EXPECT_EQ(done.error().diagnostics[0].location->line, 13u);
  EXPECT_EQ(done.error().diagnostics[0].attached[0].message, "in program (0, 0, 0) of a grid of (1, 1, 1)");
}

TEST(Kernels, NegativeOffsetsAndNullPointersAreFound) {
  const char *const text = R"(
kernel @k(%x: ptr<i16>, %i: i32 = i) {
  %p = addptr %x, %i : ptr<i16>
  %v = constant {value = 7} : i16
  store %p, %v
})";
  std::vector<int16_t> x(4), none;
  auto done = KernelRun(text).buffer("x", x).integer("i", -1).tryRun();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the kernel writes element -1 of x, which has 4 elements of i16");
  done = KernelRun(text).buffer("x", none).integer("i", 0).tryRun();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the kernel writes element 0 of x, which is empty or None");
  KernelRun(text).buffer("x", x).integer("i", 3).run();
  EXPECT_EQ(x[3], 7);
}

TEST(Kernels, RowSoftmax) {
  const char *const text = R"(
kernel @softmax(%x: ptr<f32>, %out: ptr<f32>, %cols: i32 = cols, open BLOCK = 64) {
  %row = program_id {axis = 0} : i32 = pid0
  %0 = mul %row, %cols : i32
  %1 = addptr %x, %0 : ptr<f32>
  %2 = splat %1 : tile<BLOCK x ptr<f32>>
  %offs = iota {start = 0, end = BLOCK} : tile<BLOCK x i32>
  %3 = addptr %2, %offs : tile<BLOCK x ptr<f32>>
  %4 = splat %cols : tile<BLOCK x i32>
  %mask = compare %offs, %4 {predicate = "lt"} : tile<BLOCK x i1>
  %5 = constant {value = -inf} : f32
  %other = splat %5 : tile<BLOCK x f32>
  %a = load %3, %mask, %other : tile<BLOCK x f32>
  %m = reduce %a {axis = 0, kind = "max"} : f32
  %6 = splat %m : tile<BLOCK x f32>
  %7 = sub %a, %6 : tile<BLOCK x f32>
  %e = unary %7 {function = "exp"} : tile<BLOCK x f32>
  %s = reduce %e {axis = 0, kind = "sum"} : f32
  %8 = splat %s : tile<BLOCK x f32>
  %p = div %e, %8 : tile<BLOCK x f32>
  %9 = addptr %out, %0 : ptr<f32>
  %10 = splat %9 : tile<BLOCK x ptr<f32>>
  %11 = addptr %10, %offs : tile<BLOCK x ptr<f32>>
  store %11, %p, %mask
})";
  const int64_t rows = 3, cols = 37;
  std::vector<float> x(static_cast<size_t>(rows * cols)), out(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(static_cast<float>(i)) * 5;
  KernelRun(text).buffer("x", x).buffer("out", out).integer("cols", cols).set("BLOCK", 64).run({rows, 1, 1});
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c)
      sum += std::exp(static_cast<double>(x[static_cast<size_t>(r * cols + c)]));
    for (int64_t c = 0; c < cols; ++c) {
      const auto i = static_cast<size_t>(r * cols + c);
      EXPECT_NEAR(out[i], std::exp(static_cast<double>(x[i])) / sum, 1e-6);
    }
  }
}

TEST(Kernels, LoopCarriesSeveralValues) {
  // The online maximum and sum of exponentials, with swapped order on purpose: (m, l) are yielded as
  // computed.
  const char *const text = R"(
kernel @online(%x: ptr<f32>, %out: ptr<f32>, %n: i32 = n, open BLOCK = 8) {
  %zero = constant {value = 0} : i32
  %step = constant {value = BLOCK} : i32
  %minf = constant {value = -inf} : f32
  %fzero = constant {value = 0.0} : f32
  %offs = iota {start = 0, end = BLOCK} : tile<BLOCK x i32>
  %m, %l = for %zero, %n, %step, %minf, %fzero : f32, f32 { (%i: i32 = i, %mi: f32, %li: f32)
    %0 = splat %i : tile<BLOCK x i32>
    %1 = add %0, %offs : tile<BLOCK x i32>
    %2 = splat %x : tile<BLOCK x ptr<f32>>
    %3 = addptr %2, %1 : tile<BLOCK x ptr<f32>>
    %4 = splat %n : tile<BLOCK x i32>
    %mask = compare %1, %4 {predicate = "lt"} : tile<BLOCK x i1>
    %other = splat %minf : tile<BLOCK x f32>
    %a = load %3, %mask, %other : tile<BLOCK x f32>
    %5 = reduce %a {axis = 0, kind = "max"} : f32
    %mn = max %mi, %5 : f32
    %6 = sub %mi, %mn : f32
    %scale = unary %6 {function = "exp"} : f32
    %7 = splat %mn : tile<BLOCK x f32>
    %8 = sub %a, %7 : tile<BLOCK x f32>
    %9 = unary %8 {function = "exp"} : tile<BLOCK x f32>
    %10 = reduce %9 {axis = 0, kind = "sum"} : f32
    %11 = mul %li, %scale : f32
    %ln = add %11, %10 : f32
    yield %mn, %ln
  }
  store %out, %m
  %one = constant {value = 1} : i32
  %p = addptr %out, %one : ptr<f32>
  store %p, %l
})";
  std::vector<float> x(29), out(2);
  double sum = 0;
  float largest = -INFINITY;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = std::cos(static_cast<float>(i)) * 3;
    largest = std::max(largest, x[i]);
  }
  for (float value : x)
    sum += std::exp(static_cast<double>(value) - largest);
  KernelRun(text).buffer("x", x).buffer("out", out).integer("n", 29).set("BLOCK", 8).run();
  EXPECT_EQ(out[0], largest);
  EXPECT_NEAR(out[1], sum, 1e-5);
}

TEST(Kernels, YieldsMaySwap) {
  const char *const text = R"(
kernel @swap(%out: ptr<i32>, %n: i32 = n) {
  %0 = constant {value = 0} : i32
  %1 = constant {value = 1} : i32
  %2 = constant {value = 2} : i32
  %a, %b = for %0, %n, %1, %1, %2 : i32, i32 { (%i: i32, %x: i32, %y: i32)
    yield %y, %x
  }
  store %out, %a
  %p = addptr %out, %1 : ptr<i32>
  store %p, %b
})";
  std::vector<int32_t> out(2);
  KernelRun(text).buffer("out", out).integer("n", 3).run();
  EXPECT_EQ(out, (std::vector<int32_t>{2, 1}));
  KernelRun(text).buffer("out", out).integer("n", 0).run();
  EXPECT_EQ(out, (std::vector<int32_t>{1, 2}));
}

const char *const kMatmul = R"(
kernel @matmul(%a: ptr<f32>, %b: ptr<f32>, %c: ptr<f32>, %M: i32 = M, %N: i32 = N, %K: i32 = K,
               open BM = 32, open BN = 32, open BK = 16) {
  %pm = program_id {axis = 0} : i32 = pid0
  %pn = program_id {axis = 1} : i32 = pid1
  %zero = constant {value = 0} : i32
  %bm = constant {value = BM} : i32
  %bn = constant {value = BN} : i32
  %bk = constant {value = BK} : i32
  %m0 = mul %pm, %bm : i32
  %n0 = mul %pn, %bn : i32
  %one = constant {value = 1} : i32
  %pa = make_block_ptr %a, %M, %K, %K, %one, %m0, %zero {rank = 2, order = [1, 0]} : blockptr<BM x BK x f32>
  %pb = make_block_ptr %b, %K, %N, %N, %one, %zero, %n0 {rank = 2, order = [1, 0]} : blockptr<BK x BN x f32>
  %fz = constant {value = 0.0} : f32
  %init = splat %fz : tile<BM x BN x f32>
  %acc, %ra, %rb = for %zero, %K, %bk, %init, %pa, %pb : tile<BM x BN x f32>, blockptr<BM x BK x f32>, blockptr<BK x BN x f32> {
    (%k: i32, %s: tile<BM x BN x f32>, %ia: blockptr<BM x BK x f32>, %ib: blockptr<BK x BN x f32>)
    %ta = block_load %ia {boundary = [0, 1], padding = "zero"} : tile<BM x BK x f32>
    %tb = block_load %ib {boundary = [0, 1], padding = "zero"} : tile<BK x BN x f32>
    %d = dot %ta, %tb, %s : tile<BM x BN x f32>
    %na = advance %ia, %zero, %bk : blockptr<BM x BK x f32>
    %nb = advance %ib, %bk, %zero : blockptr<BK x BN x f32>
    yield %d, %na, %nb
  }
  %pc = make_block_ptr %c, %M, %N, %N, %one, %m0, %n0 {rank = 2, order = [1, 0]} : blockptr<BM x BN x f32>
  block_store %pc, %acc {boundary = [0, 1]}
})";

TEST(Kernels, MatmulWithBlockPointers) {
  const int64_t m = 37, n = 45, k = 29;
  std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)),
      c(static_cast<size_t>(m * n), -1);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<float>(static_cast<int>(i % 5) - 2);
  KernelRun(kMatmul)
      .buffer("a", a)
      .buffer("b", b)
      .buffer("c", c)
      .integer("M", m)
      .integer("N", n)
      .integer("K", k)
      .set("BM", 16)
      .set("BN", 32)
      .set("BK", 8)
      .run({3, 2, 1});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
      ASSERT_EQ(c[static_cast<size_t>(i * n + j)], sum) << i << " " << j;
    }
}

TEST(Kernels, UncheckedBlockEdgesAreOutOfBounds) {
  std::vector<float> x(10), out(16);
  const char *const text = R"(
kernel @k(%x: ptr<f32>, %out: ptr<f32>, %n: i64) {
  %0 = constant {value = 0} : i64
  %1 = constant {value = 1} : i64
  %p = make_block_ptr %x, %n, %1, %0 {rank = 1} : blockptr<16 x f32>
  %v = block_load %p {boundary = []} : tile<16 x f32>
})";
  const auto done = KernelRun(text).buffer("x", x).buffer("out", out).integer("n", 10).tryRun();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the kernel reads element 10 of x, which has 10 elements of f32");
}

TEST(Kernels, DescriptorsPadAndDrop) {
  const char *const text = R"(
kernel @k(%x: ptr<f32>, %out: ptr<f32>, %n: i32 = n) {
  %1 = constant {value = 1} : i64
  %at = constant {value = 6} : i32
  %d = make_descriptor %x, %n, %1 {rank = 1, padding = "nan"} : descriptor<8 x f32>
  %v = descriptor_load %d, %at : tile<8 x f32>
  %o = make_descriptor %out, %n, %1 {rank = 1} : descriptor<8 x f32>
  descriptor_store %o, %v, %at
  %offs = iota {start = 0, end = 8} : tile<8 x i32>
  %isnan = compare %v, %v {predicate = "ne"} : tile<8 x i1>
  %count = cast %isnan : tile<8 x i32>
  %c = reduce %count {axis = 0, kind = "sum"} : i32
  %f = cast %c : f32
  store %out, %f
})";
  std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, out(10);
  KernelRun(text).buffer("x", x).buffer("out", out).integer("n", 10).run();
  EXPECT_EQ(out, (std::vector<float>{4, 0, 0, 0, 0, 0, 6, 7, 8, 9}));
}

TEST(Kernels, MatmulIsFastEnough) {
  const int64_t n = 256;
  std::vector<float> a(static_cast<size_t>(n * n), 1), b(a.size(), 2), c(a.size());
  const auto begin = std::chrono::steady_clock::now();
  KernelRun(kMatmul)
      .buffer("a", a)
      .buffer("b", b)
      .buffer("c", c)
      .integer("M", n)
      .integer("N", n)
      .integer("K", n)
      .set("BM", 64)
      .set("BN", 64)
      .set("BK", 32)
      .run({4, 4, 1});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(c[777], 512);
  EXPECT_LT(seconds.count(), 5);
}

TEST(Kernels, ReduceWithRegion) {
  // Sum of squares and count of positives at once, along axis 1.
  const char *const text = R"(
kernel @k(%x: ptr<f32>, %out: ptr<f32>, %counts: ptr<i32>) {
  %offs = iota {start = 0, end = 8} : tile<8 x i32>
  %p = splat %x : tile<8 x ptr<f32>>
  %q = addptr %p, %offs : tile<8 x ptr<f32>>
  %v = load %q : tile<8 x f32>
  %sq = mul %v, %v : tile<8 x f32>
  %fz = constant {value = 0.0} : f32
  %z = splat %fz : tile<8 x f32>
  %pos = compare %v, %z {predicate = "gt"} : tile<8 x i1>
  %ipos = cast %pos : tile<8 x i32>
  %sq2 = reshape %sq : tile<2 x 4 x f32>
  %ipos2 = reshape %ipos : tile<2 x 4 x i32>
  %s, %c = reduce %sq2, %ipos2 {axis = 1, kind = ""} : tile<2 x f32>, tile<2 x i32> {
    (%a: f32, %m: i32, %b: f32, %n: i32)
    %r = add %a, %b : f32
    %t = add %m, %n : i32
    yield %r, %t
  }
  %two = iota {start = 0, end = 2} : tile<2 x i32>
  %po = splat %out : tile<2 x ptr<f32>>
  %qo = addptr %po, %two : tile<2 x ptr<f32>>
  store %qo, %s
  %pc = splat %counts : tile<2 x ptr<i32>>
  %qc = addptr %pc, %two : tile<2 x ptr<i32>>
  store %qc, %c
})";
  std::vector<float> x{1, -2, 3, -4, -5, -6, -7, 8}, out(2);
  std::vector<int32_t> counts(2);
  KernelRun(text).buffer("x", x).buffer("out", out).buffer("counts", counts).run();
  EXPECT_EQ(out, (std::vector<float>{30, 174}));
  EXPECT_EQ(counts, (std::vector<int32_t>{2, 1}));
}

TEST(Kernels, Atomics) {
  const char *const text = R"(
kernel @k(%x: ptr<i32>, %f: ptr<f32>, %lock: ptr<i32>, %old: ptr<i32>) {
  %pid = program_id {axis = 0} : i32
  %offs = iota {start = 0, end = 4} : tile<4 x i32>
  %zero = constant {value = 0} : i32
  %one = constant {value = 1} : i32
  %same = splat %zero : tile<4 x i32>
  %p = splat %x : tile<4 x ptr<i32>>
  %q = addptr %p, %same : tile<4 x ptr<i32>>
  %r = atomic_rmw %q, %offs {operation = "add", sem = "relaxed"} : tile<4 x i32>
  %q1 = addptr %x, %one : ptr<i32>
  %m = atomic_rmw %q1, %pid {operation = "max"} : i32
  %h = constant {value = 0.5} : f32
  %g = atomic_rmw %f, %h {operation = "fadd"} : f32
  %c = atomic_cas %lock, %zero, %one : i32
  %po = addptr %old, %pid : ptr<i32>
  store %po, %c
})";
  std::vector<int32_t> x{10, -5}, lock{0}, old(3, -1);
  std::vector<float> f{1};
  KernelRun(text).buffer("x", x).buffer("f", f).buffer("lock", lock).buffer("old", old).run({3, 1, 1});
  EXPECT_EQ(x, (std::vector<int32_t>{10 + 3 * 6, 2}));
  EXPECT_EQ(f[0], 2.5f);
  EXPECT_EQ(old, (std::vector<int32_t>{0, 1, 1}));
}

TEST(Kernels, WhileIfAndEarlyReturn) {
  // Collatz steps; programs with pid >= n return at once.
  const char *const text = R"(
kernel @collatz(%out: ptr<i32>, %n: i32 = n) {
  %pid = program_id {axis = 0} : i32
  %beyond = compare %pid, %n {predicate = "ge"} : i1
  if %beyond {
    return
  } else {
    yield
  }
  %one = constant {value = 1} : i32
  %two = constant {value = 2} : i32
  %three = constant {value = 3} : i32
  %zero = constant {value = 0} : i32
  %start = add %pid, %one : i32
  %v, %steps = while %start, %zero : i32, i32 { (%x: i32, %s: i32)
    %go = compare %x, %one {predicate = "gt"} : i1
    yield %go
  } do { (%x.2: i32, %s.2: i32)
    %r = rem %x.2, %two : i32
    %odd = compare %r, %one {predicate = "eq"} : i1
    %next = if %odd : i32 {
      %t = mul %x.2, %three : i32
      %u = add %t, %one : i32
      yield %u
    } else {
      %h = div %x.2, %two : i32
      yield %h
    }
    %inc = add %s.2, %one : i32
    yield %next, %inc
  }
  %p = addptr %out, %pid : ptr<i32>
  store %p, %steps
})";
  std::vector<int32_t> out(10, -1);
  KernelRun(text).buffer("out", out).integer("n", 8).run({10, 1, 1});
  EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 7, 2, 5, 8, 16, 3, -1, -1}));
}

TEST(Kernels, DeviceAssert) {
  const char *const text = R"(
kernel @k(%n: i32 = n) {
  %offs = iota {start = 0, end = 4} : tile<4 x i32>
  %t = splat %n : tile<4 x i32>
  %ok = compare %offs, %t {predicate = "lt"} : tile<4 x i1>
  device_assert %ok {message = "offset too large"}
})";
  KernelRun(text).integer("n", 4).run();
  const auto done = KernelRun(text).integer("n", 2).tryRun();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "run.device-assert");
  EXPECT_EQ(done.error().message, "device_assert failed: offset too large (element 2)");
  EXPECT_EQ(done.error().diagnostics[0].location->line, 6u);
}

TEST(Kernels, RefusalsAndLimits) {
  std::vector<float> x(4), y(4), out(4);
  EXPECT_EQ(
      KernelRun(kAdd).buffer("x", x).buffer("y", y).integer("n", 4).set("BLOCK", 4).tryRun().error().code,
      "arg.missing");
  EXPECT_EQ(
      KernelRun(kAdd).buffer("x", x).buffer("y", y).buffer("out", out).integer("n", 4).tryRun().error().code,
      "space.missing");
  KernelRun add(kAdd);
  add.buffer("x", x).buffer("y", y).buffer("out", out).integer("n", 4).set("BLOCK", 4);
  InterpreterLimits limits;
  limits.maxOps = 5;
  EXPECT_EQ(add.tryRun({1, 1, 1}, limits).error().code, "run.timeout");
  limits = {};
  limits.maxTileBytes = 16;
  EXPECT_EQ(add.tryRun({1, 1, 1}, limits).error().code, "run.memory");
  EXPECT_EQ(add.set("BLOCK", 0).tryRun().error().code, "lower.shape");
  EXPECT_TRUE(add.set("BLOCK", 4).tryRun({0, 1, 1}));
  const char *const loop = R"(
kernel @k(%n: i32) {
  while { %t = constant {value = 1} : i1
    yield %t
  } do { yield }
})";
  limits = {};
  limits.maxOps = 1000;
  EXPECT_EQ(KernelRun(loop).integer("n", 1).tryRun({1, 1, 1}, limits).error().code, "run.timeout");
  const char *const conditions = R"(
kernel @k(open B = 4) {
  path 4 <= B : "B >= 4"
  require "static_assert" (B % 2) == 0 : "B must be even"
})";
  EXPECT_EQ(KernelRun(conditions).set("B", 2).tryRun().error().code, "path.condition");
  EXPECT_EQ(KernelRun(conditions).set("B", 5).tryRun().error().message, "B must be even");
  EXPECT_TRUE(KernelRun(conditions).set("B", 6).tryRun());
}

TEST(Kernels, SymbolsCanBeChecked) {
  const char *const text = R"(
kernel @k(%n: i32 = n, open B = 4) {
  %pid = program_id {axis = 0} : i32 = pid0
  %b = constant {value = B} : i32
  %0 = mul %pid, %b : i32 = B*pid0
  %bad = add %0, %n : i32 = B*pid0 + WRONG
})";
  InterpreterLimits limits;
  limits.checkSymbols = true;
  const auto with = [&](const std::string &expression) {
    std::string changed = text;
    changed.replace(changed.find("WRONG"), 5, expression);
    return KernelRun(changed).integer("n", 7).set("B", 4).tryRun({3, 1, 1}, limits);
  };
  EXPECT_TRUE(with("n"));
  const auto wrong = with("n + 1");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "bad is 7 but its expression B*pid0 + n + 1 says 8");
}

} // namespace

// The shape of emitted code: its size, what is kept in registers, what is refused and where.
#include "CodegenFixture.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/Math/IR/Math.h>

namespace tilewright::cpu {
namespace {

const char *const kSoftmax = R"(def kernel(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < n
    values = tl.load(x + row * stride + cols, mask=inside, other=-float("inf"))
    shifted = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + cols, shifted / tl.sum(shifted, axis=0), mask=inside)
)";

const char *const kMatmul =
    R"(def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    cols = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    depth = tl.arange(0, BK)
    pa = a + rows[:, None] * K + depth[None, :]
    pb = b + depth[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=depth[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=depth[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(x, y)
        pa += BK
        pb += BK * N
    cm = tl.program_id(0) * BM + tl.arange(0, BM)
    cn = tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(c + cm[:, None] * N + cn[None, :], acc, mask=(cm[:, None] < M) & (cn[None, :] < N))
)";

struct Counts {
  size_t all = 0, exp = 0, gathers = 0, scatters = 0;
  int64_t widestVector = 0;
};

Counts count(const GeneratedKernel &kernel, const std::string &config) {
  const auto context = makeContext();
  auto emitted = kernel.emit(*context, config);
  Counts counts;
  if (!emitted) {
    ADD_FAILURE() << render(emitted.error());
    return counts;
  }
  emitted->module->walk([&](mlir::Operation *op) {
    ++counts.all;
    counts.exp += mlir::isa<mlir::math::ExpOp>(op);
    counts.gathers += mlir::isa<mlir::LLVM::masked_gather>(op);
    counts.scatters += mlir::isa<mlir::LLVM::masked_scatter>(op);
    for (const mlir::Type type : op->getResultTypes())
      if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type))
        counts.widestVector = std::max(counts.widestVector, vector.getNumElements());
  });
  return counts;
}

TEST(CodegenEmit, CodeDoesNotGrowWithTheTile) {
  const auto softmax =
      GeneratedKernel::fromSource(kSoftmax, {"x=f32[64,64]", "y=f32[64,64]", "stride=64", "n=64"});
  const Counts small = count(softmax, "BLOCK=64"), large = count(softmax, "BLOCK=65536");
  EXPECT_NEAR(large.all, small.all, 10); // a few constants more
  EXPECT_EQ(large.widestVector, small.widestVector);
  EXPECT_LE(large.widestVector, 16);
  const auto matmul = GeneratedKernel::fromSource(
      kMatmul, {"a=f32[64,64]", "b=f32[64,64]", "c=f32[64,64]", "M=64", "N=64", "K=64"});
  EXPECT_NEAR(count(matmul, "BK=128,BM=256,BN=256").all, count(matmul, "BK=64,BM=64,BN=64").all, 10);
}

TEST(CodegenEmit, ComputesExpensiveTilesOnce) {
  const auto softmax =
      GeneratedKernel::fromSource(kSoftmax, {"x=f32[64,64]", "y=f32[64,64]", "stride=64", "n=64"});
  // In the sum's loop over whole chunks, in its rest, and once for the lanes beyond the mask; not again in
  // the store's loop.
  EXPECT_EQ(count(softmax, "BLOCK=1024").exp, 3u);
}

TEST(CodegenEmit, TakesModuloIndicesApart) {
  auto matmul = GeneratedKernel::fromSource(
      kMatmul, {"a=f32[50,40]", "b=f32[40,70]", "c=f32[50,70]", "M=50", "N=70", "K=40"});
  // Only the chunk in which the index wraps around gathers.
  EXPECT_EQ(count(matmul, "BK=16,BM=32,BN=32").gathers, 1u);
  matmul.tolerance(50);
  matmul.check("BK=16,BM=32,BN=32", {2, 3, 1});
  matmul.check("BK=32,BM=16,BN=64", {4, 2, 1});
}

TEST(CodegenEmit, RefusesWithTheSourceLine) {
  const auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.sort(v)
    tl.store(y + i, tl.cast(v, tl.float8e5).to(tl.float32) + w)
)",
                                                  {"x=f32[64]", "y=f32[64]"});
  const auto context = makeContext();
  const auto emitted = kernel.emit(*context, "B=64");
  ASSERT_FALSE(emitted);
  EXPECT_EQ(emitted.error().kind, ErrorKind::Refusal);
  EXPECT_EQ(emitted.error().code, "compile.unsupported");
  ASSERT_FALSE(emitted.error().diagnostics.empty());
  ASSERT_TRUE(emitted.error().diagnostics[0].location);
  EXPECT_GE(emitted.error().diagnostics[0].location->line, 8u);
}

TEST(CodegenEmit, RefusesTilesBeyondTheArena) {
  const auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(n):
        acc = acc + 1.0
    tl.store(x + i[:, None] * B + i[None, :], acc)
)",
                                                  {"x=f32[64]", "n=3"});
  const auto context = makeContext();
  const auto emitted = kernel.emit(*context, "B=32768");
  ASSERT_FALSE(emitted);
  EXPECT_EQ(emitted.error().code, "compile.unsupported");
  EXPECT_NE(emitted.error().message.find("scratch memory"), std::string::npos) << emitted.error().message;
}

} // namespace
} // namespace tilewright::cpu

// Block pointers and tensor descriptors.
#include "CodegenFixture.h"

namespace tilewright::cpu {
namespace {

TEST(CodegenBlock, MultipliesThroughAdvancingBlockPointers) {
  for (const std::string order : {"n", "m"}) {
    auto kernel = GeneratedKernel::fromSource(
        R"(def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pa = tl.make_block_ptr(a, shape=(M, K), strides=(K, 1), offsets=(tl.program_id(0) * BM, 0), block_shape=(BM, BK), order=(1, 0))
    pb = tl.make_block_ptr(b, shape=(K, N), strides=(N, 1), offsets=(0, tl.program_id(1) * BN), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(pa, boundary_check=(0, 1), padding_option="zero"), tl.load(pb, boundary_check=(0, 1), padding_option="zero"))
        pa = tl.advance(pa, (0, BK))
        pb = tl.advance(pb, (BK, 0))
    pc = tl.make_block_ptr(c, shape=(M, N), strides=(N, 1), offsets=(tl.program_id(0) * BM, tl.program_id(1) * BN), block_shape=(BM, BN), order=(1, 0))
    tl.store(pc, acc, boundary_check=(0, 1))
)",
        {"a=f32[50,40]", "b=f32[40,70]", "c=f32[50,70]", "M=50", "N=70", "K=40"});
    kernel.tolerance(50);
    kernel.check("BK=16,BM=32,BN=32", {2, 3, 1});
    kernel.check("BK=64,BM=16,BN=128", {4, 1, 1});
  }
}

TEST(CodegenBlock, PadsBlocksThatStartBeforeTheTensor) {
  auto kernel = GeneratedKernel::fromSource(R"(def kernel(x, y, n, B: tl.constexpr):
    px = tl.make_block_ptr(x, shape=(n,), strides=(1,), offsets=(-3,), block_shape=(B,), order=(0,))
    v = tl.load(px, boundary_check=(0,), padding_option="zero")
    py = tl.make_block_ptr(y, shape=(n,), strides=(1,), offsets=(-1,), block_shape=(B,), order=(0,))
    tl.store(py, v + 1.0, boundary_check=(0,))
)",
                                            {"x=f32[40]", "y=f32[40]", "n=40"});
  kernel.check("B=32", {1, 1, 1});
  kernel.check("B=64", {1, 1, 1});
}

} // namespace
} // namespace tilewright::cpu

// Block pointers and tensor descriptors carry their extents with them.
#include "KernelUnderTest.h"

namespace tilewright {

TEST(BlockPointer, ShapeIsTheExtent) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    src = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    dst = tl.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for start in range(0, N, BN):
        v = tl.load(src, boundary_check=(0, 1))
        tl.store(dst, v, boundary_check=(0, 1))
        src = tl.advance(src, (0, BN))
        dst = tl.advance(dst, (0, BN))
)");
  EXPECT_EQ(kernel.roles(), "BM split M, BN tile N") << kernel.text();
  EXPECT_EQ(kernel.axes(), "M, N contiguous") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "");
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, BM)");
  EXPECT_FALSE(kernel.facts.accesses[0].indirect) << kernel.text();
}

TEST(BlockPointer, UncheckedAxisNeedsWholeTiles) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    src = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    dst = tl.make_block_ptr(y, (M, N), (N, 1), (tl.program_id(0) * BM, tl.program_id(1) * BN), (BM, BN), (1, 0))
    tl.store(dst, tl.load(src, boundary_check=(0,)), boundary_check=(0,))
)");
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "divide.tail: N % BN == 0") << kernel.text();
}

TEST(BlockPointer, MadeInTheLoop) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, T, S, BT: tl.constexpr, BS: tl.constexpr):
    pid_s = tl.program_id(0)
    for i in range(tl.cdiv(T, BT)):
        src = tl.make_block_ptr(x, (T, S), (S, 1), (i * BT, pid_s * BS), (BT, BS), (1, 0))
        dst = tl.make_block_ptr(y, (T, S), (S, 1), (i * BT, pid_s * BS), (BT, BS), (1, 0))
        tl.store(dst, tl.load(src, boundary_check=(0, 1)), boundary_check=(0, 1))
)");
  EXPECT_EQ(kernel.roles(), "BT tile T, BS split S") << kernel.text();
}

TEST(Descriptor, ShapeIsTheExtent) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    src = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    dst = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    dst.store([row, col], src.load([row, col]))
)",
                         {"x=f32[64,64]", "y=f32[64,64]"});
  EXPECT_EQ(kernel.roles(), "BM split M, BN split N") << kernel.text();
  EXPECT_THAT(kernel.constraints(), testing::Not(testing::HasSubstr("divide")));
}

} // namespace tilewright

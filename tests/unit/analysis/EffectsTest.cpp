// What a trial run changes, and accesses through loaded indices.
#include "KernelUnderTest.h"

namespace tilewright {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Effects, InPlace) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + offs, mask=offs < n) + tl.load(y + offs, mask=offs < n)
    tl.store(x + offs, v, mask=offs < n)
)");
  EXPECT_THAT(kernel.facts.effects.reads, ElementsAre("x", "y"));
  EXPECT_THAT(kernel.facts.effects.writes, ElementsAre("x"));
  EXPECT_THAT(kernel.facts.effects.accumulates, ElementsAre("x"));
  EXPECT_THAT(kernel.facts.effects.atomics, IsEmpty());
}

TEST(Effects, Atomics) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, bins, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    bin = tl.load(x + offs, mask=offs < n, other=0)
    tl.atomic_add(bins + bin, 1, mask=offs < n)
)",
                         {"x=i32[64]", "bins=i32[16]"});
  EXPECT_EQ(kernel.roles(), "B split n") << kernel.text();
  EXPECT_THAT(kernel.facts.effects.atomics, ElementsAre("bins"));
  EXPECT_THAT(kernel.facts.effects.writes, ElementsAre("bins"));
  EXPECT_THAT(kernel.facts.effects.accumulates, ElementsAre("bins"));
  EXPECT_TRUE(kernel.facts.accesses[1].indirect);
  EXPECT_TRUE(kernel.facts.accesses[1].atomic);
}

TEST(Effects, EitherOfTwoBuffers) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(a, b, c, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    if tl.program_id(1) == 0:
        src = a
    else:
        src = b
    tl.store(c + offs, tl.load(src + offs, mask=offs < n), mask=offs < n)
)",
                         {"a=f32[64]", "b=f32[64]", "c=f32[64]"});
  EXPECT_THAT(kernel.facts.effects.reads, ElementsAre("a", "b")) << kernel.text();
  EXPECT_EQ(kernel.roles(), "B split n");
}

TEST(Effects, UnknownAddress) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(pointers, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    target = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(target + offs, 0.0, mask=offs < n)
)",
                         {"pointers=i64[4]"});
  EXPECT_FALSE(kernel.ok());
  ASSERT_FALSE(kernel.facts.diagnostics.empty());
  EXPECT_EQ(kernel.facts.diagnostics[0].code, "analysis.address");
  ASSERT_TRUE(kernel.facts.diagnostics[0].location);
  EXPECT_EQ(kernel.facts.diagnostics[0].location->line, 7u);
}

TEST(Indirect, GatherOfRows) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(table, index, out, n, dim, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    row_in = rows < n
    idx = tl.load(index + rows, mask=row_in, other=0)
    inside = row_in[:, None] & (cols[None, :] < dim)
    v = tl.load(table + idx[:, None] * dim + cols[None, :], mask=inside)
    tl.store(out + rows[:, None] * dim + cols[None, :], v, mask=inside)
)",
                         {"table=f32[64,64]", "index=i64[64]", "out=f32[64,64]"});
  EXPECT_EQ(kernel.roles(), "BM split n, BN split dim") << kernel.text();
  const AccessMap &gather = kernel.facts.accesses[1];
  EXPECT_EQ(gather.buffer, "table");
  EXPECT_TRUE(gather.indirect);
  EXPECT_THAT(gather.indirectAxes, ElementsAre(0u));
  EXPECT_EQ(gather.contiguousAxis, 1);
  EXPECT_FALSE(kernel.facts.accesses[2].indirect);
  EXPECT_TRUE(kernel.ok());
}

TEST(Indirect, ScalarIndexKeepsTheAffinePart) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(table, index, out, dim, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    for start in range(0, dim, B):
        cols = start + tl.arange(0, B)
        tl.store(out + tl.program_id(0) * dim + cols, tl.load(table + row * dim + cols, mask=cols < dim), mask=cols < dim)
)",
                         {"table=f32[64,64]", "index=i64[64]", "out=f32[64,64]"});
  EXPECT_EQ(kernel.roles(), "B tile dim") << kernel.text();
  EXPECT_TRUE(kernel.facts.accesses[1].indirect);
  EXPECT_THAT(kernel.facts.accesses[1].indirectAxes, IsEmpty());
  EXPECT_EQ(kernel.facts.accesses[1].contiguousAxis, 0);
}

} // namespace tilewright

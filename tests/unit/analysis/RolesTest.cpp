// Parameters that are not plain splits or tiles, and parameters that are several things.
#include "KernelUnderTest.h"

namespace tilewright {

TEST(Roles, OneShotMustCover) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, x_row_stride, y_row_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * x_row_stride + cols, mask=cols < n_cols, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * y_row_stride + cols, v / tl.sum(v, axis=0), mask=cols < n_cols)
)");
  EXPECT_EQ(kernel.roles(), "BLOCK one-shot n_cols") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n_cols reduction contiguous") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "oneshot.short: BLOCK >= n_cols");
  EXPECT_EQ(kernel.facts.constraints.back().line, 7u);
  EXPECT_THAT(kernel.facts.parameters[0].evidence[0].text, testing::HasSubstr("tl.arange(0, BLOCK)"));
  EXPECT_EQ(kernel.inferredGrid(), "?");
  EXPECT_TRUE(kernel.ok());
}

TEST(Roles, OneShotByTheGrid) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(y + row * n_cols + cols, v, mask=cols < n_cols)
)",
                         {}, "(128,)");
  EXPECT_EQ(kernel.roles(), "BLOCK one-shot n_cols") << kernel.text();
}

TEST(Roles, Unused) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, n, B: tl.constexpr, NOTHING: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + offs, 1.0, mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n, NOTHING unused") << kernel.text();
}

TEST(Roles, Flag) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, n, B: tl.constexpr, DOUBLE: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + offs, mask=offs < n)
    if DOUBLE > 0:
        v = v + v
    tl.store(x + offs, v, mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n, DOUBLE flag") << kernel.text();
  EXPECT_THAT(kernel.constraints(), testing::HasSubstr("path.condition"));
}

TEST(Roles, ChunkWithoutABound) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, HEAD: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, HEAD)
    tl.store(y + row * HEAD + cols, tl.load(x + row * HEAD + cols))
)");
  EXPECT_THAT(kernel.roles(), testing::HasSubstr("HEAD")) << kernel.text();
}

TEST(Roles, StaticAssertBecomesAConstraint) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, n, B: tl.constexpr, S: tl.constexpr):
    tl.static_assert(B >= S, "B must hold S")
    base = tl.program_id(0) * B
    for i in range(0, B, S):
        offs = base + i + tl.arange(0, S)
        tl.store(x + offs, 1.0, mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n, S tile n") << kernel.text();
  EXPECT_THAT(kernel.constraints(), testing::HasSubstr("static_assert"));
}

TEST(Roles, DiagonalScheduleThreshold) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, THRESHOLD: tl.constexpr):
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    for task in range(tl.program_id(0), tiles_m * tiles_n, 24):
        per = THRESHOLD * tiles_n
        tile_m = (task // per) * THRESHOLD + task % THRESHOLD
        tile_n = (task % per) // THRESHOLD
        rows = tile_m * BM + tl.arange(0, BM)
        cols = tile_n * BN + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BM tile M, BN tile N, THRESHOLD schedule") << kernel.text();
}

TEST(Roles, BlockOfBlocksPerProgram) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr, ITERS: tl.constexpr):
    base = tl.program_id(0) * (B * ITERS)
    for i in range(ITERS):
        offs = base + i * B + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split+tile n, ITERS split n") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n, B*ITERS)");
}

TEST(HostCoupling, CountOfBlocksIsAnArgument) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, n_blocks, B: tl.constexpr):
    for block in range(tl.program_id(0), n_blocks, tl.num_programs(0)):
        offs = block * B + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile+host-coupled n") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "B->n_blocks");
  EXPECT_EQ(kernel.facts.hostCoupled[0].line, 5u);
}

TEST(HostCoupling, RowsPerProgramAreAnArgument) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, batches, row_iter, B: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(0, row_iter):
        offs = pid * row_iter * B + i * B + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < batches), mask=offs < batches)
)");
  EXPECT_EQ(kernel.roles(), "B tile+host-coupled batches") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "B->row_iter");
}

TEST(HostCoupling, TileCountsAreArguments) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, N, blocks_m, blocks_n, BM: tl.constexpr, BN: tl.constexpr):
    for task in range(tl.program_id(0), blocks_m * blocks_n, tl.num_programs(0)):
        rows = (task // blocks_n) * BM + tl.arange(0, BM)
        cols = (task % blocks_n) * BN + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BM tile+host-coupled M, BN tile+host-coupled N") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "BM->blocks_m, BN->blocks_n");
}

TEST(HostCoupling, NotEveryLoopBoundIsDerived) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, rows, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    for row in range(rows):
        v = tl.load(x + row * n + offs, mask=offs < n)
        tl.store(y + row * n + offs, v, mask=offs < n)
)");
  EXPECT_EQ(kernel.couplings(), "") << kernel.text();
  EXPECT_EQ(kernel.roles(), "B split n");
  EXPECT_THAT(kernel.axes(), testing::HasSubstr("rows"));
}

} // namespace tilewright

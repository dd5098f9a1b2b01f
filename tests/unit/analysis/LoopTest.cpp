// Loops inside a program, and programs that take turns.
#include "KernelUnderTest.h"

namespace tilewright {

TEST(Loop, ColumnsInSteps) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, B):
        cols = start + tl.arange(0, B)
        tl.store(y + row * n + cols, tl.load(x + row * n + cols, mask=cols < n), mask=cols < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "");
  ASSERT_EQ(kernel.facts.loops.size(), 1u);
  EXPECT_EQ(toString(kernel.facts.loops[0].trip), "cdiv(n, B)");
  EXPECT_EQ(kernel.facts.loops[0].axis, 0);
  EXPECT_THAT(kernel.facts.find("B")->evidence[0].text, testing::HasSubstr("for start in range(0, n, B)"));
  EXPECT_EQ(kernel.facts.find("B")->evidence[0].line, 6u);
  // Address steps are per iteration.
  const AccessMap &load = kernel.facts.accesses[0];
  const auto loop = std::find_if(load.terms.begin(), load.terms.end(),
                                 [](const AccessTerm &term) { return term.kind == AccessTerm::Kind::Loop; });
  ASSERT_NE(loop, load.terms.end()) << kernel.text();
  EXPECT_EQ(toString(loop->coefficient), "B");
  EXPECT_EQ(toString(loop->trip), "cdiv(n, B)");
}

TEST(Loop, CountedBlocks) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    for i in range(tl.cdiv(n, B)):
        cols = i * B + tl.arange(0, B)
        tl.store(y + cols, tl.load(x + cols, mask=cols < n), mask=cols < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "");
}

TEST(Loop, NamedCountOfBlocks) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    loops = (n + B - 1) // B
    for i in tl.range(0, loops):
        cols = i * B + tl.arange(0, B)
        tl.store(y + cols, tl.load(x + cols, mask=cols < n), mask=cols < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
}

TEST(Loop, PointersThatMoveAlong) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    for i in range(tl.cdiv(n, B)):
        inside = offs < n
        v = tl.load(x + offs, mask=inside)
        tl.store(y + offs, v, mask=inside)
        offs += B
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_FALSE(kernel.facts.accesses[0].indirect) << kernel.text();
}

TEST(Loop, WhileLoop) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    start = 0
    while start < n:
        cols = start + tl.arange(0, B)
        tl.store(y + cols, tl.load(x + cols, mask=cols < n), mask=cols < n)
        start += B
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  ASSERT_EQ(kernel.facts.loops.size(), 1u);
  EXPECT_EQ(toString(kernel.facts.loops[0].trip), "cdiv(n, B)");
}

TEST(Loop, SubBlocksOfAProgramsBlock) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr, S: tl.constexpr):
    start = tl.program_id(0) * B
    loops = (B + S - 1) // S
    for i in range(loops):
        offs = start + i * S + tl.arange(0, S)
        inside = offs < tl.minimum(start + B, n)
        tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "B split n, S tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "order.tile: S <= B");
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n, B)");
}

TEST(Loop, SubBlocksByRange) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(y, n, B: tl.constexpr, S: tl.constexpr):
    base = tl.program_id(0) * B
    for sub in range(0, B, S):
        offs = base + sub + tl.arange(0, S)
        tl.store(y + offs, 0.0, mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n, S tile n") << kernel.text();
}

TEST(Loop, FloorDivisionOfBlocksNeedsDivisibility) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr, S: tl.constexpr):
    base = tl.program_id(0) * B
    for i in range(B // S):
        offs = base + i * S + tl.arange(0, S)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n, S tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "divide.floor: B % S == 0") << kernel.text();
}

TEST(Loop, FloorDivisionOfTheExtent) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    for i in range(n // B):
        offs = i * B + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs))
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "divide.tail: n % B == 0") << kernel.text();
}

TEST(Loop, NoMaskInTheLoop) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs))
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "divide.tail: n % B == 0") << kernel.text();
}

TEST(Loop, GridStride) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    first = pid * B
    stride = tl.num_programs(0) * B
    for start in tl.range(first, n, stride):
        offs = start + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n, B)");
}

TEST(Loop, GridStrideInTwoDimensions) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, L, N, BM: tl.constexpr, BN: tl.constexpr):
    pid_x = tl.program_id(0)
    pid_y = tl.program_id(1)
    grid_x = tl.num_programs(0)
    grid_y = tl.num_programs(1)
    for i in range(pid_x * BM, L, grid_x * BM):
        rows = i + tl.arange(0, BM)
        for j in range(pid_y * BN, N, grid_y * BN):
            cols = j + tl.arange(0, BN)
            inside = (rows < L)[:, None] & (cols < N)[None, :]
            offs = rows[:, None] * N + cols[None, :]
            tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BM tile L, BN tile N") << kernel.text();
}

TEST(Loop, BlockCyclic) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, B), tl.num_programs(0)):
        offs = block * B + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "");
}

TEST(Loop, BlockCyclicWithAConstantNumberOfCores) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, B), 20):
        offs = block * B + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "20");
}

TEST(Loop, RangePerProgram) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, per_program, B: tl.constexpr):
    pid = tl.program_id(0)
    first = pid * per_program
    last = tl.minimum(first + per_program, n)
    for start in range(first, last, B):
        offs = start + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < last), mask=offs < last)
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n, per_program)");
}

TEST(Loop, TasksDecodedIntoTwoAxes) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    tasks = tl.cdiv(M, BM) * tiles_n
    for task in range(tl.program_id(0), tasks, tl.num_programs(0)):
        rows = (task // tiles_n) * BM + tl.arange(0, BM)
        cols = (task % tiles_n) * BN + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BM tile M, BN tile N") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(M, BM)*cdiv(N, BN)");
}

TEST(Loop, RowsInTurn) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n_rows, n_cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        v = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
        v = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * n_cols + cols, v / tl.sum(v, axis=0), mask=cols < n_cols)
)");
  EXPECT_EQ(kernel.roles(), "BLOCK one-shot n_cols") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n_cols reduction contiguous, n_rows") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "n_rows");
  EXPECT_EQ(kernel.constraints(), "oneshot.short: BLOCK >= n_cols");
}

TEST(Loop, ExtentsLoadedFromMemory) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(src, sizes, B: tl.constexpr):
    pid = tl.program_id(0)
    size = tl.load(sizes + pid)
    for start in range(0, size, B):
        offs = start + tl.arange(0, B)
        v = tl.load(src + offs, mask=offs < size)
        tl.store(src + offs, v, mask=offs < size)
)",
                         {"src=f32[64]", "sizes=i32[64]"});
  EXPECT_THAT(kernel.roles(), testing::StartsWith("B tile")) << kernel.text();
  EXPECT_TRUE(kernel.ok()) << kernel.text();
}

} // namespace tilewright

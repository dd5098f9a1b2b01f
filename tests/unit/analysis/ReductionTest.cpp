// What is combined over, and whether the whole extent has to be in one tile.
#include "KernelUnderTest.h"

namespace tilewright {

struct RowSum {
  const char *name;
  const char *expression;
};
void PrintTo(const RowSum &sum, std::ostream *os) { *os << sum.name; }
class ReductionSpelling : public testing::TestWithParam<RowSum> {};

TEST_P(ReductionSpelling, MarksTheColumns) {
  KernelUnderTest kernel("import triton.language as tl\n@triton.jit\ndef mul2(a, b):\n    return a + b\n"
                         "@triton.jit\ndef k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):\n"
                         "    rows = tl.program_id(0) * BM + tl.arange(0, BM)\n"
                         "    cols = tl.arange(0, BN)\n"
                         "    inside = (rows[:, None] < M) & (cols[None, :] < N)\n"
                         "    v = tl.load(x + rows[:, None] * N + cols[None, :], mask=inside, other=0.0)\n" +
                             std::string(GetParam().expression),
                         {"x=f32[64,64]", "y=f32[64]"});
  EXPECT_EQ(kernel.roles(), "BM split M, BN one-shot N") << kernel.text();
  EXPECT_EQ(kernel.axes(), "M contiguous, N reduction contiguous") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "oneshot.short: BN >= N");
}
const RowSum kRowSums[] = {
    {"Keyword", "    s = tl.sum(v, axis=1)\n    tl.store(y + rows, s, mask=rows < M)\n"},
    {"Negative", "    s = tl.sum(v, axis=-1)\n    tl.store(y + rows, s, mask=rows < M)\n"},
    {"Positional", "    s = tl.max(v, 1)\n    tl.store(y + rows, s, mask=rows < M)\n"},
    {"WithIndices",
     "    s, i = tl.max(v, 1, return_indices=True)\n    tl.store(y + rows, s, mask=rows < M)\n"},
    {"Nested", "    tl.store(y + rows, tl.sum(v, 1), mask=rows < M)\n"},
    {"InWhere", "    tl.store(y + rows, tl.where(rows < M, tl.max(v, 1), 0.0), mask=rows < M)\n"},
    {"Method", "    tl.store(y + rows, v.sum(1), mask=rows < M)\n"},
    {"Combine", "    tl.store(y + rows, tl.reduce(v, 1, mul2), mask=rows < M)\n"},
    {"AfterArithmetic",
     "    w = tl.exp(v.to(tl.float32) * 2.0)\n    tl.store(y + rows, tl.sum(w * w, 1), mask=rows < M)\n"},
};
INSTANTIATE_TEST_SUITE_P(Spellings, ReductionSpelling, testing::ValuesIn(kRowSums),
                         [](const auto &info) { return info.param.name; });

TEST(Reduction, FullReductionInALoop) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        cols = start + tl.arange(0, B)
        total += tl.load(x + row * n + cols, mask=cols < n, other=0.0)
    tl.store(y + row, tl.sum(total))
)");
  EXPECT_EQ(kernel.roles(), "B tile n") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n reduction contiguous") << kernel.text();
}

TEST(Reduction, RowsTimesColumns) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, weight, n_rows, n_cols, eps, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row_inside = rows < n_rows
    offsets = rows[:, None] * n_cols
    total = tl.zeros((ROWS, COLS), tl.float32)
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        inside = row_inside[:, None] & (cols[None, :] < n_cols)
        total += tl.load(x + offsets + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=1) / n_cols
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        inside = row_inside[:, None] & (cols < n_cols)[None, :]
        v = tl.load(x + offsets + cols[None, :], mask=inside, other=0.0)
        w = tl.load(weight + cols, mask=cols < n_cols, other=0.0)
        tl.store(y + offsets + cols[None, :], (v - mean[:, None]) * w[None, :], mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "ROWS split n_rows, COLS tile n_cols") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n_rows, n_cols reduction contiguous") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "");
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(n_rows, ROWS)");
}

TEST(Reduction, AcrossRowsIsTheOtherAxis) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, C, D, BC: tl.constexpr, BD: tl.constexpr):
    cols = tl.program_id(0) * BD + tl.arange(0, BD)
    best = tl.full((BD,), -float("inf"), tl.float32)
    for start in range(0, C, BC):
        rows = start + tl.arange(0, BC)
        inside = (rows < C)[:, None] & (cols < D)[None, :]
        v = tl.load(x + rows[:, None] * D + cols[None, :], mask=inside, other=-float("inf"))
        best = tl.maximum(best, tl.max(v, axis=0))
    tl.store(y + cols, best, mask=cols < D)
)");
  EXPECT_EQ(kernel.roles(), "BC tile C, BD split D") << kernel.text();
  EXPECT_EQ(kernel.axes(), "C reduction, D contiguous") << kernel.text();
}

TEST(Reduction, OnlineSoftmax) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n_cols, COLS: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        v = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
        new = tl.maximum(largest, tl.max(v, 0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(v - new), 0)
        largest = new
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        v = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        tl.store(y + row * n_cols + cols, tl.exp(v - largest) / total, mask=cols < n_cols)
)");
  EXPECT_EQ(kernel.roles(), "COLS tile n_cols") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n_cols reduction contiguous");
  // One row a program and no bound on rows: the kernel cannot tell how many there are.
  EXPECT_EQ(kernel.inferredGrid(), "?");
}

TEST(Reduction, PartialResultsPerProgram) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, z, D, B: tl.constexpr):
    row = tl.program_id(0)
    block = tl.program_id(1)
    offs = block * B + tl.arange(0, B)
    v = tl.load(x + row * D + offs, mask=offs < D, other=-float("inf"))
    m = tl.max(v, 0)
    tl.store(z + row * tl.cdiv(D, 64) + block, tl.log(tl.sum(tl.exp(v - m), 0)) + m)
)");
  EXPECT_EQ(kernel.roles(), "B split+host-coupled D") << kernel.text();
  EXPECT_EQ(kernel.axes(), "D reduction contiguous") << kernel.text();
  EXPECT_EQ(kernel.couplings(), "B->z");
}

TEST(Reduction, SequentialScan) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, T, S, BT: tl.constexpr, BS: tl.constexpr):
    cols = tl.program_id(0) * BS + tl.arange(0, BS)
    carry = tl.zeros((BS,), tl.float32)
    for t in range(0, T, BT):
        rows = t + tl.arange(0, BT)
        inside = (rows < T)[:, None] & (cols < S)[None, :]
        v = tl.load(x + rows[:, None] * S + cols[None, :], mask=inside, other=0.0)
        tl.store(y + rows[:, None] * S + cols[None, :], tl.cumsum(v, 0) + carry[None, :], mask=inside)
        carry += tl.sum(v, 0)
)");
  EXPECT_EQ(kernel.roles(), "BT tile T, BS split S") << kernel.text();
  EXPECT_EQ(kernel.axes(), "T reduction, S contiguous") << kernel.text();
}

TEST(Reduction, SubBlocksInBothAxes) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, X, R, XB: tl.constexpr, XS: tl.constexpr, RS: tl.constexpr):
    base = tl.program_id(0) * XB
    for i in range((XB + XS - 1) // XS):
        rows = base + i * XS + tl.arange(0, XS)[:, None]
        row_inside = rows < tl.minimum(base + XB, X)
        best = tl.full((XS, RS), -float("inf"), tl.float32)
        for j in range((R + RS - 1) // RS):
            cols = j * RS + tl.arange(0, RS)[None, :]
            v = tl.load(x + rows * R + cols, mask=row_inside & (cols < R), other=-float("inf"))
            best = tl.maximum(best, v)
        m = tl.max(best, axis=1)
        tl.store(y + rows, m[:, None], mask=row_inside)
)");
  EXPECT_EQ(kernel.roles(), "XB split X, XS tile X, RS tile R") << kernel.text();
  EXPECT_EQ(kernel.axes(), "X contiguous, R reduction contiguous") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(X, XB)");
}

} // namespace tilewright

// One program does one block: every way of writing the position and the mask.
#include "KernelUnderTest.h"

namespace tilewright {

struct Spelling {
  const char *name;
  const char *body;
  const char *extent = "n";
};
void PrintTo(const Spelling &spelling, std::ostream *os) { *os << spelling.name; }

class BlockPerProgram : public testing::TestWithParam<Spelling> {};

TEST_P(BlockPerProgram, IsASplit) {
  const Spelling &spelling = GetParam();
  KernelUnderTest kernel("@triton.jit\ndef k(x, y, n, m, B: tl.constexpr):\n" + std::string(spelling.body),
                         {"x=f32[64]", "y=f32[64]"});
  ASSERT_EQ(kernel.failure, "");
  ASSERT_EQ(kernel.facts.axes.size(), 1u) << kernel.text();
  EXPECT_EQ(kernel.roles(), "B split " + kernel.facts.axes[0].name) << kernel.text();
  EXPECT_EQ(toString(kernel.facts.axes[0].extent), spelling.extent) << kernel.text();
  EXPECT_TRUE(kernel.facts.axes[0].contiguous) << kernel.text();
  EXPECT_EQ(kernel.constraints(), "") << kernel.text();
  EXPECT_TRUE(kernel.ok()) << kernel.text();
  EXPECT_EQ(kernel.facts.parameters[0].confidence, Confidence::Proved);
  EXPECT_FALSE(kernel.facts.parameters[0].evidence.empty());
}

const Spelling kSpellings[] = {
    {"MaskInAVariable", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    tl.store(y + offs, tl.load(x + offs, mask=mask), mask=mask)
)"},
    {"MaskInTheLoad", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"FactorFirst", R"(
    offs = B * tl.program_id(axis=0) + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"AllInOneExpression", R"(
    tl.store(y + tl.program_id(0) * B + tl.arange(0, B), tl.load(x + tl.program_id(0) * B + tl.arange(0, B),
             mask=tl.program_id(0) * B + tl.arange(0, B) < n), mask=tl.program_id(0) * B + tl.arange(0, B) < n)
)"},
    {"ProgramIdCast", R"(
    pid = tl.program_id(0).to(tl.int64)
    offs = pid * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"OffsetCast", R"(
    offs = (tl.program_id(0) * B).to(tl.int64) + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"CastProgramTimesBlock", R"(
    offs = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"TupleAssignment", R"(
    pid, other = tl.program_id(0), tl.program_id(1)
    offs = pid * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"FullModuleName", R"(
    offs = triton.language.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"Annotated", R"(
    offs: tl.tensor = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"Augmented", R"(
    offs = tl.program_id(0) * B
    offs += tl.arange(0, B)
    x += offs
    tl.store(y + offs, tl.load(x, mask=offs < n), mask=offs < n)
)"},
    {"Flipped", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=n > offs), mask=n > offs)
)"},
    {"LessEqual", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs <= n - 1), mask=offs <= n - 1)
)"},
    {"LessEqualExtentIsOneMore", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs <= n), mask=offs <= n)
)",
     "n + 1"},
    {"OneLess", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n - 1), mask=offs < n - 1)
)",
     "n - 1"},
    {"Negated", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    outside = offs >= n
    tl.store(y + offs, tl.load(x + offs, mask=~outside), mask=~outside)
)"},
    {"WithLowerBound", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    inside = (offs >= 0) & (offs < n) & (m > 0)
    tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)"},
    {"MaskProduct", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    inside = (offs < n) * (offs >= 0)
    tl.store(y + offs, tl.load(x + offs, mask=inside), mask=inside)
)"},
    {"Minimum", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    end = tl.minimum(n, tl.program_id(0) * B + B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < end), mask=offs < end)
)"},
    {"ExpressionAsExtent", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    total = n * m
    tl.store(y + offs, tl.load(x + offs, mask=offs < total), mask=offs < total)
)",
     "m*n"},
    {"RemainderMask", R"(
    start = tl.program_id(0) * B
    lane = tl.arange(0, B)
    inside = lane < n - start
    tl.store(y + start + lane, tl.load(x + start + lane, mask=inside), mask=inside)
)"},
    {"WrappedAddress", R"(
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs % n), mask=offs < n)
)"},
    {"ThroughACallee", R"(
    helper(x, y, n, tl.program_id(0), B)

@triton.jit
def helper(x, y, n, pid, SIZE: tl.constexpr):
    offs = pid * SIZE + tl.arange(0, SIZE)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)

@triton.jit
def k2(x, y, n, m, B: tl.constexpr):
    helper(x, y, n, tl.program_id(0), B)
)"},
    {"InsideAnIf", R"(
    start = tl.program_id(0) * B
    if start < n:
        offs = start + tl.arange(0, B)
        tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"AfterAnEarlyReturn", R"(
    start = tl.program_id(0) * B
    if start >= n:
        return
    offs = start + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"AlignmentHints", R"(
    offs = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * B, 8) + tl.arange(0, B), 8)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
    {"LastBlockMovedBack", R"(
    start = tl.minimum(tl.program_id(0) * B, n - B)
    offs = start + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)"},
};
INSTANTIATE_TEST_SUITE_P(Spellings, BlockPerProgram, testing::ValuesIn(kSpellings),
                         [](const auto &info) { return info.param.name; });

TEST(Split, ShiftedProgramId) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    offs = (tl.program_id(0) + 1) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n), mask=offs < n)
)");
  EXPECT_EQ(kernel.roles(), "B split n") << kernel.text();
  EXPECT_EQ(kernel.axes(), "n=-B + n contiguous");
}

TEST(Split, TwoAxesOfAPermutation) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, X, Y, BX: tl.constexpr, BY: tl.constexpr):
    xs = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    ys = tl.program_id(1) * BY + tl.arange(0, BY)[None, :]
    inside = (xs < X) & (ys < Y)
    v = tl.load(x + xs * Y + ys, mask=inside)
    tl.store(y + ys * X + xs, v, mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "BX split X, BY split Y") << kernel.text();
  EXPECT_EQ(kernel.axes(), "X contiguous, Y contiguous") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "cdiv(X, BX), cdiv(Y, BY)");
  EXPECT_EQ(kernel.facts.accesses[0].contiguousAxis, 1);
  EXPECT_EQ(kernel.facts.accesses[1].contiguousAxis, 0);
}

TEST(Split, EqualExtentsStayTwoAxes) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, out, n, BX: tl.constexpr, BY: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)
    j = tl.program_id(1) * BY + tl.arange(0, BY)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + j, mask=j < n)
    tl.store(out + i[:, None] * n + j[None, :], a[:, None] * b[None, :], mask=(i < n)[:, None] & (j < n)[None, :])
)");
  EXPECT_EQ(kernel.roles(), "BX split n, BY split n_1") << kernel.text();
}

TEST(Split, WithoutAMaskTheExtentComesFromTheGrid) {
  const char *source = R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs))
)";
  KernelUnderTest alone(source);
  EXPECT_THAT(alone.roles(), testing::StartsWith("B split")) << alone.text();
  EXPECT_EQ(alone.inferredGrid(), "?");
  KernelUnderTest kernel(source, {"n=100"}, "(cdiv(n, B),)");
  EXPECT_EQ(kernel.roles(), "B split n") << kernel.text();
  EXPECT_EQ(kernel.constraints(), "divide.tail: n % B == 0");
  KernelUnderTest floored(source, {"n=100"}, "(n // B,)");
  EXPECT_EQ(floored.constraints(), "divide.tail: n % B == 0");
}

TEST(Split, AStoreWithoutItsMaskNeedsWholeTiles) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n))
)");
  EXPECT_EQ(kernel.constraints(), "divide.tail: n % B == 0") << kernel.text();
}

TEST(Split, ScalarAccess) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, n):
    pid = tl.program_id(0)
    if pid < n:
        tl.store(y + pid, tl.load(x + pid))
)");
  EXPECT_EQ(kernel.axes(), "n") << kernel.text();
  EXPECT_EQ(kernel.inferredGrid(), "n");
}

TEST(Split, RowAndColumnByDivision) {
  KernelUnderTest kernel(R"(
@triton.jit
def k(x, y, T, D, stride, B: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    inside = offs < T
    row = offs // D
    col = offs % D
    tl.store(y + offs, tl.load(x + row * stride + col, mask=inside), mask=inside)
)");
  EXPECT_EQ(kernel.roles(), "B split T") << kernel.text();
  EXPECT_TRUE(kernel.facts.accesses[0].modular);
  EXPECT_EQ(kernel.facts.accesses[0].contiguousAxis, 0);
}

} // namespace tilewright

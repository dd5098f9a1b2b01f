// Whole small kernels against their Programs.
#include "LoweringFixture.h"

#include <fstream>
#include <iterator>

using namespace tilewright;
using namespace tilewright::test;

TEST(LoweringKernels, VectorAdd) {
  EXPECT_EQ(
      lowerText(R"(
@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y + offs, tl.load(x + offs, mask=mask, other=0.0) * 2, mask=mask)
)",
                {"x=f16[1000]", "y=f32[1000]", "n=1000"}),
      R"(kernel @k(%x: ptr<f16>, %y: ptr<f32>, %n: i32 = n in 0..2147483647, open BLOCK = 16 in 1..2147483647) {
  symbol pid0: program_id in 0..2147483647
  require "shape.pow2" BLOCK == next_power_of_2(BLOCK) : "BLOCK must be a power of two"
  require "shape.numel" BLOCK <= 1048576 : "a tile has at most 1048576 elements: BLOCK <= 1048576"
  %pid = program_id {axis = 0} : i32 = pid0
  %0 = constant {value = BLOCK} : i32
  %1 = mul %pid, %0 : i32 = BLOCK*pid0
  %2 = iota {end = BLOCK, start = 0} : tile<BLOCK x i32>
  %3 = splat %1 : tile<BLOCK x i32>
  %offs = add %3, %2 : tile<BLOCK x i32>
  %4 = splat %n : tile<BLOCK x i32>
  %mask = compare %offs, %4 {predicate = "lt"} : tile<BLOCK x i1>
  %5 = splat %y : tile<BLOCK x ptr<f32>>
  %6 = addptr %5, %offs : tile<BLOCK x ptr<f32>>
  %7 = splat %x : tile<BLOCK x ptr<f16>>
  %8 = addptr %7, %offs : tile<BLOCK x ptr<f16>>
  %9 = constant {value = 0.0} : f16
  %10 = splat %9 : tile<BLOCK x f16>
  %11 = load %8, %mask, %10 : tile<BLOCK x f16>
  %12 = constant {value = 2.0} : f16
  %13 = splat %12 : tile<BLOCK x f16>
  %14 = mul %11, %13 : tile<BLOCK x f16>
  %15 = cast %14 : tile<BLOCK x f32>
  store %6, %15, %mask
}
)");
}

TEST(LoweringKernels, MatmulLoopCarriesPointersAndAccumulator) {
  const std::string text =
      lowerText(R"(
@triton.jit
def k(a, b, c, K, sa, sb, M: tl.constexpr, N: tl.constexpr, KB: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, KB)
    pa = a + m[:, None] * sa + d[None, :]
    pb = b + d[:, None] * sb + n[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, KB)):
        acc = tl.dot(tl.load(pa, mask=d[None, :] < K - i * KB, other=0.0), tl.load(pb), acc)
        pa += KB
        pb += KB * sb
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))
)",
                {"a=f16[64,64]", "b=f16[64,64]", "c=f16[64,64]", "K=64", "sa=64", "sb=64"});
  EXPECT_THAT(text, testing::HasSubstr("%acc.2, %pa.2, %pb.2 = for %21, %20, %22, %acc, %pa, %pb : tile<M x "
                                       "N x f32>, tile<M x KB x ptr<f16>>, "
                                       "tile<KB x N x ptr<f16>> { (%i: i32 = i"));
  EXPECT_THAT(text, testing::HasSubstr("dot %"));
  EXPECT_THAT(text, testing::HasSubstr(": i32 = cdiv(K, KB)\n"));
  EXPECT_THAT(text, testing::HasSubstr(": i32 = -KB*i + K\n"));
  EXPECT_THAT(text, testing::HasSubstr("yield %acc.4, %pa.4, %pb.4\n"));
  EXPECT_THAT(text, testing::HasSubstr("cast %acc.2 {rounding = \"rtne\"} : tile<M x N x f16>\n"));
}

TEST(LoweringKernels, EveryExampleLowersWithAndWithoutArguments) {
  const std::string folder = std::string(TILEWRIGHT_SOURCE_DIR) + "/examples/";
  for (const char *file : {"vector_add.py", "softmax.py", "layer_norm.py", "matmul.py", "quickstart.py"}) {
    const auto text = [&] {
      std::ifstream in(folder + file);
      return std::string(std::istreambuf_iterator<char>(in), {});
    }();
    ASSERT_FALSE(text.empty()) << file;
    const auto module = lang::parse(std::make_shared<SourceFile>(file, text));
    ASSERT_TRUE(module) << file;
    for (const KernelDeclaration &kernel : kernelsOf(*module)) {
      const auto program = lower(*module, kernel.name, {});
      ASSERT_TRUE(program) << render(program.error());
      EXPECT_TRUE(verify(*program)) << print(*program);
    }
  }
}

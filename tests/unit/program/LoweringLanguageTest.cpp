// Statements, expressions and library functions, one small kernel a rule.
#include "LoweringFixture.h"

#include <sstream>

using namespace tilewright;
using namespace tilewright::test;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A kernel `k(x, n)` on an f32 pointer and an i32 scalar.
std::string lines(const std::string &text, const std::string &before = {}) {
  std::string body = before + "\n@triton.jit\ndef k(x, n):\n";
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    body += "    " + line + "\n";
  return lowerText(body, {"x=f32[64]", "n=64"});
}

} // namespace

TEST(LoweringLanguage, Promotion) {
  EXPECT_THAT(lines("tl.store(x, n / 2)"), HasSubstr(" = div %"));
  EXPECT_THAT(lines("tl.store(x, n / 2)"), HasSubstr("cast %n : f32"));
  EXPECT_THAT(lines("tl.store(x, tl.load(x).to(tl.float16) * 2.5)"), HasSubstr(" : f16\n"));
  EXPECT_THAT(lines("tl.store(x, (n > 3) + (n > 4))"), HasSubstr("add %"));
  EXPECT_THAT(lines("tl.store(x + n.to(tl.uint32), 1.0)"), HasSubstr("cast %0 : i64"));
}

TEST(LoweringLanguage, DivisionSymbols) {
  EXPECT_THAT(lines("q = n // 4\ntl.store(x + q, q % 3)"), HasSubstr("%q = div %n, %0 : i32 = (n // 4)"));
  // pid - 1 may be -1, where truncation and floor differ: no expression, an opaque symbol.
  EXPECT_THAT(lines("tl.store(x, (tl.program_id(0) - 1) // 2)"), HasSubstr(" : i32 = div\n"));
}

TEST(LoweringLanguage, EarlyReturnOfAKernel) {
  const std::string text = lines("if n > 3:\n    return\ntl.store(x, 1.0)");
  EXPECT_THAT(text, HasSubstr("if %1 {\n    return\n  } else {\n    yield\n  }\n"));
}

TEST(LoweringLanguage, EarlyReturnOfAHelperMergesValues) {
  const std::string text =
      lines("tl.store(x, f(n))",
            "\n@triton.jit\ndef f(v):\n    if v > 3:\n        return v\n    w = v * 2\n    return w + 1\n");
  EXPECT_THAT(text, HasSubstr(": i32 = select("));
  EXPECT_THAT(text, HasSubstr("yield %n\n"));
  EXPECT_THAT(text, HasSubstr("%w = mul %n"));
}

TEST(LoweringLanguage, HelpersTakeKeywordsDefaultsAndReturnTuples) {
  const std::string text =
      lines("a, b = f(n, scale=3)\ntl.store(x + a, b)",
            "\n@triton.jit\ndef f(v, K: tl.constexpr = 5, *, scale=2):\n    return v * scale, v + K\n");
  EXPECT_THAT(text, HasSubstr("%a = mul %n, %0 : i32 = 3*n"));
  EXPECT_THAT(text, HasSubstr("%b = add %n, %1 : i32 = n + 5"));
}

TEST(LoweringLanguage, LoopsCarryOnlyWhatChanges) {
  const std::string text = lines("FLAG: tl.constexpr = False\na = 0\nb = 1\nfor i in range(n):\n    a += i\n "
                                 "   if FLAG:\n        b += 1\ntl.store(x + b, a)");
  EXPECT_THAT(text, HasSubstr("%a.2 = for %"));
  EXPECT_THAT(text, Not(HasSubstr("%b.2")));
}

TEST(LoweringLanguage, NestedLoops) {
  const std::string text =
      lines("a = 0\nfor i in range(n):\n    for j in range(i, n, 2):\n        a += j\ntl.store(x, a)");
  EXPECT_THAT(text, HasSubstr("(%j: i32 = j, %a.5: i32"));
}

TEST(LoweringLanguage, BackwardsLoopsCountUpInside) {
  EXPECT_THAT(lines("for i in range(n - 1, -1, -1):\n    tl.store(x + i, 1.0)"), HasSubstr("= n - i - 2\n"));
}

TEST(LoweringLanguage, RangeOptionsAreAttributes) {
  EXPECT_THAT(lines("for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, flatten=True):\n    "
                    "tl.store(x + i, 1.0)"),
              HasSubstr("{flatten = true, num_stages = 3, unroll = 2}"));
}

TEST(LoweringLanguage, While) {
  EXPECT_THAT(lines("c = n\nwhile c > 1:\n    c = c // 2\ntl.store(x, c)"), HasSubstr("= while %n"));
}

TEST(LoweringLanguage, ImportsUnderAnyName) {
  const std::string text = lowerText("from triton import language as tle, jit\nfrom triton.language import "
                                     "program_id as pid, load\nimport triton.language.extra.libdevice as ld\n"
                                     "from triton.language.math import exp2\n\n@jit\ndef k(x):\n    p = "
                                     "pid(0)\n    tle.store(x + p, ld.tanh(exp2(load(x + p))))\n");
  EXPECT_THAT(text, HasSubstr("{function = \"exp2\"}"));
  EXPECT_THAT(text, HasSubstr("{function = \"tanh\"}"));
}

TEST(LoweringLanguage, ModuleConstants) {
  EXPECT_THAT(lines("tl.store(x + N, M)", "N: tl.constexpr = 4\nM = tl.constexpr(2 * 3)\n"),
              HasSubstr("{value = 6.0} : f32"));
}

TEST(LoweringLanguage, ReductionsByKindAndByRegion) {
  const std::string combine = "\n@triton.jit\ndef f(a, b):\n    return tl.maximum(a, b)\n\n@triton.jit\ndef "
                              "g(a, b):\n    return a + b * 2\n";
  EXPECT_THAT(lines("v = tl.load(x + tl.arange(0, 16))\ntl.store(x, tl.reduce(v, 0, f))", combine),
              HasSubstr("reduce %v {axis = 0, kind = \"max\"} : f32\n"));
  const std::string region =
      lines("v = tl.load(x + tl.arange(0, 16))\ntl.store(x, tl.reduce(v, 0, g))", combine);
  EXPECT_THAT(region, HasSubstr("reduce %v {axis = 0} : f32 { (%a: f32, %b: f32)"));
}

TEST(LoweringLanguage, MaxWithIndices) {
  const std::string text = lines(
      "v = tl.load(x + tl.arange(0, 16))\nm, i = tl.max(v, 0, return_indices=True)\ntl.store(x + i, m)");
  EXPECT_THAT(text, HasSubstr("%m, %i = reduce %v, %"));
  EXPECT_THAT(text, HasSubstr("kind = \"argmax\", tie_left = true"));
}

TEST(LoweringLanguage, NarrowReductionsWiden) {
  EXPECT_THAT(lines("v = tl.load(x + tl.arange(0, 16)).to(tl.float16)\ntl.store(x, v.max(0))"),
              HasSubstr("kind = \"max\"} : f32"));
  EXPECT_THAT(lines("v = tl.arange(0, 16).to(tl.int8)\ntl.store(x, tl.sum(v))"),
              HasSubstr("kind = \"sum\"} : i32"));
}

TEST(LoweringLanguage, BoolsAreBytesInMemory) {
  const std::string text =
      lowerText("\n@triton.jit\ndef k(x):\n    tl.store(x, not tl.load(x))\n", {"x=i1[1]"});
  EXPECT_THAT(text, HasSubstr("bitcast %x : ptr<i8>"));
  EXPECT_THAT(text, HasSubstr("cast %1 : i1"));
}

TEST(LoweringLanguage, BlockPointersAndDescriptors) {
  const std::string text =
      lines("p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 8), (1, 0))\nv = tl.load(p, "
            "boundary_check=(0, 1))\np = tl.advance(p, (0, 8))\n"
            "tl.store(p, v)\nd = tl.make_tensor_descriptor(x, [n], [1], [16])\nd.store([0], d.load([16]))");
  EXPECT_THAT(text, HasSubstr("blockptr<16 x 8 x f32>"));
  EXPECT_THAT(text, HasSubstr("block_load %p {boundary = [0, 1]}"));
  EXPECT_THAT(text, HasSubstr("descriptor_store"));
}

TEST(LoweringLanguage, DeadCodeIsRemoved) {
  EXPECT_THAT(lines("a = n * 7\ntl.store(x, 1.0)"), Not(HasSubstr("mul ")));
}

TEST(LoweringLanguage, ProgramsReadBack) {
  const Lowered lowered = lowerSource("\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n    acc = "
                                      "tl.zeros((B,), tl.float32)\n    for i in range(0, n, B):\n"
                                      "        acc += tl.load(x + i + tl.arange(0, B), mask=i + tl.arange(0, "
                                      "B) < n, other=0)\n    tl.store(x, tl.sum(acc))\n");
  const std::string text = textOf(lowered);
  const std::string whole = print(*lowered.program);
  const auto again = readProgram(std::make_shared<SourceFile>("again.tw", whole));
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(print(*again), whole);
}

// Open parameters: expressions, decisions, requirements, the search for a witness.
#include "LoweringFixture.h"

#include <sstream>

using namespace tilewright;
using namespace tilewright::test;
using testing::HasSubstr;
using testing::Not;

namespace {

/// The body of a kernel `k(x, n, A, B)` with two open parameters.
std::string kernel(const std::string &lines) {
  std::string body = "\n@triton.jit\ndef k(x, n, A: tl.constexpr, B: tl.constexpr):\n";
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    body += "    " + line + "\n";
  return body;
}

} // namespace

TEST(LoweringConstexpr, BranchOnAnOpenParameterBecomesAPathCondition) {
  const std::string source = kernel("if A > 64:\n    tl.store(x, 1.0)\nelse:\n    tl.store(x, 2.0)");
  const std::string small = lowerText(source), large = lowerText(source, {}, "A=128,B=16");
  EXPECT_THAT(small, HasSubstr("path A <= 64 : \"A > 64\"\n"));
  EXPECT_THAT(small, HasSubstr("{value = 2.0}"));
  EXPECT_THAT(small, Not(HasSubstr("{value = 1.0}")));
  EXPECT_THAT(large, HasSubstr("path 64 < A : \"A > 64\"\n"));
  EXPECT_THAT(large, HasSubstr("{value = 1.0}"));
}

TEST(LoweringConstexpr, OneDecisionIsRecordedOnce) {
  const std::string text = lowerText(kernel("if A > 64:\n    pass\nif A > 64:\n    pass\ntl.store(x, n)"));
  EXPECT_EQ(text.find("path "), text.rfind("path ")) << text;
}

TEST(LoweringConstexpr, DecisionsWithoutOpenParametersLeaveNoTrace) {
  EXPECT_THAT(lowerText(kernel(
                  "C: tl.constexpr = 4\nif C > 2 and C < 9:\n    tl.store(x, A)\ntl.static_assert(C == 4)")),
              Not(HasSubstr("path ")));
}

TEST(LoweringConstexpr, ShapesAreExpressions) {
  const std::string text =
      lowerText(kernel("tl.store(x + tl.arange(0, A // 2), tl.zeros((A // 2,), tl.float32))"));
  EXPECT_THAT(text, HasSubstr("tile<(A // 2) x f32>"));
  EXPECT_THAT(text, HasSubstr("require \"shape.pow2\" (A // 2) == next_power_of_2((A // 2))"));
}

TEST(LoweringConstexpr, StaticAssertFindsAWitnessAndIsARequirement) {
  const Lowered lowered = lowerSource(kernel(
      "tl.static_assert(A >= 4 * B, \"A is too small\")\ntl.static_assert(B % 32 == 0)\ntl.store(x, n)"));
  ASSERT_TRUE(lowered.program) << render(lowered.program.error());
  const Program &program = *lowered.program;
  ASSERT_EQ(program.requirements.size(), 2u);
  EXPECT_EQ(program.requirements[0].code, "static_assert");
  EXPECT_EQ(program.requirements[0].text, "A is too small");
  EXPECT_EQ(program.requirements[1].text, "B % 32 == 0");
  const int64_t a = program.findParameter("A")->witness, b = program.findParameter("B")->witness;
  EXPECT_GE(a, 4 * b);
  EXPECT_EQ(b % 32, 0);
  // The condition is a real one: another candidate can be judged with it.
  const auto values = program.bind(*Config::parse("A=64,B=32"));
  EXPECT_EQ(evaluate(program.requirements[0].condition, *values), 0);
}

TEST(LoweringConstexpr, GivenWitnessThatBreaksAnAssertionIsRefused) {
  const Lowered lowered =
      lowerSource(kernel("tl.static_assert(A >= B, \"A is too small\")\ntl.store(x, n)"), {}, "A=16,B=32");
  ASSERT_FALSE(lowered.program);
  EXPECT_EQ(lowered.program.error().kind, ErrorKind::Refusal);
  EXPECT_EQ(lowered.program.error().code, "static_assert");
  EXPECT_EQ(lowered.program.error().message, "static assertion failed: A is too small");
}

TEST(LoweringConstexpr, ExtentsThatMustAgreeAreRequired) {
  const std::string text = lowerText(kernel("v = tl.arange(0, A) + tl.arange(0, B)\ntl.store(x + v, v)"));
  EXPECT_THAT(text, HasSubstr("require \"lower.shape\" A == B"));
  EXPECT_THAT(errorOf(kernel("v = tl.arange(0, A) + tl.arange(0, B)\ntl.store(x + v, v)"), {}, "A=16,B=32"),
              HasSubstr("incompatible dimensions at index 0: A and B [lower.shape]"));
}

TEST(LoweringConstexpr, StaticRangeUnrollsAndPinsItsBounds) {
  const std::string text = lowerText(kernel("for i in tl.static_range(0, A, 2):\n    tl.store(x + i, i)"));
  EXPECT_THAT(text, HasSubstr("path A == 4"));
  const size_t first = text.find("store ");
  EXPECT_NE(text.find("store ", first + 1), std::string::npos) << text;
  EXPECT_EQ(text.find("store ", first + 1), text.rfind("store ")) << text;
}

TEST(LoweringConstexpr, RangeOverAConstexprStaysALoop) {
  const std::string text = lowerText(kernel("for i in range(0, A, B):\n    tl.store(x + i, i)"));
  EXPECT_THAT(text, HasSubstr("for %"));
  EXPECT_THAT(text, Not(HasSubstr("path ")));
}

TEST(LoweringConstexpr, ArgumentsAndDefaultsFixParameters) {
  const std::string body = "\n@triton.jit\ndef k(x, s, n, OUT: tl.constexpr, MODE: tl.constexpr = \"sum\", "
                           "BIAS=None, EVEN: tl.constexpr = True):\n"
                           "    v = tl.full((16,), s, OUT)\n"
                           "    if MODE == \"sum\" and BIAS is None and EVEN:\n"
                           "        tl.store(x + tl.arange(0, 16), v)\n";
  const std::string text = lowerText(body, {"x=f32[16]", "s=1", "n=1099511627776", "OUT=dtype:bf16"});
  EXPECT_THAT(text, HasSubstr("fixed runtime s = 1, %n: i64 = n"));
  EXPECT_THAT(text, HasSubstr("fixed OUT = dtype:bf16, fixed MODE = \"sum\" default, fixed runtime BIAS = "
                              "None default, fixed EVEN = true default"));
  EXPECT_THAT(text, HasSubstr("tile<16 x bf16>"));
  EXPECT_THAT(text, HasSubstr("store "));
}

TEST(LoweringConstexpr, IntegerOneStaysARuntimeValueWhereTheDecoratorSaysSo) {
  const std::string text = lowerText(
      "\n@triton.jit(do_not_specialize=[\"n\"])\ndef k(x, n):\n    tl.store(x, n)\n", {"x=i32[1]", "n=1"});
  EXPECT_THAT(text, HasSubstr("%n: i32 = n"));
}

TEST(LoweringConstexpr, KindsOfAbsentArgumentsComeFromTheirUse) {
  const std::string text = lowerText(R"(
@triton.jit
def k(data, index, out, n, unused, D: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    cols = tl.arange(0, D)
    tl.store(out + cols, tl.load(data + row * n + cols))
)");
  EXPECT_THAT(text,
              HasSubstr("%data: ptr<f32>, %index: ptr<i32>, %out: ptr<f32>, %n: i32 = n, unused unused"));
}

TEST(LoweringConstexpr, IntegersHaveNoBoundOf64Bits) {
  const std::string text =
      lowerText("\n@triton.jit\ndef k(x, y, z):\n    tl.static_assert(2**64 - 1 == 0xffffffffffffffff)\n"
                "    tl.static_assert((-1)**(2**70 + 1) == -1 and (-1)**(10**15) == 1 and 0**(2**64) == 0)\n "
                "   tl.static_assert(2**100 // 2**98 == 4 and -(2**63) < -(2**62) and not 2**64 < 5)\n"
                "    tl.store(x, -(2**63))\n    tl.store(y, tl.load(y) | 0x8000000000000000)\n    "
                "tl.store(z, 2.0**70 + 2**70)\n",
                {"x=i64[1]", "y=u64[1]", "z=f32[1]"});
  EXPECT_THAT(text, testing::HasSubstr("constant {value = -9223372036854775808} : i64"));
  EXPECT_THAT(text, testing::HasSubstr(" : u64"));
  EXPECT_THAT(text, testing::HasSubstr("constant {value = 2.3611832414348226e+21"));
}

TEST(LoweringConstexpr, IntegersMustFitTheDtypeThatTheyMeet) {
  EXPECT_THAT(
      errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x, tl.load(x) | 0x8000000000000000)\n", {"x=i64[1]"}),
      testing::HasSubstr(
          "k.py:6:17: error: the number 9223372036854775808 is out of range for type int64 [lower.type]\n"));
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x, 2**64)\n", {"x=i64[1]"}),
              testing::HasSubstr("the integer is too large for any dtype"));
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x, 2**200)\n", {"x=i64[1]"}),
              testing::HasSubstr("a constexpr integer grows past 128 bits"));
}

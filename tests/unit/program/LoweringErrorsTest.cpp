// What a user reads when a kernel is wrong, or goes past what lowering knows.
#include "LoweringFixture.h"

using namespace tilewright;
using namespace tilewright::test;
using testing::HasSubstr;

TEST(LoweringErrors, UnsupportedFunctionIsNamedWithLineAndCaret) {
  EXPECT_EQ(
      errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x, tl.core.condition(1))\n"),
      "k.py:6:17: error: 'tl.core.condition' is not supported: options of a `while` loop are not modelled "
      "[lower.unsupported]\n"
      "   tl.store(x, tl.core.condition(1))\n"
      "               ^~~~~~~~~~~~~~~~~\n");
}

TEST(LoweringErrors, UndefinedName) {
  EXPECT_EQ(errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x, y)\n"),
            "k.py:6:17: error: y is not defined [lower.name]\n"
            "   tl.store(x, y)\n"
            "               ^\n");
}

TEST(LoweringErrors, PlainGlobalIsRefusedAsTritonDoes) {
  const std::string error = errorOf("\nSIZE = 4\n@triton.jit\ndef k(x):\n    tl.store(x, SIZE)\n");
  EXPECT_THAT(error, HasSubstr("cannot access global variable SIZE"));
  EXPECT_THAT(error, HasSubstr("help: line 4 assigns it; wrap that value in tl.constexpr(...)"));
}

TEST(LoweringErrors, ArangeOfARuntimeValue) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x, n):\n    tl.store(x + tl.arange(0, n), 1.0)\n"),
              HasSubstr("k.py:6:31: error: arange's arguments must be of type tl.constexpr, but 'n' is int32 "
                        "[lower.type]"));
}

TEST(LoweringErrors, ArangeOfANumberThatIsNoPowerOfTwo) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x + tl.arange(0, 12), 1.0)\n"),
              HasSubstr("shape element 12 must be a power of 2 [shape.pow2]"));
}

TEST(LoweringErrors, LoopCarriedTypeChange) {
  EXPECT_THAT(
      errorOf("\n@triton.jit\ndef k(x, n):\n    acc = 0\n    for i in range(n):\n        acc += tl.load(x + "
              "i)\n    tl.store(x, acc)\n",
              {"x=f32[8]", "n=8"}),
      HasSubstr("loop-carried variable acc has initial type int32 but is re-assigned to fp32 in loop"));
}

TEST(LoweringErrors, BranchesOfDifferentTypes) {
  EXPECT_THAT(
      errorOf("\n@triton.jit\ndef k(x, n):\n    if n > 3:\n        v = 1\n    else:\n        v = 1.0\n    "
              "tl.store(x, v)\n"),
      HasSubstr("mismatched type for v between then block (int32) and else block (fp32) [lower.type]"));
}

TEST(LoweringErrors, NameOfOneBranchOnlyIsNotDefinedAfterIt) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x, n):\n    if n > 3:\n        v = 1\n    tl.store(x, v)\n"),
              HasSubstr("v is not defined [lower.name]"));
}

TEST(LoweringErrors, BreakAndReturnInLoops) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x, n):\n    for i in range(n):\n        break\n"),
              HasSubstr("`break` is not possible in a kernel [lower.unsupported]"));
  EXPECT_THAT(
      errorOf("\n@triton.jit\ndef k(x, n):\n    for i in range(n):\n        if i > 2:\n            return\n"),
      HasSubstr("cannot have `return` statements inside"));
}

TEST(LoweringErrors, CallsAreCheckedAgainstTheirParameters) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    tl.load(x, msk=True)\n"),
              HasSubstr("tl.load has no parameter 'msk' [lower.call]"));
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    tl.store(x)\n"),
              HasSubstr("tl.store is called without its argument 'value' [lower.call]"));
}

TEST(LoweringErrors, ErrorsInHelpersNameTheCall) {
  const std::string error = errorOf(
      "\n@triton.jit\ndef f(v):\n    return v + missing\n@triton.jit\ndef k(x):\n    tl.store(x, f(1))\n");
  EXPECT_THAT(error, HasSubstr("k.py:6:16: error: missing is not defined"));
  EXPECT_THAT(error, HasSubstr("in helper f called at line 9"));
}

TEST(LoweringErrors, RecursionEnds) {
  EXPECT_THAT(
      errorOf("\n@triton.jit\ndef f(v):\n    return f(v)\n@triton.jit\ndef k(x):\n    tl.store(x, f(1))\n"),
      HasSubstr("[lower.limit]"));
}

TEST(LoweringErrors, StaticRangeIsBounded) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    for i in tl.static_range(100000):\n        pass\n"),
              HasSubstr("static_range unrolls more than 4096 iterations [lower.limit]"));
}

TEST(LoweringErrors, MixedSignednessInDivision) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x, y):\n    tl.store(x, tl.load(x) // tl.load(y))\n",
                      {"x=u32[1]", "y=i32[1]"}),
              HasSubstr("they differ in signedness"));
}

/// Python's own rule, which its parser leaves to a later step.
TEST(LoweringErrors, ParametersHaveDifferentNames) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x, n, *, n=0.0):\n    tl.store(x, n)\n"),
              HasSubstr("duplicate argument 'n' in function definition [lower.name]"));
}

TEST(LoweringErrors, UnknownArgumentsAndKernels) {
  EXPECT_THAT(errorOf("\n@triton.jit\ndef k(x):\n    pass\n", {"z=3"}),
              HasSubstr("kernel k has no parameter 'z'; its parameters are: x [arg.unknown]"));
  const Lowered lowered = lowerSource("\n@triton.jit\ndef k(x):\n    pass\n", {}, {}, "other");
  ASSERT_FALSE(lowered.program);
  EXPECT_EQ(lowered.program.error().code, "lower.no-kernel");
}

// Without arguments: what parameters may be is inferred from use, and searched where that is not enough.
#include "LoweringFixture.h"

namespace tilewright {
namespace {

using test::errorOf;
using test::lowerSource;
using test::lowerText;
using test::textOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoweringAssumptions, IndicesAreLoadedFromIntegers) {
  const std::string text = lowerText("@triton.jit\n"
                                     "def k(x, rows, n, out, B: tl.constexpr):\n"
                                     "    o = tl.arange(0, B)\n"
                                     "    r = tl.load(rows + o)\n"
                                     "    tl.store(out + o, tl.load(x + r * n))\n");
  EXPECT_THAT(text, HasSubstr("%rows: ptr<i32>"));
}

TEST(LoweringAssumptions, DtypesTextsAndOptionsFromUse) {
  const std::string body =
      "@triton.jit\n"
      "def k(p, B: tl.constexpr, ACC: tl.constexpr, MODE: tl.constexpr, CACHE: tl.constexpr):\n"
      "    o = tl.arange(0, B)\n"
      "    x = tl.load(p + o, cache_modifier=CACHE)\n"
      "    if MODE == 'twice':\n        y = x * 2\n"
      "    elif MODE == 'none':\n        y = x\n"
      "    tl.store(p + o, y + tl.zeros((B,), dtype=ACC))\n";
  const auto lowered = lowerSource(body);
  ASSERT_TRUE(lowered.program) << render(lowered.program.error());
  const std::string text = print(*lowered.program);
  EXPECT_THAT(text, HasSubstr("MODE = \"twice\""));
  EXPECT_THAT(text, HasSubstr("mul"));
}

TEST(LoweringAssumptions, WitnessesKeepToWhatUsesAllow) {
  const std::string text = lowerText("@triton.jit\n"
                                     "def k(p, B: tl.constexpr, D: tl.constexpr, HALF: tl.constexpr):\n"
                                     "    o = tl.arange(0, B)[:, None] * 64 + tl.arange(0, D)[None, :]\n"
                                     "    x = tl.reshape(tl.load(p + o), (B, 2, HALF))\n"
                                     "    tl.store(p + o, tl.reshape(x, (B, D)))\n");
  EXPECT_THAT(text, HasSubstr("B*D == 2*B*HALF"));
}

TEST(LoweringAssumptions, TilesThatMeetHaveOneDtype) {
  const auto lowered = lowerSource("@triton.jit\n"
                                   "def k(a, b, c, B: tl.constexpr):\n"
                                   "    o = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]\n"
                                   "    x = tl.load(a + o)\n    y = tl.load(b + o)\n"
                                   "    z = tl.dot(x, y)\n"
                                   "    tl.store(c + o, tl.dot(z.to(tl.bfloat16), y))\n");
  ASSERT_TRUE(lowered.program) << render(lowered.program.error());
  EXPECT_THAT(print(*lowered.program), HasSubstr("%b: ptr<bf16>"));
  bool said = false;
  for (const Diagnostic &remark : lowered.program->remarks)
    said |= remark.code == "lower.assumed" && remark.message.find("bf16") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(LoweringAssumptions, BranchesThatCannotBeAreAvoided) {
  const std::string body = "@triton.jit\n"
                           "def k(p, KIND: tl.constexpr):\n"
                           "    if KIND == 0:\n        x = 1.0\n"
                           "    elif KIND == 1:\n        x = 2.0\n"
                           "    tl.store(p, x)\n";
  EXPECT_THAT(lowerText(body), HasSubstr("KIND == 0"));
}

TEST(LoweringAssumptions, RaisingIsAvoidedOrReported) {
  const std::string head = "@triton.constexpr_function\n"
                           "def smallest(dtype):\n"
                           "    if dtype is tl.int8:\n        return -128\n"
                           "    raise ValueError('no')\n";
  EXPECT_THAT(lowerText(head + "@triton.jit\ndef k(p):\n    tl.store(p, smallest(p.dtype.element_ty))\n"),
              HasSubstr("store"));
  EXPECT_THAT(errorOf(head + "@triton.jit\ndef k(p):\n    tl.store(p, smallest(tl.float32))\n"),
              HasSubstr("[lower.raise]"));
}

TEST(LoweringAssumptions, TuplesAndDescriptorsOfTheCaller) {
  const auto tuple = lowerSource("@triton.jit\n"
                                 "def k(p, strides):\n"
                                 "    tl.static_assert(len(strides) == 3)\n"
                                 "    tl.store(p + strides[0] + strides[2], 1.0)\n");
  ASSERT_TRUE(tuple.program) << render(tuple.program.error());
  EXPECT_THAT(textOf(tuple), HasSubstr("strides_2"));
  const auto descriptor = lowerSource("@triton.jit\n"
                                      "def k(d, p, B: tl.constexpr):\n"
                                      "    x = d.load([0, tl.program_id(0) * B])\n"
                                      "    tl.store(p + tl.arange(0, B), tl.sum(x, 0))\n");
  ASSERT_TRUE(descriptor.program) << render(descriptor.program.error());
  EXPECT_THAT(textOf(descriptor), HasSubstr("descriptor"));
}

TEST(LoweringAssumptions, PointersOnTheRightAndBehindChoices) {
  const std::string text = lowerText("@triton.jit\n"
                                     "def k(a, b, n, B: tl.constexpr):\n"
                                     "    row = tl.program_id(0) * n + a\n"
                                     "    q = tl.where(n > 3, b, row)\n"
                                     "    tl.store(q + tl.arange(0, B), 1.0)\n");
  EXPECT_THAT(text, HasSubstr("select"));
}

TEST(LoweringAssumptions, GivenArgumentsAreNeverReplaced) {
  const std::string body = "@triton.jit\n"
                           "def k(a, b, B: tl.constexpr):\n"
                           "    o = tl.arange(0, B)\n"
                           "    tl.store(b + o, tl.load(a + tl.load(b + o)))\n";
  EXPECT_THAT(errorOf(body, {"a=f32[64]", "b=f32[64]"}), HasSubstr("invalid operands"));
}

} // namespace
} // namespace tilewright

// What runs while a kernel is compiled: constexpr functions, the functions behind globals, records, texts.
#include "LoweringFixture.h"

namespace tilewright {
namespace {

using test::errorOf;
using test::lowerText;
using ::testing::HasSubstr;

TEST(LoweringHost, ConstexprFunctionsLoopReturnAndDecide) {
  const std::string body = "@triton.constexpr_function\n"
                           "def steps(n):\n"
                           "    count = 0\n"
                           "    for i in range(n):\n"
                           "        if i == 3:\n"
                           "            continue\n"
                           "        if i == 6:\n"
                           "            break\n"
                           "        count += 1\n"
                           "    while count < 10:\n"
                           "        count += 2\n"
                           "        if count == 9:\n"
                           "            return count\n"
                           "    return count\n"
                           "@triton.jit\ndef k(p):\n    tl.store(p, steps(16))\n";
  EXPECT_THAT(lowerText(body), HasSubstr("constant {value = 9"));
}

TEST(LoweringHost, FunctionsBehindGlobals) {
  const std::string body =
      "import math, torch\n"
      "def template(n):\n"
      "    text = ''\n"
      "    for i in range(n):\n"
      "        text += '{a},'.format(a=i)\n"
      "    return len(text)\n"
      "def guarded():\n"
      "    try:\n        return torch.cuda.device_count()\n    except Exception:\n        return 7\n"
      "LENGTH = tl.constexpr(template(4))\n"
      "COUNT = tl.constexpr(guarded())\n"
      "LARGEST = tl.constexpr(torch.finfo(torch.float16).max)\n"
      "ROOT = tl.constexpr(math.sqrt(16.0))\n"
      "@triton.jit\n"
      "def k(p):\n"
      "    tl.store(p, LENGTH)\n    tl.store(p + 1, COUNT)\n"
      "    tl.store(p + 2, LARGEST)\n    tl.store(p + 3, ROOT)\n";
  const std::string text = lowerText(body);
  for (const char *number : {"value = 8", "value = 7", "value = 65504", "value = 4"})
    EXPECT_THAT(text, HasSubstr(number));
}

TEST(LoweringHost, EndlessLoopsEnd) {
  EXPECT_THAT(
      errorOf(
          "@triton.constexpr_function\ndef f():\n    n = 0\n    while n < 1:\n        n = n\n    return n\n"
          "@triton.jit\ndef k(p):\n    tl.store(p, f())\n"),
      HasSubstr("lower.limit"));
}

TEST(LoweringHost, NamedTuplesAndTheirMethods) {
  const std::string body = "from typing import NamedTuple\n"
                           "class Range(NamedTuple):\n"
                           "    first: int\n    last: int = 5\n"
                           "    @triton.jit\n    def size(self):\n        return self.last - self.first\n"
                           "@triton.jit\ndef k(p, n):\n"
                           "    r = Range(n)\n"
                           "    tl.store(p, r.size())\n";
  const std::string text = lowerText(body);
  EXPECT_THAT(text, HasSubstr("sub"));
  EXPECT_THAT(text, HasSubstr("store"));
}

TEST(LoweringHost, AggregatesAreMadeByTheirInitializer) {
  const std::string body = "from triton.language.core import _aggregate as aggregate\n"
                           "@aggregate\n"
                           "class Pair:\n"
                           "    a: tl.tensor\n    b: tl.constexpr\n"
                           "    @triton.constexpr_function\n"
                           "    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n"
                           "    @staticmethod\n    @triton.jit\n    def make(x):\n        return Pair(x, 4)\n"
                           "@triton.jit\ndef k(p, n):\n"
                           "    q = Pair.make(n)\n"
                           "    tl.store(p, q.a + q.b)\n";
  EXPECT_THAT(lowerText(body), HasSubstr("store"));
}

TEST(LoweringHost, MoreValuesThanTargetsAreLeftAlone) {
  EXPECT_THAT(lowerText("@triton.jit\ndef k(p, n):\n    a, b = n, 2, 3\n    tl.store(p, a + b)\n"),
              HasSubstr("store"));
  EXPECT_THAT(errorOf("@triton.jit\ndef k(p, n):\n    a, b, c = n, 2\n    tl.store(p, a + b)\n"),
              HasSubstr("not enough values to unpack"));
}

TEST(LoweringHost, NumbersPastInt64AreUnsigned) {
  const std::string text =
      lowerText("@triton.jit\ndef k(p):\n    tl.store(p, tl.load(p) * 0xBF58476D1CE4E5B9)\n", {"p=u64[8]"});
  EXPECT_THAT(text, HasSubstr("constant {value = -4658895280553007687} : u64"));
}

TEST(LoweringHost, PlainGlobalsAreRefusedAsTritonDoes) {
  EXPECT_THAT(errorOf("N = 3\n@triton.jit\ndef k(p):\n    tl.store(p, N)\n"),
              HasSubstr("cannot access global variable N"));
  EXPECT_THAT(lowerText("T = tl.float16\n@triton.jit\ndef k(p):\n    tl.store(p, tl.load(p).to(T))\n"),
              HasSubstr("cast"));
}

} // namespace
} // namespace tilewright

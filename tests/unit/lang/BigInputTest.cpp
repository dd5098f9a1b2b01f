// Files of 10 MB that are one line, one token or all broken: time and memory stay in proportion.
#include "TestSource.h"

namespace tilewright::lang {
namespace {

constexpr size_t kBytes = 10'000'000;

std::string filled(std::string_view unit, std::string head = {}, std::string_view tail = {}) {
  head.reserve(kBytes + unit.size() + tail.size());
  while (head.size() < kBytes)
    head += unit;
  return head += tail;
}

/// What parseTolerant makes of a text: statements understood and errors reported.
std::pair<size_t, size_t> countsOf(std::string text) {
  const ParseResult result = parseTolerant(sourceOf(std::move(text)));
  for (const Diagnostic &diagnostic : result.diagnostics)
    EXPECT_LT(render(diagnostic).size(), 2000u); // a message does not show a line of 10 MB
  return {result.module.body.size(), result.diagnostics.size()};
}

using Counts = std::pair<size_t, size_t>;

TEST(LangBigInput, OneLine) {
  EXPECT_EQ(countsOf(filled("x", "# ")), (Counts{0, 0}));
  EXPECT_EQ(countsOf(filled("a", "x = '", "'")), (Counts{1, 0}));
  EXPECT_EQ(countsOf(filled("\xc3\xa9", "x = '", "'")), (Counts{1, 0}));
  EXPECT_EQ(countsOf(filled("1, ", "x = [", "]")), (Counts{1, 0}));
  EXPECT_EQ(countsOf(filled("{x}", "f'", "'")), (Counts{1, 0}));
  EXPECT_EQ(countsOf(filled("\t", {}, "x")).second, 1u);
  EXPECT_EQ(countsOf(filled("-", "x = ", "1")).second, 1u);
  EXPECT_EQ(countsOf(filled("1", "x = ")).second, 1u);
  EXPECT_EQ(countsOf(filled("\\\n")), (Counts{0, 0}));
}

TEST(LangBigInput, BrokenAllOver) {
  for (const char *unit : {"x = )\n", "x = (\n\ndef f():\n    pass\n", "def f(:\n", "f'{", "'''a\n", "\\ \n",
                           "$", "x y\n", "else:\n"})
    EXPECT_GE(countsOf(filled(unit)).second, 1u) << unit;
}

TEST(LangBigInput, NoText) {
  EXPECT_EQ(codeOf(std::string(kBytes, '\0')), "lang.encoding");
  EXPECT_EQ(codeOf(std::string(kBytes, '\xff')), "lang.encoding");
  EXPECT_EQ(codeOf(filled("x = 1\n", {}, std::string_view("\0", 1))), "lang.encoding");
}

} // namespace
} // namespace tilewright::lang

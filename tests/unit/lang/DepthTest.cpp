// No input overflows the stack: nesting is bounded, long chains are loops.
#include "TestSource.h"
#include "tilewright/lang/PrintSource.h"

namespace tilewright::lang {
namespace {

std::string repeat(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

TEST(LangDepth, BracketsUpToTheLimit) {
  EXPECT_EQ(codeOf(repeat("(", 200) + "x" + repeat(")", 200)), "ok");
  EXPECT_EQ(codeOf(repeat("(", 201) + "x" + repeat(")", 201)), "lang.depth");
  EXPECT_EQ(codeOf(repeat("[", 100000)), "lang.depth");
  EXPECT_EQ(codeOf(repeat("{", 190) + "1" + repeat(":1}", 190)), "ok");
  EXPECT_EQ(codeOf(repeat("f(", 150) + repeat(")", 150)), "ok");
}

TEST(LangDepth, IndentationUpToTheLimit) {
  const auto nested = [](size_t levels) {
    std::string text;
    for (size_t i = 0; i < levels; ++i)
      text += std::string(i, ' ') + "if x:\n";
    return text + std::string(levels, ' ') + "y\n";
  };
  EXPECT_EQ(codeOf(nested(99)), "ok");
  EXPECT_EQ(codeOf(nested(100)), "lang.depth");
}

TEST(LangDepth, LongChains) {
  EXPECT_EQ(codeOf("x" + repeat(" + x", 2900)), "ok");
  EXPECT_EQ(codeOf("x" + repeat(" and x", 100000)), "ok");
  EXPECT_EQ(codeOf("x" + repeat(" < x", 100000)), "ok");
  EXPECT_EQ(codeOf("x" + repeat(" = x", 100000)), "ok");
  EXPECT_EQ(codeOf("x" + repeat(".x", 2900)), "ok");
  EXPECT_EQ(codeOf("x" + repeat("[0](1)", 1400)), "ok");
  EXPECT_EQ(codeOf(repeat("- ", 2900) + "x"), "ok");
  EXPECT_EQ(codeOf(repeat("not ", 2900) + "x"), "ok");
  EXPECT_EQ(codeOf("x" + repeat(", x", 100000)), "ok");
  EXPECT_EQ(codeOf(repeat("'x' ", 100000)), "ok");
  EXPECT_EQ(codeOf("x" + repeat("\nif x: pass", 10000)), "ok");
}

TEST(LangDepth, TreesOfUnboundedHeightAreRefused) {
  EXPECT_EQ(codeOf("x" + repeat(" + x", 100000)), "lang.depth");
  EXPECT_EQ(codeOf("x" + repeat(".x", 100000)), "lang.depth");
  EXPECT_EQ(codeOf("x" + repeat("()", 100000)), "lang.depth");
  EXPECT_EQ(codeOf(repeat("-", 100000) + "x"), "lang.depth");
  EXPECT_EQ(codeOf(repeat("not ", 100000) + "x"), "lang.depth");
  EXPECT_EQ(codeOf(repeat("lambda: ", 100000) + "x"), "lang.depth");
  EXPECT_EQ(codeOf("x" + repeat("**x", 100000)), "lang.depth");
  EXPECT_EQ(codeOf("x" + repeat(" if x else x", 100000)), "lang.depth");
  EXPECT_EQ(codeOf("if x: pass\n" + repeat("elif x: pass\n", 100000)), "lang.depth");
  EXPECT_EQ(codeOf(repeat("f'{", 1000)), "lang.depth");
  EXPECT_EQ(codeOf("f'" + repeat("{x:", 1000)), "lang.depth");
  // The height counts through brackets: 150 chains of 100 terms, one inside the other.
  std::string nested = "x";
  for (int i = 0; i < 150; ++i)
    nested = "(" + nested + repeat(" + x", 100) + ")";
  EXPECT_EQ(codeOf(nested), "lang.depth");
}

TEST(LangDepth, TheHighestTreesCanBeWalked) {
  const Module module = parsed("x" + repeat(" + x", 2990));
  EXPECT_GT(dump(module, true).size(), 100000u);
  EXPECT_EQ(printSource(*cast<ExprStmt>(module.body[0])->value).size(), 1 + 4 * 2990u);
}

TEST(LangDepth, NestingDoesNotTakeExponentialTime) {
  EXPECT_EQ(codeOf(repeat("{", 180) + "x" + repeat(": 1}", 180)), "ok");
  EXPECT_EQ(codeOf("with " + repeat("(", 180) + "x" + repeat(")", 180) + ": pass"), "ok");
  EXPECT_EQ(codeOf(repeat("lambda x=", 180) + "1" + repeat(": 1", 180)), "ok");
}

} // namespace
} // namespace tilewright::lang

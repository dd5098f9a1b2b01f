// Lone expressions, and expressions printed back as source.
#include "TestSource.h"
#include "tilewright/lang/PrintSource.h"

namespace tilewright::lang {
namespace {

std::string expressionDump(std::string text) {
  const auto module = parseExpression(sourceOf(std::move(text)));
  return module ? dump(*module->body) : render(module.error());
}
std::string reprinted(std::string text) {
  const auto module = parseExpression(sourceOf(std::move(text)));
  return module ? printSource(*module->body) : render(module.error());
}

TEST(LangExpression, Grids) {
  EXPECT_EQ(
      expressionDump("(cdiv(n, BLOCK),)"),
      "Tuple(elts=[Call(func=Name(id='cdiv', ctx=Load()), args=[Name(id='n', ctx=Load()), Name(id='BLOCK', "
      "ctx=Load())], keywords=[])], ctx=Load())");
  EXPECT_EQ(expressionDump("  a,\n b  # two\n\n"),
            "Tuple(elts=[Name(id='a', ctx=Load()), Name(id='b', ctx=Load())], ctx=Load())");
  EXPECT_EQ(expressionDump("a\nb"),
            "kernel.py:2:1: error: expected the end of the expression, found 'b' [lang.syntax]\n"
            "   b\n"
            "   ^\n");
  EXPECT_EQ(expressionDump("\n  lambda meta: meta['N']  # one\n"),
            "Lambda(args=arguments(posonlyargs=[], args=[arg(arg='meta')], kwonlyargs=[], kw_defaults=[], "
            "defaults=[]), "
            "body=Subscript(value=Name(id='meta', ctx=Load()), slice=Constant(value='N'), ctx=Load()))");
}

TEST(LangExpression, WholeModuleDump) {
  const auto module = parseExpression(sourceOf("x"));
  ASSERT_TRUE(module);
  EXPECT_EQ(
      dump(*module, true),
      "Expression(body=Name(id='x', ctx=Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=1))");
}

TEST(LangExpression, OnlyOneExpression) {
  for (const char *text : {"", "x = 1", "x; y", "x\ny", "import a", "x)", "(x", "# nothing"})
    EXPECT_FALSE(parseExpression(sourceOf(text))) << text;
}

TEST(LangExpression, PrintedAsCompactSource) {
  EXPECT_EQ(reprinted("( a+ (b*c) )  *\\\n d"), "(a + b * c) * d");
  EXPECT_EQ(reprinted("(x [ : , None ])"), "x[:, None]");
  EXPECT_EQ(reprinted("((a<b) and (c)) or not (d)"), "a < b and c or not d");
  EXPECT_EQ(reprinted("lambda  META : ( cdiv( n,META[\"B\"] ) , )"), "lambda META: (cdiv(n, META['B']),)");
  EXPECT_EQ(reprinted("0x10"), "16");
  EXPECT_EQ(reprinted("a, b"), "(a, b)");
}

TEST(LangExpression, PrintedSourceParsesToAnEqualTree) {
  for (const char *text : {"(a + b) * c - (d - e) - f",
                           "a ** b ** c",
                           "(a ** b) ** c",
                           "(-a) ** -b",
                           "-(a ** b)",
                           "(await_(a)).b",
                           "not (not a)",
                           "(not a) == b",
                           "a if (b if c else d) else e",
                           "(a if b else c) if d else e",
                           "(lambda: a)(b)",
                           "lambda: (a, b)",
                           "lambda a, b=1, /, c=2, *d, e, f=3, **g: a",
                           "lambda *, a: a",
                           "lambda **k: k",
                           "[*a, (b := c), (yield)]",
                           "{**a, b: c}",
                           "{*a, b}",
                           "{a: b for c, d in e if f if g}",
                           "(x for x in (y if z else w))",
                           "f(x for x in y)",
                           "f((x for x in y), *z, k=1, **w)",
                           "x[a:b, ::c, (d := e)]",
                           "x[(a, b)]",
                           "x[()]",
                           "x[a,]",
                           "(a < b) < c",
                           "a < b < c",
                           "a @ b / c // d % e",
                           "a << (b + c) >> d",
                           "a & (b | c) ^ d",
                           "(1).real",
                           "1.5.real",
                           "1j.imag",
                           "1e400",
                           "b'\\x00' 'x'"
                           "",
                           "'it\\'s' \"'\\\"\"",
                           "u'x'",
                           "...",
                           "(a, (b, c), ())",
                           "(yield a, b)",
                           "(yield from a)",
                           "x if y else lambda: z",
                           "a or b and c or d",
                           "(a or b) and c",
                           "(a and b) and c",
                           "f'{a!r:>{b}}c'",
                           "~-+a",
                           "a.b.c[d](e)",
                           "*a, b",
                           "(await a) ** b",
                           "await a.b",
                           "[x async for x in y]"}) {
    const auto first = parseExpression(sourceOf(text));
    if (!first)
      continue; // mixed literals in the list are refused on purpose
    const std::string printed = printSource(*first->body);
    const auto second = parseExpression(sourceOf(printed));
    ASSERT_TRUE(second) << text << " -> " << printed << "\n" << render(second.error());
    EXPECT_EQ(dump(*first->body), dump(*second->body)) << text << " -> " << printed;
  }
}

} // namespace
} // namespace tilewright::lang

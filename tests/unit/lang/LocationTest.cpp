// Ranges are byte ranges of the source, as CPython counts them.
#include "TestSource.h"

namespace tilewright::lang {
namespace {

const Expr *valueOf(const Module &module, size_t i = 0) { return cast<ExprStmt>(module.body[i])->value; }

TEST(LangLocation, ParenthesesBelongToWhatStartsWithThem) {
  const Module module = parsed("(a) + (b)\n");
  const auto *sum = cast<BinOp>(valueOf(module));
  EXPECT_EQ(sum->range.text(), "(a) + (b)");
  EXPECT_EQ(sum->left->range.text(), "a");
  EXPECT_EQ(sum->right->range.text(), "b");
}

TEST(LangLocation, FunctionsStartAtDef) {
  const Module module = parsed("@jit\ndef f():\n    x\n\n\n# trailing comment\n");
  EXPECT_EQ(module.body[0]->range.text(), "def f():\n    x");
  EXPECT_EQ(module.body[0]->range.line(), 2u);
}

TEST(LangLocation, TrailingCommasBelongToTuples) {
  const Module module = parsed("a, b,\n");
  EXPECT_EQ(valueOf(module)->range.text(), "a, b,");
}

TEST(LangLocation, PartsOfFStringsAreExact) {
  const Module module = parsed("f'''ab\n{ x + 1 :>{w}}'''\n");
  const auto *string = cast<JoinedStr>(valueOf(module));
  const auto *field = cast<FormattedValue>(string->values[1]);
  EXPECT_EQ(string->values[0]->range.text(), "ab\n");
  EXPECT_EQ(field->range.text(), "{ x + 1 :>{w}}");
  EXPECT_EQ(field->value->range.text(), "x + 1");
  EXPECT_EQ(field->formatSpec->range.text(), ":>{w}");
  EXPECT_EQ(field->value->range.line(), 2u);
}

TEST(LangLocation, ColumnsCountBytes) {
  const Module module = parsed("'é'; x\n");
  EXPECT_EQ(module.source->position(module.body[1]->range.begin).column, 6u);
}

TEST(LangLocation, EveryLineBreakCounts) {
  const Module module = parsed("a\r\nb\rc\nd");
  ASSERT_EQ(module.body.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i)
    EXPECT_EQ(module.body[i]->range.line(), i + 1);
}

TEST(LangLocation, ByteOrderMarksDoNotCount) {
  const Module module = parsed("\xef\xbb\xbfx = 1\n");
  EXPECT_EQ(module.body[0]->range.begin, 0u);
  EXPECT_EQ(module.body[0]->range.text(), "x = 1");
}

TEST(LangLocation, DumpShowsThem) {
  const Module module = parsed("x\n");
  EXPECT_EQ(dump(module, true),
            "Module(body=[Expr(value=Name(id='x', ctx=Load(), lineno=1, col_offset=0, end_lineno=1, "
            "end_col_offset=1), lineno=1, col_offset=0, end_lineno=1, end_col_offset=1)], "
            "type_ignores=[])");
}

} // namespace
} // namespace tilewright::lang

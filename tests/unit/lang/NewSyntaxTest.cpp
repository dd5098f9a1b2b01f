// Syntax of Python 3.12 to 3.14, which the Pythons that the oracle test runs under may not know. The expected
// trees follow the grammar and the reference of `ast` in CPython's documentation.
#include "TestSource.h"

namespace tilewright::lang {
namespace {

std::string dump313(std::string text) {
  const Module module = parsed(std::move(text));
  return module.body.size() == 1 ? dump(*module.body[0], false, PythonVersion::V313) : "not one statement";
}

// --- 3.12 and 3.13: type parameters, with defaults (PEP 695, PEP 696) ---

TEST(LangNewSyntax, TypeParametersHaveDefaults) {
  EXPECT_EQ(dump313("type X[T: int = str, *Ts = *tuple[int], **P = [int]] = T"),
            "TypeAlias(name=Name(id='X', ctx=Store()), type_params=[TypeVar(name='T', bound=Name(id='int', "
            "ctx=Load()), default_value=Name(id='str', ctx=Load())), TypeVarTuple(name='Ts', "
            "default_value=Starred(value=Subscript(value=Name(id='tuple', ctx=Load()), "
            "slice=Name(id='int', ctx=Load()), ctx=Load()), ctx=Load())), ParamSpec(name='P', "
            "default_value=List(elts=[Name(id='int', ctx=Load())], ctx=Load()))], value=Name(id='T', "
            "ctx=Load()))");
  EXPECT_EQ(dump313("class C[T = int](B): pass"),
            "ClassDef(name='C', bases=[Name(id='B', ctx=Load())], body=[Pass()], "
            "type_params=[TypeVar(name='T', default_value=Name(id='int', ctx=Load()))])");
  EXPECT_EQ(dump313("async def f[*Ts](): pass"),
            "AsyncFunctionDef(name='f', args=arguments(), body=[Pass()], "
            "type_params=[TypeVarTuple(name='Ts')])");
  EXPECT_EQ(errorOf("type X[*Ts: int] = 3"), "1:11: a '*' type parameter cannot have a bound");
  EXPECT_NE(errorOf("type X[] = 3"), "ok");
  EXPECT_NE(errorOf("type X[T =] = 3"), "ok");
}

TEST(LangNewSyntax, SoftKeywordsStayNames) {
  EXPECT_EQ(errorOf("type = 3\ntype.x = 4\nprint(type)\ntype[0] = 1\ntype (x)\n"), "ok");
}

/// PEP 701: anything may stand in a replacement field, the same quotes too.
TEST(LangNewSyntax, FormattedStringsNest) {
  EXPECT_EQ(dumpOf("f'{a['k']}'"),
            "Expr(value=JoinedStr(values=[FormattedValue(value=Subscript(value=Name(id='a', ctx=Load()), "
            "slice=Constant(value='k'), ctx=Load()), conversion=-1)]))");
  EXPECT_EQ(errorOf("f'{f'{f'{1 + 1}'}'}'"), "ok");
  EXPECT_EQ(errorOf("f'{\n  x  # why\n}'"), "ok");
  EXPECT_EQ(errorOf("f'{'\\n'.join(a)}'"), "ok");
}

// --- 3.14: except without parentheses (PEP 758) ---

TEST(LangNewSyntax, ExceptionTypesNeedNoParentheses) {
  const std::string types =
      "type=Tuple(elts=[Name(id='A', ctx=Load()), Name(id='B', ctx=Load())], ctx=Load())";
  EXPECT_EQ(dumpOf("try: a\nexcept A, B: b\n"),
            "Try(body=[Expr(value=Name(id='a', ctx=Load()))], handlers=[ExceptHandler(" + types +
                ", body=[Expr(value=Name(id='b', ctx=Load()))])], orelse=[], finalbody=[])");
  EXPECT_EQ(dumpOf("try: a\nexcept* A, B: b\n"),
            "TryStar(body=[Expr(value=Name(id='a', ctx=Load()))], handlers=[ExceptHandler(" + types +
                ", body=[Expr(value=Name(id='b', ctx=Load()))])], orelse=[], finalbody=[])");
  EXPECT_EQ(errorOf("try: a\nexcept A, B as e: b\n"),
            "2:8: several exception types before 'as' must be parenthesized");
  EXPECT_EQ(errorOf("try: a\nexcept (A, B) as e: b\n"), "ok");
}

// --- 3.14: template strings (PEP 750) ---

TEST(LangNewSyntax, TemplateStrings) {
  EXPECT_EQ(dumpOf("t'a{x !r}'"),
            "Expr(value=TemplateStr(values=[Constant(value='a'), Interpolation(value=Name(id='x', "
            "ctx=Load()), str='x', conversion=114)]))");
  EXPECT_EQ(dumpOf("rt'\\d{ x }{{}}'"),
            "Expr(value=TemplateStr(values=[Constant(value='\\\\d'), Interpolation(value=Name(id='x', "
            "ctx=Load()), str=' x', conversion=-1), Constant(value='{}')]))");
  EXPECT_EQ(dumpOf("t''"), "Expr(value=TemplateStr(values=[]))");
}

/// `{x=}` shows its own text, which joins the text before it.
TEST(LangNewSyntax, TemplateStringsDebug) {
  EXPECT_EQ(dumpOf("t'n {x=}'"),
            "Expr(value=TemplateStr(values=[Constant(value='n x='), Interpolation(value=Name(id='x', "
            "ctx=Load()), str='x', conversion=114)]))");
}

/// A format specifier is text: what it holds is formatted, not interpolated.
TEST(LangNewSyntax, TemplateStringsFormatLikeFormattedStrings) {
  EXPECT_EQ(dumpOf("t'{x:>{w!s}}'"),
            "Expr(value=TemplateStr(values=[Interpolation(value=Name(id='x', ctx=Load()), str='x', "
            "conversion=-1, format_spec=JoinedStr(values=[Constant(value='>'), "
            "FormattedValue(value=Name(id='w', ctx=Load()), conversion=115)]))]))");
}

TEST(LangNewSyntax, TemplateStringsJoinOnlyTemplateStrings) {
  EXPECT_EQ(dumpOf("t'{x}' t'b' t'c'"),
            "Expr(value=TemplateStr(values=[Interpolation(value=Name(id='x', ctx=Load()), str='x', "
            "conversion=-1), Constant(value='bc')]))");
  for (const char *text : {"t'{x}' 's'", "'s' t'{x}'", "f'{x}' t'{y}'", "t'{x}' f'{y}'"})
    EXPECT_NE(errorOf(text).find("cannot mix t-strings"), std::string::npos) << text;
  for (const char *text : {"tb'x'", "bt'x'", "ut'x'", "tf'x'"})
    EXPECT_NE(errorOf(text), "ok") << text;
  EXPECT_NE(errorOf("t'{}'"), "ok");
  EXPECT_NE(errorOf("t'{a!z}'"), "ok");
}

} // namespace
} // namespace tilewright::lang

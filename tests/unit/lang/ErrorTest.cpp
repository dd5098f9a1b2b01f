// What a user reads when the file is not Python: line, column (from 1) and message.
#include "TestSource.h"

#include <gmock/gmock.h>

namespace tilewright::lang {
namespace {

TEST(LangError, RenderedWithCaret) {
  const auto module = parse(sourceOf("def f(x):\n    y = x[0\n    return y\n"));
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::User);
  EXPECT_EQ(render(module.error()), "kernel.py:2:10: error: '[' was never closed [lang.syntax]\n"
                                    "   y = x[0\n"
                                    "        ^\n");
}

struct Case {
  const char *source;
  const char *error;
};

TEST(LangError, SaysWhereAndWhatWasExpected) {
  const Case cases[] = {
      // blocks and statements
      {"if a\n  b\n", "1:5: expected ':' after the condition of 'if', found the end of line"},
      {"if a = b:\n  c\n", "1:6: expected ':' after the condition of 'if', found '='"},
      {"def f():\nx = 1\n",
       "2:1: expected an indented block after the head of the function (line 1), found 'x'"},
      {"for x in y:\n",
       "2:1: expected an indented block after the head of 'for' (line 1), found the end of file"},
      {"x = 1\n  y = 2\n", "2:3: this line is indented, but no block begins here"},
      {"if a:\n    b\n  c\n", "3:3: this line's indentation matches no outer block"},
      {"if a:\n\tb\n        c\n", "3:9: inconsistent use of tabs and spaces in indentation"},
      {"else:\n  a\n", "1:1: 'else' without a statement that it belongs to"},
      {"try:\n  a\nb\n", "3:1: expected 'except' or 'finally' after the block of 'try' (line 1), found 'b'"},
      {"try: a\nexcept A: b\nexcept* B: c\n", "3:1: 'except' and 'except*' cannot be mixed in one 'try'"},
      {"@jit\nx = 1\n", "2:1: expected a function or a class after the decorator, found 'x'"},
      {"async x\n", "1:7: expected 'def', 'for' or 'with' after 'async', found 'x'"},
      {"x y\n", "1:3: expected the end of the statement, found 'y'"},
      {"print 'x'\n", "1:1: missing parentheses in a call of 'print'"},
      {"import\n", "1:7: expected the name of a module, found the end of line"},
      {"from a import (b\n", "1:15: '(' was never closed"},
      {"from a import b,\n", "1:17: a trailing comma needs parentheses around the imported names"},
      {"class if: pass\n", "1:7: expected the name of the class, but 'if' is a reserved word"},
      // expressions
      {"x = \n", "1:4: expected an expression, found the end of line"},
      {"x = a +\n", "1:8: expected an expression, found the end of line"},
      {"x = (a b)\n", "1:8: expected ')' or ',', found 'b'"},
      {"f(a b)\n", "1:5: expected ')' or ',', found 'b'"},
      {"x = a if b\n", "1:11: expected 'else' after the condition, found the end of line"},
      {"x = {a: }\n", "1:9: expected an expression, found '}'"},
      {"x = [a for b]\n", "1:13: expected 'in' after the target of the comprehension, found ']'"},
      {"x.1\n", "1:2: expected the end of the statement, found a number"},
      {"x = (*a)\n", "1:6: a starred expression cannot be used here"},
      {"x[1\n", "1:2: '[' was never closed"},
      {"x = )\n", "1:5: unmatched ')'"},
      {"x = (a]\n", "1:7: ']' does not close '('"},
      {"a := 1\n", "1:3: ':=' cannot be used at the start of a statement"},
      // targets
      {"f(x) = 1\n", "1:1: cannot assign to a function call"},
      {"a + b = 1\n", "1:1: cannot assign to an expression"},
      {"None = 1\n", "1:1: cannot assign to None"},
      {"(a, 'b') = 1\n", "1:5: cannot assign to a literal"},
      {"for f() in x: pass\n", "1:5: cannot assign to a function call"},
      {"del f()\n", "1:5: cannot delete a function call"},
      {"a, b += 1\n", "1:1: '+=' needs a single target"},
      {"a, b: int\n", "1:1: only a single target can be annotated"},
      {"(a.b := 1)\n", "1:2: ':=' assigns to plain names only"},
      // calls and parameters
      {"f(a=1, b)\n", "1:8: a positional argument follows a keyword argument"},
      {"f(**a, *b)\n", "1:8: '*' unpacking follows '**' unpacking"},
      {"f(a.b=1)\n", "1:3: the name of a keyword argument must be a plain name"},
      {"f(x for x in y, 1)\n", "1:3: a generator expression beside other arguments must be parenthesized"},
      {"def f(a=1, b): pass\n", "1:12: a parameter without a default value follows one with a default value"},
      {"def f(*): pass\n", "1:7: a named parameter must follow a bare '*'"},
      {"def f(**k, a): pass\n", "1:12: no parameter may follow '**' parameters"},
      {"def f(/, a): pass\n", "1:7: at least one parameter must come before '/'"},
      {"def f(a, (b, c)): pass\n", "1:10: a parameter must be a plain name"},
      // literals
      {"x = 'a\n", "1:5: unterminated string literal"},
      {"x = '''a\n\n", "1:5: unterminated triple-quoted string literal"},
      {"x = '\\x4'\n", "1:6: '\\x' needs 2 hexadecimal digits"},
      {"x = '\\N{NO SUCH NAME}'\n", "1:6: no character is named 'NO SUCH NAME'"},
      {"x = b'\xc3\xa9'\n", "1:7: bytes can only contain ASCII characters; write others as \\x.."},
      {"x = b'a' 'b'\n", "1:5: cannot mix bytes and other strings in one literal"},
      {"x = 012\n", "1:5: leading zeros in decimal integer literals are not permitted"},
      {"x = 1abc\n", "1:5: invalid decimal literal"},
      {"x = 0b12\n", "1:8: invalid digit '2' in binary literal"},
      {"x = 1__0\n", "1:5: invalid decimal literal"},
      {"x = f'{}'\n", "1:8: f-string: expected an expression before '}'"},
      {"x = f'{a'\n", "1:9: unterminated string literal"},
      {"x = f'a}'\n", "1:8: f-string: single '}' is not allowed"},
      {"x = f'{a!x}'\n", "1:10: f-string: expected the conversion 's', 'r' or 'a' after '!', found 'x'"},
      {"x = f'{a! r}'\n", "1:11: f-string: the conversion must come right after '!'"},
      {"x = f'{a b}'\n", "1:10: f-string: expected '}' after the expression, found 'b'"},
      // characters
      {"x = a ? b\n", "1:7: invalid character '?' (U+003F)"},
      {"x = \xe2\x80\x9c"
       "a\xe2\x80\x9d\n",
       "1:5: invalid character '\xe2\x80\x9c' (U+201C)"},
      {"x = \xc2\xa0"
       "1\n",
       "1:5: invalid non-printable character U+00A0"},
      {"x = a \\ b\n", "1:8: unexpected character after the line continuation '\\'"},
      {"x = \\", "1:5: the file ends after a line continuation '\\'"},
      // patterns
      {"match x:\n  case a.b as c.d: pass\n", "2:15: the target of 'as' must be a plain name"},
      {"match x:\n  case 1 + 2: pass\n", "2:12: expected an imaginary number, such as 2j, in this pattern"},
      {"match x:\n  case f'{a}': pass\n", "2:8: a pattern may only hold plain strings, not f-strings"},
      {"match x:\n  case *a: pass\n", "2:8: a star pattern must be part of a sequence"},
      {"match x:\n  case {**r, 'a': b}: pass\n", "2:14: '**' must come last in a mapping pattern"},
  };
  for (const Case &c : cases)
    EXPECT_EQ(errorOf(c.source), c.error) << c.source;
}

TEST(LangError, AnUnclosedBracketIsBlamedRatherThanTheLineAfterIt) {
  EXPECT_EQ(errorOf("x = f(a,\n      b\ny = 1\nz = 2\n"), "1:6: '(' was never closed");
  EXPECT_EQ(errorOf("x = [1, 2\ndef f():\n    pass\n"), "1:5: '[' was never closed");
}

TEST(LangError, MismatchedBracketsShowBoth) {
  const auto module = parse(sourceOf("x = (a,\n     b]\n"));
  ASSERT_FALSE(module);
  EXPECT_THAT(render(module.error()), testing::HasSubstr("note: '(' was opened here"));
}

TEST(LangError, HelpsWhereTheFixIsKnown) {
  const auto module = parse(sourceOf("if f(x) = 1:\n    pass\n"));
  ASSERT_FALSE(module);
  EXPECT_THAT(render(module.error()), testing::HasSubstr("help: to compare, write '=='"));
}

} // namespace
} // namespace tilewright::lang

// One broken function must not hide the others.
#include "TestSource.h"

#include <gmock/gmock.h>

namespace tilewright::lang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> functionsOf(const ParseResult &result) {
  std::vector<std::string> names;
  for (const Stmt *stmt : result.module.body)
    if (const auto *function = dynCast<FunctionDef>(stmt))
      names.emplace_back(function->name);
  return names;
}
std::vector<std::string> messagesOf(const ParseResult &result) {
  std::vector<std::string> messages;
  for (const Diagnostic &diagnostic : result.diagnostics)
    messages.push_back(std::to_string(diagnostic.location->line) + ": " + diagnostic.message);
  return messages;
}

TEST(LangRecovery, ValidFilesHaveNoDiagnostics) {
  const auto result = parseTolerant(sourceOf("def a(): pass\ndef b(): pass\n"));
  EXPECT_THAT(result.diagnostics, IsEmpty());
  EXPECT_THAT(functionsOf(result), ElementsAre("a", "b"));
}

TEST(LangRecovery, BrokenStatementInABody) {
  const auto result =
      parseTolerant(sourceOf("def a():\n    x = 1 +\n    y = 2\n\n@jit\ndef b():\n    pass\n"));
  EXPECT_THAT(messagesOf(result), ElementsAre("2: expected an expression, found the end of line"));
  EXPECT_THAT(functionsOf(result), ElementsAre("b"));
}

TEST(LangRecovery, BrokenHead) {
  const auto result =
      parseTolerant(sourceOf("def a(:\n    x = 1\n    if x:\n        y\ndef b():\n    pass\n"));
  EXPECT_EQ(result.diagnostics.size(), 1u);
  EXPECT_THAT(functionsOf(result), ElementsAre("b"));
}

TEST(LangRecovery, UnclosedBracketKeepsTheNextFunctionAndItsDecorator) {
  const auto result = parseTolerant(sourceOf("def a():\n    x = f(1,\n    return x\n\n@jit\ndef b():\n    "
                                             "pass\n\ndef c(\n    x\n\n@jit\ndef d():\n    pass\n"));
  EXPECT_THAT(messagesOf(result), ElementsAre("2: '(' was never closed", "9: '(' was never closed"));
  EXPECT_THAT(functionsOf(result), ElementsAre("b", "d"));
  EXPECT_EQ(dynCast<FunctionDef>(result.module.body[0])->decoratorList.size(), 1u);
}

TEST(LangRecovery, UnterminatedStrings) {
  const auto result = parseTolerant(sourceOf("def a():\n    x = 'abc\n\ndef b():\n    pass\n\ndef c():\n    "
                                             "'''never closed\n\ndef d():\n    pass\n"));
  EXPECT_THAT(messagesOf(result),
              ElementsAre("2: unterminated string literal", "8: unterminated triple-quoted string literal"));
  EXPECT_THAT(functionsOf(result), ElementsAre("b", "d"));
}

TEST(LangRecovery, ClausesOfABrokenStatementAreNotReportedAgain) {
  const auto result =
      parseTolerant(sourceOf("if a b:\n    c\nelif d:\n    e\nelse:\n    f\ndef g(): pass\n"));
  EXPECT_EQ(result.diagnostics.size(), 1u);
  EXPECT_THAT(functionsOf(result), ElementsAre("g"));
}

TEST(LangRecovery, UnexpectedIndentAndBadDedent) {
  const auto result =
      parseTolerant(sourceOf("a = 1\n    b = 2\n    c = 3\nd = 4\nif d:\n        e\n    f\ndef g(): pass\n"));
  EXPECT_THAT(messagesOf(result), ElementsAre("2: this line is indented, but no block begins here",
                                              "7: this line's indentation matches no outer block"));
  EXPECT_THAT(functionsOf(result), ElementsAre("g"));
  EXPECT_EQ(result.module.body.size(), 3u); // a, d, g
}

TEST(LangRecovery, UnreadableFilesGiveAnEmptyModule) {
  const auto result = parseTolerant(sourceOf(std::string("x = 1\0", 6)));
  EXPECT_THAT(messagesOf(result), ElementsAre("1: the source holds a NUL byte"));
  EXPECT_TRUE(result.module.body.empty());
}

TEST(LangRecovery, EveryPrefixOfAFileIsSurvived) {
  const std::string text = "@jit\ndef f(a, *b: int, c=[1, {2: 3}]) -> x:\n    '''doc'''\n    if a:\n\treturn "
                           "f'{a!r:>{b}}' + \"x\"\n"
                           "    else:\n        match a:\n            case [1, *_] if b: pass\n    lambda x: "
                           "(yield)\nclass A(B): x = 0x1F\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    const auto result = parseTolerant(sourceOf(text.substr(0, length)));
    EXPECT_EQ(result.diagnostics.empty(), parse(sourceOf(text.substr(0, length))).has_value()) << length;
  }
}

TEST(LangRecovery, ManyErrorsEnd) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "x = 'abc\n";
  const auto result = parseTolerant(sourceOf(text));
  EXPECT_GE(result.diagnostics.size(), 100u);
  EXPECT_LE(result.diagnostics.size(), 101u);
}

} // namespace
} // namespace tilewright::lang

// The shape of the tree, one statement of each kind; the wide comparison is
// tests/python/test_parser_oracle.py.
#include "TestSource.h"

#include <gmock/gmock.h>

namespace tilewright::lang {
namespace {

struct Case {
  const char *source;
  const char *dump;
};
constexpr Case kCases[] = {
#include "Statements.inc"
};

TEST(LangStructure, EveryStatementDumpsAsInCPython) {
  for (const Case &c : kCases)
    EXPECT_EQ(dumpOf(c.source), c.dump) << c.source;
}

TEST(LangStructure, NodesAreFoundByKind) {
  const Module module = parsed("@jit\ndef add(x, n: tl.constexpr = 4):\n    return x + n\n");
  const auto *function = dynCast<FunctionDef>(module.body[0]);
  ASSERT_TRUE(function);
  EXPECT_EQ(function->name, "add");
  ASSERT_EQ(function->args->args.size(), 2u);
  EXPECT_EQ(function->args->args[1]->arg, "n");
  ASSERT_EQ(function->args->defaults.size(), 1u);
  EXPECT_EQ(*cast<Constant>(function->args->defaults[0])->asInt(), 4);
  const auto *sum = dynCast<BinOp>(cast<Return>(function->body[0])->value);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->op, BinaryOperator::Add);
  EXPECT_FALSE(dynCast<Call>(function->decoratorList[0]));
  EXPECT_EQ(nodeName(sum->kind), "BinOp");
  EXPECT_EQ(operatorText(sum->op), "+");
}

TEST(LangStructure, NamesAreInterned) {
  const Module module = parsed("value\nvalue\n");
  const auto id = [&](size_t i) { return cast<Name>(cast<ExprStmt>(module.body[i])->value)->id; };
  EXPECT_EQ(id(0).data(), id(1).data());
}

TEST(LangStructure, IdentifiersAreNormalized) {
  EXPECT_EQ(dumpOf("\xef\xac\x81 = 1"),
            "Assign(targets=[Name(id='fi', ctx=Store())], value=Constant(value=1))");
}

TEST(LangStructure, ModulesMoveWithoutMovingNodes) {
  Module module = parsed("x = 1\n");
  const Stmt *statement = module.body[0];
  const Module moved = std::move(module);
  EXPECT_EQ(moved.body[0], statement);
  EXPECT_EQ(statement->range.text(), "x = 1");
}

TEST(LangStructure, EmptyFilesAreModules) {
  for (const char *text : {"", "\n", "# only a comment", "\\\n", "  \n\t# x\n\f\n"})
    EXPECT_EQ(dump(parsed(text)), "Module(body=[], type_ignores=[])") << text;
}

TEST(LangStructure, LaterPythonsDumpOtherwise) {
  const Module module = parsed("def f[T: int = str](a): type X = T\n");
  EXPECT_EQ(
      dump(*module.body[0], false, PythonVersion::V313),
      "FunctionDef(name='f', args=arguments(args=[arg(arg='a')]), body=[TypeAlias(name=Name(id='X', "
      "ctx=Store()), "
      "value=Name(id='T', ctx=Load()))], type_params=[TypeVar(name='T', bound=Name(id='int', ctx=Load()), "
      "default_value=Name(id='str', ctx=Load()))])");
  EXPECT_THAT(dump(*module.body[0], false, PythonVersion::V311),
              testing::Not(testing::HasSubstr("type_params=[TypeVar")));
}

} // namespace
} // namespace tilewright::lang

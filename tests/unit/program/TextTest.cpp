#include "tilewright/program/Text.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

Expected<Program> read(const std::string &text) {
  return readProgram(std::make_shared<SourceFile>("test.tw", text));
}

Program mustRead(const std::string &text) {
  auto program = read(text);
  EXPECT_TRUE(program) << (program ? "" : render(program.error()));
  if (!program)
    return {};
  const auto verified = verify(*program);
  EXPECT_TRUE(verified) << (verified ? "" : render(verified.error()));
  return *std::move(program);
}

/// Every kind of thing that the text form knows, in the printer's own spelling.
const char *const kEverything = R"(source "k.py"
source "helpers.py"
kernel @k(%x: ptr<f32>, %n: i32 = n in 0..2147483647 divisor 16, open BLOCK = 64 in 1..1048576, fixed EVEN = true default, %eps: f32, fixed runtime stride = 1, fixed ACT = "re\"lu", unused q, fixed OUT = dtype:bf16, fixed T = f32[4,8]{16,1}, fixed N = None) {
  symbol pid0: program_id in 0..2147483647
  symbol i: loop in 0..
  symbol i.2: opaque
  remark "lower.unsupported" "a hint was ignored" @3
  path 64 <= BLOCK : "BLOCK >= 64" @4
  require "static_assert" (BLOCK % 16) == 0 : "say \"16\"" @1:5
  %pid = program_id {axis = 0} : i32 = pid0 @6
  %0 = constant {value = BLOCK} : i32 @6
  %1 = mul %pid, %0 : i32 = BLOCK*pid0 @6
  %2 = iota {end = BLOCK, start = 0} : tile<BLOCK x i32> @7
  %3 = splat %1 : tile<BLOCK x i32> @7
  %offs = add %3, %2 : tile<BLOCK x i32> @7
  %4 = splat %n : tile<BLOCK x i32> @8
  %mask = compare %offs, %4 {predicate = "lt"} : tile<BLOCK x i1> @8
  %5 = splat %x : tile<BLOCK x ptr<f32>> @9
  %6 = addptr %5, %offs : tile<BLOCK x ptr<f32>> @9
  %7 = constant {value = 0.0} : f32 @9
  %8 = splat %7 : tile<BLOCK x f32> @9
  %x.2 = load %6, %mask, %8 {cache = ".cg"} : tile<BLOCK x f32> @9
  %9 = hint %offs {kind = "multiple_of", values = [8, 4]} : tile<BLOCK x i32> @10
  %10 = reduce %x.2 {axis = 0, kind = ""} : f32 { (%11: f32, %12: f32)
    %13 = add %11, %12 : f32 @1:2
    yield %13 @1:2
  } @11
  %14 = constant {value = 0} : i32
  %15 = constant {value = 1} : i32
  %acc = for %14, %n, %15, %10 {num_stages = 2} : f32 { (%i: i32 = i, %acc.2: f32)
    %16 = compare %i, %14 {predicate = "eq"} : i1 @13
    %17 = if %16 : f32 {
      yield %acc.2 @14
    } else {
      %18 = add %acc.2, %acc.2 : f32 @15
      yield %18 @15
    } @13
    yield %17 @12
  } @12
  %count = while %14 : i32 = i.2 { (%19: i32)
    %20 = compare %19, %n {predicate = "lt"} : i1 @16
    yield %20 @16
  } do { (%21: i32)
    %22 = add %21, %15 : i32 @17
    yield %22 @17
  } @16
  %23 = constant {value = inf} : f64
  %24 = splat %acc : tile<BLOCK x f32> @18
  store %6, %24, %mask @18
  device_print %24, %23 {hex = false, prefix = "a\nb", sizes = sym[BLOCK, 3], to = type(f16), when = sym(3)} @19
}
)";

TEST(ProgramText, PrintsWhatItReads) {
  const Program program = mustRead(kEverything);
  EXPECT_EQ(print(program), kEverything);
}

TEST(ProgramText, KeepsWhatTheTextSays) {
  const Program program = mustRead(kEverything);
  EXPECT_EQ(program.kernel, "k");
  ASSERT_EQ(program.parameters.size(), 11u);
  EXPECT_EQ(program.findParameter("BLOCK")->witness, 64);
  EXPECT_EQ(program.findParameter("BLOCK")->symbol.range(), (SymRange{1, 1048576}));
  EXPECT_EQ(program.findParameter("n")->symbol.divisor(), 16);
  EXPECT_TRUE(program.findParameter("EVEN")->hasDefault);
  EXPECT_FALSE(program.findParameter("stride")->isConstexpr);
  EXPECT_EQ(std::get<std::string>(program.findParameter("ACT")->fixed), "re\"lu");
  EXPECT_EQ(program.parameterOf(program.body().arguments[2])->name, "eps");
  const Op &load = *program.definingOp(program.op(program.body().ops[12]).results[0]);
  EXPECT_EQ(load.kind, OpKind::Load);
  EXPECT_EQ(load.location.line(), 9u);
  EXPECT_EQ(load.location.file->path(), "k.py");
  EXPECT_EQ(program.value(load.results[0]).name, "x");
  EXPECT_EQ(program.requirements[0].location.file->path(), "helpers.py");
}

TEST(ProgramText, HandWrittenTextMayBeTerse) {
  const Program program = mustRead(R"(# no locations, constexprs after the list
kernel @add(%x: ptr<f32>, %n: i32 = n) open BLOCK = 1024 {
  %0 = program_id {axis = 0} : i32 = pid0   # introduces pid0
  %1 = constant {value = BLOCK} : i32
  %2 = mul %0, %1 : i32 = pid0*BLOCK
  return
})");
  EXPECT_EQ(program.op(2).location.line(), 5u);
  const SymInt pid = program.value(program.op(0).results[0]).sym;
  ASSERT_TRUE(pid.valid());
  EXPECT_EQ(program.symbols->symbol(pid.symbolId()).kind, SymbolKind::ProgramId);
  EXPECT_EQ(toString(program.value(program.op(2).results[0]).sym), "BLOCK*pid0");
  const std::string once = print(program);
  EXPECT_EQ(print(mustRead(once)), once);
}

/// "not" is no symbol that the text introduces.
TEST(ProgramText, ValuesMayBeNegations) {
  const Program program = mustRead(R"(kernel @k(%n: i32 = n) {
  %0 = constant {value = 2} : i32
  %1 = rem %n, %0 : i32 = n % 2
  %2 = constant {value = 0} : i32
  %3 = compare %1, %2 {predicate = "eq"} : i1 = not (n % 2)
  return
})");
  EXPECT_EQ(toString(program.value(program.op(3).results[0]).sym), "not (n % 2)");
  EXPECT_EQ(print(mustRead(print(program))), print(program));
}

TEST(ProgramText, ErrorsPointIntoTheText) {
  struct Case {
    const char *text;
    const char *message;
    uint32_t line;
  };
  const Case cases[] = {
      {"", "expected 'kernel @name('", 0},
      {"kernel @k() {\n  frobnicate\n}", "unknown operation 'frobnicate'", 2},
      {"kernel @k() {\n  return\n", "expected '}'", 0},
      {"kernel @k(%x: ptr<f99>) {}", "unknown element type 'f99'", 1},
      {"kernel @k(%x: f32) {\n  %1 = add %x, %y : f32\n}", "%y is not defined", 2},
      {"kernel @k(%x: f32) {\n  %x = add %x, %x : f32\n}", "%x is defined twice", 2},
      {"kernel @k(%x: f32) {\n  %1 = splat %x : tile<B x f32>\n}", "unknown name 'B'", 2},
      {"kernel @k(%x: f32, %x: f32) {}", "declared twice", 1},
      {"kernel @k() {\n  symbol a: nothing\n}", "unknown kind of symbol", 2},
      {"kernel @k() {} x", "unexpected text", 1},
      {"kernel @k() {\n return @0\n}", "not in any of the sources", 2},
  };
  for (const Case &c : cases) {
    const auto program = read(c.text);
    ASSERT_FALSE(program) << c.text;
    EXPECT_EQ(program.error().code, "program.syntax");
    EXPECT_NE(program.error().message.find(c.message), std::string::npos) << program.error().message;
    if (c.line) {
      EXPECT_EQ(program.error().diagnostics[0].location->line, c.line) << c.text;
    }
  }
}

TEST(ProgramText, SurvivesCutAndDamagedText) {
  const std::string text = kEverything;
  for (size_t cut = 0; cut + 1 < text.size(); ++cut)
    if (auto program = read(text.substr(0, cut)))
      ADD_FAILURE() << "cut at " << cut;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = "%{}()<>=, x9\"@"[at % 14];
    if (auto program = read(damaged))
      (void)verify(*program);
  }
}

TEST(Verifier, RefusesMalformedPrograms) {
  struct Case {
    const char *ops;
    const char *message;
  };
  const Case cases[] = {
      {"%1 = add %n, %x : i32", "operands and result have one type"},
      {"%1 = add %n : i32", "takes 2 operands"},
      {"%1 = constant : i32", "'value' is missing"},
      {"%1 = constant {value = 1} : tile<4 x i32>", "a constant is a scalar"},
      {"%1 = program_id {axis = 3} : i32", "out of range"},
      {"%1 = load %n : i32", "loads what is pointed at"},
      {"%1 = for %n, %n, %n : i32 { (%i: i32) yield }", "one value a result"},
      {"for %n, %n, %n { (%i: i64) yield }", "region argument 0 is i64 instead of i32"},
      {"for %n, %n, %n { (%i: i32) return }", "must end in a yield"},
      {"%1 = compare %n, %n {predicate = \"lt\"} : i1\n if %1 { yield }", "two branches"},
      {"for %n, %n, %n { (%i: i32) yield %i }", "1 values are yielded instead of 0"},
      {"for %n, %n, %n { (%i: i32) %2 = add %i, %i : i32 }", "must end in a yield"},
      {"for %n, %n, %n { (%i: i32) %2 = add %i, %i : i32 yield }\n %3 = add %2, %2 : i32",
       "not defined before its use"},
      {"%1 = iota {start = 0, end = 4} : tile<4 x i32>\n %2 = expand_dims %1 {axis = 0} : tile<4 x 1 x i32>",
       "the new axis has extent 1"},
      {"%1 = iota {start = 0, end = 4} : tile<4 x i32>\n %2 = reduce %1 {axis = 0, kind = \"\"} : i32",
       "combine region"},
      {"%1 = iota {start = 0, end = 4} : tile<4 x i32>\n %2 = reduce %1 {axis = 1, kind = \"sum\"} : i32",
       "out of range"},
      {"%1 = iota {start = 0, end = 4} : tile<4 x i32>\n %2 = broadcast %1 : tile<8 x i32>",
       "extent 1 can grow"},
      {"yield", "the body yields nothing"},
  };
  for (const Case &c : cases) {
    const auto program = read("kernel @k(%x: ptr<f32>, %n: i32 = n) {\n " + std::string(c.ops) + "\n}");
    ASSERT_TRUE(program) << c.ops << render(program.error());
    const auto verified = verify(*program);
    ASSERT_FALSE(verified) << c.ops;
    EXPECT_EQ(verified.error().kind, ErrorKind::Internal);
    EXPECT_NE(verified.error().message.find(c.message), std::string::npos) << verified.error().message;
  }
}

TEST(Program, BindsOpenParameters) {
  const Program program = mustRead("kernel @k(%n: i32 = n, open A = 1, open B = 2) {\n return\n}");
  Config config;
  config.set("A", int64_t(7));
  const auto missing = program.bind(config);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "space.missing");
  config.set("B", std::string("fast"));
  EXPECT_FALSE(program.bind(config));
  config.set("B", true);
  const auto values = program.bind(config);
  ASSERT_TRUE(values);
  EXPECT_EQ(values->get(program.findParameter("A")->symbol.symbolId()), 7);
  EXPECT_EQ(values->get(program.findParameter("B")->symbol.symbolId()), 1);
  EXPECT_FALSE(values->get(program.findParameter("n")->symbol.symbolId()));
}

} // namespace

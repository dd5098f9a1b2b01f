#include "tilewright/program/Grid.h"
#include "tilewright/program/Text.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

class GridTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto read = readProgram(std::make_shared<SourceFile>("k.tw", R"(
kernel @k(%x: ptr<f32>, %n: i32 = n in 0.., %M: i32 = M in 0.., %N: i32 = N in 0.., open BLOCK = 64 in 1..,
          open BLOCK_N = 64 in 1.., fixed GROUP = 8, fixed ACT = "relu", fixed runtime one = 1) { return })"));
    ASSERT_TRUE(read) << render(read.error());
    program = *std::move(read);
    arguments.set("x", TensorSpec{DType::Float32, {100, 30}});
    arguments.set("n", int64_t(1000));
    arguments.set("M", int64_t(512));
    arguments.set("N", int64_t(300));
    arguments.set("extra", int64_t(5));
    config.set("BLOCK", int64_t(64));
    config.set("BLOCK_N", int64_t(32));
  }

  Expected<std::array<int64_t, 3>> value(const std::string &text) {
    TW_TRY(const Grid grid, parseGrid(text, program, arguments));
    TW_TRY(const SymValues values, bindLaunch(program, arguments, config));
    return grid.evaluate(config, values);
  }

  Program program;
  LaunchArguments arguments;
  Config config;
};

TEST_F(GridTest, UnderstandsWhatPeopleWrite) {
  using Dims = std::array<int64_t, 3>;
  const std::pair<const char *, Dims> cases[] = {
      {"(cdiv(n, BLOCK),)", {16, 1, 1}},
      {"cdiv(n, BLOCK)", {16, 1, 1}},
      {"lambda meta: (triton.cdiv(M, meta['BLOCK']) * triton.cdiv(N, meta[\"BLOCK_N\"]),)", {80, 1, 1}},
      {"lambda META: (triton.cdiv(M, META['BLOCK']), triton.cdiv(N, META['BLOCK_N']), GROUP)", {8, 10, 8}},
      {"[M // BLOCK, N % BLOCK_N]", {8, 12, 1}},
      {"(x.shape[0], x.shape[-1])", {100, 30, 1}},
      {"(x.numel() // BLOCK + 1,)", {47, 1, 1}},
      {"(math.ceil(n / BLOCK),)", {16, 1, 1}},
      {"(-(-n // BLOCK),)", {16, 1, 1}},
      {"((n + BLOCK - 1) // BLOCK,)", {16, 1, 1}},
      {"(min(cdiv(n, BLOCK), 4), max(1, extra))", {4, 5, 1}},
      {"(triton.next_power_of_2(n),)", {1024, 1, 1}},
      {"(1 if n < BLOCK else 2,)", {2, 1, 1}},
      {"(3,) if ACT == 'relu' else (4,)", {3, 1, 1}},
      {"(x.size(1), x.stride(0), one)", {30, 30, 1}},
      {"(132,)", {132, 1, 1}},
      {"(n,) + (2,)", {1000, 2, 1}},
      {"(int(n / 3), n > 5 and 7, 0 or 2)", {333, 7, 2}},
      {"lambda meta: (meta.get, 1)", {0, 0, 0}},
  };
  for (const auto &[text, wanted] : cases) {
    const auto got = value(text);
    if (wanted[0] == 0) {
      EXPECT_FALSE(got) << text;
      continue;
    }
    ASSERT_TRUE(got) << text << ": " << render(got.error());
    EXPECT_EQ(*got, wanted) << text;
  }
}

TEST_F(GridTest, StaysSymbolic) {
  const auto grid = parseGrid("lambda meta: (triton.cdiv(n, meta['BLOCK']),)", program, arguments);
  ASSERT_TRUE(grid);
  ASSERT_TRUE(grid->isSymbolic());
  EXPECT_EQ(toString(grid->dims()[0]), "cdiv(n, BLOCK)");
  EXPECT_EQ(parseGrid("-(-n // BLOCK)", program, arguments)->dims()[0], grid->dims()[0]);
  EXPECT_TRUE(parseGrid("(4, 2)", program, arguments)->isFixed());
}

TEST_F(GridTest, ErrorsSayWhere) {
  const std::pair<const char *, const char *> cases[] = {
      {"(cdiv(n, BLOK),)", "'BLOK' is neither a parameter of k nor a launch argument"},
      {"(cdiv(n,", ""},
      {"(n, n, n, n)", "one to three axes"},
      {"(1.5,)", "only integers"},
      {"(n / 2,)", "must be an integer"},
      {"(foo(n),)", "foo(n) is not supported"},
      {"(x.shape[2],)", "between -2 and 1"},
      {"lambda: (1,)", "takes no configuration"},
      {"(y.shape[0],)", "'y' is neither"},
  };
  for (const auto &[text, message] : cases) {
    const auto got = value(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, "grid.syntax") << text;
    EXPECT_NE(got.error().message.find(message), std::string::npos) << got.error().message;
    EXPECT_FALSE(got.error().diagnostics.empty());
  }
}

TEST_F(GridTest, ValuesThatCannotBe) {
  EXPECT_EQ(value("(n - 2000,)").error().code, "grid.empty");
  EXPECT_EQ(value("(n // (M - 512),)").error().code, "grid.syntax");
  arguments = {};
  const auto missing = value("(cdiv(n, BLOCK),)");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "arg.missing");
  arguments.set("n", 1.5);
  EXPECT_EQ(value("(cdiv(n, BLOCK),)").error().code, "arg.type");
}

TEST_F(GridTest, AsksACallback) {
  const Grid grid = Grid::callback([](const Config &config) -> Expected<std::array<int64_t, 3>> {
    return std::array<int64_t, 3>{*config.integer("BLOCK"), 2, 3};
  });
  EXPECT_EQ(*grid.evaluate(config, {}), (std::array<int64_t, 3>{64, 2, 3}));
}

} // namespace

#include "SpaceFixture.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

using testing::HasSubstr;

Config config(const std::string &text) { return *Config::parse(text); }

SpaceFixture addOf(int64_t n, const std::string &target) {
  const std::string tensor = fmt::format("f32[{}]", n);
  return {vectorAdd("f32"),
          target,
          {"x=" + tensor, "y=" + tensor, "z=" + tensor, fmt::format("n={}", n)},
          "(cdiv(n, BLOCK),)"};
}
SpaceFixture steppedOf(int64_t n, const std::string &target) {
  const std::string tensor = fmt::format("f32[{}]", n);
  return {steppedAdd("f32"),
          target,
          {"x=" + tensor, "y=" + tensor, "z=" + tensor, fmt::format("n={}", n)},
          "(cdiv(n, BLOCK),)"};
}

/// A fixture with one more rule on its parameters.
struct Ruled {
  SpaceFixture fixture;
  SymContext &symbols() { return *fixture.program.symbols; }
  SymInt symbol(const std::string &name) { return fixture.program.findParameter(name)->symbol; }
  SymInt number(int64_t value) { return symbols().constant(value); }
  Rejection verdict(const std::string &code, SymInt condition, const std::string &text,
                    const std::string &configText) {
    fixture.facts.constraints = {{code, condition, text, 3}};
    auto judged = judge(fixture.request(), config(configText));
    if (judged)
      return {{}, "accepted", "", Origin::User};
    return judged.error();
  }
};

TEST(Rules, TextsHaveTheUsersNamesAndNumbers) {
  Ruled k{steppedOf(781, "cpu")};
  auto &s = k.symbols();
  const SymInt block = k.symbol("BLOCK"), sub = k.symbol("SUB"), n = k.symbol("n");
  auto verdict = k.verdict("oneshot.short", s.le(n, block), "BLOCK >= n", "BLOCK=512,SUB=64");
  EXPECT_EQ(verdict.code, "oneshot.short");
  EXPECT_EQ(verdict.text, "BLOCK must cover all of n: 512 < 781");
  EXPECT_EQ(k.verdict("oneshot.short", s.le(n, block), "BLOCK >= n", "BLOCK=1024,SUB=64").code, "accepted");

  verdict =
      k.verdict("divide.tail", s.eq(s.mod(n, block), s.constant(0)), "n % BLOCK == 0", "BLOCK=512,SUB=64");
  EXPECT_EQ(verdict.code, "divide.tail");
  EXPECT_EQ(verdict.text, "BLOCK must divide n: 781 is no multiple of 512");
  verdict = k.verdict("divide.floor", s.eq(s.mod(block, sub), s.constant(0)), "BLOCK % SUB == 0",
                      "BLOCK=512,SUB=96");
  EXPECT_EQ(verdict.text, "SUB must divide BLOCK: 512 is no multiple of 96");
  verdict = k.verdict("order.tile", s.le(sub, block), "SUB <= BLOCK", "BLOCK=64,SUB=128");
  EXPECT_EQ(verdict.text, "SUB must not exceed BLOCK: 128 > 64");
  verdict = k.verdict("static_assert", s.lt(block, s.constant(300)), "BLOCK is small", "BLOCK=512,SUB=64");
  EXPECT_EQ(verdict.code, "static_assert");
  EXPECT_EQ(verdict.text, "does not hold: BLOCK is small with BLOCK = 512");
  verdict = k.verdict("path.condition", s.lt(block, s.constant(300)), "BLOCK < 300", "BLOCK=512,SUB=64");
  EXPECT_EQ(verdict.code, "path.condition");
}

TEST(Rules, PowersOfTwoOnlyWhereTheLanguageAsks) {
  const auto verdict = [](const std::string &target) {
    Ruled k{addOf(1000, target)};
    auto &s = k.symbols();
    return k.verdict("shape.pow2", s.eq(s.nextPow2(k.symbol("BLOCK")), k.symbol("BLOCK")),
                     "BLOCK is a power of two", "BLOCK=48");
  };
  EXPECT_EQ(verdict("cpu").code, "shape.pow2");
  EXPECT_EQ(verdict("cpu").text, "BLOCK must be a power of two: 48");
  EXPECT_EQ(verdict("ascend910b1").code, "accepted");
}

TEST(Rules, Grid) {
  SpaceFixture add = addOf(int64_t{1} << 26, "ascend910b1");
  auto judged = judge(add.request(), config("BLOCK=512"));
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, "grid.limit");
  EXPECT_THAT(judged.error().text, HasSubstr("131072 programs, ascend910b1 can launch 65535"));

  add.setGrid("(n // BLOCK,)");
  judged = judge(add.request(), config("BLOCK=134217728"));
  ASSERT_FALSE(judged);
  EXPECT_THAT((std::vector<std::string>{"grid.empty", "divide.tail", "capacity.ub"}),
              testing::Contains(judged.error().code));
  SpaceFixture empty = addOf(0, "cpu");
  judged = judge(empty.request(), config("BLOCK=64"));
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, "grid.empty");
  EXPECT_THAT(judged.error().text, HasSubstr("no program along axis 0"));
  EXPECT_TRUE(empty.generated().emptyReason);

  add.target = *findTarget("cuda-h200");
  add.setGrid("(1, cdiv(n, BLOCK),)");
  judged = judge(add.request(), config("BLOCK=64"));
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, "grid.limit");
  EXPECT_THAT(judged.error().text, HasSubstr("along axis 1"));
}

TEST(Rules, FixedGridIsRefusedForASplit) {
  SpaceFixture add = addOf(5000, "cpu");
  for (const bool fixed : {true, false}) {
    add.setGrid(fixed ? Grid::fixed({8, 1, 1})
                      : Grid::callback([](const Config &) { return std::array<int64_t, 3>{8, 1, 1}; }));
    const CandidateSpace space = add.generated();
    ASSERT_TRUE(space.emptyReason) << fixed;
    EXPECT_EQ(space.emptyReason->code, "grid.fixed");
    const std::string text = render(*space.emptyReason);
    EXPECT_THAT(text,
                HasSubstr("BLOCK splits the work between programs, but the grid does not depend on it"));
    EXPECT_THAT(text, HasSubstr("the grid has 8"));
    EXPECT_THAT(text, HasSubstr("lambda meta"));
  }
  // A hand-written configuration is judged by its own tile: 8 programs of 625 elements or more are enough.
  add.setGrid(Grid::fixed({8, 1, 1}));
  EXPECT_TRUE(judge(add.request(), config("BLOCK=1024")));
  const auto judged = judge(add.request(), config("BLOCK=512"));
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, "grid.fixed");
  EXPECT_THAT(judged.error().text, HasSubstr("needs 10 programs along axis 0, the grid has 8"));
  // One program is enough for any tile when there is one element.
  SpaceFixture tiny = addOf(1, "cpu");
  tiny.setGrid(Grid::fixed({1, 1, 1}));
  EXPECT_FALSE(tiny.generated().emptyReason);
  // A callable that follows the parameter is fine.
  add.setGrid(Grid::callback([](const Config &config) {
    const int64_t block = config.integer("BLOCK").value_or(1);
    return std::array<int64_t, 3>{(5000 + block - 1) / block, 1, 1};
  }));
  EXPECT_FALSE(add.generated().emptyReason);
}

TEST(Rules, CapacityOfTheUnifiedBuffer) {
  // Two tiles of 4 bytes: 24576 elements fill 192 KiB exactly, as the vendor's compiler says.
  const SpaceFixture add = addOf(1 << 20, "ascend910b1");
  EXPECT_EQ(judge(add.request(), config("BLOCK=24576"))->bytes.at("ub"), 196608);
  const auto over = judge(add.request(), config("BLOCK=24584"));
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, "capacity.ub");
  // In a loop: three tiles, each twice; single buffers when that does not fit.
  const SpaceFixture stepped = steppedOf(1 << 20, "ascend910b1");
  EXPECT_EQ(judge(stepped.request(), config("BLOCK=65536,SUB=8192"))->bytes.at("ub"), 6 * 8192 * 4);
  EXPECT_EQ(judge(stepped.request(), config("BLOCK=65536,SUB=8192,multibuffer=false"))->bytes.at("ub"),
            2 * 8192 * 4);
  EXPECT_EQ(judge(stepped.request(), config("BLOCK=65536,SUB=16384"))->bytes.at("ub"), 2 * 16384 * 4);
  EXPECT_FALSE(judge(stepped.request(), config("BLOCK=65536,SUB=32768")));
}

TEST(Rules, CapacityOfScratchOnCpu) {
  // Nothing of an elementwise kernel is kept.
  const SpaceFixture add = addOf(1 << 20, "cpu");
  EXPECT_TRUE(judge(add.request(), config("BLOCK=1048576"))->bytes.empty());
}

TEST(Rules, CudaOptions) {
  const SpaceFixture add = addOf(5000, "cuda-h200");
  EXPECT_EQ(judge(add.request(), config("BLOCK=64,num_warps=3")).error().code, "hint.value");
  EXPECT_TRUE(judge(add.request(), config("BLOCK=64,num_warps=4,num_stages=2,maxnreg=128")));
}

TEST(Rules, ImpossibleLengths) {
  const SpaceFixture add = addOf(5000, "cpu");
  EXPECT_EQ(judge(add.request(), config("BLOCK=0")).error().code, "hint.value");
  EXPECT_EQ(judge(add.request(), config("BLOCK=wide")).error().code, "hint.value");
}

TEST(Rules, RolesWithoutADomain) {
  SpaceFixture add = addOf(5000, "cpu");
  add.facts.parameters[0].roles = {Role::Chunk};
  EXPECT_EQ(add.generated().emptyReason->code, "space.no-domain");
  EXPECT_THAT(render(*add.generated().emptyReason), HasSubstr("BLOCK belongs to the algorithm"));
  add.facts.parameters[0].roles = {};
  EXPECT_THAT(render(*add.generated().emptyReason), HasSubstr("could not find out what BLOCK means"));
  add.facts.parameters[0].roles = {Role::Split};
  add.facts.hostCoupled = {{"BLOCK", "n", "cdiv(n, BLOCK)", 12}};
  EXPECT_EQ(add.generated().emptyReason->code, "host.coupled");
  EXPECT_THAT(render(*add.generated().emptyReason), HasSubstr("derives the argument n from BLOCK (line 12)"));
  // The user's own value is taken all the same.
  add.hints.values["BLOCK"] = {int64_t{256}};
  EXPECT_EQ(add.generated().candidates.size(), 1u);
  add.hints.values.clear();
  add.userConfigs = {config("BLOCK=512")};
  EXPECT_EQ(add.generated().candidates.size(), 1u);
  EXPECT_FALSE(add.generated().emptyReason);
}

TEST(Rules, OtherRoles) {
  SpaceFixture add = addOf(5000, "cpu");
  add.facts.parameters[0].roles = {Role::OneShot};
  EXPECT_EQ(add.values("BLOCK"), std::vector<int64_t>{8192});
  add.target = *findTarget("ascend910b1");
  EXPECT_EQ(add.values("BLOCK"), std::vector<int64_t>{5000});
  add.facts.parameters[0].roles = {Role::Schedule};
  EXPECT_EQ(add.values("BLOCK"), (std::vector<int64_t>{1, 4, 8}));
  add.facts.parameters[0].roles = {Role::Flag};
  EXPECT_EQ(add.generated().domains[0].values, (std::vector<ConfigValue>{false, true}));
}

TEST(Rules, TooManyAreThinnedByCost) {
  SpaceFixture stepped = steppedOf(1 << 20, "cpu");
  const size_t all = stepped.generated().candidates.size();
  stepped.maxCandidates = 10;
  const CandidateSpace few = stepped.generated();
  EXPECT_EQ(few.candidates.size(), 10u);
  EXPECT_EQ(few.rejectedByCode.at("cost.cut"), static_cast<int64_t>(all) - 10);
}

} // namespace
} // namespace tilewright

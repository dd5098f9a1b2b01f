#include "SpaceFixture.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

using testing::HasSubstr;

struct Hinted : testing::Test {
  SpaceFixture add{vectorAdd("f32"),
                   "ascend910b1",
                   {"x=f32[5000]", "y=f32[5000]", "z=f32[5000]", "n=5000"},
                   "(cdiv(n, BLOCK),)"};
  std::string errorFor(const std::string &name, std::vector<ConfigValue> values) {
    add.hints.values = {{name, std::move(values)}};
    const CandidateSpace space = add.generated();
    EXPECT_TRUE(space.candidates.empty());
    return space.emptyReason ? render(*space.emptyReason) : "accepted";
  }
};

TEST_F(Hinted, OverrideAParametersDomain) {
  add.hints.values["BLOCK"] = {int64_t{256}, int64_t{100}, int64_t{256}};
  EXPECT_EQ(add.values("BLOCK"), (std::vector<int64_t>{100, 256}));
  EXPECT_EQ(add.generated().candidates.size(), 2u);
}

TEST_F(Hinted, MultiplyWithCompileOptions) {
  const size_t alone = add.generated().candidates.size();
  add.hints.values["multibuffer"] = {false, true};
  const CandidateSpace space = add.generated();
  EXPECT_EQ(space.candidates.size(), 2 * alone);
  add.hints.values["unit_flag"] = {true};
  EXPECT_EQ(add.generated().candidates.size(), 2 * alone);
}

TEST_F(Hinted, OptionsOfOtherTargetsAreNotMultiplied) {
  add.target = *findTarget("cpu");
  const size_t alone = add.generated().candidates.size();
  add.hints.values["multibuffer"] = {false, true};
  const CandidateSpace space = add.generated();
  EXPECT_EQ(space.candidates.size(), alone);
  EXPECT_FALSE(space.candidates[0].config.contains("multibuffer"));
  const auto domain = std::find_if(space.domains.begin(), space.domains.end(),
                                   [](const Domain &each) { return each.parameter == "multibuffer"; });
  ASSERT_NE(domain, space.domains.end());
  EXPECT_THAT(domain->reason, HasSubstr("no effect on cpu"));
}

TEST_F(Hinted, ReplaceGeneratedOptions) {
  add.target = *findTarget("cuda-h200");
  add.hints.values["num_warps"] = {int64_t{4}};
  EXPECT_EQ(add.values("num_warps"), std::vector<int64_t>{4});
}

TEST_F(Hinted, UnknownNamesAreErrors) {
  const std::string text = errorFor("GROUP_SIZE_N", {int64_t{4}});
  EXPECT_THAT(text, HasSubstr("[hint.unknown]"));
  EXPECT_THAT(text, HasSubstr("'GROUP_SIZE_N'"));
  EXPECT_THAT(text, HasSubstr("open parameters (BLOCK)"));
  EXPECT_THAT(text, HasSubstr("multibuffer"));
  EXPECT_THAT(errorFor("n", {int64_t{4}}), HasSubstr("runtime argument"));
}

TEST_F(Hinted, ValuesMustBeUsable) {
  EXPECT_THAT(errorFor("BLOCK", {}), HasSubstr("[hint.value]"));
  EXPECT_THAT(errorFor("BLOCK", {std::string("big")}), HasSubstr("neither an integer nor a bool"));
  EXPECT_THAT(errorFor("BLOCK", {2.5}), HasSubstr("'2.5'"));
}

TEST_F(Hinted, InfeasibleHintsSayWhy) {
  const std::string text = errorFor("BLOCK", {int64_t{1} << 20});
  EXPECT_THAT(text, HasSubstr("[space.empty]"));
  EXPECT_THAT(text, HasSubstr("capacity.ub"));
  EXPECT_THAT(text, HasSubstr("BLOCK=1048576"));
}

} // namespace
} // namespace tilewright

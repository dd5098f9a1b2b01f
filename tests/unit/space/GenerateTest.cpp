#include "SpaceFixture.h"

#include "tilewright/support/ReasonCodes.h"

#include <fmt/format.h>
#include <random>

namespace tilewright {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> launchOf(const std::string &dtype, int64_t n) {
  const std::string tensor = fmt::format("{}[{}]", dtype, n);
  return {"x=" + tensor, "y=" + tensor, "z=" + tensor, fmt::format("n={}", n)};
}
SpaceFixture addOf(const std::string &dtype, int64_t n, const std::string &target) {
  return {vectorAdd(dtype), target, launchOf(dtype, n), "(cdiv(n, BLOCK),)"};
}
SpaceFixture steppedOf(const std::string &dtype, int64_t n, const std::string &target) {
  return {steppedAdd(dtype), target, launchOf(dtype, n), "(cdiv(n, BLOCK),)"};
}
Config config(const std::string &text) { return *Config::parse(text); }

/// Everything that a candidate promises, checked without the code that made it.
void expectSound(const SpaceFixture &fixture, const CandidateSpace &space) {
  std::set<Config> seen;
  for (const Candidate &candidate : space.candidates) {
    const std::string shown = candidate.config.toString();
    EXPECT_TRUE(seen.insert(candidate.config).second) << "twice: " << shown;
    const auto judged = judge(fixture.request(), candidate.config);
    ASSERT_TRUE(judged) << shown << ": " << judged.error().text;
    EXPECT_EQ(judged->grid, candidate.grid) << shown;
    const auto values = bindLaunch(fixture.program, fixture.arguments, candidate.config);
    ASSERT_TRUE(values) << shown;
    for (const Constraint &constraint : fixture.facts.constraints)
      if (constraint.code != "shape.pow2" || fixture.target.powerOfTwoTiles) {
        EXPECT_EQ(evaluate(constraint.condition, *values), 1) << shown << " breaks " << constraint.text;
      }
    const auto grid = fixture.grid->evaluate(candidate.config, *values);
    ASSERT_TRUE(grid) << shown;
    EXPECT_EQ(*grid, candidate.grid) << shown;
    EXPECT_LE(candidate.grid[0] * candidate.grid[1] * candidate.grid[2], fixture.target.maxPrograms) << shown;
    for (const auto &[name, bytes] : candidate.bytes)
      if (const MemorySpace *memory = fixture.target.space(name)) {
        EXPECT_LE(bytes, memory->bytes) << shown << " " << name;
      }
  }
  EXPECT_EQ(space.candidates.empty(), space.emptyReason.has_value());
  int64_t rejected = 0;
  for (const auto &[code, count] : space.rejectedByCode) {
    EXPECT_NE(meaningOf(code), "") << code;
    rejected += count;
  }
  EXPECT_EQ(rejected + static_cast<int64_t>(space.candidates.size()), space.considered);
}

TEST(Generate, ElementwiseOnCpuGetsPowersOfTwo) {
  const SpaceFixture add = addOf("f32", 98432, "cpu");
  const CandidateSpace space = add.generated();
  EXPECT_EQ(SpaceFixture::valuesIn(space, "BLOCK"),
            (std::vector<int64_t>{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}));
  EXPECT_EQ(space.candidates.front().grid[0], 98432 / 64);
  expectSound(add, space);
}

TEST(Generate, CpuListsHaveNoWarps) {
  for (const Candidate &candidate : steppedOf("f32", 100000, "cpu").generated().candidates)
    EXPECT_FALSE(candidate.config.contains("num_warps"));
}

TEST(Generate, TwoParametersOnCpuStayShort) {
  const SpaceFixture stepped = steppedOf("f32", 1 << 20, "cpu");
  const CandidateSpace space = stepped.generated();
  EXPECT_GE(space.candidates.size(), 20u);
  EXPECT_LE(space.candidates.size(), 150u);
  expectSound(stepped, space);
}

TEST(Generate, CudaMultipliesWarps) {
  const SpaceFixture add = addOf("f32", 98432, "cuda-h200");
  const CandidateSpace space = add.generated();
  EXPECT_EQ(SpaceFixture::valuesIn(space, "num_warps"), (std::vector<int64_t>{1, 2, 4, 8, 16}));
  EXPECT_THAT(SpaceFixture::valuesIn(space, "num_stages"), ElementsAre()); // nothing to pipeline
  expectSound(add, space);
}

/// The sizes at which the vendor's own generator was seen to return nothing, or only what does not fit.
TEST(Generate, AscendVectorAddOfEverySize) {
  for (const char *target : {"ascend910b1", "ascend910b3", "ascend950pr_9579"})
    for (const std::string dtype : {"f32", "f16", "i8"})
      for (const int64_t n : {int64_t{1}, int64_t{7}, int64_t{97}, int64_t{1000}, int64_t{4096},
                              int64_t{98432}, int64_t{1} << 20, int64_t{786433}, int64_t{1} << 22,
                              int64_t{1} << 26, int64_t{1} << 28, int64_t{1} << 30}) {
        const SpaceFixture add = addOf(dtype, n, target);
        const CandidateSpace space = add.generated();
        ASSERT_FALSE(space.candidates.empty()) << dtype << " " << n << ": " << render(*space.emptyReason);
        expectSound(add, space);
        const int64_t elementBytes = dtype == "f32" ? 4 : dtype == "f16" ? 2 : 1;
        for (const Candidate &candidate : space.candidates)
          EXPECT_EQ(*candidate.config.integer("BLOCK") * elementBytes % 32, 0) << candidate.config.toString();
        EXPECT_LE(space.candidates.size(), 16u);
      }
}

TEST(Generate, AscendSplitsAreBalancedOverCores) {
  const auto blocks = addOf("f32", 98432, "ascend910b1").values("BLOCK");
  EXPECT_THAT(blocks, Contains(2056)); // ceil(98432 / 48) = 2051, aligned to 8 elements
  EXPECT_THAT(blocks, Contains(1032));
  EXPECT_THAT(addOf("f16", 98432, "ascend910b1").values("BLOCK"), Contains(2064));
}

TEST(Generate, AscendSaysWhyNothingFits) {
  const SpaceFixture add = addOf("f32", (int64_t{1} << 31) - 1, "ascend910b1");
  const CandidateSpace space = add.generated();
  ASSERT_TRUE(space.candidates.empty());
  ASSERT_TRUE(space.emptyReason);
  EXPECT_EQ(space.emptyReason->code, "space.empty");
  const std::string text = render(*space.emptyReason);
  EXPECT_THAT(text, HasSubstr("grid.limit"));
  EXPECT_THAT(text, HasSubstr("65535"));
  EXPECT_THAT(text, HasSubstr("in a loop"));
}

TEST(Generate, AscendOuterAndInnerTile) {
  for (const int64_t n :
       {int64_t{97}, int64_t{98432}, int64_t{1} << 20, int64_t{1} << 27, (int64_t{1} << 31) - 1}) {
    const SpaceFixture stepped = steppedOf("f32", n, "ascend910b1");
    const CandidateSpace space = stepped.generated();
    ASSERT_FALSE(space.candidates.empty()) << n << render(*space.emptyReason);
    expectSound(stepped, space);
    for (const Candidate &candidate : space.candidates) {
      EXPECT_EQ(*candidate.config.integer("SUB") % 8, 0) << candidate.config.toString();
      EXPECT_EQ(*candidate.config.integer("BLOCK") % 8, 0) << candidate.config.toString();
    }
  }
}

TEST(Generate, SameInputsSameList) {
  for (const char *target : {"cpu", "ascend910b1", "cuda-h200"}) {
    const CandidateSpace first = steppedOf("f16", 123457, target).generated(),
                         second = steppedOf("f16", 123457, target).generated();
    ASSERT_EQ(first.candidates.size(), second.candidates.size());
    for (size_t i = 0; i < first.candidates.size(); ++i)
      EXPECT_EQ(first.candidates[i].config, second.candidates[i].config);
    EXPECT_EQ(first.rejectedByCode, second.rejectedByCode);
  }
}

TEST(Generate, RandomSizesAreSound) {
  std::mt19937_64 random(7);
  const char *targets[] = {"cpu", "ascend910b1", "ascend950pr_9589", "cuda-a100"};
  const char *dtypes[] = {"f32", "f16", "i8", "f64", "bf16"};
  for (int round = 0; round < 60; ++round) {
    const int64_t n = 1 + static_cast<int64_t>(random() % (uint64_t{1} << (1 + random() % 29)));
    const char *target = targets[random() % 4];
    const std::string dtype = dtypes[random() % 5];
    SCOPED_TRACE(fmt::format("{} {} {}", target, dtype, n));
    const SpaceFixture fixture = random() % 2 ? addOf(dtype, n, target) : steppedOf(dtype, n, target);
    const CandidateSpace space = fixture.generated();
    EXPECT_FALSE(space.candidates.empty());
    expectSound(fixture, space);
  }
}

TEST(Generate, OnlyUserConfigs) {
  SpaceFixture add = addOf("f32", 5000, "ascend910b1");
  add.onlyUserConfigs = true;
  add.userConfigs = {config("BLOCK=512"), config("BLOCK=500000"), config("BLOCK=512,multibuffer=false"),
                     config("BLOK=3"), config("BLOCK=64,speed=9")};
  const CandidateSpace space = add.generated();
  ASSERT_EQ(space.candidates.size(), 2u);
  EXPECT_EQ(space.candidates[0].config, config("BLOCK=512"));
  EXPECT_EQ(space.candidates[0].origin, Origin::User);
  ASSERT_EQ(space.rejected.size(), 3u);
  EXPECT_EQ(space.rejected[0].code, "capacity.ub");
  EXPECT_THAT(space.rejected[0].text, HasSubstr("needs 4000000 bytes of ub, ascend910b1 has 196608"));
  EXPECT_EQ(space.rejected[1].code, "space.missing");
  EXPECT_THAT(space.rejected[1].text, HasSubstr("BLOCK has no value"));
  EXPECT_EQ(space.rejected[2].code, "hint.unknown");
  EXPECT_THAT(space.rejected[2].text, HasSubstr("'speed'"));
  EXPECT_THAT(space.rejected[2].text, HasSubstr("multibuffer"));
  add.userConfigs.clear();
  EXPECT_TRUE(add.generated().emptyReason);
}

TEST(Generate, UserConfigsJoinOnce) {
  SpaceFixture add = addOf("f32", 98432, "cpu");
  add.userConfigs = {config("BLOCK=1024"), config("BLOCK=131072"), config("BLOCK=1024"), config("BLOCK=0")};
  const CandidateSpace space = add.generated();
  EXPECT_EQ(space.candidates.size(), 12u); // 1024 is generated too
  EXPECT_EQ(space.candidates[1].origin, Origin::User);
  EXPECT_EQ(space.candidates[2].origin, Origin::Generated);
  ASSERT_EQ(space.rejected.size(), 1u);
  EXPECT_EQ(space.rejected[0].origin, Origin::User);
}

} // namespace
} // namespace tilewright

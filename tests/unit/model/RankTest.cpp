#include "../space/SpaceFixture.h"
#include "tilewright/model/Plan.h"

#include <chrono>
#include <fmt/format.h>

namespace tilewright {
namespace {

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
double timeOf(const SpaceFixture &fixture, const std::string &config) {
  const auto candidate = judge(fixture.request(), *Config::parse(config));
  EXPECT_TRUE(candidate) << config << (candidate ? "" : candidate.error().text);
  return candidate ? predict(fixture.request(), *candidate).timeNs : 0;
}

TEST(Rank, PartsAddUp) {
  for (const char *target : {"cpu", "ascend910b1", "ascend950pr_9579", "cuda-h200"}) {
    const SpaceFixture fixture = steppedOf(1 << 20, target);
    for (const PlannedCandidate &planned : rank(fixture.request(), fixture.generated()).ranked) {
      double sum = 0;
      for (const auto &[part, ns] : planned.prediction.partsNs) {
        EXPECT_GE(ns, 0) << part;
        sum += ns;
      }
      EXPECT_NEAR(planned.prediction.timeNs, sum, sum * 1e-9);
      EXPECT_TRUE(planned.prediction.partsNs.contains(planned.prediction.bound));
      EXPECT_GT(planned.prediction.timeNs, 0);
    }
  }
}

TEST(Rank, BestFirstAndDeterministic) {
  const SpaceFixture fixture = steppedOf(123457, "cpu");
  const Plan plan = rank(fixture.request(), fixture.generated()),
             again = rank(fixture.request(), fixture.generated());
  ASSERT_EQ(plan.ranked.size(), again.ranked.size());
  for (size_t i = 0; i < plan.ranked.size(); ++i) {
    EXPECT_EQ(plan.ranked[i].candidate.config, again.ranked[i].candidate.config);
    if (i) {
      EXPECT_LE(plan.ranked[i - 1].prediction.timeNs, plan.ranked[i].prediction.timeNs);
    }
  }
}

TEST(Rank, PredictAgreesWithRank) {
  const SpaceFixture fixture = steppedOf(1 << 22, "ascend910b1");
  const Plan plan = rank(fixture.request(), fixture.generated());
  ASSERT_FALSE(plan.ranked.empty());
  EXPECT_EQ(predict(fixture.request(), plan.ranked[0].candidate).timeNs, plan.ranked[0].prediction.timeNs);
}

TEST(Rank, KeepCutsGeneratedOnesOnly) {
  SpaceFixture fixture = addOf(1 << 20, "cpu");
  fixture.userConfigs = {*Config::parse("BLOCK=8")}; // hopeless, but the user's
  const CandidateSpace space = fixture.generated();
  const Plan plan = rank(fixture.request(), space, 4);
  EXPECT_EQ(plan.ranked.size(), 5u);
  EXPECT_EQ(plan.ranked.back().candidate.origin, Origin::User);
  EXPECT_EQ(plan.cut.size(), space.candidates.size() - 5);
  EXPECT_EQ(plan.cut[0].code, "model.rank");
}

TEST(Rank, TinyBlocksLoseOnCpu) {
  const SpaceFixture add = addOf(1 << 22, "cpu");
  EXPECT_LT(timeOf(add, "BLOCK=4096"), timeOf(add, "BLOCK=64"));
}

TEST(Rank, ASingleProgramLeavesCoresIdle) {
  SpaceFixture add = addOf(1 << 20, "cpu");
  add.target.cores = 8;
  EXPECT_LT(timeOf(add, "BLOCK=65536"), timeOf(add, "BLOCK=1048576"));
}

TEST(Rank, AscendLikesFullRoundsAndLongTransfers) {
  const SpaceFixture add = addOf(98432, "ascend910b1");
  EXPECT_LT(timeOf(add, "BLOCK=2056"), timeOf(add, "BLOCK=64"));   // 48 programs against 1538
  EXPECT_LT(timeOf(add, "BLOCK=2056"), timeOf(add, "BLOCK=2048")); // 49 programs: a second round for one
  const SpaceFixture big = addOf(1 << 26, "ascend910b1");
  EXPECT_LT(timeOf(big, "BLOCK=16384"), timeOf(big, "BLOCK=1032"));
}

TEST(Rank, AStreamIsAsFastAsItsMemory) {
  const SpaceFixture big = addOf(1 << 28, "ascend910b1");
  const Plan plan = rank(big.request(), big.generated());
  const double bytes = 3.0 * 4 * (1 << 28), rate = bytes / plan.ranked[0].prediction.timeNs;
  EXPECT_GT(rate, 800); // of 1638 bytes per ns for the chip
  EXPECT_LT(rate, 1700);
}

TEST(Rank, Quick) {
  const SpaceFixture fixture = steppedOf(1 << 20, "cuda-h200");
  const CandidateSpace space = fixture.generated();
  const auto start = std::chrono::steady_clock::now();
  const Plan plan = rank(fixture.request(), space);
  const double ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("ns_per_candidate", fmt::format("{:.0f}", ns / static_cast<double>(plan.ranked.size())));
  EXPECT_LT(ns / static_cast<double>(plan.ranked.size()), 1e6); // a runaway, not a benchmark
}

} // namespace
} // namespace tilewright

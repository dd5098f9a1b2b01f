#include "ScriptedBackend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace tilewright;
using namespace tilewright::tuner;
using store::TrialStatus;

namespace {

store::TuningKey someKey() {
  return {.kernelIdentity = "k:1",
          .targetFingerprint = "t",
          .toolchain = "c",
          .specialization = "s",
          .keyValues = "n=1"};
}

struct Ran {
  Expected<Outcome> outcome = fail(ErrorKind::Internal, "internal", "not run");
  std::shared_ptr<store::Store> store = store::Store::inMemory();
};

Ran run(ScriptedBackend &backend, const std::vector<int64_t> &values, TuneOptions options = {},
        std::shared_ptr<store::Store> store = nullptr) {
  Ran out;
  if (store)
    out.store = std::move(store);
  Tuner tuner(backend, out.store, std::move(options));
  out.outcome = tuner.tune(someKey(), entrantsFor(values), KernelFacts{}, LaunchArguments{}, {});
  return out;
}

const Trial &trialOf(const Outcome &outcome, int64_t value) {
  for (const auto &trial : outcome.trials)
    if (trial.candidate.config.integer("B") == value)
      return trial;
  throw std::runtime_error("no such trial");
}

int64_t bestOf(const Outcome &outcome) {
  return *outcome.trials[*outcome.best].candidate.config.integer("B");
}

} // namespace

TEST(Tuner, ChoosesTheFastestAndRecordsAll) {
  ScriptedBackend backend({{16, {3000}}, {32, {1000}}, {64, {1800}}, {128, {90000}}});
  const Ran ran = run(backend, {16, 32, 64, 128});
  ASSERT_TRUE(ran.outcome) << render(ran.outcome.error());
  EXPECT_EQ(bestOf(*ran.outcome), 32);
  EXPECT_EQ(trialOf(*ran.outcome, 128).code, "run.slow");
  EXPECT_EQ(trialOf(*ran.outcome, 64).code, "race.dropped");
  EXPECT_EQ((*ran.store->choice(someKey()))->config.integer("B"), 32);
  std::set<int64_t> recorded;
  const auto records = ran.store->trials(someKey());
  ASSERT_TRUE(records);
  for (const auto &record : *records)
    recorded.insert(*record.config.integer("B"));
  EXPECT_THAT(recorded, testing::ElementsAre(16, 32, 64, 128));
}

TEST(Tuner, OneCandidateHitByAFailureDoesNotTouchTheOthers) {
  Script crash{1}, wrong{1}, refused{1}, late{900};
  crash.outcome = TrialOutcome::Crashed, crash.code = "run.crashed";
  wrong.outcome = TrialOutcome::WrongResult, wrong.code = "wrong-result";
  refused.compileError = "compile.failed";
  late.failsAtSample = 4;
  ScriptedBackend backend({{1, crash}, {2, wrong}, {3, refused}, {4, {1000}}, {5, late}});
  const Ran ran = run(backend, {1, 2, 3, 4, 5});
  ASSERT_TRUE(ran.outcome);
  EXPECT_EQ(bestOf(*ran.outcome), 4);
  EXPECT_EQ(trialOf(*ran.outcome, 1).status, TrialStatus::RunFailed);
  EXPECT_EQ(trialOf(*ran.outcome, 2).status, TrialStatus::WrongResult);
  EXPECT_EQ(trialOf(*ran.outcome, 3).status, TrialStatus::CompileFailed);
  EXPECT_EQ(trialOf(*ran.outcome, 5).code, "run.crashed");
}

TEST(Tuner, SaysWhyNobodySurvived) {
  Script refused;
  refused.compileError = "compile.failed";
  ScriptedBackend backend(std::map<int64_t, Script>{{1, refused}, {2, refused}});
  const Ran ran = run(backend, {1, 2});
  ASSERT_FALSE(ran.outcome);
  EXPECT_EQ(ran.outcome.error().code, "space.empty");
  EXPECT_THAT(render(ran.outcome.error()), testing::HasSubstr("2 with compile.failed"));
}

TEST(Tuner, MeasuresEqualCodeOnce) {
  Script twin{1000};
  twin.digest = "same";
  ScriptedBackend backend(std::map<int64_t, Script>{{1, twin}, {2, twin}});
  TuneOptions options;
  options.compileThreads = 1;
  const Ran ran = run(backend, {1, 2}, options);
  ASSERT_TRUE(ran.outcome);
  EXPECT_EQ(bestOf(*ran.outcome), 1);
  EXPECT_EQ(trialOf(*ran.outcome, 2).code, "duplicate");
}

TEST(Tuner, AnAddedCandidateIsTheOnlyOneMeasured) {
  ScriptedBackend first(std::map<int64_t, Script>{{1, {1000}}, {2, {2000}}});
  const Ran before = run(first, {1, 2});
  ScriptedBackend second({{1, {1000}}, {2, {2000}}, {3, {500}}});
  const Ran after = run(second, {1, 2, 3}, {}, before.store);
  ASSERT_TRUE(after.outcome);
  EXPECT_EQ(second.compiled, 1);
  EXPECT_EQ(bestOf(*after.outcome), 3);
  EXPECT_TRUE(trialOf(*after.outcome, 1).remembered);
}

TEST(Tuner, ARememberedWinnerStillWins) {
  ScriptedBackend first(std::map<int64_t, Script>{{1, {500}}, {2, {2000}}});
  const Ran before = run(first, {1, 2});
  ScriptedBackend second({{1, {500}}, {2, {2000}}, {3, {1000}}});
  const Ran after = run(second, {1, 2, 3}, {}, before.store);
  ASSERT_TRUE(after.outcome);
  EXPECT_EQ(bestOf(*after.outcome), 1);
}

TEST(Tuner, ABudgetOfNothingLeavesReasons) {
  ScriptedBackend backend(std::map<int64_t, Script>{{1, {1000}}});
  TuneOptions options;
  options.budgetSeconds = 1e-9;
  const Ran ran = run(backend, {1}, options);
  ASSERT_FALSE(ran.outcome);
  EXPECT_THAT(render(ran.outcome.error()), testing::HasSubstr("budget.exhausted"));
}

TEST(Tuner, CompilesSeriallyWhenAsked) {
  ScriptedBackend backend({{1, {1000}}, {2, {900}}, {3, {800}}});
  TuneOptions options;
  options.compileThreads = 1;
  const Ran ran = run(backend, {1, 2, 3}, options);
  ASSERT_TRUE(ran.outcome);
  EXPECT_EQ(backend.compiled, 3);
  EXPECT_EQ(bestOf(*ran.outcome), 3);
}

TEST(Tuner, ASecondSampleSavesACandidateWhoseFirstWasDisturbed) {
  Script disturbed{500};
  disturbed.firstSampleFactor = 10;
  ScriptedBackend backend({{1, {1000}}, {2, disturbed}, {3, {90000}}});
  const Ran ran = run(backend, {1, 2, 3});
  ASSERT_TRUE(ran.outcome);
  EXPECT_EQ(bestOf(*ran.outcome), 2);
  EXPECT_EQ(trialOf(*ran.outcome, 3).code, "run.slow");
}

TEST(Tuner, NoisyTwinsGiveTheSameWinnerOverManySeeds) {
  // Two equal candidates and one that is 20 % slower, on a machine with 2 % noise: the first in plan order
  // wins.
  int first = 0, slower = 0;
  constexpr int kRepeats = 200;
  for (int seed = 0; seed < kRepeats; ++seed) {
    Script twin{1000, 0.02}, slow{1200, 0.02};
    ScriptedBackend backend({{1, twin}, {2, twin}, {3, slow}}, static_cast<uint64_t>(seed));
    const Ran ran = run(backend, {1, 2, 3});
    ASSERT_TRUE(ran.outcome);
    first += bestOf(*ran.outcome) == 1;
    slower += bestOf(*ran.outcome) == 3;
  }
  EXPECT_EQ(slower, 0);
  EXPECT_GE(first, kRepeats * 9 / 10);
}

TEST(Statistics, MedianIgnoresOneOutlier) {
  const std::vector<double> samples{100, 101, 99, 100, 5000};
  EXPECT_EQ(estimate(samples).medianNs, 100);
  EXPECT_LT(estimate(samples).highNs, 102);
}

TEST(Statistics, SeparationNeedsEnoughSamples) {
  const std::vector<double> fast{1, 2, 3}, slow{4, 5, 6}, mixed{3, 5, 6};
  EXPECT_TRUE(separated(fast, slow, 3));
  EXPECT_FALSE(separated(fast, slow, 4));
  EXPECT_FALSE(separated(fast, mixed, 3));
}

namespace {

/// A race of candidates with given true times on a machine whose speed wanders from round to round.
RaceResult raceUnderDrift(const std::vector<double> &trueNs, double drift, double noise, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> step(0.0, drift), jitter(1.0, noise);
  std::vector<Runner> runners;
  for (uint32_t lane = 0; lane < trueNs.size(); ++lane)
    runners.push_back({lane, {}});
  double speed = 1;
  const auto sample = [&](uint32_t lane, double) -> std::optional<std::vector<double>> {
    if (lane == 0)
      speed = std::exp(step(random));
    return std::vector<double>{trueNs[lane] * speed * std::max(0.5, jitter(random))};
  };
  return race(std::move(runners), {}, sample, [](const Runner &) {}, [] { return true; });
}

} // namespace

TEST(Race, DriftOfTheMachineDoesNotChooseTheWinner) {
  // 6 % between the two best, 20 % (one standard deviation) between rounds.
  const std::vector<double> trueNs = {1120, 1060, 1000, 1300, 1090};
  int right = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed)
    right += raceUnderDrift(trueNs, 0.2, 0.005, seed).winner == 2;
  EXPECT_GE(right, 199);
}

TEST(Race, TwoRunnersAreComparedRoundByRound) {
  int right = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed)
    right += raceUnderDrift({1060, 1000}, 0.2, 0.005, seed).winner == 1;
  EXPECT_GE(right, 198);
}

TEST(Statistics, DriftIsWhatTheCandidatesOfARoundHaveInCommon) {
  const std::vector<double> a = {100, 200, 100}, b = {110, 220, 110}, c = {120, 240, 180};
  const std::vector<uint32_t> rounds = {0, 1, 2};
  const RoundSamples candidates[] = {{a, rounds}, {b, rounds}, {c, rounds}};
  const auto clean = withoutDrift(candidates);
  EXPECT_THAT(clean[0], testing::Each(testing::DoubleNear(100, 1e-9)));
  EXPECT_THAT(clean[1], testing::Each(testing::DoubleNear(110, 1e-9)));
  EXPECT_DOUBLE_EQ(clean[2][2], 180) << "what happened to one candidate alone is its own";
}

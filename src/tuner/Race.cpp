#include "tilewright/tuner/Race.h"

#include <algorithm>

namespace tilewright::tuner {

namespace {

const Runner *leaderOf(const std::vector<Runner> &runners) {
  const Runner *leader = nullptr;
  double best = 0;
  for (const auto &runner : runners) {
    if (runner.out || runner.samplesNs.empty())
      continue;
    const double median = estimate(runner.comparableNs).medianNs;
    if (!leader || median < best) {
      leader = &runner;
      best = median;
    }
  }
  return leader;
}

bool isTie(const Estimate &leader, const Estimate &other, const RacePolicy &policy) {
  if (other.medianNs <= leader.medianNs * (1 + policy.tieWidth))
    return true;
  return other.medianNs <= leader.medianNs * (1 + policy.noisyTieWidth) && other.lowNs <= leader.highNs;
}

bool isBeaten(const Runner &leader, const Runner &runner, const RacePolicy &policy) {
  const double ahead = estimate(leader.comparableNs).medianNs;
  const double behind = estimate(runner.comparableNs).medianNs;
  // One sample can be an accident of the machine, so the fastest of the slower one's samples speaks for it.
  const double bestOfBehind = *std::min_element(runner.comparableNs.begin(), runner.comparableNs.end());
  const bool enough = std::min(leader.samplesNs.size(), runner.samplesNs.size()) >= policy.hopelessSamples;
  if (enough && bestOfBehind > ahead * policy.hopelessRatio)
    return true;
  return behind > ahead * (1 + policy.tieWidth) &&
         separated(leader.comparableNs, runner.comparableNs, policy.separationSamples);
}

bool onlyTiesLeft(const std::vector<Runner> &runners, const Runner &leader, const RacePolicy &policy) {
  const Estimate best = estimate(leader.comparableNs);
  return std::all_of(runners.begin(), runners.end(), [&](const Runner &runner) {
    return runner.out || runner.samplesNs.empty() ||
           estimate(runner.comparableNs).medianNs <= best.medianNs * (1 + policy.tieWidth);
  });
}

void takeOutDrift(std::vector<Runner> &runners) {
  std::vector<RoundSamples> samples;
  for (const auto &runner : runners)
    samples.push_back({runner.samplesNs, runner.rounds});
  auto comparable = withoutDrift(samples);
  for (size_t i = 0; i < runners.size(); ++i)
    runners[i].comparableNs = std::move(comparable[i]);
}

} // namespace

RaceResult race(std::vector<Runner> runners, const RacePolicy &policy,
                const std::function<std::optional<std::vector<double>>(uint32_t, double)> &sample,
                const std::function<void(const Runner &)> &onOut, const std::function<bool()> &keepGoing) {
  RaceResult result;
  for (; result.rounds < policy.maxRounds && result.finished; ++result.rounds) {
    const Runner *leader = leaderOf(runners);
    const auto standing =
        std::count_if(runners.begin(), runners.end(), [](const Runner &r) { return !r.out; });
    if (standing == 0)
      break;
    if (result.rounds >= policy.minRounds && leader &&
        (standing == 1 || onlyTiesLeft(runners, *leader, policy)))
      break;
    for (auto &runner : runners) {
      if (runner.out)
        continue;
      if (!keepGoing()) {
        result.finished = false;
        break;
      }
      leader = leaderOf(runners);
      const auto samples = sample(runner.lane, leader ? estimate(leader->comparableNs).medianNs : 0);
      if (!samples || samples->empty()) {
        runner.out = runner.failed = true;
        onOut(runner);
        continue;
      }
      runner.samplesNs.insert(runner.samplesNs.end(), samples->begin(), samples->end());
      runner.comparableNs.insert(runner.comparableNs.end(), samples->begin(), samples->end());
      runner.rounds.resize(runner.samplesNs.size(), result.rounds);
    }
    takeOutDrift(runners);
    leader = leaderOf(runners);
    for (auto &runner : runners) {
      if (runner.out || !leader || &runner == leader || runner.samplesNs.empty())
        continue;
      if (isBeaten(*leader, runner, policy)) {
        runner.out = true;
        onOut(runner);
      }
    }
  }

  if (const Runner *leader = leaderOf(runners)) {
    const Estimate best = estimate(leader->comparableNs);
    const Runner *winner = leader;
    for (const auto &runner : runners) {
      const bool comparable = !runner.out && runner.samplesNs.size() >=
                                                 std::min<size_t>(leader->samplesNs.size(), policy.minRounds);
      if (comparable && runner.lane < winner->lane && isTie(best, estimate(runner.comparableNs), policy))
        winner = &runner;
    }
    result.winner = winner->lane;
    result.rule = winner == leader ? "fastest" : "tie:plan-order";
  }
  result.runners = std::move(runners);
  return result;
}

} // namespace tilewright::tuner

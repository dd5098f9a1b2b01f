#pragma once
#include "tilewright/tuner/Statistics.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::tuner {

/// When a runner leaves the race, and how far it goes. All numbers are policy, none is a timing of some
/// machine.
struct RacePolicy {
  uint32_t minRounds = 5; ///< nobody wins with fewer samples
  uint32_t maxRounds = 20;
  double hopelessFirstRatio =
      3.0; ///< never races when its first sample and one more without compilations are this far behind
  double hopelessRatio = 1.5; ///< out when the fastest sample is this far behind the leader's median ...
  uint32_t hopelessSamples =
      3; ///< ... and both have at least this many (one alone can be hit by another process)
  uint32_t separationSamples = 5; ///< otherwise out when fully separated with this many samples each
  double tieWidth = 0.01;         ///< medians closer than this are a tie
  double noisyTieWidth = 0.03;    ///< medians closer than this are a tie when their intervals overlap
};

struct Runner {
  uint32_t lane = 0;             ///< the caller's name for it; ties go to the smallest
  std::vector<double> samplesNs; ///< as measured
  bool out = false;
  bool failed = false;               ///< left because a run failed
  std::vector<uint32_t> rounds = {}; ///< the round of each sample
  std::vector<double> comparableNs =
      {}; ///< the samples without the drift of the machine; what decisions are made on
};

struct RaceResult {
  std::vector<Runner> runners;
  std::optional<uint32_t> winner; ///< lane
  std::string rule;               ///< "fastest" or "tie:plan-order"
  uint32_t rounds = 0;
  bool finished = true; ///< false when `keepGoing` ended it
};

/// Interleaved rounds over the survivors: every round takes one sample of each, so that drift of the machine
/// hits all alike, then drops those that are significantly slower than the leader. Ends when only ties are
/// left after `minRounds`, at `maxRounds`, or when `keepGoing` says so (the best so far wins). Decisions are
/// made on samples from which the rounds' common factor was taken out (`withoutDrift`): a machine that slows
/// down in the middle makes the samples scatter, not the candidates.
///
/// The winner is the smallest median; runners that tie with it are equal, and the smallest lane among them
/// wins, so that two runs on a noisy machine agree.
///
/// `sample(lane, leaderNs)` returns the samples of one round (usually one), or nothing when the run failed;
/// `leaderNs` is the leader's median, or 0.
RaceResult
race(std::vector<Runner> runners, const RacePolicy &policy,
     const std::function<std::optional<std::vector<double>>(uint32_t lane, double leaderNs)> &sample,
     const std::function<void(const Runner &)> &onOut, const std::function<bool()> &keepGoing);

} // namespace tilewright::tuner

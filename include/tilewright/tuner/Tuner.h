#pragma once
#include "tilewright/backend/Backend.h"
#include "tilewright/store/Store.h"
#include "tilewright/tuner/Race.h"

#include <chrono>
#include <functional>
#include <memory>

namespace tilewright::tuner {

/// One candidate with the Program that holds for it (candidates on different paths have different Programs).
struct Entrant {
  std::shared_ptr<const Program> program;
  PlannedCandidate planned;
};

enum class Phase : uint8_t { Compile, Race, Done };

/// What a progress line shows.
struct Progress {
  Phase phase = Phase::Compile;
  size_t total = 0; ///< candidates
  size_t compiled = 0;
  size_t checked = 0; ///< ran once and compared
  size_t failed = 0;
  size_t racing = 0; ///< still in the race
  uint32_t round = 0;
  double bestNs = 0; ///< 0: none yet
  Config best;
  double elapsedSeconds = 0;
  std::optional<double> remainingSeconds; ///< estimate
};

struct TuneOptions {
  double budgetSeconds = 0;    ///< 0: none. At its end the best so far wins
  uint32_t compileThreads = 0; ///< 0: all cores; 1: serial (TRITON_AUTOTUNE_PARALLEL_COMPILE=0)
  bool check = true;           ///< compare results with the reference
  RacePolicy race;
  MeasureRequest measure;
  std::function<void(const Progress &)> onProgress;
};

struct Trial {
  Candidate candidate;
  Prediction prediction;
  store::TrialStatus status = store::TrialStatus::Skipped;
  std::string code; ///< reason code unless Ok
  std::string text;
  std::vector<double> samplesNs;
  double timeNs = 0;       ///< median
  bool remembered = false; ///< taken from the store, not run now
};

struct Outcome {
  std::vector<Trial> trials;  ///< in plan order
  std::optional<size_t> best; ///< index into trials
  std::string rule;           ///< how the winner was decided
  store::Method method = store::Method::Measured;
  double wallSeconds = 0;
};

/// Compiles in parallel in plan order, checks and times each candidate as its code arrives, then races the
/// survivors. Trials that the store already has for this key are taken from there. Every trial is recorded
/// the moment it ends; a store that fails is reported once (in `storeProblem`) and tuning goes on.
///
/// Mechanism only comes from `backend`; policy only from here. Errors: Refusal space.empty when no candidate
/// survives (with the reasons of the first failures), or what `openSession` says.
class Tuner {
public:
  Tuner(const Backend &backend, std::shared_ptr<store::Store> store, TuneOptions options);

  Expected<Outcome> tune(const store::TuningKey &key, std::vector<Entrant> entrants, const KernelFacts &facts,
                         const LaunchArguments &arguments, LaunchBuffers buffers);

  const std::optional<Error> &storeProblem() const { return storeProblem_; }

private:
  void record(const store::TuningKey &key, const Trial &trial);

  const Backend &backend_;
  std::shared_ptr<store::Store> store_;
  TuneOptions options_;
  std::optional<Error> storeProblem_;
};

} // namespace tilewright::tuner

#include "tilewright/tuner/Tuner.h"

#include "CompilePool.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <thread>

namespace tilewright::tuner {

using Clock = std::chrono::steady_clock;
using store::TrialStatus;

namespace {

TrialStatus statusOf(TrialOutcome outcome) {
  switch (outcome) {
  case TrialOutcome::Ok:
    return TrialStatus::Ok;
  case TrialOutcome::WrongResult:
    return TrialStatus::WrongResult;
  case TrialOutcome::Crashed:
  case TrialOutcome::TimedOut:
  case TrialOutcome::OutOfBounds:
  case TrialOutcome::Failed:
    return TrialStatus::RunFailed;
  }
  return TrialStatus::RunFailed;
}

/// Whether an earlier trial answers for a candidate now: a finished time, or a failure that will happen
/// again.
bool isFinal(const store::TrialRecord &record, const RacePolicy &policy) {
  switch (record.status) {
  case TrialStatus::Ok:
    return record.samplesNs.size() >= policy.minRounds;
  case TrialStatus::Dropped:
    return !record.samplesNs.empty();
  case TrialStatus::CompileFailed:
    return record.code == "compile.unsupported";
  case TrialStatus::WrongResult:
    return true;
  default:
    return false; // crashes, time-outs and interruptions deserve another try
  }
}

/// Equal code run over an equal grid is one candidate, whatever its configuration says.
std::string codeIdentity(const Artifact &artifact, const Candidate &candidate) {
  return fmt::format("{}:{},{},{}", artifact.digest, candidate.grid[0], candidate.grid[1], candidate.grid[2]);
}

/// The state of one call of tune().
class Session {
public:
  Session(std::vector<Entrant> entrants, const TuneOptions &options)
      : entrants(std::move(entrants)), options(options) {
    trials.reserve(this->entrants.size());
    for (const auto &entrant : this->entrants)
      trials.push_back({entrant.planned.candidate,
                        entrant.planned.prediction,
                        TrialStatus::Skipped,
                        "budget.exhausted",
                        "the time budget ended before its turn",
                        {},
                        0,
                        false});
    artifacts.resize(trials.size());
    duplicateOf.resize(trials.size());
    progress.total = trials.size();
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
  bool timeLeft() const { return options.budgetSeconds <= 0 || elapsed() < options.budgetSeconds; }
  std::optional<Clock::time_point> deadline() const {
    if (options.budgetSeconds <= 0)
      return std::nullopt;
    return begin +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.budgetSeconds));
  }

  void report() {
    if (!options.onProgress)
      return;
    progress.elapsedSeconds = elapsed();
    options.onProgress(progress);
  }
  void noteTime(size_t index, double timeNs) {
    if (progress.bestNs == 0 || timeNs < progress.bestNs) {
      progress.bestNs = timeNs;
      progress.best = trials[index].candidate.config;
    }
  }

  std::vector<Entrant> entrants;
  const TuneOptions &options;
  std::vector<Trial> trials;
  std::vector<std::optional<Artifact>> artifacts; ///< of those in the race
  std::vector<std::optional<size_t>> duplicateOf;
  std::map<std::string, size_t> firstWithCode;
  Progress progress;
  const Clock::time_point begin = Clock::now();
};

Error nobodySurvived(const Session &session) {
  std::map<std::string, std::pair<size_t, std::string>> reasons; // code -> count, first text
  for (const auto &trial : session.trials) {
    auto &[count, text] = reasons[trial.code];
    if (count++ == 0)
      text = fmt::format("{}: {}", trial.candidate.config.toString(), trial.text);
  }
  auto diagnostic =
      makeDiagnostic(Severity::Error, "space.empty",
                     fmt::format("none of the {} candidates could be run", session.trials.size()));
  for (const auto &[code, reason] : reasons)
    diagnostic.note(fmt::format("{} with {}, for example {}", reason.first, code, reason.second));
  return Error(ErrorKind::Refusal, std::move(diagnostic));
}

} // namespace

Tuner::Tuner(const Backend &backend, std::shared_ptr<store::Store> store, TuneOptions options)
    : backend_(backend), store_(std::move(store)), options_(std::move(options)) {}

void Tuner::record(const store::TuningKey &key, const Trial &trial) {
  store::TrialRecord record;
  record.config = trial.candidate.config;
  record.status = trial.status;
  record.code = trial.code;
  record.text = trial.text;
  record.predictedNs = trial.prediction.timeNs;
  record.samplesNs = trial.samplesNs;
  record.bestEstimateNs = trial.timeNs;
  record.method = backend_.measures() ? store::Method::Measured : store::Method::Simulated;
  if (auto done = store_->append(key, record); !done && !storeProblem_)
    storeProblem_ = done.error();
}

Expected<Outcome> Tuner::tune(const store::TuningKey &key, std::vector<Entrant> entrants,
                              const KernelFacts &facts, const LaunchArguments &arguments,
                              LaunchBuffers buffers) {
  if (entrants.empty())
    return fail(ErrorKind::Refusal, "space.empty", "there is no candidate to tune");
  Session session(std::move(entrants), options_);
  const auto method = backend_.measures() ? store::Method::Measured : store::Method::Simulated;

  // What earlier calls found out.
  std::vector<size_t> jobs;
  std::vector<Runner> runners;
  for (size_t i = 0; i < session.trials.size(); ++i) {
    Trial &trial = session.trials[i];
    auto earlier = store_->latestTrial(key, trial.candidate.config, method);
    if (!earlier && !storeProblem_)
      storeProblem_ = earlier.error();
    if (!earlier || !*earlier || !isFinal(**earlier, options_.race)) {
      jobs.push_back(i);
      continue;
    }
    const store::TrialRecord &record = **earlier;
    trial.status = record.status;
    trial.code = record.code;
    trial.text = record.text;
    trial.samplesNs = record.samplesNs;
    trial.timeNs = record.bestEstimateNs;
    trial.remembered = true;
    ++session.progress.compiled;
    ++session.progress.checked;
    if (record.status == TrialStatus::Ok)
      session.noteTime(i, trial.timeNs);
  }

  // Compile in plan order; check and time each once, as its code arrives.
  std::unique_ptr<TrialSession> trialSession;
  if (!jobs.empty()) {
    TW_TRY(trialSession,
           backend_.openSession(*session.entrants[jobs.front()].program, facts, arguments, buffers));
    const uint32_t threads =
        options_.compileThreads ? options_.compileThreads : std::max(1u, std::thread::hardware_concurrency());
    CompilePool pool(jobs, threads, 2 * threads + 2, [&](size_t job) {
      return backend_.compile(*session.entrants[job].program, session.trials[job].candidate, arguments);
    });
    session.report();
    while (session.timeLeft()) {
      auto compiled = pool.next(session.deadline());
      if (!compiled)
        break;
      Trial &trial = session.trials[compiled->job];
      session.progress.compiled = pool.finished() + (session.trials.size() - jobs.size());
      if (!compiled->artifact) {
        trial.status = TrialStatus::CompileFailed;
        trial.code = compiled->artifact.error().code;
        trial.text = compiled->artifact.error().message;
        ++session.progress.failed;
        record(key, trial);
        session.report();
        continue;
      }
      Artifact artifact = *std::move(compiled->artifact);
      const auto [first, isNew] =
          session.firstWithCode.try_emplace(codeIdentity(artifact, trial.candidate), compiled->job);
      if (!isNew) {
        session.duplicateOf[compiled->job] = first->second;
        ++session.progress.checked;
        continue;
      }
      if (auto begun = store_->beginTrial(key, trial.candidate.config, method); !begun && !storeProblem_)
        storeProblem_ = begun.error();
      Measurement measured;
      if (options_.check)
        measured = trialSession->check(artifact, trial.candidate);
      if (measured.outcome == TrialOutcome::Ok) {
        MeasureRequest once = options_.measure;
        once.samples = 1;
        once.warmups = options_.check ? 0 : options_.measure.warmups;
        measured = trialSession->measure(artifact, trial.candidate, once);
      }
      ++session.progress.checked;
      trial.status = statusOf(measured.outcome);
      trial.code = measured.code;
      trial.text = measured.text;
      trial.samplesNs = measured.samplesNs;
      if (trial.status == TrialStatus::Ok && trial.samplesNs.empty()) {
        trial.status = TrialStatus::RunFailed;
        trial.code = "internal";
        trial.text = "the back end returned no sample";
      }
      if (trial.status == TrialStatus::Ok) {
        trial.timeNs = estimate(trial.samplesNs).medianNs;
        session.noteTime(compiled->job, trial.timeNs);
        session.artifacts[compiled->job] = std::move(artifact);
        // The first sample was taken while compilations ran beside it: good enough to drop the hopeless, not
        // to win.
        runners.push_back({static_cast<uint32_t>(compiled->job), {}});
      } else {
        ++session.progress.failed;
      }
      record(key, trial);
      session.report();
    }
  }

  // The race starts from those that are not hopeless by their first sample; each keeps its record.
  double bestFirst = 0;
  for (const auto &runner : runners) {
    const double first = session.trials[runner.lane].timeNs;
    bestFirst = bestFirst == 0 ? first : std::min(bestFirst, first);
  }
  const double hopelessNs = bestFirst * options_.race.hopelessFirstRatio;
  std::erase_if(runners, [&](const Runner &runner) {
    Trial &trial = session.trials[runner.lane];
    if (trial.timeNs > hopelessNs && session.timeLeft()) {
      // The first sample may have been hit by a compilation beside it; a second one in quiet speaks for the
      // candidate.
      MeasureRequest again = options_.measure;
      again.samples = again.warmups = 1;
      again.stopAboveNs = hopelessNs;
      const Measurement quiet =
          trialSession->measure(*session.artifacts[runner.lane], trial.candidate, again);
      if (quiet.outcome == TrialOutcome::Ok && !quiet.samplesNs.empty()) {
        trial.samplesNs.push_back(quiet.samplesNs.front());
        trial.timeNs = *std::min_element(trial.samplesNs.begin(), trial.samplesNs.end());
      }
    }
    if (trial.timeNs <= hopelessNs)
      return false;
    trial.status = TrialStatus::Dropped;
    trial.code = "run.slow";
    trial.text = fmt::format("{:.1f} times the leader's first time in the better of two runs",
                             trial.timeNs / bestFirst);
    session.artifacts[runner.lane].reset();
    record(key, trial);
    return true;
  });
  std::sort(runners.begin(), runners.end(), [](const Runner &a, const Runner &b) { return a.lane < b.lane; });

  session.progress.phase = Phase::Race;
  session.progress.racing = runners.size();
  MeasureRequest perRound = options_.measure;
  perRound.samples = 1;
  perRound.warmups = 1;
  const auto sample = [&](uint32_t lane, double leaderNs) -> std::optional<std::vector<double>> {
    MeasureRequest request = perRound;
    request.stopAboveNs = leaderNs * 10;
    Measurement measured =
        trialSession->measure(*session.artifacts[lane], session.trials[lane].candidate, request);
    if (measured.outcome == TrialOutcome::Ok && !measured.samplesNs.empty())
      return measured.samplesNs;
    session.trials[lane].status = statusOf(measured.outcome);
    session.trials[lane].code = measured.code;
    session.trials[lane].text = measured.text;
    return std::nullopt;
  };
  const auto onOut = [&](const Runner &runner) {
    Trial &trial = session.trials[runner.lane];
    --session.progress.racing;
    if (!runner.failed) {
      trial.status = TrialStatus::Dropped;
      trial.code = "race.dropped";
      trial.samplesNs = runner.samplesNs;
      trial.timeNs = estimate(runner.comparableNs).medianNs;
      trial.text =
          fmt::format("significantly slower than the leader after {} samples", runner.samplesNs.size());
    } else {
      trial.samplesNs.clear();
      trial.timeNs = 0;
      ++session.progress.failed;
    }
    session.artifacts[runner.lane].reset();
    record(key, trial);
    session.report();
  };
  RaceResult raced =
      race(std::move(runners), options_.race, sample, onOut, [&] { return session.timeLeft(); });
  for (const auto &runner : raced.runners) {
    if (runner.out || runner.samplesNs.empty())
      continue; // without a sample of the race, the first one stands
    Trial &trial = session.trials[runner.lane];
    trial.samplesNs = runner.samplesNs;
    trial.timeNs = estimate(runner.comparableNs).medianNs;
    record(key, trial);
  }

  Outcome outcome;
  outcome.method = method;
  outcome.rule = raced.rule;
  if (raced.winner)
    outcome.best = *raced.winner;
  // Without a finished race (budget), or against remembered times: the fastest time decides, ties by plan
  // order.
  for (size_t i = 0; i < session.trials.size(); ++i) {
    const Trial &trial = session.trials[i];
    if (trial.status != TrialStatus::Ok || trial.timeNs <= 0 || (raced.winner && !trial.remembered))
      continue;
    const bool better =
        !outcome.best || trial.timeNs < session.trials[*outcome.best].timeNs * (1 - options_.race.tieWidth);
    if (better) {
      outcome.best = i;
      outcome.rule = trial.remembered ? "fastest:remembered" : "fastest:budget";
    }
  }
  for (size_t i = 0; i < session.trials.size(); ++i) {
    if (!session.duplicateOf[i])
      continue;
    Trial &trial = session.trials[i];
    const Trial &original = session.trials[*session.duplicateOf[i]];
    trial.status = TrialStatus::Skipped;
    trial.code = "duplicate";
    trial.text = fmt::format("same code and grid as {}", original.candidate.config.toString());
    trial.timeNs = original.timeNs;
    record(key, trial);
  }
  if (!outcome.best)
    return Unexpected(nobodySurvived(session));

  outcome.wallSeconds = session.elapsed();
  session.progress.phase = Phase::Done;
  session.report();
  const Trial &best = session.trials[*outcome.best];
  store::ChoiceRecord choice;
  choice.config = best.candidate.config;
  choice.timeNs = best.timeNs;
  choice.method = method;
  choice.rule = outcome.rule;
  choice.why = fmt::format("{} of {} candidates ran",
                           std::count_if(session.trials.begin(), session.trials.end(),
                                         [](const Trial &t) { return t.timeNs > 0; }),
                           session.trials.size());
  choice.wallSeconds = outcome.wallSeconds;
  if (auto done = store_->appendChoice(key, choice); !done && !storeProblem_)
    storeProblem_ = done.error();
  outcome.trials = std::move(session.trials);
  return outcome;
}

} // namespace tilewright::tuner

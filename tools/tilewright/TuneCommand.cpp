#include "Call.h"
#include "ProgressLine.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace tilewright::cli {

namespace {

nlohmann::json trialJson(const tuner::Trial &trial, store::Method method) {
  nlohmann::json samples = nlohmann::json::array();
  for (const double sample : trial.samplesNs)
    samples.push_back(sample / 1e3);
  nlohmann::json out{{"config", toJson(trial.candidate.config)},
                     {"status", store::toString(trial.status)},
                     {"code", trial.code},
                     {"samples", std::move(samples)},
                     {"method", store::toString(method)}};
  out["timeUs"] = trial.timeNs > 0 ? nlohmann::json(trial.timeNs / 1e3) : nlohmann::json(nullptr);
  if (trial.prediction.timeNs > 0)
    out["predictedUs"] = trial.prediction.timeNs / 1e3;
  if (!trial.text.empty())
    out["text"] = trial.text;
  return out;
}

void printTable(const TuneResult &result) {
  std::vector<const tuner::Trial *> byTime;
  for (const auto &trial : result.trials)
    byTime.push_back(&trial);
  std::stable_sort(byTime.begin(), byTime.end(), [](const tuner::Trial *a, const tuner::Trial *b) {
    return (a->timeNs > 0 ? a->timeNs : 1e300) < (b->timeNs > 0 ? b->timeNs : 1e300);
  });
  std::vector<std::vector<std::string>> rows{{"configuration", "predicted", "measured", "samples", "status"}};
  for (const auto *trial : byTime)
    rows.push_back({trial->candidate.config.toString(),
                    trial->prediction.timeNs > 0 ? humanTime(trial->prediction.timeNs) : "",
                    trial->timeNs > 0 ? humanTime(trial->timeNs) : "",
                    fmt::format("{}", trial->samplesNs.size()),
                    fmt::format("{}{}", store::toString(trial->status),
                                trial->code.empty() ? "" : " (" + trial->code + ")")});
  fmt::print("{}", table(rows));
}

void printSummary(const TuneResult &result) {
  std::vector<double> times;
  std::map<std::string, size_t> dropped;
  for (const auto &[code, count] : result.rejectedByCode)
    dropped[code] += static_cast<size_t>(count);
  for (const auto &trial : result.trials) {
    if (trial.timeNs > 0 && trial.code != "duplicate")
      times.push_back(trial.timeNs);
    if (!trial.code.empty())
      ++dropped[trial.code];
  }
  std::sort(times.begin(), times.end());
  if (!dropped.empty()) {
    fmt::print("dropped:");
    const char *separator = " ";
    for (const auto &[code, count] : dropped) {
      fmt::print("{}{} {}", separator, count, code);
      separator = ", ";
    }
    fmt::print("\n");
  }
  fmt::print("best: {}  {} ({})\n", result.best.toString(), humanTime(result.timeNs), result.rule);
  if (!times.empty() && result.timeNs > 0) {
    const double median = times[times.size() / 2];
    fmt::print("      {:.2f} times faster than the median candidate ({}), {:.2f} times than the worst ({})\n",
               median / result.timeNs, humanTime(median), times.back() / result.timeNs,
               humanTime(times.back()));
  }
}

} // namespace

int tuneCommand(const Call &call, const TuneCall &tuneCall) {
  auto kernel = call.load();
  if (!kernel)
    return report(kernel.error(), call.json);
  auto problem = call.problem();
  if (!problem)
    return report(problem.error(), call.json);
  if (tuneCall.method == "simulated" && call.target == "cpu")
    return report(Error(ErrorKind::User, "arg.type", "--method simulated: the CPU target is always measured"),
                  call.json);

  TuneSettings settings;
  auto store = call.openStore();
  if (store)
    settings.store = *store;
  else {
    std::fputs(render(store.error()).c_str(), stderr);
    std::fputs("note: tuning goes on; the result will not be remembered\n", stderr);
    settings.store = store::Store::inMemory();
  }
  settings.options.budgetSeconds = tuneCall.budgetSeconds;
  settings.options.compileThreads = tuneCall.threads;
  settings.keep = tuneCall.keep;
  settings.ignoreRemembered = tuneCall.again;
  if (tuneCall.exhaustive) {
    settings.options.race.hopelessFirstRatio = settings.options.race.hopelessRatio = 1e9;
    settings.options.race.separationSamples = UINT32_MAX;
    settings.options.race.minRounds = settings.options.race.maxRounds;
  }

  auto path = kernel->analyze(*problem);
  if (!path)
    return report(path.error(), call.json);
  auto buffers = SampleBuffers::make(*path->program, problem->arguments);
  if (!buffers)
    return report(buffers.error(), call.json);
  Expected<TuneResult> result = [&] {
    ProgressLine line;
    settings.options.onProgress = [&](const tuner::Progress &progress) { line.show(progress); };
    return kernel->tune(*problem, buffers->view(), settings);
  }();
  if (!result)
    return report(result.error(), call.json);
  if (result->storeProblem)
    std::fputs(render(*result->storeProblem).c_str(), stderr);

  if (call.json) {
    nlohmann::json trials = nlohmann::json::array();
    for (const auto &trial : result->trials)
      trials.push_back(trialJson(trial, result->method));
    const nlohmann::json out{{"best",
                              {{"config", toJson(result->best)},
                               {"timeUs", result->timeNs / 1e3},
                               {"method", store::toString(result->method)}}},
                             {"trials", std::move(trials)},
                             {"rejected", result->rejectedByCode},
                             {"rule", result->rule},
                             {"wallSeconds", result->wallSeconds},
                             {"cached", result->cached}};
    fmt::print("{}\n", out.dump());
    return kDone;
  }
  fmt::print("{} on {}: {}\n", kernel->name(), call.target,
             result->cached
                 ? fmt::format("remembered from {}", settings.store->location())
                 : fmt::format("{} candidates in {:.1f} s", result->trials.size(), result->wallSeconds));
  if (!result->cached)
    printTable(*result);
  printSummary(*result);
  return kDone;
}

} // namespace tilewright::cli

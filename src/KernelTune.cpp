#include "KernelImpl.h"

#include "tilewright/program/Text.h"
#include "tilewright/support/Hash.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

std::shared_ptr<store::Store> storeFor(const TuneSettings &settings, std::optional<Error> &problem) {
  if (settings.store)
    return settings.store;
  auto opened = store::Store::openOrInMemory();
  problem = opened.problem;
  return opened.store;
}

/// What the store knows of a key, as the trials of a result.
std::vector<tuner::Trial> rememberedTrials(const std::vector<store::TrialRecord> &records,
                                           store::Method method) {
  std::map<Config, size_t> place;
  std::vector<tuner::Trial> out;
  for (const auto &record : records) {
    if (record.method != method || record.status == store::TrialStatus::InFlight)
      continue;
    tuner::Trial trial;
    trial.candidate.config = record.config;
    trial.prediction.timeNs = record.predictedNs;
    trial.status = record.status;
    trial.code = record.code;
    trial.text = record.text;
    trial.samplesNs = record.samplesNs;
    trial.timeNs = record.bestEstimateNs;
    trial.remembered = true;
    const auto [found, isNew] = place.try_emplace(record.config, out.size());
    if (isNew)
      out.push_back(std::move(trial));
    else
      out[found->second] = std::move(trial);
  }
  return out;
}

/// Whether a remembered choice still answers the question: every configuration that the caller names was
/// tried, and one of those that may win was chosen.
bool answers(const store::ChoiceRecord &choice, const std::vector<tuner::Trial> &trials,
             const Problem &problem) {
  const auto tried = [&](const Config &config) {
    return std::any_of(trials.begin(), trials.end(),
                       [&](const tuner::Trial &trial) { return trial.candidate.config == config; });
  };
  if (!std::all_of(problem.configs.begin(), problem.configs.end(), tried))
    return false;
  for (const auto &[name, values] : problem.hints.values) {
    const ConfigValue *chosen = choice.config.find(name);
    if (!chosen || std::find(values.begin(), values.end(), *chosen) == values.end())
      return false;
  }
  return !problem.onlyConfigs ||
         std::find(problem.configs.begin(), problem.configs.end(), choice.config) != problem.configs.end();
}

Expected<void> requireGrid(const Problem &problem, const Path &path) {
  if (path.grid)
    return {};
  auto grid = gridOf(problem, *path.program, path.facts.get());
  return grid ? Expected<void>{} : Expected<void>(Unexpected(grid.error()));
}

/// Which set of candidates a search was over, as far as the caller decides it.
std::string searchText(const Problem &problem) {
  std::string out = problem.onlyConfigs ? "only" : "generated";
  for (const auto &[name, values] : problem.hints.values) {
    out += ";" + name + "=";
    for (const auto &value : values)
      out += toString(value) + "|";
  }
  return out;
}

} // namespace

namespace {

/// What the kernel means, without where it stands: equal for a file that was moved, reformatted or commented.
std::string meaningOf(Program program) {
  program.remarks.clear();
  for (auto &condition : program.pathConditions)
    condition.location = {};
  for (auto &requirement : program.requirements)
    requirement.location = {};
  for (auto &op : program.ops)
    op.location = {};
  return print(program);
}

} // namespace

Expected<store::TuningKey> Kernel::tuningKey(const Problem &problem) const {
  TW_TRY(const Path path, impl_->pathFor(problem, {}));
  TW_TRY(const Target target, findTarget(problem.target));
  store::TuningKey key;
  key.kernelIdentity = fmt::format("{}:{}", name(), contentHash(meaningOf(*path.program)));
  key.targetFingerprint = target.fingerprint;
  key.specialization = specializationOf(problem);
  key.keyValues = keyValuesOf(problem);
  key.kernelName = name();
  key.file = this->path();
  key.target = target.name;
  if (auto backend = backendFor(target))
    key.toolchain = (*backend)->toolchain();
  return key;
}

Expected<TuneResult> Kernel::tune(const Problem &problem, LaunchBuffers buffers,
                                  const TuneSettings &settings) const {
  if (!problem.hints.companions.empty())
    return fail(ErrorKind::Unavailable, "host.coupled",
                "candidates are measured with one value of every argument, so companions cannot be measured "
                "yet: list "
                "them with 'candidates' and run a configuration with 'run'");
  TuneResult out;
  auto store = storeFor(settings, out.storeProblem);
  TW_TRY(const store::TuningKey key, tuningKey(problem));
  TW_TRY(const Target target, findTarget(problem.target));
  TW_TRY(const std::shared_ptr<Backend> backend, backendFor(target));
  const auto method = backend->measures() ? store::Method::Measured : store::Method::Simulated;

  if (!settings.ignoreRemembered) {
    auto choice = store->choice(key);
    if (!choice)
      out.storeProblem = choice.error();
    else if (*choice && (*choice)->method == method) {
      auto records = store->trials(key);
      auto trials = records ? rememberedTrials(*records, method) : std::vector<tuner::Trial>{};
      if (records && answers(**choice, trials, problem)) {
        out.best = (*choice)->config;
        out.timeNs = (*choice)->timeNs;
        out.method = (*choice)->method;
        out.rule = (*choice)->rule;
        out.wallSeconds = 0;
        out.trials = std::move(trials);
        out.cached = true;
        return out;
      }
    }
  }

  TW_TRY(KernelPlan plan, this->plan(problem, settings.keep));
  if (plan.ranked.empty())
    return Unexpected(*plan.emptyReason);
  tuner::Tuner tuner(*backend, store, settings.options);
  TW_TRY(tuner::Outcome outcome,
         tuner.tune(key, std::move(plan.ranked), *plan.paths.front().path.facts, problem.arguments, buffers));
  out.best = outcome.trials[*outcome.best].candidate.config;
  out.timeNs = outcome.trials[*outcome.best].timeNs;
  out.method = outcome.method;
  out.rule = outcome.rule;
  out.trials = std::move(outcome.trials);
  out.rejectedByCode = std::move(plan.rejectedByCode);
  out.wallSeconds = outcome.wallSeconds;
  if (tuner.storeProblem())
    out.storeProblem = tuner.storeProblem();
  return out;
}

Expected<std::shared_ptr<const CompiledKernel>> Kernel::compile(const Problem &problem,
                                                                const Config &config) const {
  TW_TRY(const Target target, findTarget(problem.target));
  TW_TRY(const std::shared_ptr<Backend> backend, backendFor(target));
  TW_TRY(const Path path, impl_->pathFor(problem, config));
  TW_TRY(const SymValues values, bindLaunch(*path.program, problem.arguments, config));
  TW_CHECK(requireGrid(problem, path));
  Candidate candidate;
  candidate.config = config;
  TW_TRY(candidate.grid, path.grid->evaluate(config, values));
  TW_TRY(const Artifact artifact, backend->compile(*path.program, candidate, problem.arguments));
  TW_TRY(std::shared_ptr<CompiledKernel> loaded, backend->load(artifact));
  return std::shared_ptr<const CompiledKernel>(std::move(loaded));
}

Expected<void> Kernel::run(const Problem &problem, const Config &config, LaunchBuffers buffers) const {
  TW_TRY(const auto compiled, compile(problem, config));
  TW_TRY(const Path path, impl_->pathFor(problem, config));
  TW_TRY(const SymValues values, bindLaunch(*path.program, problem.arguments, config));
  TW_TRY(const auto grid, path.grid->evaluate(config, values));
  TW_TRY(const std::vector<uint64_t> words, launchWords(*path.program, buffers, values));
  return compiled->launch(words, grid);
}

Expected<void> Kernel::launch(const Problem &problem, LaunchBuffers buffers,
                              const TuneSettings &settings) const {
  const std::string text = fmt::format("{};{};{};{}", problem.target, specializationOf(problem),
                                       keyValuesOf(problem), searchText(problem));
  const std::string digest = contentHash(text);
  uint64_t words[4] = {};
  std::copy(digest.begin(), digest.end(), reinterpret_cast<char *>(words));
  const DispatchEntry *entry = impl_->dispatch.find(words);
  if (!entry) {
    TW_TRY(const TuneResult tuned, tune(problem, buffers, settings));
    TW_TRY(const auto compiled, compile(problem, tuned.best));
    TW_TRY(const Path path, impl_->pathFor(problem, tuned.best));
    entry = impl_->dispatch.insert(words, {compiled, path.program, tuned.best, tuned.timeNs,
                                           std::string(store::toString(tuned.method))});
  }
  TW_TRY(const SymValues values, bindLaunch(*entry->program, problem.arguments, entry->config));
  TW_TRY(const Grid grid, gridOf(problem, *entry->program, nullptr));
  TW_TRY(const auto dims, grid.evaluate(entry->config, values));
  TW_TRY(const std::vector<uint64_t> arguments, launchWords(*entry->program, buffers, values));
  return entry->kernel->launch(arguments, dims);
}

Expected<void> Kernel::interpret(const Problem &problem, const Config &config, LaunchBuffers buffers) const {
  TW_TRY(const Path path, impl_->pathFor(problem, config));
  TW_TRY(const SymValues values, bindLaunch(*path.program, problem.arguments, config));
  TW_CHECK(requireGrid(problem, path));
  TW_TRY(const auto grid, path.grid->evaluate(config, values));
  TW_TRY(const auto arguments, inProgramOrder(*path.program, buffers, values));
  return tilewright::interpret(*path.program, config, grid, arguments);
}

} // namespace tilewright

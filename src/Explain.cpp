#include "KernelImpl.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

std::string inMicroseconds(double ns) { return fmt::format("{:.2f} us", ns / 1e3); }

/// Where the predicted time goes, largest part first.
std::string partsText(const Prediction &prediction) {
  std::vector<std::pair<double, std::string>> parts;
  for (const auto &[name, ns] : prediction.partsNs)
    parts.emplace_back(ns, name);
  std::sort(parts.rbegin(), parts.rend());
  std::vector<std::string> texts;
  for (const auto &[ns, name] : parts)
    texts.push_back(fmt::format("{} {}", name, inMicroseconds(ns)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string trialText(const store::TrialRecord &record) {
  std::string out = fmt::format("  tried: {}", store::toString(record.status));
  if (record.bestEstimateNs > 0)
    out +=
        fmt::format(", {} over {} samples", inMicroseconds(record.bestEstimateNs), record.samplesNs.size());
  if (!record.code.empty())
    out += fmt::format(" [{}] {}", record.code, record.text);
  return out + '\n';
}

std::string domainsText(const CandidateSpace &space) {
  std::string out;
  for (const auto &domain : space.domains) {
    std::vector<std::string> values;
    for (const auto &value : domain.values)
      values.push_back(toString(value));
    out += fmt::format("  {} in {{{}}}: {}\n", domain.parameter, fmt::join(values, ", "), domain.reason);
  }
  return out;
}

} // namespace

Expected<std::string> Kernel::explain(const Problem &problem, const std::optional<Config> &config,
                                      std::shared_ptr<store::Store> store) const {
  std::string out;
  std::optional<store::ChoiceRecord> choice;
  store::TuningKey key;
  if (store) {
    TW_TRY(key, tuningKey(problem));
    if (auto found = store->choice(key))
      choice = *found;
  }

  if (config) {
    TW_CHECK(impl_->pathFor(problem, {}));
    const auto taken = impl_->pathFor(problem, *config);
    if (!taken) // the kernel itself refuses this configuration
      return fmt::format("{} on {}\n  dropped: {} [{}]\n{}", config->toString(), problem.target,
                         taken.error().message, taken.error().code, render(taken.error()));
    const Path &path = *taken;
    TW_TRY(const Target target, findTarget(problem.target));
    TW_TRY(const Grid grid, gridOf(problem, *path.program, path.facts.get()));
    const SpaceRequest request{*path.program, *path.facts,   target,          problem.arguments,
                               grid,          problem.hints, problem.configs, problem.onlyConfigs};
    const auto verdict = judge(request, *config);
    out += fmt::format("{} on {}\n", config->toString(), target.name);
    if (!verdict) {
      out += fmt::format("  dropped: {} [{}]\n", verdict.error().text, verdict.error().code);
      return out;
    }
    const Prediction prediction = predict(request, *verdict);
    out +=
        fmt::format("  feasible: {} programs ({})\n", verdict->grid[0] * verdict->grid[1] * verdict->grid[2],
                    fmt::join(verdict->grid, " x "));
    for (const auto &[space, bytes] : verdict->bytes) {
      const MemorySpace *memory = target.space(space);
      out += fmt::format("  {}: {} bytes{}\n", space, bytes,
                         memory && memory->bytes ? fmt::format(" of {}", memory->bytes) : "");
    }
    out += fmt::format("  predicted {} ({})\n", inMicroseconds(prediction.timeNs), partsText(prediction));
    TW_TRY(const KernelPlan plan, this->plan(problem));
    const auto place =
        std::find_if(plan.ranked.begin(), plan.ranked.end(), [&](const tuner::Entrant &entrant) {
          return entrant.planned.candidate.config == *config;
        });
    if (place != plan.ranked.end())
      out += fmt::format("  rank {} of {}\n", place - plan.ranked.begin() + 1, plan.ranked.size());
    else if (!plan.ranked.empty())
      out += fmt::format("  not generated: the domains hold other values (best predicted: {}, {})\n{}",
                         plan.ranked.front().planned.candidate.config.toString(),
                         inMicroseconds(plan.ranked.front().planned.prediction.timeNs),
                         domainsText(plan.paths.front().space));
    if (store)
      for (const auto method : {store::Method::Measured, store::Method::Simulated})
        if (auto trial = store->latestTrial(key, *config, method); trial && *trial)
          out += trialText(**trial);
    if (choice)
      out += choice->config == *config
                 ? fmt::format("  chosen by rule '{}'\n", choice->rule)
                 : fmt::format("  chosen instead: {} with {}\n", choice->config.toString(),
                               inMicroseconds(choice->timeNs));
    return out;
  }

  TW_TRY(const KernelPlan plan, this->plan(problem));
  out += fmt::format("{} on {}: {} candidates of {} considered\n", name(), plan.target->name,
                     plan.ranked.size(), plan.considered);
  out += domainsText(plan.paths.front().space);
  if (plan.paths.size() > 1)
    out += fmt::format("  the candidates take {} paths through the kernel\n", plan.paths.size());
  for (const auto &[code, count] : plan.rejectedByCode) {
    const auto example = std::find_if(plan.rejected.begin(), plan.rejected.end(),
                                      [&](const Rejection &rejection) { return rejection.code == code; });
    out += fmt::format("  dropped {} [{}]{}\n", count, code,
                       example == plan.rejected.end()
                           ? ""
                           : fmt::format(", for example {}: {}", example->config.toString(), example->text));
  }
  if (plan.emptyReason)
    out += render(*plan.emptyReason);
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < std::min(kShown, plan.ranked.size()); ++i) {
    const auto &planned = plan.ranked[i].planned;
    out += fmt::format("  {}. {}  predicted {} ({})\n", i + 1, planned.candidate.config.toString(),
                       inMicroseconds(planned.prediction.timeNs), partsText(planned.prediction));
  }
  if (choice) {
    out += fmt::format("chosen: {} with {} ({}, rule '{}'); {}\n", choice->config.toString(),
                       inMicroseconds(choice->timeNs), store::toString(choice->method), choice->rule,
                       choice->why);
    if (auto records = store->trials(key)) {
      std::map<Config, store::TrialStatus> last; // a later record of a candidate replaces the earlier ones
      for (const auto &record : *records)
        last[record.config] = record.status;
      std::map<std::string, int64_t> counts;
      for (const auto &[config, status] : last)
        ++counts[std::string(store::toString(status))];
      for (const auto &[status, count] : counts)
        out += fmt::format("  {} candidates ended {}\n", count, status);
    }
  } else if (store) {
    out += "not tuned yet\n";
  }
  return out;
}

} // namespace tilewright

#include "Call.h"

#include <cstdio>
#include <fmt/format.h>

namespace tilewright::cli {

namespace {

/// The story of the key that was tuned last, from its records alone (its source may be gone).
int explainLast(const Call &call) {
  auto store = call.openStore();
  if (!store)
    return report(store.error(), call.json);
  auto key = (*store)->lastKey();
  if (!key)
    return report(key.error(), call.json);
  if (!*key)
    return report(Error(ErrorKind::User, "arg.missing",
                        fmt::format("nothing was tuned yet ({} is empty)", (*store)->location())),
                  call.json);
  auto trials = (*store)->trials(**key);
  auto choice = (*store)->choice(**key);
  if (!trials)
    return report(trials.error(), call.json);
  if (!choice)
    return report(choice.error(), call.json);
  if (call.json) {
    nlohmann::json out{{"kernel", (*key)->kernelName},
                       {"file", (*key)->file},
                       {"target", (*key)->target},
                       {"keyValues", (*key)->keyValues},
                       {"trials", nlohmann::json::array()}};
    if (*choice)
      out["best"] = {{"config", toJson((*choice)->config)},
                     {"timeUs", (*choice)->timeNs / 1e3},
                     {"rule", (*choice)->rule},
                     {"why", (*choice)->why}};
    for (const auto &trial : *trials)
      out["trials"].push_back({{"config", toJson(trial.config)},
                               {"status", store::toString(trial.status)},
                               {"code", trial.code},
                               {"text", trial.text},
                               {"timeUs", trial.bestEstimateNs / 1e3},
                               {"samples", trial.samplesNs.size()}});
    fmt::print("{}\n", out.dump());
    return kDone;
  }
  fmt::print("{} ({}) on {}\n  {}\n", (*key)->kernelName, (*key)->file, (*key)->target, (*key)->keyValues);
  if (*choice)
    fmt::print("chosen: {}  {} by rule '{}'; {}\n", (*choice)->config.toString(),
               humanTime((*choice)->timeNs), (*choice)->rule, (*choice)->why);
  std::vector<std::vector<std::string>> rows{
      {"configuration", "status", "time", "predicted", "samples", "why"}};
  for (const auto &trial : *trials)
    rows.push_back({trial.config.toString(), std::string(store::toString(trial.status)),
                    trial.bestEstimateNs > 0 ? humanTime(trial.bestEstimateNs) : "",
                    trial.predictedNs > 0 ? humanTime(trial.predictedNs) : "",
                    fmt::format("{}", trial.samplesNs.size()), trial.text});
  fmt::print("{}", table(rows));
  return kDone;
}

} // namespace

int explainCommand(const Call &call, bool last, const std::string &candidate) {
  if (last)
    return explainLast(call);
  if (call.kernel.empty())
    return report(Error(ErrorKind::User, "arg.missing", "name a kernel (FILE:KERNEL) or ask for --last"),
                  call.json);
  auto kernel = call.load();
  if (!kernel)
    return report(kernel.error(), call.json);
  auto problem = call.problem();
  if (!problem)
    return report(problem.error(), call.json);
  std::optional<Config> config;
  if (!candidate.empty()) {
    auto parsed = Config::parse(candidate);
    if (!parsed)
      return report(parsed.error(), call.json);
    config = *std::move(parsed);
  }
  auto opened = call.openStore();
  auto story = kernel->explain(*problem, config, opened ? *opened : nullptr);
  if (!story)
    return report(story.error(), call.json);
  if (call.json)
    fmt::print("{}\n",
               nlohmann::json{{"kernel", kernel->name()}, {"target", call.target}, {"text", *story}}.dump());
  else
    fmt::print("{}", *story);
  return kDone;
}

} // namespace tilewright::cli

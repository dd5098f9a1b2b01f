#include "Call.h"

#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::cli {

namespace {

nlohmann::json candidateJson(const tuner::Entrant &entrant, size_t rank) {
  const Candidate &candidate = entrant.planned.candidate;
  return {{"config", toJson(candidate.config)},
          {"predicted",
           {{"timeUs", entrant.planned.prediction.timeNs / 1e3},
            {"bytes", candidate.bytes},
            {"grid", candidate.grid}}},
          {"rank", rank}};
}

} // namespace

int candidatesCommand(const Call &call, bool all, bool jsonLines) {
  const bool json = call.json || jsonLines;
  auto kernel = call.load();
  if (!kernel)
    return report(kernel.error(), json);
  auto problem = call.problem();
  if (!problem)
    return report(problem.error(), json);
  auto plan = kernel->plan(*problem);
  if (!plan)
    return report(plan.error(), json);

  if (json) {
    nlohmann::json out{{"target", plan->target->name},
                       {"kernel", kernel->name()},
                       {"count", plan->ranked.size()},
                       {"considered", plan->considered}};
    if (all || call.onlyConfigs) {
      auto &rejected = out["rejected"] = nlohmann::json::array();
      for (const auto &rejection : plan->rejected)
        rejected.push_back(
            {{"config", toJson(rejection.config)}, {"code", rejection.code}, {"text", rejection.text}});
    } else {
      out["rejected"] = plan->rejectedByCode;
    }
    if (plan->emptyReason)
      out["error"] = toJson(*plan->emptyReason);
    if (jsonLines) {
      fmt::print("{}\n", out.dump());
      for (size_t i = 0; i < plan->ranked.size(); ++i)
        fmt::print("{}\n", candidateJson(plan->ranked[i], i + 1).dump());
    } else {
      auto &list = out["candidates"] = nlohmann::json::array();
      for (size_t i = 0; i < plan->ranked.size(); ++i)
        list.push_back(candidateJson(plan->ranked[i], i + 1));
      fmt::print("{}\n", out.dump());
    }
    if (plan->emptyReason)
      return report(*plan->emptyReason, false);
    return kDone;
  }

  fmt::print("{} on {}: {} candidates of {} considered\n", kernel->name(), plan->target->name,
             plan->ranked.size(), plan->considered);
  std::vector<std::vector<std::string>> rows{
      {"#", "configuration", "programs", "predicted", "bound by", "bytes"}};
  for (size_t i = 0; i < plan->ranked.size(); ++i) {
    const auto &planned = plan->ranked[i].planned;
    std::vector<std::string> bytes;
    for (const auto &[space, count] : planned.candidate.bytes)
      bytes.push_back(fmt::format("{} {}", space, count));
    rows.push_back(
        {fmt::format("{}", i + 1), planned.candidate.config.toString(),
         fmt::format("{}", planned.candidate.grid[0] * planned.candidate.grid[1] * planned.candidate.grid[2]),
         humanTime(planned.prediction.timeNs), std::string(planned.prediction.bound),
         fmt::format("{}", fmt::join(bytes, ", "))});
  }
  if (rows.size() > 1)
    fmt::print("{}", table(rows));
  if (!plan->rejectedByCode.empty()) {
    fmt::print("dropped\n");
    for (const auto &[code, count] : plan->rejectedByCode)
      fmt::print("  {:>6}  {}\n", count, code);
  }
  if (all || call.onlyConfigs)
    for (const auto &rejection : plan->rejected)
      fmt::print("  {}: {} [{}]\n", rejection.config.toString(), rejection.text, rejection.code);
  if (plan->emptyReason)
    return report(*plan->emptyReason, false);
  return kDone;
}

} // namespace tilewright::cli

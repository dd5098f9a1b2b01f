#include "TrialOrder.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tilewright::model {

namespace {

constexpr size_t kHead = 32;      ///< picks that are spread
constexpr size_t kLookedAt = 512; ///< candidates that a pick may come from
constexpr double kNearness = 0.1; ///< what an equal one costs after a pick; halves with each doubling away
constexpr double kOrderWeight = 0.25; ///< of a doubling of a parameter that only orders work, or of a depth

void markRepeats(const WorkloadModel &model, std::vector<PlannedCandidate> &ranked) {
  std::set<Config> seen;
  for (PlannedCandidate &planned : ranked) {
    if (planned.prediction.pipelined)
      continue;
    Config code = planned.candidate.config;
    code.set("num_stages", int64_t{1});
    for (const std::string &name : model.stageParameters())
      code.set(name, int64_t{1});
    planned.repeats = !seen.insert(std::move(code)).second;
  }
}

/// Weighted logarithms of a configuration's numbers, in the order of `names`.
std::vector<double> placeOf(const Config &config, const std::vector<std::pair<std::string, double>> &names) {
  std::vector<double> out;
  out.reserve(names.size());
  for (const auto &[name, weight] : names)
    out.push_back(weight *
                  std::log2(static_cast<double>(std::max<int64_t>(1, config.integer(name).value_or(1)))));
  return out;
}

std::vector<std::pair<std::string, double>> dimensionsOf(const SpaceRequest &request,
                                                         const WorkloadModel &model,
                                                         const std::vector<PlannedCandidate> &ranked) {
  std::set<std::string> names;
  for (size_t i = 0; i < std::min(kLookedAt, ranked.size()); ++i)
    for (const auto &[name, value] : ranked[i].candidate.config.values())
      names.insert(name);
  std::vector<std::pair<std::string, double>> out;
  for (const std::string &name : names) {
    if (std::find(model.stageParameters().begin(), model.stageParameters().end(), name) !=
        model.stageParameters().end())
      continue; // num_stages or its like stands for it
    const ParameterFacts *facts = request.facts.find(name);
    const bool orderOnly = facts && facts->roles.size() == 1 && facts->hasRole(Role::Schedule);
    out.emplace_back(name, orderOnly || name == "num_stages" ? kOrderWeight : 1.0);
  }
  return out;
}

} // namespace

void orderTrials(const SpaceRequest &request, const WorkloadModel &model,
                 std::vector<PlannedCandidate> &ranked) {
  for (PlannedCandidate &planned : ranked)
    planned.orderNs = planned.prediction.timeNs;
  if (request.target.kind != TargetKind::Cuda)
    return;
  markRepeats(model, ranked);
  std::stable_partition(ranked.begin(), ranked.end(),
                        [](const PlannedCandidate &planned) { return !planned.repeats; });
  const auto firstRepeat = std::find_if(ranked.begin(), ranked.end(),
                                        [](const PlannedCandidate &planned) { return planned.repeats; });
  const auto distinct = static_cast<size_t>(firstRepeat - ranked.begin());

  const auto names = dimensionsOf(request, model, ranked);
  const size_t looked = std::min(kLookedAt, distinct);
  std::vector<std::vector<double>> places;
  std::vector<double> factors(looked, 1);
  for (size_t i = 0; i < looked; ++i)
    places.push_back(placeOf(ranked[i].candidate.config, names));
  std::vector<bool> taken(looked, false);
  std::vector<size_t> order;
  double last = 0;
  for (size_t pick = 0; pick < std::min(kHead, looked); ++pick) {
    size_t best = looked;
    for (size_t i = 0; i < looked; ++i)
      if (!taken[i] && (best == looked || ranked[i].prediction.timeNs * factors[i] <
                                              ranked[best].prediction.timeNs * factors[best]))
        best = i;
    taken[best] = true;
    order.push_back(best);
    last = std::max(last, ranked[best].prediction.timeNs * factors[best]);
    ranked[best].orderNs = last;
    for (size_t i = 0; i < looked; ++i) {
      double distance = 0;
      for (size_t d = 0; d < names.size(); ++d)
        distance += std::abs(places[i][d] - places[best][d]);
      factors[i] += kNearness * std::exp2(-distance);
    }
  }
  for (size_t i = 0; i < distinct; ++i)
    if (i >= looked || !taken[i]) {
      order.push_back(i);
      ranked[i].orderNs = std::max(last, ranked[i].prediction.timeNs);
    }
  double behindAll = 0;
  for (size_t i = 0; i < distinct; ++i)
    behindAll = std::max(behindAll, ranked[i].orderNs);
  for (size_t i = distinct; i < ranked.size(); ++i) {
    order.push_back(i);
    ranked[i].orderNs = behindAll + ranked[i].prediction.timeNs;
  }
  std::vector<PlannedCandidate> out;
  out.reserve(ranked.size());
  for (const size_t i : order)
    out.push_back(std::move(ranked[i]));
  ranked = std::move(out);
}

} // namespace tilewright::model

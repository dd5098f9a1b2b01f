#include "TargetTime.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

namespace tilewright {

namespace model {

Prediction total(std::map<std::string, double> partsNs) {
  Prediction out;
  double largest = -1;
  for (auto &[name, ns] : partsNs) {
    if (!std::isfinite(ns) || ns < 0)
      ns = 0;
    out.timeNs += ns;
    if (ns > largest) {
      largest = ns;
      out.bound = name;
    }
  }
  out.partsNs = std::move(partsNs);
  return out;
}

double spreadOverCores(double programNs, double fullProgramNs, double programs, double cores) {
  const double rounds = std::ceil(programs / cores);
  const double even = programNs * programs / std::min(programs, cores);
  return std::clamp(rounds * fullProgramNs, std::min(even, fullProgramNs), even + fullProgramNs);
}

namespace {

Prediction timeOf(const WorkloadModel &model, const Target &target, const Candidate &candidate) {
  const Workload load = model.of(candidate);
  switch (target.kind) {
  case TargetKind::Cpu:
    return cpuTime(load, target);
  case TargetKind::Ascend:
    return ascendTime(load, target, candidate);
  case TargetKind::Cuda:
    return cudaTime(load, target, candidate);
  }
  return {};
}

/// Where no loop is pipelined, every pipelining depth gives the same code: all but the first go to the end.
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
  std::stable_partition(ranked.begin(), ranked.end(),
                        [](const PlannedCandidate &planned) { return !planned.repeats; });
}

/// Variants that differ in nothing but the order of programs and look the same to the model stand a little
/// behind the first of them, so that the head of the list is not one tile in all orders. The first is the one
/// with the longest groups: neighbours then share more.
void spreadScheduleVariants(const SpaceRequest &request, std::vector<PlannedCandidate> &ranked) {
  constexpr double kBehind = 1.03;
  std::vector<std::string> names;
  for (const ParameterFacts &parameter : request.facts.parameters)
    if (parameter.roles.size() == 1 && parameter.hasRole(Role::Schedule))
      names.push_back(parameter.name);
  if (names.empty())
    return;
  std::map<std::pair<Config, double>, std::vector<size_t>> variants;
  for (size_t i = 0; i < ranked.size(); ++i) {
    Config tile = ranked[i].candidate.config;
    for (const std::string &name : names)
      if (tile.contains(name))
        tile.set(name, int64_t{1});
    variants[{std::move(tile), ranked[i].prediction.timeNs}].push_back(i);
  }
  std::vector<double> keys(ranked.size());
  for (auto &[tile, members] : variants) {
    std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
      return ranked[b].candidate.config < ranked[a].candidate.config;
    });
    for (size_t i = 0; i < members.size(); ++i)
      keys[members[i]] = tile.second * std::pow(kBehind, static_cast<double>(i));
  }
  std::vector<size_t> order(ranked.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<PlannedCandidate> out;
  out.reserve(ranked.size());
  for (const size_t i : order)
    out.push_back(std::move(ranked[i]));
  ranked = std::move(out);
}

} // namespace

} // namespace model

Prediction predict(const SpaceRequest &request, const Candidate &candidate) {
  return model::timeOf(model::WorkloadModel(request), request.target, candidate);
}

Plan rank(const SpaceRequest &request, const CandidateSpace &space, size_t keep) {
  Plan out;
  const model::WorkloadModel model(request);
  out.ranked.reserve(space.candidates.size());
  for (const Candidate &candidate : space.candidates)
    out.ranked.push_back({candidate, model::timeOf(model, request.target, candidate)});
  std::stable_sort(out.ranked.begin(), out.ranked.end(),
                   [](const PlannedCandidate &a, const PlannedCandidate &b) {
                     if (a.prediction.timeNs != b.prediction.timeNs)
                       return a.prediction.timeNs < b.prediction.timeNs;
                     return a.candidate.config < b.candidate.config;
                   });
  model::spreadScheduleVariants(request, out.ranked);
  if (request.target.kind == TargetKind::Cuda)
    model::markRepeats(model, out.ranked);
  if (!keep)
    return out;
  size_t generated = 0;
  std::vector<PlannedCandidate> kept;
  for (PlannedCandidate &planned : out.ranked) {
    if (planned.candidate.origin != Origin::Generated || generated++ < keep) {
      kept.push_back(std::move(planned));
      continue;
    }
    out.cut.push_back(
        {planned.candidate.config, "model.rank",
         fmt::format("predicted {:.1f} us ({}), rank {}; the best {} are compiled",
                     planned.prediction.timeNs / 1e3, planned.prediction.bound, generated, keep),
         Origin::Generated});
  }
  out.ranked = std::move(kept);
  return out;
}

} // namespace tilewright

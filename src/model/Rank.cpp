#include "TargetTime.h"
#include "TrialOrder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

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
  model::orderTrials(request, model, out.ranked);
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

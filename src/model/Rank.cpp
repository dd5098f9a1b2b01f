#include "CudaRates.h"
#include "TargetTime.h"
#include "TrialOrder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace tilewright {

Parts::Parts(std::initializer_list<Part> parts) {
  for (const auto &[name, ns] : parts)
    add(name, ns);
}

void Parts::add(std::string_view name, double ns) {
  if (size_ < kMost)
    parts_[size_++] = {name, ns};
}

bool Parts::contains(std::string_view name) const {
  return std::any_of(begin(), end(), [&](const Part &part) { return part.first == name; });
}

namespace model {

Prediction total(Parts parts) {
  Prediction out;
  double largest = -1;
  for (auto &[name, ns] : parts) {
    if (!std::isfinite(ns) || ns < 0)
      ns = 0;
    out.timeNs += ns;
    if (ns > largest) {
      largest = ns;
      out.bound = name;
    }
  }
  out.partsNs = parts;
  return out;
}

double spreadOverCores(double programNs, double fullProgramNs, double programs, double cores) {
  const double rounds = std::ceil(programs / cores);
  const double even = programNs * programs / std::min(programs, cores);
  return std::clamp(rounds * fullProgramNs, std::min(even, fullProgramNs), even + fullProgramNs);
}

namespace {

/// Time of candidates of one request: what they have in common is found once.
class TimeModel {
public:
  explicit TimeModel(const SpaceRequest &request)
      : target_(request.target), workload_(request), cuda_(request.target) {}

  const WorkloadModel &workload() const { return workload_; }
  Prediction of(const Candidate &candidate) {
    workload_.fill(candidate, load_);
    switch (target_.kind) {
    case TargetKind::Cpu:
      return cpuTime(load_, target_);
    case TargetKind::Ascend:
      return ascendTime(load_, target_, candidate);
    case TargetKind::Cuda:
      return cudaTime(load_, cuda_, candidate);
    }
    return {};
  }

private:
  const Target &target_;
  WorkloadModel workload_;
  CudaRates cuda_;
  Workload load_;
};

} // namespace

} // namespace model

Prediction predict(const SpaceRequest &request, const Candidate &candidate) {
  return model::TimeModel(request).of(candidate);
}

Plan rank(const SpaceRequest &request, const CandidateSpace &space, size_t keep) {
  Plan out;
  model::TimeModel model(request);
  std::vector<Prediction> predictions;
  predictions.reserve(space.candidates.size());
  for (const Candidate &candidate : space.candidates)
    predictions.push_back(model.of(candidate));
  std::vector<size_t> order(space.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (predictions[a].timeNs != predictions[b].timeNs)
      return predictions[a].timeNs < predictions[b].timeNs;
    return space.candidates[a].config < space.candidates[b].config;
  });
  out.ranked.reserve(order.size());
  for (const size_t i : order)
    out.ranked.push_back({space.candidates[i], predictions[i]});
  model::orderTrials(request, model.workload(), out.ranked);
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

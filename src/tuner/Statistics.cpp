#include "tilewright/tuner/Statistics.h"

#include <algorithm>
#include <cmath>

namespace tilewright::tuner {

namespace {

double medianOf(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2)
    return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) / 2;
}

} // namespace

Estimate estimate(std::span<const double> samplesNs) {
  constexpr double kMadToStandardError = 1.858;
  constexpr double kFloor = 0.002;
  Estimate out;
  out.samples = samplesNs.size();
  if (samplesNs.empty())
    return out;
  out.medianNs = medianOf({samplesNs.begin(), samplesNs.end()});
  std::vector<double> deviations;
  deviations.reserve(samplesNs.size());
  for (const double sample : samplesNs)
    deviations.push_back(std::abs(sample - out.medianNs));
  const double error =
      std::max(kMadToStandardError * medianOf(std::move(deviations)) / std::sqrt(samplesNs.size()),
               kFloor * out.medianNs);
  out.lowNs = out.medianNs - error;
  out.highNs = out.medianNs + error;
  return out;
}

bool separated(std::span<const double> faster, std::span<const double> slower, size_t atLeast) {
  if (faster.size() < atLeast || slower.size() < atLeast)
    return false;
  return *std::max_element(faster.begin(), faster.end()) < *std::min_element(slower.begin(), slower.end());
}

} // namespace tilewright::tuner

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

std::vector<std::vector<double>> withoutDrift(std::span<const RoundSamples> candidates) {
  uint32_t rounds = 0;
  for (const auto &each : candidates)
    for (const uint32_t round : each.rounds)
      rounds = std::max(rounds, round + 1);
  std::vector<std::vector<double>> relative(rounds);
  for (const auto &each : candidates) {
    if (each.values.empty())
      continue;
    const double own = medianOf({each.values.begin(), each.values.end()});
    for (size_t i = 0; i < each.values.size(); ++i)
      relative[each.rounds[i]].push_back(each.values[i] / own);
  }
  std::vector<double> factors(rounds, 1.0);
  for (uint32_t round = 0; round < rounds; ++round) {
    auto &seen = relative[round];
    if (seen.size() >= 3) {
      factors[round] = medianOf(seen);
    } else if (seen.size() == 2) {
      // Of two, the one that moved less; none if they moved apart.
      const auto [less, more] = std::minmax(seen[0], seen[1]);
      factors[round] = less > 1 ? less : more < 1 ? more : 1.0;
    }
  }
  std::vector<std::vector<double>> out;
  for (const auto &each : candidates) {
    out.emplace_back();
    for (size_t i = 0; i < each.values.size(); ++i)
      out.back().push_back(each.values[i] / factors[each.rounds[i]]);
  }
  return out;
}

bool separated(std::span<const double> faster, std::span<const double> slower, size_t atLeast) {
  if (faster.size() < atLeast || slower.size() < atLeast)
    return false;
  return *std::max_element(faster.begin(), faster.end()) < *std::min_element(slower.begin(), slower.end());
}

} // namespace tilewright::tuner

#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tilewright::tuner {

/// A robust summary of one candidate's samples, in nanoseconds. The median is the estimate; its uncertainty
/// comes from the median absolute deviation, so that a few samples hit by another process do not count.
struct Estimate {
  double medianNs = 0;
  double lowNs = 0;  ///< lower end of the interval for the median
  double highNs = 0; ///< upper end
  size_t samples = 0;
};

/// Interval: median ± 1.858 * MAD / sqrt(n), never narrower than 0.2 % (timer and code placement). 1.858
/// is 1.4826 (MAD to standard deviation of a normal) times 1.2533 (standard error of a median over that of a
/// mean): about one standard error.
Estimate estimate(std::span<const double> samplesNs);

/// One candidate's samples of a race: `values[i]` was taken in round `rounds[i]`.
struct RoundSamples {
  std::span<const double> values;
  std::span<const uint32_t> rounds;
};

/// The samples with the drift of the machine taken out. Each round visits all candidates that are still
/// racing, so what they have in common in a round (a lower clock, a busy neighbour) is the machine's: the
/// round's factor is the median, over the candidates, of sample / the candidate's own median, and every
/// sample is divided by its round's factor. A round with fewer than three samples keeps factor 1 unless both
/// candidates of it moved the same way.
std::vector<std::vector<double>> withoutDrift(std::span<const RoundSamples> candidates);

/// Every sample of `slower` is above every sample of `faster`, and there are at least `atLeast` of each. With
/// 5 samples each, two equal candidates do this by chance once in 252 times (one-sided rank test).
bool separated(std::span<const double> faster, std::span<const double> slower, size_t atLeast);

} // namespace tilewright::tuner

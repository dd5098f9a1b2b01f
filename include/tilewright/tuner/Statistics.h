#pragma once
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

/// Every sample of `slower` is above every sample of `faster`, and there are at least `atLeast` of each. With
/// 5 samples each, two equal candidates do this by chance once in 252 times (one-sided rank test).
bool separated(std::span<const double> faster, std::span<const double> slower, size_t atLeast);

} // namespace tilewright::tuner

#pragma once
#include "Recorded.h"

#include <array>

namespace tilewright::bench {

/// How near the best of the model's first k comes to the best of all, for k = 1, 8, 16 and a tenth of the
/// list: best time / best time of the first k, 1 is perfect. A configuration that could not run takes a place
/// in the order and gives nothing.
struct Recall {
  static constexpr std::array<const char *, 4> kNames{"@1", "@8", "@16", "@10%"};
  std::array<double, 4> at{};
};

/// `timesInOrder`: measured microseconds by the model's order, nothing for what could not run.
Recall recallOf(const std::vector<std::optional<double>> &timesInOrder, double bestUs);

/// Over several shapes: geometric mean, fifth percentile (interpolated) and worst at each k.
struct RecallSummary {
  std::array<double, 4> geomean{}, fifth{}, worst{};
  size_t shapes = 0;
};
RecallSummary summarise(const std::vector<Recall> &recalls);

} // namespace tilewright::bench

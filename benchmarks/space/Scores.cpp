#include "Scores.h"

#include <algorithm>
#include <cmath>

namespace tilewright::bench {

namespace {
/// A list whose first k all failed counts as a hundredth of the best.
constexpr double kNothingRan = 0.01;
} // namespace

Recall recallOf(const std::vector<std::optional<double>> &timesInOrder, double bestUs) {
  const size_t tenth = std::max<size_t>(1, timesInOrder.size() / 10);
  const std::array<size_t, 4> depths{1, 8, 16, tenth};
  Recall out;
  for (size_t i = 0; i < depths.size(); ++i) {
    out.at[i] = kNothingRan;
    for (size_t k = 0; k < std::min(depths[i], timesInOrder.size()); ++k)
      if (timesInOrder[k])
        out.at[i] = std::max(out.at[i], bestUs / *timesInOrder[k]);
  }
  return out;
}

RecallSummary summarise(const std::vector<Recall> &recalls) {
  RecallSummary out;
  out.shapes = recalls.size();
  if (recalls.empty())
    return out;
  for (size_t k = 0; k < out.geomean.size(); ++k) {
    std::vector<double> values;
    double logs = 0;
    for (const Recall &recall : recalls) {
      values.push_back(recall.at[k]);
      logs += std::log(recall.at[k]);
    }
    std::sort(values.begin(), values.end());
    out.geomean[k] = std::exp(logs / static_cast<double>(values.size()));
    out.worst[k] = values.front();
    const double place = 0.05 * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    out.fifth[k] = values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
  }
  return out;
}

} // namespace tilewright::bench

#pragma once
#include <string>
#include <vector>

namespace tilewright::bench {

/// Fits the constants of a CUDA device to the first half of the recorded shapes (GridReplay's split), all
/// families together, and prints them as a device description. One constant at a time is scaled up and down;
/// a step stays when the loss falls:
///
///     mean over shapes of  spread of log(predicted / measured), points weighted by (best / measured)^2
///                          + 0.2 |mean of it| - 0.2 log(recall@1) - 0.4 log(recall@8)
///
/// Deterministic. `rounds`: passes over all constants.
int fitRates(const std::vector<std::string> &folders, const std::string &kernels, const std::string &target,
             int rounds);

} // namespace tilewright::bench

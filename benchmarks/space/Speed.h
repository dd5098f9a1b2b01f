#pragma once
#include <string>

namespace tilewright::bench {

/// Times analysis, and generation with ranking, for the kernels of families.json and examples on three kinds
/// of target: medians of repeated runs, per kernel and over all. Generation is also given per 10,000
/// considered candidates, by timing a list that hints make about that long.
int timeSpaces(const std::string &kernels, int repeats);

} // namespace tilewright::bench

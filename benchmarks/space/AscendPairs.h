#pragma once
#include <string>

namespace tilewright::bench {

/// Orders pairs of configurations whose times somebody published for real Ascend chips, with the analytic
/// model alone, and prints the share that comes out right, per group and over all. Pairs under 2 % apart say
/// nothing; pairs that no Triton kernel can express (hand-written instruction schedules) are counted as left
/// out. `pairsPath`: published_pairs.json; groups and own kernels of the same structure: ascend_groups.json.
int scorePairs(const std::string &pairsPath, const std::string &kernels);

} // namespace tilewright::bench

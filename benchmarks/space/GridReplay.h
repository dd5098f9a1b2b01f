#pragma once
#include <string>
#include <vector>

namespace tilewright::bench {

/// Ranks every recorded GPU configuration with the model and prints how good its first ones are, per shape
/// and family, for the half of the shapes that constants may be fitted on and for the other half.
/// `dumpPath`: where each point goes as one JSON line with its predicted parts; empty for nowhere.
/// Returns a process exit code.
int replayGrids(const std::vector<std::string> &folders, const std::string &kernels,
                const std::string &target, const std::string &dumpPath);

} // namespace tilewright::bench

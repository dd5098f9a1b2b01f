#pragma once
#include "LiveTiles.h"
#include "SharedMemory.h"

#include "tilewright/space/CandidateSpace.h"

namespace tilewright {

/// Memory demand of candidates against a target's capacities. A demand within the plan's error of a capacity
/// passes: the compiler decides those.
class Capacity {
public:
  Capacity(const SpaceRequest &request, const LaunchSymbols &symbols);

  struct Demand {
    std::map<std::string, int64_t> bytes; ///< per memory space
    std::string code;                     ///< empty, or why the candidate cannot run
    std::string text;
  };
  Demand demand(std::span<const int64_t> values, const Config &config) const;

private:
  Demand ascendDemand(std::span<const int64_t> values, const Config &config) const;
  Demand cpuDemand(std::span<const int64_t> values) const;
  Demand cudaDemand(std::span<const int64_t> values, const Config &config) const;

  const Target &target_;
  bool inLoop_ = false; ///< some load runs in a loop, so doubling matters
  LiveTiles single_;
  std::optional<LiveTiles> doubled_;
  std::optional<SharedMemory> shared_; ///< CUDA
  struct DotOperands {
    Formula m, n, k;
    int64_t elementBytes;
  };
  std::vector<DotOperands> dots_;
};

} // namespace tilewright

#pragma once
#include "tilewright/space/CandidateSpace.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright {

/// Bytes that all programs of a candidate ask for, masked-off lanes included: the rough cost by which an
/// oversized product is thinned. Not a time; the model ranks what is left.
class Traffic {
public:
  Traffic(const SpaceRequest &request, const LaunchSymbols &symbols);
  double bytes(std::span<const int64_t> values, const std::array<int64_t, 3> &grid) const;

private:
  struct Access {
    std::vector<Formula> lengths; ///< tile axes, then trip counts of enclosing loops
    double elementBytes;
  };
  std::vector<Access> accesses_;
};

} // namespace tilewright

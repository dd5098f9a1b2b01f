#pragma once
#include "tilewright/analysis/KernelFacts.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright {

/// What divides the places that an access starts its runs at: as a compiler can prove it, and in truth.
///
///     x + row*stride + col,  stride = 4096:  16 elements known;  stride = 4100: 1 known, though 4 divides it
///
/// Triton specialises a launch on whether 16 divides an integer argument and knows nothing else of it; how
/// many elements a thread loads in one instruction follows from that.
class AccessAlignment {
public:
  AccessAlignment(const AccessMap &map, const LaunchSymbols &symbols);

  /// Launch values as such a compiler sees them: what 16 does not divide is odd, what it does not know is 1.
  static std::vector<int64_t> seenValues(const LaunchSymbols &symbols);

  /// Elements, at most 16. `seen`: seenValues with open parameters set.
  int64_t knownStart(std::span<const int64_t> seen) const;
  int64_t knownLength(std::span<const int64_t> seen) const; ///< of a run's valid part
  /// Elements; 0 when every run starts at the buffer's own start.
  int64_t realStart(std::span<const int64_t> values) const;

private:
  std::vector<Formula> steps_; ///< coefficients of everything that moves a run's start
  Formula extent_;             ///< where the mask ends a run, if it does
};

} // namespace tilewright

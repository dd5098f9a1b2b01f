#pragma once
#include "tilewright/space/AccessAlignment.h"
#include "tilewright/space/CandidateSpace.h"

namespace tilewright {

/// Shared memory that Triton's CUDA back end gives a program's loops, in bytes.
///
/// Operands of a dot in a loop stand in shared memory. Where each thread copies at least four bytes at a
/// time, the loop is pipelined: one buffer a stage for warp group matrix instructions (they read the buffer
/// while the next ones fill), one less otherwise; a loop that asks for stages itself
/// (`tl.range(num_stages=)`) is treated the same without a dot. Checked against the sizes of compiled matrix
/// products: the same to the byte except where an epilogue or a small reduction needs more.
class SharedMemory {
public:
  SharedMemory(const SpaceRequest &request, const LaunchSymbols &symbols);

  int64_t bytes(std::span<const int64_t> values, const Config &config) const;

private:
  struct Load {
    std::vector<Formula> shape;
    int64_t elementBytes = 1;
    AccessAlignment alignment;
    int32_t contiguousAxis = -1;
  };
  struct Dot {
    Formula m, n, k;
    int64_t elementBytes = 1;
  };
  struct Loop {
    std::vector<Load> loads;
    std::vector<Dot> dots;
    Formula stages; ///< its own `num_stages`, if it has one
  };
  static int64_t copyBytes(const Load &load, int64_t elements, std::span<const int64_t> seen,
                           int64_t threads);

  const LaunchSymbols &symbols_;
  std::vector<int64_t> seen_;
  bool hasWarpGroups_ = false;
  std::vector<Loop> loops_;
  std::vector<Load> outside_; ///< loads before loops: the left operands that stay
};

} // namespace tilewright

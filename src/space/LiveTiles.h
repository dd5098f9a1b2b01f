#pragma once
#include "tilewright/program/Program.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright {

/// Which tiles of a Program are alive together, as on-chip buffers: the first memory plan, made once per
/// Program and evaluated per candidate.
///
/// Counted are tiles that carry data. Address and mask arithmetic of plain loads and stores becomes transfer
/// sizes and costs nothing; a splat is a scalar operand. A result takes over the buffer of an operand of the
/// same size that dies in the same operation. A loop's carried tile, its initial value and its result are one
/// buffer. The peak is the largest sum over all places of the program.
///
///     x = load; y = load; store(x + y)      two tiles: the sum is written over x
///
/// The rules follow what the Ascend compiler's memory planner was seen to do (its sizes for 48 small
/// kernels); it knows more temporaries than we do, so a plan says how far it may be off.
class LiveTiles {
public:
  /// What a buffer lives in on a chip with a cube unit; elsewhere only the sum counts.
  enum class Place : uint8_t { Vector, CubeOperand, CubeResult };

  /// `doubled`: transfers inside loops get two buffers, and then no result may take over a loaded buffer
  /// there.
  LiveTiles(const Program &program, const LaunchSymbols &symbols, bool doubled, int64_t alignmentBytes);

  struct Peak {
    int64_t vectorBytes = 0;
    int64_t cubeOperandBytes = 0;
    int64_t cubeResultBytes = 0;
    int64_t materialisedBytes = 0; ///< tiles that must exist as a whole even where loops are fused
  };
  Peak peak(std::span<const int64_t> values) const;

  /// The true demand of vector memory is expected within [peak / errorFactor, peak * errorFactor].
  double errorFactor() const { return errorFactor_; }
  bool usesCube() const { return usesCube_; }

private:
  struct TileSize {
    std::vector<Formula> dims;
    int64_t elementBytes = 1;
  };
  struct Share {
    uint32_t size;
    double copies;
  };
  using Point = std::vector<Share>;

  class Builder;

  std::vector<TileSize> sizes_;
  std::vector<Point> vector_, cubeOperand_, cubeResult_, materialised_;
  int64_t alignmentBytes_ = 32;
  double errorFactor_ = 1;
  bool usesCube_ = false;
};

} // namespace tilewright

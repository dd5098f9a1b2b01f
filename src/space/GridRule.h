#pragma once
#include "tilewright/space/CandidateSpace.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright {

/// The grid of each candidate, and the rules about it.
class GridRule {
public:
  GridRule(const SpaceRequest &request, const LaunchSymbols &symbols);

  struct Refusal {
    std::string code, text;
  };
  tl::expected<std::array<int64_t, 3>, Refusal> dims(std::span<const int64_t> values,
                                                     const Config &config) const;

  /// Why a grid of fixed numbers has too few programs for these values; empty when it has enough, or when the
  /// work is not known.
  std::string shortage(std::span<const int64_t> values, const std::array<int64_t, 3> &grid) const;

  /// Open parameters that the grid needs; all of them when the grid is a callback.
  uint64_t openMask() const { return openMask_; }
  /// Asking costs more than evaluating an expression: callbacks are asked last.
  bool isExpensive() const { return request_.grid.isCallback(); }

  /// grid.fixed, when a parameter splits work between programs but the grid does not follow it. `least` holds
  /// the smallest value of each open parameter, `most` the largest (0 where unknown): a grid that has enough
  /// programs even for the smallest tiles is harmless.
  std::optional<Error> fixedGrid(const std::vector<int64_t> &least, const std::vector<int64_t> &most) const;

private:
  bool followsParameter(size_t openIndex, const std::vector<int64_t> &least,
                        const std::vector<int64_t> &most) const;

  const SpaceRequest &request_;
  const LaunchSymbols &symbols_;
  std::vector<Formula> dims_;
  std::optional<std::array<int64_t, 3>> constant_; ///< a grid of fixed numbers
  std::vector<Formula> needed_;                    ///< inferredGrid
  uint64_t openMask_ = 0;
  bool strided_ = false; ///< programs take several shares in turn: any grid is right
};

} // namespace tilewright

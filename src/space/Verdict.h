#pragma once
#include "Capacity.h"
#include "GridRule.h"

namespace tilewright {

/// All rules of one request, compiled: the only place where a configuration is accepted or refused.
/// Generation, hand-written configurations and `explain` ask the same object.
class Verdict {
public:
  explicit Verdict(const SpaceRequest &request);

  const LaunchSymbols &symbols() const { return symbols_; }
  const GridRule &grid() const { return grid_; }

  /// The whole judgement of a complete configuration.
  tl::expected<Candidate, Rejection> judge(const Config &config) const;
  /// The same for one whose names and kinds are known to be right.
  tl::expected<Candidate, Rejection> judgeValues(const Config &config, std::span<const int64_t> values) const;

  /// Constraints that can be decided once the parameters in `assigned` have values and that mention parameter
  /// `last`. Path conditions are left for the end: they are not a verdict on the candidate, only on this
  /// Program.
  std::optional<Rejection> earlyViolation(uint64_t assigned, size_t last,
                                          std::span<const int64_t> values) const;

private:
  struct Rule {
    const Constraint *constraint;
    Formula formula;
  };
  std::optional<Rejection> invalidName(const Config &config) const;
  std::optional<Rejection> violation(const Rule &rule, std::span<const int64_t> values) const;
  std::optional<Rejection> targetRule(const Config &config, std::span<const int64_t> values) const;

  const SpaceRequest &request_;
  LaunchSymbols symbols_;
  std::vector<Rule> rules_;
  GridRule grid_;
  Capacity capacity_;
  uint64_t tileMask_ = 0; ///< parameters that are the length of some tile axis
  struct DotDepth {
    Formula k;
    int64_t least;
  };
  std::vector<DotDepth> dotDepths_;
};

} // namespace tilewright

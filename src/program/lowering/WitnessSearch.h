#pragma once
#include "KernelParameters.h"

namespace tilewright::lowering {

/// Chooses values for open parameters that nobody gave one. Starts with 16 (1 for a flag) and, when an
/// attempt fails for want of a condition (an assertion, a power of two, two extents that must be equal),
/// looks for powers of two that satisfy every condition learned so far. Bounded: a kernel whose assertions no
/// powers of two satisfy is reported, not searched forever.
class WitnessSearch {
public:
  explicit WitnessSearch(const KernelParameters &parameters);

  const SymValues &values() const { return values_; }
  int64_t valueOf(const Parameter &parameter) const { return *values_.get(parameter.symbol.symbolId()); }
  /// Starts again from what the entries say now; conditions learned so far are forgotten.
  void restart(const KernelParameters &parameters);
  /// Takes a condition into account; false when no other choice is left to try.
  bool learn(SymInt condition);

private:
  bool satisfied(const SymValues &values) const;

  SymValues values_;
  struct Free {
    uint32_t symbol;
    SymRange range; ///< what its uses allow
    friend bool operator==(const Free &a, uint32_t symbol) { return a.symbol == symbol; }
  };
  std::vector<Free> free_; ///< symbols that may be chosen
  std::vector<SymInt> conditions_;
};

} // namespace tilewright::lowering

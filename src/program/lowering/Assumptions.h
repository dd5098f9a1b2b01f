#pragma once
#include "KernelParameters.h"
#include "LoweringContext.h"

namespace tilewright::lowering {

/// How far an attempt came: the furthest statement of the kernel itself, then statements executed in all.
struct Progress {
  uint32_t offset = 0;
  uint32_t steps = 0;
  friend bool operator<(const Progress &a, const Progress &b) {
    return a.offset != b.offset ? a.offset < b.offset : a.steps < b.steps;
  }
};

/// Finds out what arguments that nobody gave may be: which dtype is behind a pointer, whether a parameter is a
/// number, a dtype, a text or None, which value a flag has.
///
/// Each parameter has an ordered list of choices, the likeliest first (KernelParameters). When an attempt fails,
/// the parameters that the failing statement depends on come first, then those that decided a branch before it,
/// then all others; of each one choice after the other is tried, and a choice stays when the attempt comes further
/// than any before. Bounded, and the same source always ends at the same choices.
class Assumptions {
public:
  explicit Assumptions(KernelParameters &parameters) : parameters_(parameters) {}

  /// Takes a failed attempt into account. False when nothing is left to try.
  bool learn(const LoweringFailure &failure, const Progress &progress);
  /// Whether choices are being tried just now, so that the last attempt's error is not the one to report.
  bool searching() const { return searching_; }
  /// One remark for each choice that is not the first of its list.
  std::vector<Diagnostic> remarks() const;

private:
  struct Change {
    size_t entry, choice;
  };
  using Trial = std::vector<Change>; ///< made together
  void plan(const LoweringFailure &failure);
  bool next();

  KernelParameters &parameters_;
  std::vector<Trial> trials_;
  size_t tried_ = 0;
  Progress best_;
  bool searching_ = false;
  Trial undo_;
};

} // namespace tilewright::lowering

#pragma once
#include "tilewright/space/CandidateSpace.h"

#include <array>
#include <initializer_list>
#include <string_view>

namespace tilewright {

/// The named parts of a predicted time, in the order in which they were given. At most kMost of them, kept in
/// place: ranking makes ten thousand of these.
class Parts {
public:
  static constexpr size_t kMost = 10;
  using Part = std::pair<std::string_view, double>; ///< a literal's name, nanoseconds

  Parts() = default;
  Parts(std::initializer_list<Part> parts);
  void add(std::string_view name, double ns);

  const Part *begin() const { return parts_.data(); }
  const Part *end() const { return parts_.data() + size_; }
  Part *begin() { return parts_.data(); }
  Part *end() { return parts_.data() + size_; }
  bool contains(std::string_view name) const;

private:
  std::array<Part, kMost> parts_{};
  size_t size_ = 0;
};

/// A predicted time and what it is made of, in nanoseconds.
struct Prediction {
  double timeNs = 0;
  Parts partsNs;                ///< "memory", "compute", "launch", "loop", ...
  std::string_view bound;       ///< the largest part
  bool pipelined = false;       ///< some loop's loads run ahead of their use (CUDA)
  double registersOfThread = 0; ///< wanted, before any limit (CUDA)
  double resident = 0;          ///< programs that a multiprocessor holds at a time (CUDA)
};

struct PlannedCandidate {
  Candidate candidate;
  Prediction prediction;
  /// What the list is sorted by, nanoseconds: the predicted time, and more for one that would teach little
  /// after those before it (see TrialOrder.h).
  double orderNs = 0;
  /// Expected to compile to the same code as one that stands before it (a pipelining depth that nothing
  /// uses).
  bool repeats = false;
};

/// Candidates in the order in which they should be compiled: best predicted first (ties: by configuration),
/// near neighbours of earlier ones somewhat later, and those that repeat the code of another one after all
/// others. The user's configurations always take part, wherever they rank.
struct Plan {
  std::vector<PlannedCandidate> ranked;
  std::vector<Rejection> cut; ///< model.rank: beyond `keep`
};

/// Predicts one candidate. Constants come from the target's description only.
Prediction predict(const SpaceRequest &request, const Candidate &candidate);

/// `keep`: how many generated candidates to keep (all when 0).
Plan rank(const SpaceRequest &request, const CandidateSpace &space, size_t keep = 0);

} // namespace tilewright

#pragma once
#include "tilewright/space/CandidateSpace.h"

namespace tilewright {

/// A predicted time and what it is made of, in nanoseconds.
struct Prediction {
  double timeNs = 0;
  std::map<std::string, double> partsNs; ///< "memory", "compute", "launch", "loop", ...
  std::string bound;                     ///< the largest part
  bool pipelined = false;                ///< some loop's loads run ahead of their use (CUDA)
};

struct PlannedCandidate {
  Candidate candidate;
  Prediction prediction;
  /// What the list is sorted by, nanoseconds: the predicted time, and more for one that would teach little
  /// after those before it (see TrialOrder.h).
  double orderNs = 0;
  /// Expected to compile to the same code as one that stands before it (a pipelining depth that nothing uses).
  bool repeats = false;
};

/// Candidates in the order in which they should be compiled: best predicted first (ties: by configuration), near
/// neighbours of earlier ones somewhat later, and those that repeat the code of another one after all others.
/// The user's configurations always take part, wherever they rank.
struct Plan {
  std::vector<PlannedCandidate> ranked;
  std::vector<Rejection> cut; ///< model.rank: beyond `keep`
};

/// Predicts one candidate. Constants come from the target's description only.
Prediction predict(const SpaceRequest &request, const Candidate &candidate);

/// `keep`: how many generated candidates to keep (all when 0).
Plan rank(const SpaceRequest &request, const CandidateSpace &space, size_t keep = 0);

} // namespace tilewright

#pragma once
#include "Indices.h"

namespace tilewright::analysis {

/// One comparison of a mask or guard, solved for the position that it bounds:
///
///     pid*B + lane0 < n          position = B*pid + lane0,   extent = n
///     K - k*B > lane1            position = lane1 + B*k,     extent = K
///     2*lane0 <= m               position = lane0,           extent = m // 2 + 1
///
/// The lane (if there is one) has coefficient 1 in `position`.
struct Bound {
  SymInt position;
  SymInt extent;
  int32_t lane = -1; ///< tile axis; -1 when only program ids and iterations are compared
  bool joint =
      false; ///< several lanes at once (a linear index against a total): `lane` is -1, `lanes` says which
  uint32_t lanes = 0; ///< bit set of tile axes
};

/// The upper bounds that a 0/1-valued condition implies, from all its conjuncts. min() and max() in a
/// comparison are taken apart: offs < min(n, end) bounds offs by both.
std::vector<Bound> boundsOf(Indices &indices, SymInt condition);

} // namespace tilewright::analysis

#pragma once
#include "tilewright/space/CandidateSpace.h"
#include "tilewright/space/LaunchSymbols.h"

namespace tilewright {

/// What a domain is made from: how one open parameter is used, with this launch's numbers.
struct ParameterUse {
  const Parameter *parameter = nullptr;
  const ParameterFacts *facts = nullptr; ///< may be null: the analysis does not know the parameter
  bool isTileLength = false;             ///< the length of a tile axis itself (tl.arange), not only a step
  bool isContiguous = false;             ///< tiles an axis with unit stride in memory
  bool sharesTile = false;               ///< another open parameter sizes another axis of one of its tiles
  bool powerOfTwo = false;               ///< the language asks for it, on this target
  bool dotRows = false, dotColumns = false, dotDepth = false;
  int64_t leastBytes = 4, mostBytes = 4; ///< of elements along it
  std::optional<int64_t> extent; ///< the longest axis that it tiles; nothing when only known at run time
  std::string extentText;        ///< "n_cols", "M"

  bool hasRole(Role role) const { return facts && facts->hasRole(role); }
  bool inDot() const { return dotRows || dotColumns || dotDepth; }
};

/// One entry per open parameter, in the kernel's order.
std::vector<ParameterUse> parameterUses(const SpaceRequest &request, const LaunchSymbols &symbols);

} // namespace tilewright

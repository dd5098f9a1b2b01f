#pragma once
#include "ParameterUse.h"

namespace tilewright {

/// The values of one dimension of the product, and whether the user asked for them.
struct Dimension {
  Domain domain;
  std::optional<size_t> openIndex; ///< nothing for a compile option
  bool fromHint = false;
};

/// Values for tile lengths and steps on one kind of target, ascending; every one is legal for the language
/// and at least 1. Each function says in `reason` where the values come from.
Domain cpuDomain(const ParameterUse &use, const Target &target);
Domain cudaDomain(const ParameterUse &use, const Target &target);
Domain ascendDomain(const ParameterUse &use, const Target &target, bool usesCube);

/// The smallest legal tile length that covers the whole extent.
Domain oneShotDomain(const ParameterUse &use, const Target &target);

/// Compile options that belong to the product on this target (num_warps, num_stages on CUDA).
std::vector<Dimension> generatedOptions(const SpaceRequest &request);

/// `count` of the values, evenly spaced, with both ends.
void thinDomain(std::vector<ConfigValue> &values, size_t count);

/// The whole list of dimensions for a request: roles, then hints. Fails with space.no-domain, host.coupled,
/// hint.unknown or hint.value; the diagnostics name the parameter and its line.
Expected<std::vector<Dimension>> dimensions(const SpaceRequest &request, const LaunchSymbols &symbols);

} // namespace tilewright

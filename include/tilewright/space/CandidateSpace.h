#pragma once
#include "tilewright/analysis/KernelFacts.h"
#include "tilewright/program/Grid.h"
#include "tilewright/target/Target.h"

#include <array>

namespace tilewright {

/// Extra dimensions that the user asks for: `hints={"GROUP_SIZE_M": [1, 2, 4, 8], "multibuffer": [False,
/// True]}`.
struct Hints {
  std::map<std::string, std::vector<ConfigValue>> values;
  /// Runtime integers that the caller computes from open parameters, as Python expressions like a grid's:
  /// {"n_blocks": "cdiv(n, BLOCK)"}. They are computed anew for each candidate.
  std::map<std::string, std::string> companions;
};

/// Where a candidate comes from.
enum class Origin : uint8_t { Generated, User, Default };

struct Candidate {
  Config config; ///< every open parameter, and compile options
  std::array<int64_t, 3> grid{1, 1, 1};
  Origin origin = Origin::Generated;
  std::map<std::string, int64_t> bytes; ///< planned bytes per memory space ("ub", "scratch", ...)
};

struct Rejection {
  Config config;
  std::string code; ///< ReasonCodes.def
  std::string text; ///< with numbers
  Origin origin = Origin::Generated;
};

/// Values considered for one open parameter, and why these.
struct Domain {
  std::string parameter;
  std::vector<ConfigValue> values;
  std::string reason;
};

/// The result of generation: a pure function of its inputs, same inputs, same list, same order. Never empty
/// without a reason (then `emptyReason` is set).
struct CandidateSpace {
  std::vector<Domain> domains;
  std::vector<Candidate> candidates;
  std::vector<Rejection> rejected;
  std::map<std::string, int64_t> rejectedByCode; ///< counts also what early cut-off never listed one by one
  int64_t considered = 0;
  std::optional<Error> emptyReason;
};

struct SpaceRequest {
  const Program &program;
  const KernelFacts &facts;
  const Target &target;
  const LaunchArguments &arguments;
  const Grid &grid;
  Hints hints = {};
  std::vector<Config> userConfigs = {};
  bool onlyUserConfigs = false;
  int64_t maxCandidates = 4096; ///< larger products are thinned by cost, reported as cost.cut
};

CandidateSpace generate(const SpaceRequest &request);

/// The verdict on one configuration under the same rules: a Candidate, or why not.
tl::expected<Candidate, Rejection> judge(const SpaceRequest &request, const Config &config);

} // namespace tilewright

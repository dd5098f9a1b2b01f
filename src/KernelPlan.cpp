#include "KernelImpl.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

constexpr size_t kMaxPaths = 16; ///< a kernel whose candidates take more ways than this is planned on these

/// Every argument of the kernel must be known before candidates make sense.
Expected<void> requireArguments(const Program &program, const LaunchArguments &arguments) {
  for (const auto &parameter : program.parameters) {
    const bool isRuntime =
        parameter.kind == Parameter::Kind::Pointer || parameter.kind == Parameter::Kind::Scalar;
    if (isRuntime && !arguments.find(parameter.name)) {
      auto diagnostic =
          makeDiagnostic(Severity::Error, "arg.missing",
                         fmt::format("the argument '{}' was not given", parameter.name), parameter.location);
      diagnostic.help(parameter.type.isPointer() ? fmt::format("add -a {}={}[SIZE]", parameter.name,
                                                               tilewright::name(parameter.type.dtype))
                                                 : fmt::format("add -a {}=VALUE", parameter.name));
      return Unexpected(Error(ErrorKind::User, std::move(diagnostic)));
    }
  }
  for (const auto &argument : arguments.values)
    if (!program.findParameter(argument.name)) {
      auto diagnostic =
          makeDiagnostic(Severity::Error, "arg.unknown",
                         fmt::format("'{}' has no argument '{}'", program.kernel, argument.name));
      std::string names;
      for (const auto &parameter : program.parameters)
        names += (names.empty() ? "" : ", ") + parameter.name;
      diagnostic.help("its arguments are " + names);
      return Unexpected(Error(ErrorKind::User, std::move(diagnostic)));
    }
  return {};
}

} // namespace

Expected<KernelPlan> Kernel::plan(const Problem &problem, size_t keep) const {
  KernelPlan out;
  TW_TRY(Target target, findTarget(problem.target));
  out.target = std::make_shared<const Target>(std::move(target));
  TW_TRY(Path base, impl_->pathFor(problem, {}));
  TW_CHECK(requireArguments(*base.program, problem.arguments));
  if (!base.grid)
    if (auto grid = gridOf(problem, *base.program, base.facts.get()); !grid)
      return Unexpected(grid.error());

  std::vector<Path> waiting{base};
  std::set<Config> seen;
  std::set<const Program *> found{base.program.get()};
  while (!waiting.empty() && out.paths.size() < kMaxPaths) {
    Path path = waiting.back();
    waiting.pop_back();
    const SpaceRequest request{*path.program, *path.facts,   *out.target,     problem.arguments,
                               *path.grid,    problem.hints, problem.configs, problem.onlyConfigs};
    CandidateSpace space = generate(request);
    out.considered +=
        out.paths.empty() ? space.considered : 0; // the same product is considered on every path
    // A candidate that takes another branch is planned on its own path.
    for (const auto &rejection : space.rejected) {
      if (rejection.code != "path.condition" || found.size() >= kMaxPaths ||
          std::any_of(found.begin(), found.end(),
                      [&](const Program *known) { return holdsFor(*known, rejection.config); }))
        continue;
      auto other = impl_->pathFor(problem, rejection.config);
      if (other && other->grid && found.insert(other->program.get()).second)
        waiting.push_back(*other);
    }
    PathPlan pathPlan{std::move(path), std::move(space), {}};
    const SpaceRequest stable{*pathPlan.path.program, *pathPlan.path.facts, *out.target,
                              problem.arguments,      *pathPlan.path.grid,  problem.hints,
                              problem.configs,        problem.onlyConfigs};
    pathPlan.plan = rank(stable, pathPlan.space, keep);
    for (auto &candidate : pathPlan.plan.ranked)
      if (seen.insert(candidate.candidate.config).second)
        out.ranked.push_back({pathPlan.path.program, candidate});
    if (pathPlan.space.emptyReason && !out.emptyReason)
      out.emptyReason = pathPlan.space.emptyReason;
    out.paths.push_back(std::move(pathPlan));
  }

  std::stable_sort(
      out.ranked.begin(), out.ranked.end(),
      [](const tuner::Entrant &a, const tuner::Entrant &b) { return a.planned.orderNs < b.planned.orderNs; });
  if (keep && out.paths.size() > 1) {
    size_t generated = 0;
    std::erase_if(out.ranked, [&](const tuner::Entrant &entrant) {
      if (entrant.planned.candidate.origin != Origin::Generated || generated++ < keep)
        return false;
      out.rejected.push_back({entrant.planned.candidate.config, "model.rank",
                              fmt::format("predicted {:.1f} us; the best {} are kept",
                                          entrant.planned.prediction.timeNs / 1e3, keep),
                              Origin::Generated});
      return true;
    });
  }
  std::set<Config> rejectedOnce;
  for (const auto &pathPlan : out.paths) {
    for (const auto &rejection : pathPlan.space.rejected)
      if (!seen.contains(rejection.config) && rejectedOnce.insert(rejection.config).second)
        out.rejected.push_back(rejection);
    for (const auto &rejection : pathPlan.plan.cut)
      if (rejectedOnce.insert(rejection.config).second)
        out.rejected.push_back(rejection);
  }
  std::map<std::string, int64_t> listed;
  for (const auto &rejection : out.rejected)
    ++listed[rejection.code];
  out.rejectedByCode = listed;
  // Counts of what early cut-off never listed one by one come from the base path.
  for (const auto &[code, count] : out.paths.front().space.rejectedByCode)
    if (code != "path.condition")
      out.rejectedByCode[code] = std::max(out.rejectedByCode[code], count);
  if (!out.ranked.empty())
    out.emptyReason.reset();
  else if (!out.emptyReason)
    out.emptyReason =
        Error(ErrorKind::Refusal, "space.empty", fmt::format("no candidate of '{}' is feasible", name()));
  return out;
}

} // namespace tilewright

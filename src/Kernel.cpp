#include "KernelImpl.h"

#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/support/Files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

Expected<Kernel> Kernel::load(const std::string &path, std::string_view name) {
  TW_TRY(SourceFilePtr source, readSourceFile(path));
  return fromSource(std::move(source), name);
}

Expected<Kernel> Kernel::fromSource(SourceFilePtr source, std::string_view name) {
  // A broken function elsewhere in the file must not hide this kernel.
  auto [module, problems] = lang::parseTolerant(source);
  const auto brokenFile = [&] {
    Error error(ErrorKind::User, problems.front());
    error.diagnostics = std::move(problems);
    return Unexpected(std::move(error));
  };
  const auto kernels = kernelsOf(module);
  if (name.empty()) {
    std::vector<std::string> entries;
    for (const auto &kernel : kernels)
      if (!kernel.calledByAnother)
        entries.push_back(kernel.name);
    if (!problems.empty())
      return brokenFile();
    if (entries.size() != 1)
      return fail(ErrorKind::User, "lower.no-kernel",
                  entries.empty() ? fmt::format("{} has no @triton.jit function", source->path())
                                  : fmt::format("{} has several kernels; name one of: {}", source->path(),
                                                fmt::join(entries, ", ")));
    return Kernel(std::make_shared<Impl>(std::move(source), std::move(module), entries.front()));
  }
  for (const auto &kernel : kernels)
    if (kernel.name == name)
      return Kernel(std::make_shared<Impl>(std::move(source), std::move(module), std::string(name)));
  if (!problems.empty())
    return brokenFile();
  std::vector<std::string> names;
  for (const auto &kernel : kernels)
    names.push_back(kernel.name);
  return fail(ErrorKind::User, "lower.no-kernel",
              names.empty() ? fmt::format("{} has no @triton.jit function", source->path())
                            : fmt::format("{} has no kernel '{}'; it has: {}", source->path(), name,
                                          fmt::join(names, ", ")));
}

const std::string &Kernel::name() const { return impl_->name; }
const std::string &Kernel::path() const { return impl_->source->path(); }

Expected<Path> Kernel::analyze(const Problem &problem, const Config &witness) const {
  return impl_->pathFor(problem, witness);
}

bool holdsFor(const Program &program, const Config &config) {
  const auto values = program.bind(config);
  if (!values)
    return false;
  for (const auto &decision : program.pathConditions)
    if (evaluate(decision.condition, *values) != 1)
      return false;
  return true;
}

Expected<Path> Kernel::Impl::pathFor(const Problem &problem, const Config &config) {
  std::shared_ptr<Specialization> specialization;
  {
    std::scoped_lock lock(mutex);
    auto &slot = specializations[specializationOf(problem) + ";" + keyValuesOf(problem)];
    if (!slot)
      slot = std::make_shared<Specialization>();
    specialization = slot;
  }
  std::scoped_lock lock(specialization->mutex);
  const auto withGrid = [&](Path path) -> Expected<Path> {
    auto grid = gridOf(problem, *path.program, path.facts.get());
    if (grid) {
      path.facts = std::make_shared<const KernelFacts>(tilewright::analyze(*path.program, &*grid));
      path.grid = std::make_shared<const Grid>(*std::move(grid));
    } else if (grid.error().code != "grid.missing") {
      return Unexpected(grid.error());
    }
    return path;
  };
  for (const Path &known : specialization->paths)
    if (config.empty() || holdsFor(*known.program, config))
      return withGrid(known);
  LoweringOptions options;
  options.witness = config;
  // A companion's value changes with the candidate, so the one of this launch says nothing (not even that it
  // is 1).
  LaunchArguments arguments = problem.arguments;
  std::erase_if(arguments.values,
                [&](const Argument &each) { return problem.hints.companions.contains(each.name); });
  TW_TRY(Program program, lower(module, name, arguments, options));
  TW_CHECK(declareCompanions(program, problem));
  Path path;
  path.program = std::make_shared<const Program>(std::move(program));
  path.facts = std::make_shared<const KernelFacts>(tilewright::analyze(*path.program));
  specialization->paths.push_back(path);
  return withGrid(std::move(path));
}

std::string_view version() { return TILEWRIGHT_VERSION; }

} // namespace tilewright

#pragma once
#include "tilewright/dispatch/DispatchTable.h"
#include "tilewright/lang/Ast.h"
#include "tilewright/tilewright.h"

#include <map>
#include <mutex>

namespace tilewright {

/// A kernel's source, and the Programs that were lowered from it so far, by specialisation and path.
struct Kernel::Impl {
  SourceFilePtr source;
  lang::Module module;
  std::string name;

  /// Paths of one specialisation, in the order of their discovery; the first is the base path.
  struct Specialization {
    std::mutex mutex;
    std::vector<Path> paths;
  };
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Specialization>> specializations;
  DispatchTable dispatch;

  Impl(SourceFilePtr source, lang::Module module, std::string name)
      : source(std::move(source)), module(std::move(module)), name(std::move(name)) {}

  /// The path that holds for `config` (an empty one: the base path), lowering it when it is new.
  Expected<Path> pathFor(const Problem &problem, const Config &config);
};

/// Whether the Program's recorded decisions are the ones that `config` would take.
bool holdsFor(const Program &program, const Config &config);

/// Canonical text of what changes the compiled code besides the configuration: argument kinds and dtypes,
/// integers that are 1 or need 64 bits, and constexpr values.
std::string specializationOf(const Problem &problem);
/// Canonical text of the values that the tuning key consists of: those named by `key`, else every integer and
/// shape.
std::string keyValuesOf(const Problem &problem);

/// The grid of a problem over a Program's symbols. Without any given, the one that the analysis inferred.
Expected<Grid> gridOf(const Problem &problem, const Program &program, const KernelFacts *facts);

/// Puts the problem's companion expressions into the Program's parameters.
Expected<void> declareCompanions(Program &program, const Problem &problem);

/// Runtime arguments in the Program's order, as CompiledKernel::launch takes them; companions have their
/// value from `values`.
Expected<std::vector<uint64_t>> launchWords(const Program &program, LaunchBuffers buffers,
                                            const SymValues &values);
/// The same, as the interpreter takes them.
Expected<std::vector<RuntimeArgument>> inProgramOrder(const Program &program, LaunchBuffers buffers,
                                                      const SymValues &values);

/// The back end that measures for a target.
Expected<std::shared_ptr<Backend>> backendFor(const Target &target);

} // namespace tilewright

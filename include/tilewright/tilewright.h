#pragma once
#include "tilewright/analysis/KernelFacts.h"
#include "tilewright/backend/Backend.h"
#include "tilewright/model/Plan.h"
#include "tilewright/store/Store.h"
#include "tilewright/target/Target.h"
#include "tilewright/tuner/Tuner.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Tilewright for C++ programs, in five calls:
///
///     auto kernel = tilewright::Kernel::load("softmax.py", "softmax_online");       // 1 read
///     tilewright::Problem problem;                                                  //   what a launch looks
///     like problem.arguments = ...; problem.grid = "(cdiv(n_rows, ROWS),)"; auto plan  =
///     kernel->plan(problem);                                           // 2 candidates, ranked, with reasons
///     auto tuned = kernel->tune(problem, buffers);                                  // 3 measured,
///     remembered std::cout << kernel->explain(problem, {}).value();                            // 4 why
///     kernel->launch(problem, buffers);                                             // 5 run with the choice
namespace tilewright {

/// One launch to tune for: arguments, grid, target and the caller's wishes.
struct Problem {
  LaunchArguments arguments;
  std::string grid;            ///< a Python expression; empty: inferred, or `gridCallback`
  Grid::Callback gridCallback; ///< asked once per configuration; wins over `grid`
  std::optional<std::array<int64_t, 3>> fixedGrid; ///< plain numbers; wins over both
  std::vector<std::string> key;                    ///< arguments whose values are part of the tuning key
  std::string target = "cpu";
  Hints hints;
  std::vector<Config> configs; ///< hand-written ones
  bool onlyConfigs = false;    ///< generate nothing
};

/// A Program with what was found out about it. Candidates on another path of the kernel have another one.
struct Path {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const KernelFacts> facts;
  std::shared_ptr<const Grid> grid;
};

struct PathPlan {
  Path path;
  CandidateSpace space;
  Plan plan;
};

/// The candidates of a problem, over all paths through the kernel that they take.
struct KernelPlan {
  std::shared_ptr<const Target> target;
  std::vector<PathPlan> paths;
  std::vector<tuner::Entrant> ranked; ///< all paths together, best predicted first
  std::vector<Rejection> rejected;    ///< incl. model.rank
  std::map<std::string, int64_t> rejectedByCode;
  int64_t considered = 0;
  std::optional<Error> emptyReason; ///< set when `ranked` is empty
};

struct TuneSettings {
  std::shared_ptr<store::Store> store; ///< null: the default store, or memory when it cannot be opened
  tuner::TuneOptions options;
  size_t keep = 0;               ///< measure at most this many generated candidates; 0: all
  bool ignoreRemembered = false; ///< tune again although the store has a choice
};

struct TuneResult {
  Config best;
  double timeNs = 0;
  store::Method method = store::Method::Measured;
  std::string rule;
  std::vector<tuner::Trial> trials;              ///< from this call, or from the store when `cached`
  std::map<std::string, int64_t> rejectedByCode; ///< empty when `cached`
  double wallSeconds = 0;
  bool cached = false;
  std::optional<Error> storeProblem; ///< the store failed; tuning went on without it
};

/// Memory that stands in for the caller's buffers: random values that the dtype holds well, index tensors
/// within their range, seeded. Scalars come from the arguments.
class SampleBuffers {
public:
  static Expected<SampleBuffers> make(const Program &program, const LaunchArguments &arguments,
                                      uint64_t seed = 1);
  LaunchBuffers view() const { return arguments_; }

private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<RuntimeArgument> arguments_;
};

/// A kernel read from source. Cheap to copy; safe to use from many threads.
class Kernel {
public:
  static Expected<Kernel> load(const std::string &path, std::string_view name);
  static Expected<Kernel> fromSource(SourceFilePtr source, std::string_view name);

  const std::string &name() const;
  const std::string &path() const;

  /// Lowers for the given arguments (and a witness) and analyses. The grid may be absent.
  Expected<Path> analyze(const Problem &problem, const Config &witness = {}) const;
  Expected<KernelPlan> plan(const Problem &problem, size_t keep = 0) const;
  Expected<TuneResult> tune(const Problem &problem, LaunchBuffers buffers,
                            const TuneSettings &settings = {}) const;
  /// Runs the chosen configuration on the caller's memory, tuning first when nothing is remembered.
  Expected<void> launch(const Problem &problem, LaunchBuffers buffers,
                        const TuneSettings &settings = {}) const;
  /// Runs one configuration on the caller's memory.
  Expected<void> run(const Problem &problem, const Config &config, LaunchBuffers buffers) const;
  /// Executes one configuration with the interpreter.
  Expected<void> interpret(const Problem &problem, const Config &config, LaunchBuffers buffers) const;
  /// The story of a problem (or of one configuration) in words: kept or dropped, by which rule, with the
  /// numbers.
  Expected<std::string> explain(const Problem &problem, const std::optional<Config> &config,
                                std::shared_ptr<store::Store> store = nullptr) const;

  /// The store key of a problem.
  Expected<store::TuningKey> tuningKey(const Problem &problem) const;
  /// Compiled code for one configuration, loaded.
  Expected<std::shared_ptr<const CompiledKernel>> compile(const Problem &problem, const Config &config) const;

  struct Impl;

private:
  explicit Kernel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// The version of Tilewright, "0.1.0".
std::string_view version();

} // namespace tilewright

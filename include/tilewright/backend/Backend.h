#pragma once
#include "tilewright/interp/Interpreter.h"
#include "tilewright/model/Plan.h"

#include <chrono>
#include <memory>
#include <span>

namespace tilewright {

/// Memory and scalars of one launch, as the caller has them.
using LaunchBuffers = std::span<const RuntimeArgument>;

/// Code for one candidate, ready to launch in this process. Immutable; safe to launch from several threads.
class CompiledKernel {
public:
  virtual ~CompiledKernel() = default;
  /// Runs the whole grid; returns when all programs are done. Arguments are the runtime arguments of the
  /// Program in order: `arguments[i]` is a data pointer for pointers, else the scalar's bits (integers
  /// sign-extended to 64 bits, floats as a double's bits).
  virtual Expected<void> launch(std::span<const uint64_t> arguments, std::array<int64_t, 3> grid) const = 0;
  virtual std::string_view contentDigest() const = 0; ///< equal for equal code
};

/// Compiled bytes that can be stored, sent to another process and loaded.
struct Artifact {
  std::string bytes;  ///< object code or what the target runs
  std::string digest; ///< content hash: equal code, equal digest
  std::string entry;
  Config config;
  std::map<std::string, int64_t> bytesUsed; ///< per memory space, as the compiler says
  double compileNs = 0;
};

enum class TrialOutcome : uint8_t { Ok, Crashed, TimedOut, OutOfBounds, WrongResult, Failed };

/// What came of running one candidate once or more.
struct Measurement {
  TrialOutcome outcome = TrialOutcome::Ok;
  std::string code; ///< reason code unless Ok
  std::string text;
  std::vector<double> samplesNs;
};

struct MeasureRequest {
  uint32_t warmups = 1;
  uint32_t samples = 5;
  double minSampleNs = 20'000; ///< short kernels are repeated within one sample and divided
  double stopAboveNs = 0;      ///< stop after one run when it took longer than this (0: never)
  std::chrono::milliseconds timeout{10'000};
};

/// A trial session for one launch: the back end has its own copies of the caller's buffers, so nothing a
/// trial does reaches the caller. Not thread-safe: measurements run one at a time.
class TrialSession {
public:
  virtual ~TrialSession() = default;
  /// Restores the inputs, runs once and compares every written buffer with the reference (the first
  /// successful result becomes the reference if none was given). Tolerances come from dtype and reduction
  /// length.
  virtual Measurement check(const Artifact &artifact, const Candidate &candidate) = 0;
  virtual Measurement measure(const Artifact &artifact, const Candidate &candidate,
                              const MeasureRequest &request) = 0;
};

/// One way to compile and run candidates. Thread-safe.
class Backend {
public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual std::string toolchain() const = 0; ///< versions that a stored result depends on
  virtual bool measures() const = 0;         ///< false: times are simulated
  virtual Expected<Artifact> compile(const Program &program, const Candidate &candidate,
                                     const LaunchArguments &arguments) const = 0;
  virtual Expected<std::unique_ptr<TrialSession>> openSession(const Program &program,
                                                              const KernelFacts &facts,
                                                              const LaunchArguments &arguments,
                                                              LaunchBuffers buffers) const = 0;
  virtual Expected<std::shared_ptr<CompiledKernel>> load(const Artifact &artifact) const = 0;
};

} // namespace tilewright

#pragma once
#include "TrialMemory.h"
#include "WorkerProcess.h"
#include "WorkerProtocol.h"

#include "tilewright/backend/cpu/CpuBackend.h"

#include <set>

namespace tilewright::cpu {

/// Trials of one launch in a worker process of its own. When a candidate kills the worker, the next one gets
/// a fresh worker that maps the same shared file: inputs are not copied again, the reference result is still
/// there.
class CpuSession final : public TrialSession {
public:
  static Expected<std::unique_ptr<TrialSession>> open(std::string workerProgram, const Program &program,
                                                      const KernelFacts &facts,
                                                      const LaunchArguments &arguments, LaunchBuffers buffers,
                                                      const CpuOptions &options);

  Measurement check(const Artifact &artifact, const Candidate &candidate) override;
  Measurement measure(const Artifact &artifact, const Candidate &candidate,
                      const MeasureRequest &request) override;

private:
  CpuSession(std::string workerProgram, KernelFacts facts, LaunchArguments arguments, TrialLayout layout,
             TrialFile file, std::vector<uint64_t> words, const CpuOptions &options);
  Expected<void> ensureWorker();
  TrialCall callFor(const Artifact &artifact, const Candidate &candidate) const;
  /// The answer, or the Measurement that a failure amounts to.
  tl::expected<WorkerAnswer, Measurement> ask(const WorkerRequest &request, const std::string &digest,
                                              std::chrono::milliseconds timeout);
  Measurement afterDeath(const WorkerEnd &end, std::chrono::milliseconds timeout);

  const std::string workerProgram_;
  const KernelFacts facts_;
  const LaunchArguments arguments_;
  const TrialLayout layout_;
  TrialFile file_;
  const std::vector<uint64_t> words_; ///< launch arguments; pointers are zero
  const std::chrono::milliseconds checkTimeout_;
  const uint32_t threads_;
  std::unique_ptr<WorkerProcess> worker_;
  std::set<std::string> loaded_; ///< digests that the worker has
  bool hasReference_ = false;
};

} // namespace tilewright::cpu

#pragma once
#include "GuardedMemory.h"
#include "LoadedKernel.h"
#include "WorkerProtocol.h"

#include <map>

namespace tilewright::cpu {

/// Runs candidates on the guarded copies of one launch's memory. Lives in the worker; runs through the same
/// launch path as production (LoadedKernel, LaunchPool), so that what is timed is what will run.
class TrialRunner {
public:
  TrialRunner(std::shared_ptr<Jit> jit, std::shared_ptr<const LaunchPool> pool,
              std::unique_ptr<GuardedMemory> memory);

  /// Restores what runs may have changed, runs once between strict guards, compares with the reference or
  /// becomes it.
  Expected<CheckAnswer> check(CheckRequest request);
  Expected<Measurement> time(TimeRequest request);

private:
  Expected<std::shared_ptr<LoadedKernel>> kernelFor(TrialCall &call);
  std::vector<uint64_t> fillIn(std::vector<uint64_t> arguments) const;
  void noticeWrites();
  Measurement compareWithReference(const CheckRequest &request) const;

  const std::shared_ptr<Jit> jit_;
  const std::shared_ptr<const LaunchPool> pool_;
  const std::unique_ptr<GuardedMemory> memory_;
  std::map<std::string, std::shared_ptr<LoadedKernel>> kernels_; ///< by digest
  std::vector<bool> written_;                                    ///< regions that runs change
  std::vector<bool> readBack_; ///< of those, the ones whose content decides what a run does
};

} // namespace tilewright::cpu

#pragma once
#include "Jit.h"
#include "LaunchPool.h"

#include "tilewright/backend/Backend.h"

namespace tilewright::cpu {

/// A kernel of the CPU back end in this process. Launching checks the argument count and the grid, then runs
/// the compiled code: nothing is allocated on the way except the threads' scratch on first use.
class LoadedKernel final : public CompiledKernel {
public:
  static Expected<std::shared_ptr<LoadedKernel>> load(Jit &jit, std::shared_ptr<const LaunchPool> pool,
                                                      ObjectCode code);

  Expected<void> launch(std::span<const uint64_t> arguments, std::array<int64_t, 3> grid) const override;
  std::string_view contentDigest() const override { return digest_; }

private:
  LoadedKernel(std::unique_ptr<LoadedCode> loaded, std::shared_ptr<const LaunchPool> pool, ObjectCode code);
  Unexpected failure(int32_t code) const;

  const std::unique_ptr<LoadedCode> loaded_;
  const std::shared_ptr<const LaunchPool> pool_;
  ObjectCode code_; ///< without the object's bytes
  const std::string digest_;
  mutable ProgramCost cost_{0};
};

} // namespace tilewright::cpu

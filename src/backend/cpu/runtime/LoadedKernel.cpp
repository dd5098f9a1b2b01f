#include "LoadedKernel.h"

#include <fmt/format.h>

namespace tilewright::cpu {

LoadedKernel::LoadedKernel(std::unique_ptr<LoadedCode> loaded, std::shared_ptr<const LaunchPool> pool,
                           ObjectCode code)
    : loaded_(std::move(loaded)), pool_(std::move(pool)), code_(std::move(code)), digest_(code_.digest()) {
  code_.object = {};
}

Expected<std::shared_ptr<LoadedKernel>> LoadedKernel::load(Jit &jit, std::shared_ptr<const LaunchPool> pool,
                                                           ObjectCode code) {
  TW_TRY(auto loaded, jit.load(code));
  return std::shared_ptr<LoadedKernel>(new LoadedKernel(std::move(loaded), std::move(pool), std::move(code)));
}

Expected<void> LoadedKernel::launch(std::span<const uint64_t> arguments, std::array<int64_t, 3> grid) const {
  if (code_.argumentCount && *code_.argumentCount != arguments.size())
    return fail(ErrorKind::User, "arg.missing",
                fmt::format("the kernel takes {} runtime arguments, {} were given", *code_.argumentCount,
                            arguments.size()));
  int64_t programs = 1;
  for (const int64_t extent : grid) {
    if (extent < 0 || __builtin_mul_overflow(programs, extent, &programs))
      return fail(ErrorKind::User, "grid.limit",
                  fmt::format("a grid of {} x {} x {} programs", grid[0], grid[1], grid[2]));
  }
  if (programs == 0)
    return {};
  const KernelFrame frame{arguments.data(), {grid[0], grid[1], grid[2]}};
  const GridRun run{.span = loaded_->entry(),
                    .frame = &frame,
                    .programs = programs,
                    .scratchBytes = static_cast<size_t>(code_.scratchBytes),
                    .maxThreads = code_.threads,
                    .cost = &cost_};
  if (const int32_t failed = pool_->run(run))
    return failure(failed);
  return {};
}

Unexpected LoadedKernel::failure(int32_t code) const {
  if (code == LaunchPool::kNoScratch)
    return fail(ErrorKind::Refusal, "capacity.scratch",
                fmt::format("no memory for {} bytes of scratch on each thread", code_.scratchBytes));
  const auto index = static_cast<size_t>(code) - 1;
  return fail(ErrorKind::User, "run.device-assert",
              index < code_.assertions.size() ? code_.assertions[index]
                                              : fmt::format("device assertion {} failed", index));
}

} // namespace tilewright::cpu

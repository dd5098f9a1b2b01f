#include "tilewright/backend/cpu/CpuBackend.h"

#include "CompileProgram.h"
#include "CpuSession.h"
#include "Jit.h"
#include "LoadedKernel.h"
#include "ObjectCodeFormat.h"
#include "WorkerPool.h"

#include "tilewright/program/Text.h"
#include "tilewright/support/Hash.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>

namespace tilewright::cpu {

namespace {

class CpuBackend final : public Backend {
public:
  explicit CpuBackend(CpuOptions options)
      : options_(std::move(options)), threads_(options_.threads ? options_.threads : launchThreads()),
        isa_(hostIsa()) {}

  std::string_view name() const override { return "cpu"; }
  bool measures() const override { return true; }

  /// Features by hash: the list is a kilobyte long, and only equality matters.
  std::string toolchain() const override {
    return fmt::format("tilewright {} LLVM {} {}/{} threads={}", TILEWRIGHT_VERSION, LLVM_VERSION_STRING,
                       isa_.cpu, contentHash(isa_.features).substr(0, 8), threads_);
  }

  Expected<Artifact> compile(const Program &program, const Candidate &candidate,
                             const LaunchArguments &arguments) const override {
    if (options_.compileInProcess)
      return compileProgram(program, candidate.config, arguments, isa_);
    TW_TRY(WorkerPool * pool, workers());
    TW_TRY(const auto worker, pool->take());
    auto answer =
        worker->exchange(pack(WorkerRequest(CompileRequest{print(program), candidate.config, arguments})),
                         options_.compileTimeout);
    if (!answer && answer.error().timedOut)
      return fail(ErrorKind::Refusal, "compile.timeout",
                  fmt::format("compiling took longer than {} ms", options_.compileTimeout.count()));
    if (!answer)
      return fail(ErrorKind::Internal, "compile.failed",
                  "the compiler process ended with " + toString(answer.error()));
    TW_TRY(WorkerAnswer unpacked, unpackAnswer(std::move(*answer)));
    auto *artifact = std::get_if<Artifact>(&unpacked);
    if (!artifact)
      return fail(ErrorKind::Internal, "internal", "the CPU worker answered another question");
    artifact->config = candidate.config;
    return std::move(*artifact);
  }

  Expected<std::unique_ptr<TrialSession>> openSession(const Program &program, const KernelFacts &facts,
                                                      const LaunchArguments &arguments,
                                                      LaunchBuffers buffers) const override {
    TW_TRY(std::string worker, workerProgram());
    return CpuSession::open(std::move(worker), program, facts, arguments, buffers, options_);
  }

  Expected<std::shared_ptr<CompiledKernel>> load(const Artifact &artifact) const override {
    TW_TRY(ObjectCode code, decodeObjectCode(artifact.bytes));
    TW_TRY(const Loader loader, this->loader());
    TW_TRY(auto kernel, LoadedKernel::load(*loader.jit, loader.pool, std::move(code)));
    return kernel;
  }

private:
  struct Loader {
    std::shared_ptr<Jit> jit;
    std::shared_ptr<const LaunchPool> pool;
  };

  Expected<std::string> workerProgram() const {
    return options_.workerProgram.empty() ? findWorker() : Expected<std::string>(options_.workerProgram);
  }

  Expected<WorkerPool *> workers() const {
    const std::scoped_lock lock(mutex_);
    if (!workers_) {
      TW_TRY(std::string program, workerProgram());
      workers_ = std::make_unique<WorkerPool>(
          std::move(program), options_.compileWorkers ? options_.compileWorkers : launchThreads());
    }
    return workers_.get();
  }

  Expected<Loader> loader() const {
    const std::scoped_lock lock(mutex_);
    if (!loader_.jit) {
      TW_TRY(loader_.jit, Jit::create());
      loader_.pool = std::make_shared<LaunchPool>(threads_);
    }
    return loader_;
  }

  const CpuOptions options_;
  const uint32_t threads_;
  const CpuIsa isa_;
  mutable std::mutex mutex_; ///< guards what is made on first use
  mutable std::unique_ptr<WorkerPool> workers_;
  mutable Loader loader_;
};

} // namespace

std::unique_ptr<Backend> makeCpuBackend(CpuOptions options) {
  return std::make_unique<CpuBackend>(std::move(options));
}

} // namespace tilewright::cpu

#pragma once
#include "tilewright/backend/Backend.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace tilewright::tuner {

/// Compiles jobs in order on several threads and hands the results out as they end. At most `window` results
/// wait unconsumed, so that memory stays bounded when measuring is slower than compiling. Destruction waits
/// for the compilations in flight and drops the rest.
class CompilePool {
public:
  struct Result {
    size_t job = 0;
    Expected<Artifact> artifact;
  };
  using Compile = std::function<Expected<Artifact>(size_t job)>;

  CompilePool(std::vector<size_t> jobs, uint32_t threads, size_t window, Compile compile);
  ~CompilePool();
  CompilePool(const CompilePool &) = delete;
  CompilePool &operator=(const CompilePool &) = delete;

  /// The next finished result, waiting for it; nothing when all jobs were handed out, or after `deadline`.
  std::optional<Result> next(std::optional<std::chrono::steady_clock::time_point> deadline);
  size_t finished() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace tilewright::tuner

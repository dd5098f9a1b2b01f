#pragma once
#include "WorkerProcess.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace tilewright::cpu {

/// Workers that compile: started when they are first needed, at most `size` at a time, kept for the next job.
/// Callers beyond that wait. A worker that died is simply not given back, so the next caller gets a fresh
/// one. Thread-safe.
class WorkerPool {
public:
  WorkerPool(std::string program, uint32_t size) : program_(std::move(program)), size_(size) {}

  /// One worker for one caller; gives it back when it goes out of scope.
  class Lease {
  public:
    Lease(WorkerPool &pool, std::unique_ptr<WorkerProcess> worker)
        : pool_(&pool), worker_(std::move(worker)) {}
    Lease(Lease &&) = default;
    Lease &operator=(Lease &&) = delete;
    ~Lease() {
      if (worker_)
        pool_->giveBack(std::move(worker_));
    }
    WorkerProcess &operator*() const { return *worker_; }
    WorkerProcess *operator->() const { return worker_.get(); }

  private:
    WorkerPool *pool_;
    std::unique_ptr<WorkerProcess> worker_;
  };
  Expected<Lease> take();

private:
  void giveBack(std::unique_ptr<WorkerProcess> worker);

  const std::string program_;
  const uint32_t size_;
  std::mutex mutex_;
  std::condition_variable roomOrIdle_;
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
  uint32_t taken_ = 0;
};

} // namespace tilewright::cpu

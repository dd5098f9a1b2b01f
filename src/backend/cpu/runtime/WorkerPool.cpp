#include "WorkerPool.h"

namespace tilewright::cpu {

Expected<WorkerPool::Lease> WorkerPool::take() {
  {
    std::unique_lock lock(mutex_);
    roomOrIdle_.wait(lock, [&] { return taken_ < size_; });
    ++taken_;
    while (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      if (worker->alive())
        return Lease(*this, std::move(worker));
    }
  }
  auto started = WorkerProcess::start(program_);
  if (started)
    return Lease(*this, std::move(*started));
  giveBack(nullptr);
  return Unexpected(started.error());
}

void WorkerPool::giveBack(std::unique_ptr<WorkerProcess> worker) {
  {
    const std::scoped_lock lock(mutex_);
    --taken_;
    if (worker && worker->alive())
      idle_.push_back(std::move(worker));
  }
  roomOrIdle_.notify_one();
}

} // namespace tilewright::cpu

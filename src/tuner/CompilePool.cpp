#include "CompilePool.h"

#include <algorithm>
#include <thread>

namespace tilewright::tuner {

struct CompilePool::State {
  State(std::vector<size_t> jobs, size_t window, Compile compile)
      : jobs(std::move(jobs)), window(window), compile(std::move(compile)) {}

  /// One lane takes jobs until none is left. Lanes wait for room most of their time when measuring is the
  /// slower part, so they are threads, not tasks of a scheduler that counts on its workers to be busy.
  void runLane() {
    while (true) {
      size_t job = 0;
      {
        std::unique_lock lock(mutex);
        roomOrStop.wait(lock, [&] { return stopping || results.size() < window; });
        if (stopping || nextJob == jobs.size())
          return;
        job = jobs[nextJob++];
      }
      auto artifact = compile(job);
      {
        std::scoped_lock lock(mutex);
        results.push_back({job, std::move(artifact)});
        ++finishedCount;
      }
      resultReady.notify_one();
    }
  }

  const std::vector<size_t> jobs;
  const size_t window;
  const Compile compile;
  mutable std::mutex mutex;
  std::condition_variable roomOrStop, resultReady;
  std::deque<Result> results;
  size_t nextJob = 0;
  size_t finishedCount = 0;
  size_t handedOut = 0;
  bool stopping = false;
  std::vector<std::jthread> lanes;
};

CompilePool::CompilePool(std::vector<size_t> jobs, uint32_t threads, size_t window, Compile compile)
    : state_(std::make_unique<State>(std::move(jobs), std::max<size_t>(1, window), std::move(compile))) {
  State *state = state_.get();
  for (uint32_t lane = 0; lane < std::max(1u, threads); ++lane)
    state->lanes.emplace_back([state] { state->runLane(); });
}

CompilePool::~CompilePool() {
  {
    std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
  }
  state_->roomOrStop.notify_all();
  state_->lanes.clear(); // joins
}

std::optional<CompilePool::Result>
CompilePool::next(std::optional<std::chrono::steady_clock::time_point> deadline) {
  std::unique_lock lock(state_->mutex);
  const auto ready = [&] { return !state_->results.empty() || state_->handedOut == state_->jobs.size(); };
  if (deadline) {
    if (!state_->resultReady.wait_until(lock, *deadline, ready))
      return std::nullopt;
  } else {
    state_->resultReady.wait(lock, ready);
  }
  if (state_->results.empty())
    return std::nullopt;
  Result result = std::move(state_->results.front());
  state_->results.pop_front();
  ++state_->handedOut;
  lock.unlock();
  state_->roomOrStop.notify_one();
  return result;
}

size_t CompilePool::finished() const {
  std::scoped_lock lock(state_->mutex);
  return state_->finishedCount;
}

} // namespace tilewright::tuner

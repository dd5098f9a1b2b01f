#include "ForkGuard.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace tilewright::store {

struct ForkRegistry {
  std::mutex mutex;
  std::vector<ForkGuard *> guards;

  /// Never destroyed: a fork may come after the destructors of static objects.
  static ForkRegistry &instance() {
    static auto *registry = [] {
      pthread_atfork(before, after, after);
      return new ForkRegistry;
    }();
    return *registry;
  }
  static void before() {
    ForkRegistry &registry = instance();
    registry.mutex.lock();
    for (ForkGuard *guard : registry.guards)
      guard->before_();
  }
  static void after() {
    ForkRegistry &registry = instance();
    for (ForkGuard *guard : registry.guards)
      guard->after_();
    registry.mutex.unlock();
  }
};

ForkGuard::ForkGuard(std::function<void()> before, std::function<void()> after)
    : before_(std::move(before)), after_(std::move(after)) {
  ForkRegistry &registry = ForkRegistry::instance();
  std::lock_guard lock(registry.mutex);
  registry.guards.push_back(this);
}

ForkGuard::~ForkGuard() {
  ForkRegistry &registry = ForkRegistry::instance();
  std::lock_guard lock(registry.mutex);
  std::erase(registry.guards, this);
}

} // namespace tilewright::store

#pragma once
#include <chrono>

namespace tilewright::cpu {

/// Wall time in nanoseconds between two marks.
class Stopwatch {
public:
  /// Since construction or the last lap.
  double lapNs() {
    const auto now = std::chrono::steady_clock::now();
    const double passed = std::chrono::duration<double, std::nano>(now - last_).count();
    last_ = now;
    return passed;
  }

private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace tilewright::cpu

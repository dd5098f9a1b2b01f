#include "ProgressLine.h"

#include "Call.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace tilewright::cli {

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown_)
    std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const tuner::Progress &progress) {
  constexpr double kRedrawSeconds = 0.1;
  const bool done = progress.phase == tuner::Phase::Done;
  if (!terminal_ || (!done && progress.elapsedSeconds - lastShownSeconds_ < kRedrawSeconds))
    return;
  lastShownSeconds_ = progress.elapsedSeconds;
  std::string line =
      progress.phase == tuner::Phase::Compile
          ? fmt::format("compiled {}/{}, ran {}", progress.compiled, progress.total, progress.checked)
          : fmt::format("racing {}", progress.racing);
  if (progress.failed)
    line += fmt::format(", failed {}", progress.failed);
  if (progress.bestNs > 0)
    line += fmt::format(", best {} with {}", humanTime(progress.bestNs), progress.best.toString());
  line += fmt::format(" [{:.1f} s]", progress.elapsedSeconds);
  constexpr size_t kWidth = 110;
  if (line.size() > kWidth)
    line.resize(kWidth);
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

} // namespace tilewright::cli

#pragma once
#include "tilewright/tuner/Tuner.h"

namespace tilewright::cli {

/// One line on standard error that is rewritten in place; silent where standard error is not a terminal.
class ProgressLine {
public:
  ProgressLine();
  ~ProgressLine();
  void show(const tuner::Progress &progress);

private:
  bool terminal_;
  bool shown_ = false;
  double lastShownSeconds_ = -1;
};

} // namespace tilewright::cli

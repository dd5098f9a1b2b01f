#pragma once
#include "Channel.h"

namespace tilewright::cpu {

/// Answers requests until the channel closes; returns the process's exit status.
int serve(Channel channel);

} // namespace tilewright::cpu

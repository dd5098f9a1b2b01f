#pragma once
#include "tilewright/program/Program.h"

namespace tilewright::lowering {

/// Removes operations whose results nobody uses and that do nothing else, and renumbers what stays. Lowering
/// makes them on the way: constants that fold into others, variables that the kernel never reads again.
void removeDeadCode(Program &program);

} // namespace tilewright::lowering

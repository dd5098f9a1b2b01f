#pragma once
#include "tilewright/target/Target.h"

namespace tilewright {

/// The file that describes `name`, looked for beside `origin` (when that is a path) and then in each device
/// folder. Empty when there is none.
std::string descriptionFile(std::string_view name, std::string_view origin);

} // namespace tilewright

#pragma once
#include "tilewright/backend/Backend.h"

#include <memory>
#include <string_view>

namespace tilewright {

/// Loads a back end by name ("cpu") from its shared object, libtilewright_<name>.so: once for the process, on
/// first use, so that programs which only analyse start fast and run where there is no LLVM. Searched in
/// TILEWRIGHT_PLUGINS, beside the library or executable that holds this code, and in lib, ../lib and
/// ../lib/tilewright from there.
///
/// target.unavailable says where it was looked for, or what the dynamic loader missed, and what to install.
Expected<std::shared_ptr<Backend>> loadBackend(std::string_view name);

} // namespace tilewright

#pragma once
#include "tilewright/support/Expected.h"

namespace tilewright {

/// The bytes of a file; io.read with the system's reason otherwise.
Expected<std::string> readFile(const std::string &path);
Expected<SourceFilePtr> readSourceFile(const std::string &path);
/// Replaces the file at once (a temporary beside it, then a rename); io.write otherwise.
Expected<void> writeFile(const std::string &path, std::string_view bytes);

} // namespace tilewright

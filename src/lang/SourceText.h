#pragma once
#include "tilewright/support/Expected.h"
#include "tilewright/support/Source.h"

namespace tilewright::lang {

/// The file as the lexer wants it: well-formed UTF-8 without NUL bytes and byte order mark. Returns `source`
/// itself where it is so already; otherwise a new file under the same path. Honours an encoding cookie (PEP
/// 263) for UTF-8, ASCII and Latin-1. Fails with lang.encoding.
Expected<SourceFilePtr> decodeSource(SourceFilePtr source);

} // namespace tilewright::lang

#pragma once
#include "tilewright/backend/cpu/ObjectCode.h"
#include "tilewright/support/Expected.h"

namespace tilewright::cpu {

/// The inverse of `encode`. Bytes may come from a store that somebody damaged, so the object is checked
/// against its hash before anything is loaded.
Expected<ObjectCode> decodeObjectCode(std::string_view bytes);

} // namespace tilewright::cpu

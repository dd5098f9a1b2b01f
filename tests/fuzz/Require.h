#pragma once
#include "tilewright/support/Source.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace tilewright::fuzz {

/// Aborts, which is what libFuzzer records as a finding, when something that must hold for every input does
/// not.
inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline SourceFilePtr fileOf(const uint8_t *bytes, size_t size, const char *path) {
  return std::make_shared<const SourceFile>(path, std::string(reinterpret_cast<const char *>(bytes), size));
}

} // namespace tilewright::fuzz

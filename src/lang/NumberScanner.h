#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::lang {

/// Where a number literal ends, or why it is none. Offsets are into the whole text.
struct ScannedNumber {
  uint32_t end = 0;
  std::string error; ///< empty when the literal is well formed
  uint32_t errorBegin = 0;
  uint32_t errorEnd = 0;
  std::string help;
};

/// Scans the number that starts at `begin` with a digit, or with a '.' and a digit:
///
///     1_000    0x_ff    0b101    1.5e-3    .5    2j
ScannedNumber scanNumber(std::string_view text, uint32_t begin);

} // namespace tilewright::lang

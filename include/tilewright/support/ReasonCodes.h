#pragma once
#include <span>
#include <string_view>

namespace tilewright {

/// The catalogue in ReasonCodes.def, for `--help`, documentation and the test that every emitted code is
/// listed.
struct ReasonCode {
  std::string_view code;
  std::string_view meaning;
};
std::span<const ReasonCode> reasonCodes();
/// The meaning, or an empty view for a code that is not listed.
std::string_view meaningOf(std::string_view code);

} // namespace tilewright

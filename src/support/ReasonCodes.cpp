#include "tilewright/support/ReasonCodes.h"

namespace tilewright {

namespace {
constexpr ReasonCode kReasonCodes[] = {
#define REASON(code, meaning) {code, meaning},
#include "tilewright/support/ReasonCodes.def"
};
} // namespace

std::span<const ReasonCode> reasonCodes() { return kReasonCodes; }

std::string_view meaningOf(std::string_view code) {
  for (const auto &reason : kReasonCodes)
    if (reason.code == code)
      return reason.meaning;
  return {};
}

} // namespace tilewright

#include "tilewright/store/Records.h"

#include <array>

namespace tilewright::store {

// In the order of the enumerations. These spellings are in databases and exports: they never change.
static constexpr std::array<std::string_view, 8> kStatusNames = {
    "ok", "rejected", "compile-failed", "run-failed", "wrong-result", "dropped", "skipped", "in-flight"};
static constexpr std::array<std::string_view, 3> kMethodNames = {"measured", "simulated", "predicted"};

std::string_view toString(TrialStatus status) { return kStatusNames[static_cast<size_t>(status)]; }
std::string_view toString(Method method) { return kMethodNames[static_cast<size_t>(method)]; }

template <class Enum, size_t N>
static std::optional<Enum> lookUp(const std::array<std::string_view, N> &names, std::string_view text) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == text)
      return static_cast<Enum>(i);
  return std::nullopt;
}

std::optional<TrialStatus> parseTrialStatus(std::string_view text) {
  return lookUp<TrialStatus>(kStatusNames, text);
}
std::optional<Method> parseMethod(std::string_view text) { return lookUp<Method>(kMethodNames, text); }

} // namespace tilewright::store

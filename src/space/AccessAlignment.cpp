#include "tilewright/space/AccessAlignment.h"

#include <numeric>

namespace tilewright {

namespace {
constexpr int64_t kSpecialised = 16; ///< the divisor that Triton specialises integer arguments on
} // namespace

AccessAlignment::AccessAlignment(const AccessMap &map, const LaunchSymbols &symbols) {
  if (map.constant.valid())
    steps_.emplace_back(map.constant, symbols);
  for (const AccessTerm &term : map.terms)
    if (term.kind != AccessTerm::Kind::Lane || static_cast<int32_t>(term.index) != map.contiguousAxis)
      steps_.emplace_back(term.coefficient, symbols);
  if (const auto axis = static_cast<size_t>(map.contiguousAxis);
      map.contiguousAxis >= 0 && axis < map.maskExtent.size() && map.maskExtent[axis].valid())
    extent_ = Formula(map.maskExtent[axis], symbols);
}

std::vector<int64_t> AccessAlignment::seenValues(const LaunchSymbols &symbols) {
  std::vector<int64_t> out = symbols.launchValues();
  for (uint32_t id = 0; id < out.size(); ++id)
    if (!symbols.isBound(id))
      out[id] = 1;
    else if (out[id] % kSpecialised != 0)
      out[id] |= 1;
  return out;
}

int64_t AccessAlignment::knownStart(std::span<const int64_t> seen) const {
  int64_t out = kSpecialised;
  for (const Formula &step : steps_)
    out = std::gcd(out, step.valid() ? step(seen).value_or(1) : 1);
  return out;
}

int64_t AccessAlignment::knownLength(std::span<const int64_t> seen) const {
  return extent_.valid() ? std::gcd(kSpecialised, extent_(seen).value_or(1)) : kSpecialised;
}

int64_t AccessAlignment::realStart(std::span<const int64_t> values) const {
  int64_t out = 0;
  for (const Formula &step : steps_)
    out = std::gcd(out, step.valid() ? step(values).value_or(1) : 1);
  return out;
}

} // namespace tilewright

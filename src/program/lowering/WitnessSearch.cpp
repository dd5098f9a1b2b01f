#include "WitnessSearch.h"

#include <algorithm>
#include <array>

namespace tilewright::lowering {

namespace {
constexpr std::array<int64_t, 13> kChoices = {16, 32, 64, 128, 8, 4, 2, 1, 256, 512, 1024, 2048, 0};
constexpr size_t kMaxChanged = 4;
} // namespace

WitnessSearch::WitnessSearch(const KernelParameters &parameters) { restart(parameters); }

void WitnessSearch::restart(const KernelParameters &parameters) {
  values_ = {};
  free_.clear();
  conditions_.clear();
  for (const auto &entry : parameters.entries) {
    if (entry.parameter.kind != Parameter::Kind::Open)
      continue;
    const uint32_t symbol = entry.parameter.symbol.symbolId();
    values_.set(symbol, entry.givenWitness.value_or(entry.isFlag ? 1 : kChoices[0]));
    if (!entry.givenWitness || !entry.choices.empty())
      free_.push_back({symbol, entry.parameter.symbol.range()});
  }
}

bool WitnessSearch::satisfied(const SymValues &values) const {
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](SymInt condition) { return evaluate(condition, values) == 1; });
}

bool WitnessSearch::learn(SymInt condition) {
  if (std::find(conditions_.begin(), conditions_.end(), condition) != conditions_.end())
    return false;
  conditions_.push_back(condition);
  // Only parameters that some condition speaks of are worth changing; the newest condition's first.
  std::vector<Free> candidates;
  for (auto c = conditions_.rbegin(); c != conditions_.rend(); ++c)
    for (const uint32_t symbol : symbolsOf(*c))
      if (const auto free = std::find(free_.begin(), free_.end(), symbol);
          free != free_.end() && std::find(candidates.begin(), candidates.end(), symbol) == candidates.end())
        candidates.push_back(*free);
  if (candidates.size() > kMaxChanged)
    candidates.resize(kMaxChanged);
  // As few changes as possible, so that the Program stays the one that most candidates take.
  for (size_t changed = 1; changed <= candidates.size(); ++changed) {
    std::vector<bool> chosen(candidates.size(), false);
    std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(changed), true);
    do {
      std::vector<size_t> position(candidates.size(), 0);
      for (;;) {
        SymValues trial = values_;
        bool allowed = true;
        for (size_t i = 0; i < candidates.size(); ++i)
          if (chosen[i]) {
            const int64_t choice = kChoices[position[i]];
            allowed &= choice >= candidates[i].range.min && choice <= candidates[i].range.max;
            trial.set(candidates[i].symbol, choice);
          }
        if (allowed && satisfied(trial)) {
          values_ = trial;
          return true;
        }
        size_t i = 0;
        while (i < candidates.size() && (!chosen[i] || ++position[i] == kChoices.size())) {
          position[i] = 0;
          ++i;
        }
        if (i == candidates.size())
          break;
      }
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
  }
  return false;
}

} // namespace tilewright::lowering

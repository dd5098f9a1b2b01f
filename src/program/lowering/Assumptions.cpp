#include "Assumptions.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

void Assumptions::plan(const LoweringFailure &failure) {
  trials_.clear();
  tried_ = 0;
  std::vector<bool> taken(parameters_.entries.size());
  const auto add = [&](size_t i) {
    if (taken[i])
      return;
    taken[i] = true;
    const auto &entry = parameters_.entries[i];
    for (size_t choice = 0; choice < entry.choices.size(); ++choice)
      if (choice != entry.chosen)
        trials_.push_back({i, choice});
  };
  for (const auto *suspects : {&failure.suspects, &failure.deciders})
    for (size_t i = 0; i < parameters_.entries.size(); ++i)
      if (suspects->count(parameters_.entries[i].parameter.name))
        add(i);
  for (size_t i = 0; i < parameters_.entries.size(); ++i)
    add(i);
}

bool Assumptions::next() {
  if (tried_ == trials_.size())
    return false;
  const Trial trial = trials_[tried_++];
  savedEntry_ = trial.entry;
  savedChoice_ = parameters_.entries[trial.entry].chosen;
  parameters_.choose(trial.entry, trial.choice);
  searching_ = true;
  return true;
}

bool Assumptions::learn(const LoweringFailure &failure, const Progress &progress) {
  if (!searching_ || best_ < progress) {
    best_ = progress;
    plan(failure);
  } else {
    parameters_.choose(savedEntry_, savedChoice_);
  }
  searching_ = false;
  return next();
}

std::vector<Diagnostic> Assumptions::remarks() const {
  std::vector<Diagnostic> result;
  for (const auto &entry : parameters_.entries)
    if (entry.chosen != 0)
      result.push_back(makeDiagnostic(Severity::Remark, "lower.assumed",
                                      fmt::format("no argument says what {} is; taken for {}",
                                                  entry.parameter.name, entry.choices[entry.chosen].text),
                                      entry.parameter.location));
  return result;
}

} // namespace tilewright::lowering

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
        trials_.push_back({{i, choice}});
  };
  // Values that must be integers and were loaded from several places: all of those at once.
  if (failure.wantsIntegers) {
    Trial together;
    for (size_t i = 0; i < parameters_.entries.size(); ++i) {
      const auto &entry = parameters_.entries[i];
      if (failure.suspects.count(entry.parameter.name) && entry.parameter.kind == Parameter::Kind::Pointer &&
          isFloat(entry.parameter.type.dtype))
        for (size_t choice = 0; choice < entry.choices.size(); ++choice)
          if (entry.choices[choice].type == Type::pointer(DType::Int32)) {
            together.push_back({i, choice});
            break;
          }
    }
    if (!together.empty())
      trials_.push_back(std::move(together));
  }
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
  undo_.clear();
  for (const Change &change : trials_[tried_++]) {
    undo_.push_back({change.entry, parameters_.entries[change.entry].chosen});
    parameters_.choose(change.entry, change.choice);
  }
  searching_ = true;
  return true;
}

bool Assumptions::learn(const LoweringFailure &failure, const Progress &progress) {
  if (!searching_ || best_ < progress) {
    best_ = progress;
    plan(failure);
  } else {
    for (const Change &change : undo_)
      parameters_.choose(change.entry, change.choice);
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

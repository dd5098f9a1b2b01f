#include "Assumptions.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

void Assumptions::plan(const LoweringFailure &failure) {
  trials_.clear();
  tried_ = 0;
  std::vector<bool> taken(parameters_.entries.size());
  const auto add = [&](size_t i, bool decisionsOnly) {
    if (taken[i])
      return;
    taken[i] = true;
    const auto &entry = parameters_.entries[i];
    for (size_t choice = 0; choice < entry.choices.size(); ++choice)
      if (choice != entry.chosen && (!decisionsOnly || entry.choices[choice].decides) &&
          (!entry.choices[choice].onlyConstant || failure.wantsConstant))
        trials_.push_back({{i, choice}});
  };
  // Several changes at once, where one alone comes no further: every pointer that `which` takes to one dtype,
  // every scalar to 1.
  const auto together = [&](auto which, auto wanted) {
    Trial trial;
    for (size_t i = 0; i < parameters_.entries.size(); ++i) {
      const auto &entry = parameters_.entries[i];
      if (entry.choices.empty() || !which(entry))
        continue;
      for (size_t choice = 0; choice < entry.choices.size(); ++choice)
        if (wanted(entry.choices[choice])) {
          if (choice != entry.chosen)
            trial.push_back({i, choice});
          break;
        }
    }
    return trial;
  };
  const auto addTogether = [&](Trial trial, size_t least) {
    if (trial.size() >= least)
      trials_.push_back(std::move(trial));
  };
  const auto isSuspect = [&](const KernelParameters::Entry &entry) {
    const auto *choice = entry.choice(); // a tuple is known by its items
    return failure.suspects.count(entry.parameter.name) > 0 ||
           (choice && choice->tupleSize > 0 && failure.suspects.count(entry.parameter.name + "_0") > 0);
  };
  const auto isPointerTo = [](DType dtype) {
    return [dtype](const KernelParameters::Choice &c) {
      return c.kind == Parameter::Kind::Pointer && c.block.empty() && c.type == Type::pointer(dtype);
    };
  };
  const auto holdsFloats = [](const KernelParameters::Entry &entry) {
    return entry.parameter.kind == Parameter::Kind::Pointer && isFloat(entry.parameter.type.dtype);
  };
  if (failure.wantsIntegers)
    addTogether(
        together([&](const auto &e) { return isSuspect(e) && holdsFloats(e); }, isPointerTo(DType::Int32)),
        1);
  // What no value would make possible can only be avoided: by taking another branch.
  const bool avoidOnly = failure.error.code == "lower.unsupported" || failure.error.code == "lower.name";
  if (!avoidOnly) {
    for (const DType dtype : {DType::BFloat16, DType::UInt8, DType::Int8, DType::Float16})
      addTogether(together([&](const auto &e) { return isSuspect(e) && holdsFloats(e); }, isPointerTo(dtype)),
                  2);
    if (failure.wantsConstant)
      addTogether(
          together([&](const auto &e) { return isSuspect(e) && e.parameter.kind == Parameter::Kind::Scalar; },
                   [](const auto &c) { return c.onlyConstant; }),
          2);
  }
  if (!avoidOnly)
    for (size_t i = 0; i < parameters_.entries.size(); ++i)
      if (isSuspect(parameters_.entries[i]))
        add(i, false);
  for (const std::string &decider : failure.deciders)
    for (size_t i = 0; i < parameters_.entries.size(); ++i)
      if (parameters_.entries[i].parameter.name == decider)
        add(i, avoidOnly);
  if (!avoidOnly) {
    addTogether(together(holdsFloats, isPointerTo(DType::BFloat16)), 2);
    addTogether(together(holdsFloats, isPointerTo(DType::Float16)), 2);
  }
  for (size_t i = 0; i < parameters_.entries.size(); ++i)
    if (!avoidOnly)
      add(i, false);
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

std::vector<Diagnostic> Assumptions::remarks(const Error &first) const {
  std::vector<Diagnostic> result;
  for (const auto &entry : parameters_.entries)
    if (entry.chosen != 0)
      result.push_back(
          makeDiagnostic(Severity::Remark, "lower.assumed",
                         fmt::format("no argument says what {} is; taken for {}, because otherwise: {}",
                                     entry.parameter.name, entry.choices[entry.chosen].text, first.message),
                         entry.parameter.location));
  return result;
}

} // namespace tilewright::lowering

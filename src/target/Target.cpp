#include "tilewright/target/Target.h"

namespace tilewright {

std::string_view name(TargetKind kind) {
  switch (kind) {
  case TargetKind::Cpu:
    return "cpu";
  case TargetKind::Ascend:
    return "ascend";
  case TargetKind::Cuda:
    return "cuda";
  }
  return "cpu";
}

const MemorySpace *Target::space(std::string_view name) const {
  for (const auto &each : memory)
    if (each.name == name)
      return &each;
  return nullptr;
}

double Target::rate(std::string_view name, double otherwise) const {
  const auto found = rates.find(std::string(name));
  return found == rates.end() ? otherwise : found->second.value;
}

} // namespace tilewright

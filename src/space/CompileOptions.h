#pragma once
#include "tilewright/space/CandidateSpace.h"

#include <span>

namespace tilewright {

/// One compile or launch option that a configuration may carry beside tile sizes.
struct CompileOption {
  std::string_view name;
  uint8_t kinds; ///< bit per TargetKind on which it has an effect
  std::string_view meaning;

  bool worksOn(TargetKind kind) const { return kinds & (1u << static_cast<unsigned>(kind)); }
};

/// The one table of options, all target kinds together. An option of another kind is known but has no effect:
/// a kernel written for one target may carry its options to another.
std::span<const CompileOption> compileOptions();
const CompileOption *findCompileOption(std::string_view name);

/// "num_warps, num_stages, ...": those with an effect on this kind.
std::string optionNames(TargetKind kind);

} // namespace tilewright

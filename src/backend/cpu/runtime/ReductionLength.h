#pragma once
#include "tilewright/analysis/KernelFacts.h"

namespace tilewright::cpu {

/// How results of a kernel accumulate rounding: by how many terms one result is summed, and in which type.
struct Accumulation {
  double terms = 1;
  DType dtype = DType::Float32;
};

/// From the reduction axes and the reduce, scan and dot operations, sized by the launch arguments and the
/// configuration; what cannot be sized is left out.
Accumulation accumulationOf(const KernelFacts &facts, const LaunchArguments &arguments, const Config &config);

} // namespace tilewright::cpu

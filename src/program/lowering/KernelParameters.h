#pragma once
#include "ParameterUse.h"

#include "FunctionLowerer.h"

namespace tilewright::lowering {

/// What is decided about the parameters of one kernel before its body is lowered: which are open, which are
/// fixed, which dtype and symbol the runtime ones have. Made once for all attempts, so that conditions
/// learned in one attempt speak of the same symbols in the next.
struct KernelParameters {
  struct Entry {
    Parameter parameter; ///< `value` is set by the attempt
    FrontValue fixed;    ///< what a Fixed parameter stands for
    std::optional<int64_t> givenWitness;
    bool assumedPointer = false; ///< no argument said so; its dtype is a guess that may be revised
    bool isFlag = false;
  };
  std::vector<Entry> entries;
  std::vector<Diagnostic> remarks;
};

/// Errors: arg.unknown, arg.type, and whatever is wrong with a default.
Expected<KernelParameters> kernelParameters(const JitFunction &function,
                                            const LaunchArguments &arguments, const LoweringOptions &options,
                                            const std::shared_ptr<SymContext> &symbols,
                                            const SourceFilePtr &source);

} // namespace tilewright::lowering

#pragma once
#include "ParameterUse.h"

#include "FunctionLowerer.h"

namespace tilewright::lowering {

/// What is decided about the parameters of one kernel before its body is lowered: which are open, which are
/// fixed, which dtype and symbol the runtime ones have. Made once for all attempts, so that conditions
/// learned in one attempt speak of the same symbols in the next.
struct KernelParameters {
  struct Choice {
    Parameter::Kind kind = Parameter::Kind::Fixed;
    Type type;                      ///< Pointer, Scalar
    FrontValue fixed;               ///< Fixed
    std::optional<int64_t> witness; ///< Open: the value to start from
    std::string text;               ///< for the reader: "a pointer to bf16"
  };
  struct Entry {
    Parameter parameter; ///< `value` is set by the attempt
    FrontValue fixed;    ///< what a Fixed parameter stands for
    std::optional<int64_t> givenWitness;
    bool isFlag = false;
    /// What it may be when no argument says so, the likeliest first; empty when one does.
    std::vector<Choice> choices;
    size_t chosen = 0;
  };
  std::vector<Entry> entries;
  /// Makes an entry what one of its choices says.
  void choose(size_t entry, size_t choice);
  std::vector<Diagnostic> remarks;
  std::shared_ptr<SymContext> symbols;
};

/// Errors: arg.unknown, arg.type, and whatever is wrong with a default.
Expected<KernelParameters> kernelParameters(const JitFunction &function, const LaunchArguments &arguments,
                                            const LoweringOptions &options,
                                            const std::shared_ptr<SymContext> &symbols,
                                            const SourceFilePtr &source);

} // namespace tilewright::lowering

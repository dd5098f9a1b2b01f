#pragma once
#include "tilewright/lang/Ast.h"
#include "tilewright/program/Program.h"

namespace tilewright {

/// A kernel as found in a file, before lowering.
struct KernelDeclaration {
  std::string name;
  std::vector<std::string> decorators; ///< dotted names, outermost first: "triton.autotune", "triton.jit"
  struct Parameter {
    std::string name;
    bool isConstexpr = false;
    bool hasDefault = false;
    std::string defaultText; ///< source text of the default
    SourceRange location;
  };
  std::vector<Parameter> parameters;
  SourceRange location;
  /// Helpers (`@triton.jit` functions that another kernel of the file calls) are declared too.
  bool calledByAnother = false;
};

/// Every `@triton.jit` function of the module, in source order.
std::vector<KernelDeclaration> kernelsOf(const lang::Module &module);

/// What has been read of the files that kernels import. Sharing one between calls of `lower` saves reading them
/// again; any number of threads may share it.
class ImportedFiles;
std::shared_ptr<ImportedFiles> makeImportedFiles();

struct LoweringOptions {
  /// Null: this call reads what it needs. Helpers are looked for in the kernel's own package, by the path of the
  /// module's source.
  std::shared_ptr<ImportedFiles> imports;
  /// Values for open parameters, used to decide branches and static shapes. A parameter without one gets a
  /// witness chosen by lowering (16 first; then what assertions and shape rules ask for, within a bounded
  /// search).
  Config witness;
  uint32_t maxUnrolledIterations = 4096; ///< over all static_range loops together
  uint32_t maxInlineDepth = 64;
  uint32_t maxOps = 200'000;
};

/// Lowers one kernel for a launch signature. `kernel` is its name, `Outer.name` for one inside of a class or
/// function, or `name@line` where a file defines several of one name. Only the kinds, dtypes and constexpr values of the arguments
/// matter (and integers that are 1, which Triton makes constants): shapes and other integers stay symbolic.
///
/// A constexpr parameter that has a value among the arguments, or a default, is Fixed; another is Open. An
/// argument that is absent gets its kind from use (pointer if it is used as one, else i32 scalar). Errors are
/// User (the source or the arguments are wrong) or Refusal (lower.unsupported, with line and caret).
Expected<Program> lower(const lang::Module &module, std::string_view kernel, const LaunchArguments &arguments,
                        const LoweringOptions &options = {});

} // namespace tilewright

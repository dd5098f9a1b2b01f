#pragma once
#include "FrontValue.h"

#include "tilewright/lang/Ast.h"

#include <map>

namespace tilewright::lowering {

/// A @triton.jit function of the source.
struct JitFunction {
  const lang::FunctionDef *def = nullptr;
  std::vector<std::string> decorators; ///< resolved dotted names, outermost first
};

/// What the names of a Python file stand for, as far as a kernel may use them. Built once from the syntax
/// tree, without evaluating anything; both arms of a module-level `if` or `try` are looked at, the first one
/// wins.
class ModuleScope {
public:
  explicit ModuleScope(const lang::Module &module);
  ModuleScope(const ModuleScope &) = delete;
  ModuleScope &operator=(const ModuleScope &) = delete;

  struct Binding {
    enum class Kind : uint8_t {
      Import,    ///< `path` is the dotted path of a module or of something in one
      Jit,       ///< `function`
      Constexpr, ///< `N = tl.constexpr(4)`, `N: tl.constexpr = 4`, an alias of a name: `value`
      Plain,     ///< another module-level assignment: `value`
      Python,    ///< an ordinary function or class
    };
    Kind kind = Kind::Plain;
    std::string path;
    const lang::Expr *value = nullptr;
    const JitFunction *function = nullptr;
    SourceRange location;
  };
  const Binding *find(std::string_view name) const;
  /// In source order.
  const std::vector<std::unique_ptr<JitFunction>> &functions() const { return functions_; }
  const JitFunction *function(std::string_view name) const;

  /// The full dotted path that an expression like `tl.sum` or `jit` means after imports; the text itself if
  /// unknown.
  std::string resolve(const lang::Expr *expr, int depth = 0) const;

private:
  void collect(lang::Body body);
  void bind(std::string_view name, Binding binding);
  void addFunction(const lang::FunctionDef *def);

  std::map<std::string, Binding, std::less<>> names_;
  std::vector<std::unique_ptr<JitFunction>> functions_;
};

/// What a dotted path of the triton packages names, as a front value: a module, a builtin ("load",
/// "libdevice.tanh"), a dtype. Paths of other packages are Foreign.
FrontValue valueOfPath(const std::string &path);

} // namespace tilewright::lowering

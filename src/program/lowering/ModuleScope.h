#pragma once
#include "FrontValue.h"

#include "tilewright/lang/Ast.h"

#include <map>

namespace tilewright {
class ImportedFiles;
}

namespace tilewright::lowering {

class ModuleScope;

/// A function of the source that a kernel may be or call.
struct JitFunction {
  const lang::FunctionDef *def = nullptr;
  std::vector<std::string> decorators; ///< resolved dotted names, outermost first
  const ModuleScope *scope = nullptr;  ///< where its free names are looked up
  std::string qualifiedName;           ///< "Outer.name" for one inside a class or function
  bool constexprOnly = false;          ///< @triton.constexpr_function: runs while a kernel is compiled
};

/// A name of a file, as its source binds it.
struct Binding {
  enum class Kind : uint8_t {
    Import,    ///< `path` is the dotted path of a module or of something in one
    Jit,       ///< `function`
    Constexpr, ///< `N = tl.constexpr(4)`, `N: tl.constexpr = 4`, an alias of a name: `value`
    Plain,     ///< another assignment: `value`
    Python,    ///< an ordinary function: `function`, for the host's side
    Class,     ///< `inner` holds what its body binds
    Argument,  ///< a parameter of the function around a kernel: only known when that function runs
  };
  Kind kind = Kind::Plain;
  std::string path;
  const lang::Expr *value = nullptr;
  const JitFunction *function = nullptr;
  const ModuleScope *inner = nullptr;
  SourceRange location;
  bool alternative = false; ///< bound in an arm that may not be the one that runs
};

/// What a name finally stands for, behind imports and aliases, perhaps in another file.
struct Meaning {
  enum class Kind : uint8_t {
    Unknown,
    External, ///< `path` leads out of the sources that can be read: "triton.language.load", "numpy.pi"
    Scope,    ///< a module of the package, or a class: `scope` is its inside
    Bound,    ///< `binding`, which is in `scope`
  };
  Kind kind = Kind::Unknown;
  std::string path;
  const ModuleScope *scope = nullptr;
  const Binding *binding = nullptr;

  static Meaning external(std::string path) { return {Kind::External, std::move(path), nullptr, nullptr}; }
};

/// What the names of a Python file stand for, as far as a kernel may use them. Built once from the syntax
/// tree, without running anything. A module-level `if` whose condition the source decides (an environment
/// variable that is not set, `TYPE_CHECKING`, whether triton has a function) binds one arm; of other
/// alternatives the first one that can be read wins.
///
/// A class, and a function that holds a kernel, have a scope of their own inside the file's.
class ModuleScope {
public:
  /// `files` finds imported files of the package; null when none are to be read.
  ModuleScope(const lang::Module &module, ImportedFiles *files);
  ModuleScope(const ModuleScope &) = delete;
  ModuleScope &operator=(const ModuleScope &) = delete;

  const SourceFilePtr &source() const { return source_; }
  /// In source order, those inside of classes and functions too.
  const std::vector<std::unique_ptr<JitFunction>> &functions() const { return functions_; }
  /// By name, by qualified name, or as `name@line`.
  const JitFunction *function(std::string_view name) const;
  /// The function that an expression names, in this file or another one; null when it names none.
  const JitFunction *functionOf(const lang::Expr *expr) const;

  /// `depth` bounds chains of aliases and imports, which may run in circles.
  Meaning lookup(std::string_view name, int depth = 0) const;
  /// What a dotted path (with leading dots for relative ones) means when this file imports it.
  Meaning import(const std::string &path) const;
  /// What the scope itself binds; not what is around it.
  Meaning own(std::string_view name, int depth = 0) const;
  Meaning meaningOf(const lang::Expr *expr, int depth = 0) const;
  static Meaning member(const Meaning &of, std::string_view name, int depth = 0);
  /// A class's bases, as dotted paths.
  const std::vector<std::string> &bases() const { return bases_; }
  bool isClass() const { return isClass_; }
  /// In the order of the source: a class's fields.
  const std::vector<std::string> &fields() const { return fields_; }
  /// The full dotted path that an expression like `tl.sum` or `jit` means after imports; the text itself if
  /// unknown.
  std::string resolve(const lang::Expr *expr) const;

private:
  ModuleScope(const ModuleScope &around, lang::Body body, const lang::Arguments *arguments,
              std::string_view name);
  void collect(lang::Body body);
  void bind(std::string_view name, Binding binding);
  void bindAssignment(const lang::Expr *target, const lang::Expr *value, bool constexprAnnotation,
                      const SourceRange &range);
  void addFunction(const lang::FunctionDef *def);
  void addClass(const lang::ClassDef *def);
  const JitFunction *addJit(const lang::FunctionDef *def, std::vector<std::string> decorators);
  bool readable(const Binding &binding) const;
  const lang::FunctionDef *jitArgument(const lang::Expr *value) const;

  SourceFilePtr source_;
  ImportedFiles *files_ = nullptr;
  const ModuleScope *around_ = nullptr;
  ModuleScope *file_ = this; ///< the file's outermost scope, which owns functions and inner scopes
  std::string prefix_;       ///< of qualified names
  bool isClass_ = false;
  bool alternative_ = false; ///< while the less likely arm of a branch is collected, or one that may be
  std::map<std::string, Binding, std::less<>> names_;
  std::map<std::string, const lang::FunctionDef *, std::less<>> defs_; ///< ordinary functions, for `jit(f)`
  std::vector<std::string> bases_, fields_;
  std::vector<std::string> stars_; ///< `from path import *`
  std::vector<std::unique_ptr<JitFunction>> functions_, ordinary_;
  std::vector<std::unique_ptr<ModuleScope>> inner_;
};

/// What a dotted path of the triton packages names, as a front value: a module, a builtin ("load",
/// "libdevice.tanh"), a dtype. Paths of other packages are Foreign.
FrontValue valueOfPath(const std::string &path);

} // namespace tilewright::lowering

#pragma once
#include "Emitter.h"
#include "ModuleConditions.h"
#include "ModuleScope.h"

#include <map>
#include <set>
#include <unordered_map>

namespace tilewright::lowering {

/// What names and dotted names of the sources mean where they name a function, a module or a dtype: the same
/// in every attempt.
using KnownNames = std::unordered_map<const lang::Expr *, FrontValue>;

/// What one attempt shares beyond the context: the emitter, names that mean the same in every attempt, and
/// globals evaluated so far.
struct Session {
  LoweringContext &context;
  Emitter &emit;
  KnownNames &names;
  std::map<const Binding *, FrontValue> globals;
  std::set<const Binding *> evaluating; ///< globals under evaluation, against cycles
};

/// Lowers the body of one function, the kernel or an inlined helper, by walking its syntax tree with Triton's
/// rules: names hold front values, statements rebind them, runtime control flow becomes regions whose changed
/// names are merged (`if`) or carried (`for`, `while`).
class FunctionLowerer {
public:
  FunctionLowerer(Session &session, const JitFunction &function, bool isKernel)
      : FunctionLowerer(session, *function.scope) {
    isKernel_ = isKernel;
    constexprOnly_ = function.constexprOnly;
  }
  /// For expressions outside of any function: defaults, globals.
  FunctionLowerer(Session &session, const ModuleScope &names);

  void define(std::string_view name, FrontValue value) {
    scope_.insert_or_assign(std::string(name), std::move(value));
  }
  /// Lowers the whole body; the value is what a helper returns.
  FrontValue run(lang::Body body);

  /// The value of a parameter's default, which is an expression of the module.
  FrontValue defaultValue(const lang::Expr *expr) {
    evaluatingGlobal_ = true;
    return eval(expr);
  }

  // Expressions.cpp, Attributes.cpp
  FrontValue eval(const lang::Expr *expr);
  FrontValue attribute(const FrontValue &object, std::string_view name, const SourceRange &range);
  FrontValue subscript(const FrontValue &object, const FrontValue &index, const SourceRange &range);
  FrontValue binary(lang::BinaryOperator op, const FrontValue &a, const FrontValue &b,
                    const SourceRange &range);
  FrontValue compare(lang::CompareOperator op, const FrontValue &a, const FrontValue &b,
                     const SourceRange &range);

  // Calls.cpp
  struct CallArguments {
    std::vector<FrontValue> positional;
    std::vector<SourceRange> positionalRanges;
    std::vector<std::pair<std::string, FrontValue>> keywords;
    std::vector<SourceRange> keywordRanges;
    SourceRange range;     ///< the whole call
    SourceRange nameRange; ///< the function's name
  };
  FrontValue callFunction(const JitFunction &function, const CallArguments &arguments);
  FrontValue callValue(const FrontValue &callee, CallArguments arguments);

  /// Triton's rule for plain assignment: numbers become SSA values.
  FrontValue materialized(const FrontValue &value);

  Session &session() { return session_; }
  LoweringContext &context() { return c; }
  Emitter &emitter() { return emit; }

private:
  using Scope = std::map<std::string, FrontValue, std::less<>>;
  enum class Flow : uint8_t { Next, Returned, Broke, Continued };
  /// What follows a block in the enclosing ones: a helper's early `return` moves it into the other branch.
  struct Continuation {
    lang::Body body;
    size_t from;
    const Continuation *next;
  };

  // Statements.cpp
  Flow block(lang::Body body, const Continuation *rest, size_t from = 0);
  Flow statement(const lang::Stmt *stmt, const Continuation *rest);
  Flow deviceStatement(const lang::Stmt *stmt, const Continuation *rest);
  Flow hostStatement(const lang::Stmt *stmt, const Continuation *rest); // HostStatements.cpp
  void trace(LoweringFailure &failure, const lang::Stmt *stmt);
  void assign(const lang::Expr *target, const FrontValue &value);
  void bindName(std::string_view name, FrontValue value);
  void annotatedAssign(const lang::AnnAssign *stmt);
  void staticAssert(const lang::Call *call);
  void deviceAssert(const lang::Assert *stmt);
  std::string messageText(const lang::Expr *expr);

  // Branches.cpp
  Flow ifStatement(const lang::If *stmt, const Continuation *rest);
  void structuredIf(ValueId condition, const lang::If *stmt);
  Flow returningIf(ValueId condition, const lang::If *stmt, const Continuation *rest);
  Flow kernelReturnIf(ValueId condition, const lang::If *stmt);
  FrontValue conditionalExpression(const lang::IfExp *expr);
  struct Branch {
    RegionId region = kNone;
    Scope scope;
    std::set<std::string, std::less<>> defined;
    bool returned = false;
  };
  template <class Run> Branch branch(Run &&run);
  void mergeBranches(OpId op, Branch &thenBranch, Branch &elseBranch, const Scope &before,
                     const SourceRange &range);
  FrontValue mergeReturns(OpId op, RegionId thenRegion, const FrontValue &a, RegionId elseRegion,
                          const FrontValue &b, const SourceRange &range);

  // Loops.cpp
  void forStatement(const lang::For *stmt);
  void staticFor(const lang::For *stmt, const CallArguments &arguments);
  FrontValue rangeItems(const CallArguments &arguments);
  void runtimeFor(const lang::For *stmt, const CallArguments &arguments);
  void whileStatement(const lang::While *stmt);
  struct Carried {
    std::vector<std::string> names;
    std::vector<FrontValue> initial;
  };
  Carried carriedNames(lang::Body body, const SourceRange &range, const std::string &indexName,
                       const Type &indexType);
  void checkCarried(const std::string &name, const FrontValue &before, const FrontValue &after,
                    const SourceRange &range);

  // Expressions.cpp
  FrontValue nameValue(const lang::Name *name);
  FrontValue attributeValue(const lang::Attribute *attribute);
  /// Whether an expression's first name is bound in here, so that others of its spelling say nothing.
  bool isLocal(const lang::Expr *expr) const;
  FrontValue remembered(const lang::Expr *expr, FrontValue value);
  FrontValue globalValue(std::string_view name, const SourceRange &range);
  FrontValue valueOfMeaning(const Meaning &meaning, std::string_view name, const SourceRange &range,
                            bool plainToo = false);
  // Records.cpp
  FrontValue makeRecord(const ModuleScope &type, const CallArguments &arguments);
  std::optional<FrontValue> recordMethod(const FrontValue &object, std::string_view name);
  FrontValue frontOf(const HostValue &value);
  /// Expressions of the host's side see all of its globals; kernels only what Triton lets them.
  bool allowsPlainGlobals() const { return evaluatingGlobal_ || constexprOnly_; }
  FrontValue boolean(const lang::BoolOp *expr);
  FrontValue combineBooleans(lang::BoolOperator op, const std::vector<FrontValue> &values,
                             const SourceRange &range);
  FrontValue comparison(const lang::Compare *expr);
  FrontValue unary(const lang::UnaryOp *expr);
  FrontValue formatted(const lang::JoinedStr *expr);
  FrontValue comprehension(const lang::Expr *element, lang::Seq<const lang::Comprehension *> generators,
                           const SourceRange &range);
  FrontValue constantValue(const lang::Constant *constant);
  FrontValue call(const lang::Call *expr);
  CallArguments callArguments(const lang::Call *expr);
  ValueId conditionValue(const FrontValue &value, const SourceRange &range);

  /// SSA values inside a front value (tuples are taken apart), and a front value of the same form around new
  /// ones.
  static void flatten(const FrontValue &value, std::vector<ValueId> &out);
  static FrontValue rebuilt(const FrontValue &form, const std::vector<ValueId> &values, size_t &next);
  std::string describe(const FrontValue &value);
  bool sameForm(const FrontValue &a, const FrontValue &b);
  /// `value` with the exact type `type`, whose shape it has (perhaps spelled differently).
  ValueId spelledAs(ValueId value, const Type &type);

  Session &session_;
  LoweringContext &c;
  Emitter &emit;
  const ModuleScope &names_; ///< where names that the function does not bind are looked up
  bool isKernel_ = false;
  bool evaluatingGlobal_ = false;
  bool constexprOnly_ = false; ///< runs while the kernel is compiled: everything in it is known
  Scope scope_;
  std::set<std::string, std::less<>> defined_;        ///< names bound since the innermost region began
  std::set<std::string, std::less<>> constexprNames_; ///< declared `name: tl.constexpr` without a value
  uint32_t loopDepth_ = 0;
  FrontValue returned_;
};

} // namespace tilewright::lowering

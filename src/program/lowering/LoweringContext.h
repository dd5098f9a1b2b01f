#pragma once
#include "FrontValue.h"

#include "tilewright/program/Lowering.h"

#include <map>
#include <set>
#include <unordered_set>

namespace tilewright::lowering {

/// Why lowering stopped. Thrown inside this folder only: `lower` catches it, so nothing crosses the module's
/// border. An attempt with one witness fails in dozens of places of a deep recursion; carrying an Expected
/// through each would hide the language's rules.
struct LoweringFailure {
  Error error;
  /// A condition over open parameters without which the failure would not have happened; invalid when no
  /// choice of witness can help. The search for a witness learns from it.
  SymInt needed;
  using Names = std::set<std::string, std::less<>>;
  /// Kernel parameters that the failing statement depends on: what was assumed about them may be the mistake.
  Names suspects;
  /// Those that decided a branch on the way, the last one first.
  std::vector<std::string> deciders;
  bool wantsIntegers = false; ///< the suspects hold floats where only integers will do
  bool wantsConstant = false; ///< a value of run time where only one of compile time will do
  bool traced = false;        ///< the two above are complete
};

/// What one attempt to lower one kernel with one witness shares: the Program under construction, its symbols,
/// the witness, and the rules for deciding with it.
///
/// Two kinds of facts are recorded on the way. A *path condition* is a decision: had it gone the other way,
/// the Program would be another one (`if BLOCK > 64`). A *requirement* is a rule that must hold in any case
/// (`tl.static_assert`, powers of two): a candidate that breaks it is wrong on every path.
class LoweringContext {
public:
  LoweringContext(Program &program, const LoweringOptions &options, SymValues witness)
      : program(program), builder(program), syms(*program.symbols), options(options),
        witness(std::move(witness)) {}
  LoweringContext(const LoweringContext &) = delete;
  LoweringContext &operator=(const LoweringContext &) = delete;

  Program &program;
  ProgramBuilder builder;
  SymContext &syms;
  const LoweringOptions &options;
  SymValues witness;
  SourceRange here;            ///< location of the ops that are being made
  uint32_t steps = 0;          ///< statements executed so far, also those of trial runs
  uint32_t furthest = 0;       ///< the furthest statement of the kernel itself, as an offset into its file
  uint32_t unrolled = 0;       ///< iterations of static loops so far
  uint32_t discoveryDepth = 0; ///< > 0 while a loop's body is lowered only to see what it carries
  struct Call {
    std::string name;
    SourceRange location;
  };
  std::vector<Call> calls; ///< helpers being inlined, outermost first
  /// Shapes whose rules are met and recorded, and extents that are required to be equal: nothing to do again.
  std::set<std::vector<SymInt>> checkedShapes;
  std::set<std::pair<SymInt, SymInt>> sameExtents;

  // Failures. The user's spelling first, then the rule.
  [[noreturn]] void fail(const SourceRange &range, std::string code, std::string message, SymInt needed = {},
                         std::string help = {});
  [[noreturn]] void failType(const SourceRange &range, std::string message) {
    fail(range, "lower.type", std::move(message));
  }
  /// Kernel parameters behind SSA values: those loaded from, and those computed with.
  void traceOrigins(std::vector<ValueId> values, LoweringFailure::Names &origins) const;
  /// The open parameters in an expression.
  void traceOrigins(SymInt sym, LoweringFailure::Names &origins) const;
  /// A type error that would not be one if the memory behind `values` held something else.
  [[noreturn]] void failLoaded(const SourceRange &range, std::string message,
                               const std::vector<ValueId> &values);
  [[noreturn]] void unsupported(const SourceRange &range, std::string message, std::string help = {});

  // Constexpr values.
  FrontValue integer(int64_t value) { return FrontValue::integer(syms.constant(value), value); }
  FrontValue integer(SymInt sym, const SourceRange &range) {
    return FrontValue::integer(sym, valueOf(sym, range));
  }
  FrontValue boolean(bool value) { return FrontValue::boolean(syms.constant(value), value); }
  /// A 0/1-valued expression as a bool.
  FrontValue condition(SymInt sym, const SourceRange &range) {
    return FrontValue::boolean(sym, valueOf(sym, range) != 0);
  }
  /// What an expression over open parameters is for the witness.
  int64_t valueOf(SymInt sym, const SourceRange &range);

  /// The witness's answer to a 0/1-valued condition, recorded as a path condition unless it holds for all
  /// candidates.
  bool decide(SymInt condition, bool answer, const SourceRange &range);
  /// Whether a constexpr value is true in Python's sense.
  bool truth(const FrontValue &value, const SourceRange &range);
  /// The number of a constexpr integer where no expression will do (an axis, an unroll count): a path
  /// condition pins it.
  int64_t concrete(const FrontValue &value, const SourceRange &range);

  /// Records a rule; fails the attempt when the witness breaks it.
  void require(SymInt condition, std::string_view code, const std::string &text, const SourceRange &range,
               const std::string &failure);

  // SSA values.
  const Type &typeOf(ValueId value) const { return program.values[value].type; }
  /// A uint64 constant past int64 is held by its bits, which are no number to reason with: it has no
  /// expression.
  SymInt symOf(ValueId id) const {
    const Value &value = program.values[id];
    const bool tooLarge =
        value.type.dtype == DType::UInt64 && value.sym.valid() && value.sym.constant().value_or(0) < 0;
    return tooLarge ? SymInt() : value.sym;
  }
  ValueId create(OpKind kind, std::vector<ValueId> operands, Type result, Attributes attributes = {});
  OpId createOp(OpKind kind, std::vector<ValueId> operands, std::vector<Type> results,
                Attributes attributes = {});
  /// A name for the reader; the first one stays.
  void nameValue(ValueId value, std::string_view name);
  /// Gives an integer scalar the expression that stands for it; an opaque symbol when there is none.
  void setSym(ValueId value, SymInt sym, std::string_view opaqueName);

  /// The symbol of a program id or count; one an axis, however often the kernel asks for it.
  SymInt programSymbol(SymbolKind kind, uint32_t axis, std::string_view name, int64_t min);

  void remark(std::string code, std::string message, const SourceRange &range);

  /// The state to return to after a trial run of a loop body.
  struct Mark {
    size_t values, ops, regions, paths, requirements, remarks;
    uint32_t unrolled;
  };
  Mark mark() const;
  void rollback(const Mark &mark);

private:
  std::unordered_set<const SymNode *> decided_, required_;
  std::map<std::pair<SymbolKind, uint32_t>, SymInt> programSymbols_;
};

} // namespace tilewright::lowering

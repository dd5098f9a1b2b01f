#pragma once
#include "tilewright/program/Signature.h"
#include "tilewright/program/Type.h"
#include "tilewright/support/Source.h"

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

/// What an op does. Ops.def has one line for each: name in text, operand and result counts, and meaning.
enum class OpKind : uint8_t {
#define OP(name, text, operands, results, traits) name,
#include "tilewright/program/Ops.def"
};
std::string_view name(OpKind kind);
std::optional<OpKind> parseOpKind(std::string_view text);

using ValueId = uint32_t;
using OpId = uint32_t;
using RegionId = uint32_t;
inline constexpr uint32_t kNone = UINT32_MAX;

using Attribute = std::variant<bool, int64_t, double, std::string, SymInt, DType, std::vector<int64_t>,
                               std::vector<SymInt>>;

/// Named attributes of an op. Few and short, so a sorted map is fine.
class Attributes {
public:
  void set(std::string name, Attribute value) { values_[std::move(name)] = std::move(value); }
  const Attribute *find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Accessors for attributes that the verifier guarantees.
  int64_t integer(std::string_view name) const;
  int64_t integerOr(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name) const;        ///< false when absent
  std::string text(std::string_view name) const; ///< empty when absent
  double number(std::string_view name) const;
  SymInt sym(std::string_view name) const; ///< invalid when absent
  const std::vector<int64_t> &integers(std::string_view name) const;
  const std::vector<SymInt> &syms(std::string_view name) const;
  const std::map<std::string, Attribute, std::less<>> &values() const { return values_; }

private:
  std::map<std::string, Attribute, std::less<>> values_;
};

struct Value {
  Type type;
  OpId definingOp = kNone; ///< kNone for region arguments
  RegionId owner = kNone;  ///< the region whose argument it is, or kNone
  uint32_t index = 0;      ///< which result or argument
  std::string name;        ///< the source's variable name where there is one; not unique
  /// For integer scalars: the value as an expression over symbols, where lowering could tell.
  SymInt sym;
};

struct Op {
  OpKind kind;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  std::vector<RegionId> regions;
  Attributes attributes;
  SourceRange location;
};

/// A single block: arguments, then ops in order. `for` bodies, `if` branches and combine functions end in
/// `yield`.
struct Region {
  std::vector<ValueId> arguments;
  std::vector<OpId> ops;
  OpId parent = kNone; ///< the op that holds the region; kNone for the body
};

/// A kernel parameter as this Program sees it.
struct Parameter {
  enum class Kind : uint8_t {
    Pointer, ///< runtime pointer; `value` is the body argument
    Scalar,  ///< runtime scalar; `value` is the body argument, `symbol` its SymInt if integer
    Open,    ///< constexpr that tuning chooses; `symbol` is its SymInt, `witness` the value lowering used
    Fixed,   ///< constexpr (or None, or an integer 1) whose value is part of the Program: `fixed`
    Unused,  ///< a runtime argument of unknown kind that the body never reads
  };
  std::string name;
  Kind kind = Kind::Unused;
  bool isConstexpr = false;
  bool hasDefault = false;
  Type type;             ///< Pointer, Scalar
  ValueId value = kNone; ///< index among the body's arguments is the runtime argument order
  SymInt symbol;
  ArgumentValue fixed = NoneValue{};
  int64_t witness = 0;
  /// Scalar: what the caller computes it from, over other scalars and open parameters; invalid if nobody
  /// said.
  SymInt companion;
  SourceRange location;
};

/// "This Program is right only where the condition holds": a decision that lowering took with the witness.
struct PathCondition {
  SymInt condition; ///< 0/1-valued; must be 1
  std::string text; ///< the source expression
  SourceRange location;
};

/// A `tl.static_assert`, or a shape rule of the language, as a condition on open parameters.
struct StaticRequirement {
  SymInt condition; ///< 0/1-valued; must be 1
  std::string code; ///< "static_assert", "shape.pow2", "shape.numel", "lower.shape"
  std::string text; ///< the assertion's message, or the rule
  SourceRange location;
};

/// A kernel after lowering: SSA values, ops with regions, types with symbolic shapes; Triton's semantics and
/// nothing of a target. Immutable once built. The text form (Printer.h, Reader.h) is complete: printing and
/// reading back gives an equal Program, except for source locations, which become line numbers.
///
///     source "add.py"
///     kernel @add(%x: ptr<f32>, %n: i32 = n in 0.., open BLOCK = 1024 in 1..1048576, fixed EVEN = true
///     default) {
///       symbol pid0: program_id in 0..2147483647
///       path 64 < BLOCK : "BLOCK > 64" @4
///       require "static_assert" (BLOCK % 16) == 0 : "whole vectors" @5
///       %pid = program_id {axis = 0} : i32 = pid0 @6
///       %0 = constant {value = BLOCK} : i32 @7
///       %1 = mul %pid, %0 : i32 = BLOCK*pid0 @7
///       %2 = iota {end = BLOCK, start = 0} : tile<BLOCK x i32> @7
///       %acc = for %3, %4, %5, %6 {num_stages = 2} : f32 { (%i: i32 = i, %acc.2: f32)
///         ...
///         yield %9 @10
///       } @9
///     }
///
/// Parameters stand in the kernel's order: runtime ones with % (an integer scalar with `= its symbol`),
/// `open`, `fixed` and `unused`. After a type, `= expression` is the value's SymInt; a symbol that no line
/// has declared is introduced there. `in low..high divisor d` bounds a symbol; `@line` (or `@file:line`) is
/// the source location; a name's suffix
/// `.2` only tells apart values of one name. Text written by hand may leave the locations out: then errors
/// point into the text itself. `#` starts a comment.
class Program {
public:
  std::string kernel;
  std::shared_ptr<SymContext> symbols;
  std::vector<SourceFilePtr> sources; ///< kept alive for locations
  std::vector<Parameter> parameters;  ///< in the kernel's order
  std::vector<PathCondition> pathConditions;
  std::vector<StaticRequirement> requirements;
  std::vector<Diagnostic> remarks; ///< what lowering noticed (ignored hints, unknown decorators)

  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<Region> regions; ///< regions[0] is the body

  const Value &value(ValueId id) const { return values[id]; }
  const Op &op(OpId id) const { return ops[id]; }
  const Region &region(RegionId id) const { return regions[id]; }
  const Region &body() const { return regions[0]; }
  const Op *definingOp(ValueId id) const {
    return values[id].definingOp == kNone ? nullptr : &ops[values[id].definingOp];
  }
  const Parameter *findParameter(std::string_view name) const;
  /// The runtime parameter that is body argument `value`, or null.
  const Parameter *parameterOf(ValueId value) const;

  /// Symbols of all open parameters set from a configuration. Fails with space.missing when one has no value.
  Expected<SymValues> bind(const Config &config) const;
};

/// Creates ops at the end of the innermost open region. Used by lowering and by the Reader.
class ProgramBuilder {
public:
  explicit ProgramBuilder(Program &program) : program_(program) {}

  ValueId addArgument(RegionId region, Type type, std::string name = {});
  RegionId newRegion(OpId parent = kNone);
  void enter(RegionId region) { open_.push_back(region); }
  void leave() { open_.pop_back(); }
  RegionId current() const { return open_.back(); }
  /// Appends an op to the open region; result values get the given types. Regions are attached later through
  /// `program.ops[id].regions`.
  OpId create(OpKind kind, std::vector<ValueId> operands, std::vector<Type> resultTypes,
              Attributes attributes = {}, SourceRange location = {});
  /// Result 0 of an op.
  ValueId result(OpId op, uint32_t index = 0) const { return program_.ops[op].results[index]; }

private:
  Program &program_;
  std::vector<RegionId> open_;
};

} // namespace tilewright

#pragma once
#include "tilewright/program/Program.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::lowering {

struct JitFunction;

/// Python's integers have no bound; this is ours. Past it is a refusal.
__extension__ typedef __int128 WideInteger;
class ModuleScope;

enum class FrontKind : uint8_t {
  None,
  Bool,       ///< constexpr; `sym` is 0/1-valued
  Int,        ///< constexpr
  Float,      ///< constexpr
  String,     ///< constexpr
  TypeObject, ///< a dtype, a pointer type, the type of a tile
  Tuple,      ///< also Python lists
  Slice,      ///< `a:b:c` inside a subscript: three items
  Module,     ///< `text` is the dotted path, or `scope` a module or class of the source
  Builtin,    ///< a function of triton, triton.language or Python: `text` is its name in the tables
  Method,     ///< `items[0].text`, ready to be called
  Function,   ///< a @triton.jit function of the source
  Foreign, ///< something that the source imports or defines and that lowering does not look into; `text` says
           ///< what
  Runtime, ///< an SSA value
};

/// What an expression of the kernel's source means while it is lowered: a value of compile time (constexpr,
/// with the exact kinds that Triton's own front end tells apart), or an SSA value of the Program under
/// construction.
///
/// A constexpr integer is a pair: the expression over open parameters (`sym`) and the number that it is for
/// the witness (`witness`). Shapes take the expression, decisions take the number and record what they took
/// for granted. Both are exact: `evaluate(sym, witness values) == witness`.
struct FrontValue {
  FrontKind kind = FrontKind::None;
  SymInt sym;
  int64_t witness = 0;
  double number = 0;
  /// The exact value of an integer past int64, which has no parameters in it; `sym` and `witness` then hold
  /// its low 64 bits, as a uint64 constant does.
  std::shared_ptr<const WideInteger> wide;
  std::string text;
  Type type;
  ValueId value = kNone;
  uint32_t assumption = kNone; ///< the kernel parameter whose assumed value this is
  const JitFunction *function = nullptr;
  const ModuleScope *scope = nullptr; ///< Module; for a record (a tuple with `fields`) its class
  std::map<std::string, FrontValue, std::less<>> *record = nullptr; ///< the `self` of a record being made
  std::shared_ptr<const std::vector<FrontValue>> items;
  std::shared_ptr<const std::vector<std::string>> fields; ///< names of a named tuple's items

  static FrontValue none() { return {}; }
  static FrontValue integer(SymInt sym, int64_t witness) {
    FrontValue v;
    v.kind = FrontKind::Int;
    v.sym = sym;
    v.witness = witness;
    return v;
  }
  static FrontValue wideInteger(SymInt lowBits, int64_t low, WideInteger exact) {
    FrontValue v = integer(lowBits, low);
    v.wide = std::make_shared<const WideInteger>(exact);
    return v;
  }
  static FrontValue boolean(SymInt sym, bool witness) {
    FrontValue v = integer(sym, witness);
    v.kind = FrontKind::Bool;
    return v;
  }
  static FrontValue floating(double number) {
    FrontValue v;
    v.kind = FrontKind::Float;
    v.number = number;
    return v;
  }
  static FrontValue string(std::string text) { return named(FrontKind::String, std::move(text)); }
  static FrontValue named(FrontKind kind, std::string text) {
    FrontValue v;
    v.kind = kind;
    v.text = std::move(text);
    return v;
  }
  static FrontValue typeObject(Type type) {
    FrontValue v;
    v.kind = FrontKind::TypeObject;
    v.type = std::move(type);
    return v;
  }
  static FrontValue tuple(std::vector<FrontValue> items) {
    FrontValue v;
    v.kind = FrontKind::Tuple;
    v.items = std::make_shared<const std::vector<FrontValue>>(std::move(items));
    return v;
  }
  static FrontValue runtime(ValueId value) {
    FrontValue v;
    v.kind = FrontKind::Runtime;
    v.value = value;
    return v;
  }
  static FrontValue method(FrontValue self, std::string name) {
    FrontValue v = named(FrontKind::Method, std::move(name));
    v.items = std::make_shared<const std::vector<FrontValue>>(1, std::move(self));
    return v;
  }

  bool is(FrontKind k) const { return kind == k; }
  bool isNone() const { return kind == FrontKind::None; }
  bool isRuntime() const { return kind == FrontKind::Runtime; }
  /// A Python number: what takes part in arithmetic without having a dtype of its own.
  bool isNumber() const {
    return kind == FrontKind::Bool || kind == FrontKind::Int || kind == FrontKind::Float;
  }
  bool isIntegral() const { return kind == FrontKind::Bool || kind == FrontKind::Int; }
  /// A number's value for the witness.
  double asDouble() const {
    return kind == FrontKind::Float ? number
           : wide                   ? static_cast<double>(*wide)
                                    : static_cast<double>(witness);
  }
  /// An integral value, exactly.
  WideInteger exact() const { return wide ? *wide : witness; }
};

} // namespace tilewright::lowering

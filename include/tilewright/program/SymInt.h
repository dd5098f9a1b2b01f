#pragma once
#include "tilewright/support/Expected.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright {

/// What a symbol stands for.
enum class SymbolKind : uint8_t {
  OpenParameter, ///< a tl.constexpr that tuning chooses
  RuntimeScalar, ///< an integer kernel argument
  ProgramId,     ///< tl.program_id(axis)
  ProgramCount,  ///< tl.num_programs(axis)
  LoopIndex,     ///< the induction variable of a `for`
  LaneIndex,     ///< the position along one axis of a tile (an iota); made by analyses, never by lowering
  Opaque,        ///< an integer value that is known only by name (a loaded value, a loop-carried scalar)
};

class SymContext;
struct SymNode;

/// A half-known range; INT64_MIN / INT64_MAX mean unbounded.
struct SymRange {
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
  friend bool operator==(const SymRange &, const SymRange &) = default;
};

enum class SymOp : uint8_t {
  Constant,
  Symbol,
  Add,      ///< n-ary, constant last, terms sorted
  Mul,      ///< n-ary, constant first, factors sorted
  FloorDiv, ///< binary, rounds towards minus infinity (Python's //)
  Mod,      ///< binary, sign of the divisor (Python's %)
  Min,      ///< n-ary
  Max,      ///< n-ary
  Select,   ///< (condition, ifTrue, ifFalse)
  NextPow2, ///< smallest power of two >= x; 1 for x <= 1
  Lt,       ///< comparisons and logic have the value 0 or 1
  Le,
  Eq,
  And,
  Or,
  Not,
  Xor, ///< bitwise, rarely needed (swizzles); never simplified beyond constants
  Shl,
  Shr,
  BitAnd,
  BitOr,
};

/// An integer expression that nobody has evaluated yet: the number type of Tilewright.
///
/// A tile is `[BLOCK_M, BLOCK_N]` with both still open, a grid is `cdiv(M, BLOCK_M)`, a mask says `offs < n`.
/// A SymInt is a pointer to a hash-consed node in a SymContext, kept in normal form: sums are flattened,
/// sorted and have like terms collected ((B + B) is 2*B); products are distributed over sums when that keeps
/// the sum small, so (M + 1)*B is B + B*M; division, modulo, min, max, select and nextPow2 are atoms, folded
/// where ranges and divisors prove it ((B*M)//B is M when B != 0 is known from its range). So two equal
/// expressions are nearly always the same pointer, and `==` is a pointer comparison; `provablyEqual` of the
/// context tries harder.
///
/// A default-constructed SymInt is "no expression"; only `valid()` may be called on it. SymInts live as long
/// as their context, which a Program keeps alive. Contexts may be used from several threads (interning
/// locks).
class SymInt {
public:
  SymInt() = default;
  explicit SymInt(const SymNode *node) : node_(node) {}

  bool valid() const { return node_ != nullptr; }
  const SymNode *node() const { return node_; }

  SymOp op() const;
  bool isConstant() const;
  /// The value of a constant expression.
  std::optional<int64_t> constant() const;
  bool isConstant(int64_t value) const { return constant() == value; }
  bool isSymbol() const { return op() == SymOp::Symbol; }
  uint32_t symbolId() const; ///< requires isSymbol()
  std::span<const SymInt> operands() const;
  SymRange range() const;  ///< proved bounds
  int64_t divisor() const; ///< the largest known d >= 1 with value % d == 0 (0 for the constant 0)
  /// Nodes of the expression when written out as a tree, saturating at UINT32_MAX. Shared subexpressions make
  /// a text exponentially longer than its graph: whoever builds without bound (unrolled loops) checks this
  /// and gives up.
  uint32_t weight() const;
  SymContext &context() const;

  friend bool operator==(SymInt a, SymInt b) { return a.node_ == b.node_; }
  friend bool operator<(SymInt a, SymInt b); ///< a stable order by creation, for sorted containers

private:
  const SymNode *node_ = nullptr;
};

struct SymNode {
  SymOp op;
  uint32_t id;   ///< creation order in its context
  int64_t value; ///< Constant: the value; Symbol: the symbol id
  SymRange range;
  int64_t divisor;
  uint32_t weight;
  std::vector<SymInt> operands;
  SymContext *context;
  const struct Symbol *symbol; ///< Symbol: what it stands for
};

struct Symbol {
  uint32_t id = 0;
  SymbolKind kind = SymbolKind::Opaque;
  std::string name;
  SymRange range;
  int64_t divisor = 1;
};

/// Owns and interns expressions. All builders fold constants and keep the normal form. Arithmetic is on
/// unbounded integers in intent and int64 in fact: folding that would overflow is left unfolded.
class SymContext {
public:
  SymContext();
  ~SymContext();
  SymContext(const SymContext &) = delete;
  SymContext &operator=(const SymContext &) = delete;

  /// A new symbol; names are for printing and need not be unique.
  SymInt newSymbol(SymbolKind kind, std::string name, SymRange range = {}, int64_t divisor = 1);
  const Symbol &symbol(uint32_t id) const;
  uint32_t symbolCount() const;

  SymInt constant(int64_t value);
  SymInt add(SymInt a, SymInt b);
  SymInt sub(SymInt a, SymInt b);
  SymInt neg(SymInt a);
  SymInt mul(SymInt a, SymInt b);
  SymInt floorDiv(SymInt a, SymInt b);
  SymInt mod(SymInt a, SymInt b);
  SymInt cdiv(SymInt a, SymInt b); ///< (a + b - 1) floorDiv b
  SymInt min(SymInt a, SymInt b);
  SymInt max(SymInt a, SymInt b);
  SymInt select(SymInt condition, SymInt ifTrue, SymInt ifFalse);
  SymInt nextPow2(SymInt a);
  SymInt lt(SymInt a, SymInt b);
  SymInt le(SymInt a, SymInt b);
  SymInt eq(SymInt a, SymInt b);
  SymInt logicalAnd(SymInt a, SymInt b);
  SymInt logicalOr(SymInt a, SymInt b);
  SymInt logicalNot(SymInt a);
  SymInt bit(SymOp op, SymInt a, SymInt b); ///< Xor, Shl, Shr, BitAnd, BitOr

  /// Replaces symbols (by id) and renormalises.
  SymInt substitute(SymInt expression, const std::function<SymInt(uint32_t symbolId)> &replacement);

  /// a - b folds to zero, or ranges prove it.
  bool provablyEqual(SymInt a, SymInt b);
  bool provablyLe(SymInt a, SymInt b);

  struct Impl;

private:
  std::unique_ptr<Impl> impl_;
};

/// "BLOCK*pid0 + 3", "cdiv(n, BLOCK)" where the shape is recognised, "min(a, b)", "(x // 4)". Reads back with
/// `parseSymInt`.
std::string toString(SymInt expression);
/// Reads the text form; names are looked up by the callback, which returns an invalid SymInt for unknown
/// ones.
Expected<SymInt> parseSymInt(SymContext &context, std::string_view text,
                             const std::function<SymInt(std::string_view name)> &lookup);

/// Which symbols occur.
std::vector<uint32_t> symbolsOf(SymInt expression);
bool mentions(SymInt expression, uint32_t symbolId);

/// Values for symbols, by id; unset symbols are absent.
class SymValues {
public:
  void set(uint32_t symbolId, int64_t value);
  std::optional<int64_t> get(uint32_t symbolId) const {
    return symbolId < set_.size() && set_[symbolId] ? std::optional(values_[symbolId]) : std::nullopt;
  }

private:
  std::vector<int64_t> values_;
  std::vector<bool> set_;
};
/// The value, or nothing when a symbol is unset, a divisor is zero or an intermediate overflows.
std::optional<int64_t> evaluate(SymInt expression, const SymValues &values);

/// One expression compiled to flat code, for evaluation over thousands of candidates at nanoseconds each.
class CompiledSym {
public:
  explicit CompiledSym(SymInt expression);
  /// `values[symbolId]`; must cover every symbol of the expression. Nothing on division by zero or overflow.
  std::optional<int64_t> evaluate(std::span<const int64_t> values) const;

private:
  struct Instruction {
    SymOp op;
    uint16_t arity;
    int64_t value;
  };
  std::vector<Instruction> code_;
  uint32_t depth_ = 0;
};

/// `coefficient * index` terms of an expression that is affine in the given symbols.
struct AffineForm {
  SymInt constant;                                ///< the part free of the given symbols
  std::vector<std::pair<uint32_t, SymInt>> terms; ///< symbol id, coefficient (free of the given symbols)
};
/// Nothing when some given symbol occurs inside a non-linear atom or in a product with another one.
std::optional<AffineForm> affineIn(SymInt expression, const std::function<bool(uint32_t symbolId)> &isIndex);

} // namespace tilewright

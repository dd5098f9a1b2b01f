#pragma once
#include "SymBounds.h"
#include "SymSum.h"

#include <deque>
#include <mutex>
#include <unordered_set>

namespace tilewright {

/// The interning table and the builders behind SymContext. Nodes never move and never change, so only the
/// table itself is locked; everything that reads nodes runs without a lock.
struct SymContext::Impl {
  explicit Impl(SymContext &owner) : context(owner) {}

  /// The unique node of that shape. Returns the constant instead when the proved range is a single value.
  SymInt intern(SymOp op, int64_t value, std::vector<SymInt> operands);
  SymInt constant(int64_t value) { return intern(SymOp::Constant, value, {}); }
  /// The node of a sum; nothing when a coefficient leaves int64.
  std::optional<SymInt> build(symbolic::Sum sum);

  /// a = quotient*b + remainder, as far as it can be taken apart:
  ///     a // b = quotient + numerator // denominator
  ///     a % b  = remainder + scale * (numerator % denominator)
  /// The parts with `numerator` are absent when nothing is left to divide.
  struct Division {
    SymInt quotient;
    SymInt remainder;
    SymInt scale;
    SymInt numerator;
    SymInt denominator;
    bool exact = false; ///< `numerator` is a multiple of `denominator`
  };
  /// Requires that `b` is proved non-zero and not a negative constant. Nothing when coefficients overflow.
  std::optional<Division> divide(SymInt a, SymInt b);

  SymInt extremum(SymOp op, SymInt a, SymInt b); ///< Min or Max
  SymInt junction(SymOp op, SymInt a, SymInt b); ///< And or Or
  /// sum >= 0 as a 0/1-valued expression, in the canonical spelling; invalid when a side leaves int64.
  SymInt nonNegative(symbolic::Sum sum);
  bool provablyNonNegative(const symbolic::Sum &sum);
  SymInt truth(SymInt a); ///< 0/1-valued: a != 0
  /// What `a == b` says when one side is a truth value and the other 0 or 1; invalid otherwise.
  SymInt equalsTruth(SymInt a, SymInt b);

  struct Key {
    SymOp op;
    int64_t value;
    std::span<const SymInt> operands;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Key &key) const;
    size_t operator()(const SymNode *node) const {
      return (*this)(Key{node->op, node->value, node->operands});
    }
  };
  struct Equal {
    using is_transparent = void;
    static Key key(const SymNode *node) { return {node->op, node->value, node->operands}; }
    static const Key &key(const Key &key) { return key; } // NOLINT(bugprone-return-const-ref-from-parameter)
    template <class A, class B> bool operator()(const A &a, const B &b) const { return same(key(a), key(b)); }
    static bool same(const Key &a, const Key &b);
  };

  SymContext &context;
  mutable std::mutex mutex;
  std::deque<SymNode> nodes;
  std::deque<Symbol> symbols;
  std::unordered_set<const SymNode *, Hash, Equal> table;
};

} // namespace tilewright

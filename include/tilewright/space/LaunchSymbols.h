#pragma once
#include "tilewright/program/Program.h"

namespace tilewright {

/// The symbols of a Program under one launch, as a flat array that compiled expressions read: runtime
/// integers from the launch arguments, open parameters from a configuration, everything else (program ids,
/// loop indices, loaded values) 0.
///
/// One per request; the arrays are copied and refilled per candidate, so evaluation allocates nothing.
class LaunchSymbols {
public:
  LaunchSymbols(const Program &program, const LaunchArguments &arguments);

  /// The kernel's open parameters, in its order. At most 64 take part in masks; more than that no kernel has.
  const std::vector<const Parameter *> &open() const { return open_; }
  /// Index into open(), or nothing.
  std::optional<size_t> openIndex(std::string_view name) const;

  /// Values with runtime scalars set and open parameters 0.
  const std::vector<int64_t> &launchValues() const { return values_; }
  void assign(std::vector<int64_t> &values, size_t openIndex, int64_t value) const {
    values[open_[openIndex]->symbol.symbolId()] = value;
  }
  /// Launch values with every open parameter that the configuration names.
  std::vector<int64_t> valuesOf(const Config &config) const;

  bool isBound(uint32_t symbolId) const { return symbolId < bound_.size() && bound_[symbolId]; }
  /// Bit i is set when open()[i] is the symbol.
  uint64_t openBit(uint32_t symbolId) const;

private:
  std::vector<const Parameter *> open_;
  std::vector<int64_t> values_;
  std::vector<bool> bound_; ///< runtime scalars with a value
};

/// One expression, ready for many evaluations over LaunchSymbols' arrays. Small ones are compiled; one that
/// would be exponentially long as flat code stays a graph.
class Formula {
public:
  Formula() = default;
  Formula(SymInt expression, const LaunchSymbols &symbols);

  bool valid() const { return expression_.valid(); }
  /// Depends on nothing but the launch and open parameters, so that the value is exact.
  bool decidable() const { return decidable_; }
  uint64_t openMask() const { return openMask_; }
  SymInt expression() const { return expression_; }
  /// Nothing on division by zero or overflow, or without an expression. Where not decidable: the value for
  /// program 0, iteration 0.
  std::optional<int64_t> operator()(std::span<const int64_t> values) const;

private:
  SymInt expression_;
  std::optional<CompiledSym> compiled_;
  std::optional<int64_t> constant_;
  std::optional<uint32_t>
      symbol_; ///< the expression is just this symbol: tile lengths and extents mostly are
  bool decidable_ = false;
  uint64_t openMask_ = 0;
};

} // namespace tilewright

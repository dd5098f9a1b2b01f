#include "tilewright/space/LaunchSymbols.h"

#include <algorithm>

namespace tilewright {

namespace {

/// Flat code repeats shared subexpressions; beyond this many nodes the graph is cheaper to walk.
constexpr uint32_t kHeaviestCompiled = 4096;

std::optional<int64_t> integerOf(const ArgumentValue &value) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag ? 1 : 0;
  return std::nullopt;
}

} // namespace

LaunchSymbols::LaunchSymbols(const Program &program, const LaunchArguments &arguments) {
  const uint32_t count = program.symbols ? program.symbols->symbolCount() : 0;
  values_.assign(count, 0);
  bound_.assign(count, false);
  for (const auto &parameter : program.parameters) {
    if (!parameter.symbol.valid() || !parameter.symbol.isSymbol())
      continue;
    const uint32_t id = parameter.symbol.symbolId();
    if (parameter.kind == Parameter::Kind::Open) {
      open_.push_back(&parameter);
    } else if (parameter.kind == Parameter::Kind::Scalar) {
      const ArgumentValue *argument = arguments.find(parameter.name);
      if (const auto value = argument ? integerOf(*argument) : std::nullopt) {
        values_[id] = *value;
        bound_[id] = true;
      }
    }
  }
}

std::optional<size_t> LaunchSymbols::openIndex(std::string_view name) const {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const Parameter *each) { return each->name == name; });
  return found == open_.end() ? std::nullopt : std::optional(static_cast<size_t>(found - open_.begin()));
}

std::vector<int64_t> LaunchSymbols::valuesOf(const Config &config) const {
  std::vector<int64_t> values = values_;
  for (size_t i = 0; i < open_.size(); ++i)
    if (const auto value = config.integer(open_[i]->name))
      assign(values, i, *value);
  return values;
}

uint64_t LaunchSymbols::openBit(uint32_t symbolId) const {
  for (size_t i = 0; i < open_.size() && i < 64; ++i)
    if (open_[i]->symbol.symbolId() == symbolId)
      return uint64_t{1} << i;
  return 0;
}

Formula::Formula(SymInt expression, const LaunchSymbols &symbols) : expression_(expression) {
  if (!expression.valid())
    return;
  decidable_ = true;
  for (const uint32_t id : symbolsOf(expression)) {
    const uint64_t bit = symbols.openBit(id);
    openMask_ |= bit;
    decidable_ &= bit != 0 || symbols.isBound(id);
  }
  constant_ = expression.constant();
  if (expression.isSymbol())
    symbol_ = expression.symbolId();
  if (!constant_ && !symbol_ && expression.weight() <= kHeaviestCompiled)
    compiled_.emplace(expression);
}

std::optional<int64_t> Formula::operator()(std::span<const int64_t> values) const {
  if (constant_)
    return constant_;
  if (symbol_ && *symbol_ < values.size())
    return values[*symbol_];
  if (compiled_)
    return compiled_->evaluate(values);
  if (!expression_.valid())
    return std::nullopt;
  SymValues bound;
  for (uint32_t id = 0; id < values.size(); ++id)
    bound.set(id, values[id]);
  return evaluate(expression_, bound);
}

} // namespace tilewright

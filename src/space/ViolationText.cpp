#include "ViolationText.h"

#include <fmt/format.h>

namespace tilewright {

namespace {

/// "BLOCK = 512, n_cols = 781": every symbol of the condition, in its order.
std::string valuesText(SymInt condition, std::span<const int64_t> values) {
  std::string out;
  for (const uint32_t id : symbolsOf(condition))
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", condition.context().symbol(id).name,
                       id < values.size() ? values[id] : 0);
  return out;
}

struct Sides {
  SymInt left, right;
  int64_t leftValue, rightValue;
};

std::optional<Sides> sidesOf(SymInt condition, const LaunchSymbols &symbols,
                             std::span<const int64_t> values) {
  if (condition.operands().size() != 2)
    return std::nullopt;
  const SymInt left = condition.operands()[0], right = condition.operands()[1];
  const auto a = Formula(left, symbols)(values), b = Formula(right, symbols)(values);
  if (!a || !b)
    return std::nullopt;
  return Sides{left, right, *a, *b};
}

/// Dividend and divisor of `x % d == 0`.
std::optional<std::pair<SymInt, SymInt>> divisionOf(SymInt condition) {
  if (condition.op() == SymOp::Not)
    condition = condition.operands()[0];
  if (condition.op() == SymOp::Eq)
    for (const SymInt side : condition.operands())
      if (side.op() == SymOp::Mod)
        return std::pair{side.operands()[0], side.operands()[1]};
  if (condition.op() == SymOp::Mod)
    return std::pair{condition.operands()[0], condition.operands()[1]};
  return std::nullopt;
}

} // namespace

std::string violationText(const Constraint &constraint, const LaunchSymbols &symbols,
                          std::span<const int64_t> values) {
  const SymInt condition = constraint.condition;
  const bool isComparison = condition.op() == SymOp::Le || condition.op() == SymOp::Lt;
  if (constraint.code == "oneshot.short" && isComparison)
    if (const auto sides = sidesOf(condition, symbols, values))
      return fmt::format("{} must cover all of {}: {} < {}", toString(sides->right), toString(sides->left),
                         sides->rightValue, sides->leftValue);
  if (constraint.code == "order.tile" && isComparison)
    if (const auto sides = sidesOf(condition, symbols, values))
      return fmt::format("{} must not exceed {}: {} > {}", toString(sides->left), toString(sides->right),
                         sides->leftValue, sides->rightValue);
  if (constraint.code == "divide.tail" || constraint.code == "divide.floor")
    if (const auto division = divisionOf(condition)) {
      const auto dividend = Formula(division->first, symbols)(values),
                 divisor = Formula(division->second, symbols)(values);
      if (dividend && divisor)
        return fmt::format("{} must divide {}: {} is no multiple of {}", toString(division->second),
                           toString(division->first), *dividend, *divisor);
    }
  const std::string numbers = valuesText(condition, values);
  if (constraint.code == "shape.pow2" && symbolsOf(condition).size() == 1)
    return fmt::format("{} must be a power of two: {}",
                       condition.context().symbol(symbolsOf(condition)[0]).name,
                       values[symbolsOf(condition)[0]]);
  const std::string rule = constraint.text.empty() ? toString(condition) : constraint.text;
  return numbers.empty() ? fmt::format("does not hold: {}", rule)
                         : fmt::format("does not hold: {} with {}", rule, numbers);
}

} // namespace tilewright

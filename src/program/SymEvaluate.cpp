#include "SymBounds.h"
#include "SymSum.h"

#include <algorithm>
#include <unordered_map>

namespace tilewright {

using namespace symbolic;

namespace {

/// A value, or "undefined" with the bit cleared. Undefined operands poison the result, except where the other
/// operands decide it alone:  d != 0 and n // d > 1  is 0 for d = 0.
struct Lane {
  int64_t value = 0;
  bool defined = false;
};

Lane combine(SymOp op, Lane *operands, size_t count) {
  if (op == SymOp::Select) {
    if (!operands[0].defined)
      return {};
    return operands[0].value != 0 ? operands[1] : operands[2];
  }
  if (op == SymOp::And || op == SymOp::Or) {
    bool defined = true;
    for (size_t i = 0; i < count; ++i) {
      if (operands[i].defined && (operands[i].value != 0) == (op == SymOp::Or))
        return {op == SymOp::Or, true};
      defined &= operands[i].defined;
    }
    return {op == SymOp::And, defined};
  }
  int64_t small[8];
  std::vector<int64_t> large;
  int64_t *values = small;
  if (count > 8) {
    large.resize(count);
    values = large.data();
  }
  for (size_t i = 0; i < count; ++i) {
    if (!operands[i].defined)
      return {};
    values[i] = operands[i].value;
  }
  const auto result = apply(op, {values, count});
  return result ? Lane{*result, true} : Lane{};
}

/// The frequent operations on defined operands, in place; false when `combine` has to look closer.
bool combineQuickly(SymOp op, Lane *operands, size_t count) {
  int64_t value = operands[0].value;
  bool defined = operands[0].defined, overflow = false;
  switch (op) {
  case SymOp::Add:
    for (size_t i = 1; i < count; ++i) {
      defined &= operands[i].defined;
      overflow |= __builtin_add_overflow(value, operands[i].value, &value);
    }
    break;
  case SymOp::Mul:
    for (size_t i = 1; i < count; ++i) {
      defined &= operands[i].defined;
      overflow |= __builtin_mul_overflow(value, operands[i].value, &value);
    }
    break;
  case SymOp::FloorDiv:
  case SymOp::Mod:
    defined &= operands[1].defined;
    if (operands[1].value <= 0)
      return false;
    value =
        op == SymOp::FloorDiv ? floorDivide(value, operands[1].value) : floorModulo(value, operands[1].value);
    break;
  case SymOp::Lt:
    defined &= operands[1].defined;
    value = value < operands[1].value;
    break;
  case SymOp::Le:
    defined &= operands[1].defined;
    value = value <= operands[1].value;
    break;
  default:
    return false;
  }
  if (!defined || overflow)
    return false;
  operands[0].value = value;
  return true;
}

class TreeEvaluator {
public:
  explicit TreeEvaluator(const SymValues &values) : values_(values) {}

  Lane operator()(SymInt e) {
    if (e.op() == SymOp::Constant)
      return {e.node()->value, true};
    if (e.op() == SymOp::Symbol) {
      const auto value = values_.get(e.symbolId());
      return value ? Lane{*value, true} : Lane{};
    }
    const bool worthKeeping = e.weight() > 16;
    if (worthKeeping)
      if (const auto found = known_.find(e.node()); found != known_.end())
        return found->second;
    std::vector<Lane> operands;
    operands.reserve(e.operands().size());
    for (SymInt operand : e.operands())
      operands.push_back((*this)(operand));
    const Lane result = combine(e.op(), operands.data(), operands.size());
    if (worthKeeping)
      known_.emplace(e.node(), result);
    return result;
  }

private:
  const SymValues &values_;
  std::unordered_map<const SymNode *, Lane> known_;
};

} // namespace

void SymValues::set(uint32_t symbolId, int64_t value) {
  if (symbolId >= set_.size()) {
    set_.resize(symbolId + 1);
    values_.resize(symbolId + 1);
  }
  set_[symbolId] = true;
  values_[symbolId] = value;
}

std::optional<int64_t> evaluate(SymInt expression, const SymValues &values) {
  if (expression.isConstant())
    return expression.constant();
  if (expression.isSymbol())
    return values.get(expression.symbolId());
  const Lane result = TreeEvaluator(values)(expression);
  return result.defined ? std::optional(result.value) : std::nullopt;
}

CompiledSym::CompiledSym(SymInt expression) {
  uint32_t height = 0;
  const auto emit = [&](const auto &self, SymInt e) -> void {
    for (SymInt operand : e.operands())
      self(self, operand);
    height = height + 1 - static_cast<uint32_t>(e.operands().size());
    depth_ = std::max(depth_, height + static_cast<uint32_t>(e.operands().size()));
    // More operands than a uint16_t counts are folded pairwise; only n-ary operations get that long.
    uint32_t left = static_cast<uint32_t>(e.operands().size());
    while (left > UINT16_MAX) {
      code_.push_back({e.op(), 2, e.node()->value});
      --left;
    }
    code_.push_back({e.op(), static_cast<uint16_t>(left), e.node()->value});
  };
  emit(emit, expression);
}

std::optional<int64_t> CompiledSym::evaluate(std::span<const int64_t> values) const {
  Lane small[64];
  std::vector<Lane> large;
  Lane *stack = small;
  if (depth_ > 64) {
    large.resize(depth_);
    stack = large.data();
  }
  size_t height = 0;
  for (const Instruction &instruction : code_) {
    switch (instruction.op) {
    case SymOp::Constant:
      stack[height++] = {instruction.value, true};
      break;
    case SymOp::Symbol:
      stack[height++] = static_cast<uint64_t>(instruction.value) < values.size()
                            ? Lane{values[static_cast<size_t>(instruction.value)], true}
                            : Lane{};
      break;
    default:
      height -= instruction.arity;
      if (!combineQuickly(instruction.op, stack + height, instruction.arity))
        stack[height] = combine(instruction.op, stack + height, instruction.arity);
      ++height;
    }
  }
  return stack[0].defined ? std::optional(stack[0].value) : std::nullopt;
}

} // namespace tilewright

#include "TileAccess.h"

namespace tilewright::cpu {

namespace {

using Kind = AxisStep::Kind;

AxisStep sum(AxisStep a, AxisStep b, int64_t sign) {
  if (b.kind == Kind::Constant)
    b.value *= sign;
  if (a.kind == Kind::Other || b.kind == Kind::Other)
    return {Kind::Other};
  if (a.isZero())
    return b;
  if (b.isZero())
    return a;
  if (a.kind == Kind::Constant && b.kind == Kind::Constant)
    return a.value + b.value == 0 ? AxisStep{} : AxisStep{Kind::Constant, a.value + b.value};
  return {Kind::Uniform};
}

AxisStep scaled(AxisStep step, std::optional<int64_t> factor) {
  if (step.isZero() || step.kind == Kind::Other)
    return step;
  if (factor == 0)
    return {};
  if (factor && step.kind == Kind::Constant)
    return {Kind::Constant, step.value * *factor};
  return {Kind::Uniform};
}

} // namespace

bool TileAccess::isUniform(ValueId id) {
  for (const AxisStep step : steps(id))
    if (!step.isZero())
      return false;
  return true;
}

const AxisSteps &TileAccess::steps(ValueId id) {
  id = p_.canonical(id);
  if (const auto known = steps_.find(id); known != steps_.end())
    return known->second;
  AxisSteps computed = compute(id);
  return steps_[id] = std::move(computed);
}

AxisSteps TileAccess::compute(ValueId id) {
  const size_t rank = p_.rank(id);
  const AxisSteps opaque(rank, AxisStep{Kind::Other});
  const Op *op = p_.definition(id);
  if (!op) {
    if (const Induction *induction = this->induction(id))
      return steps(induction->init);
    return opaque;
  }
  const auto operandSteps = [&](size_t index) -> const AxisSteps & { return steps(op->operands[index]); };
  switch (op->kind) {
  case OpKind::Iota:
    return {AxisStep{Kind::Constant, 1}};
  case OpKind::Splat:
    return AxisSteps(rank);
  case OpKind::ExpandDims: {
    AxisSteps result = operandSteps(0);
    result.insert(result.begin() + op->attributes.integer("axis"), AxisStep{});
    return result;
  }
  case OpKind::Broadcast: {
    AxisSteps result = operandSteps(0);
    for (size_t axis = 0; axis < rank; ++axis)
      if (p_.shape(op->operands[0])[axis] == 1)
        result[axis] = {};
    return result;
  }
  case OpKind::Permute: {
    AxisSteps result(rank);
    const auto &order = op->attributes.integers("order");
    for (size_t axis = 0; axis < rank; ++axis)
      result[axis] = operandSteps(0)[order[axis]];
    return result;
  }
  case OpKind::Reshape:
    return isUniform(op->operands[0]) ? AxisSteps(rank) : opaque;
  case OpKind::Hint:
    return operandSteps(0);
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::AddPtr: {
    if (!p_.value(id).type.isPointer() && !isInteger(p_.value(id).type.dtype))
      break;
    AxisSteps result(rank);
    for (size_t axis = 0; axis < rank; ++axis)
      result[axis] = sum(operandSteps(0)[axis], operandSteps(1)[axis], op->kind == OpKind::Sub ? -1 : 1);
    return result;
  }
  case OpKind::Mul: {
    for (const size_t moving : {size_t{0}, size_t{1}}) {
      const ValueId factor = op->operands[1 - moving];
      if (!isUniform(factor) || !isInteger(p_.value(id).type.dtype))
        continue;
      AxisSteps result = operandSteps(moving);
      for (AxisStep &step : result)
        step = scaled(step, p_.constantOf(factor));
      return result;
    }
    break;
  }
  case OpKind::Cast: {
    const Type &from = p_.value(op->operands[0]).type;
    const Type &to = p_.value(id).type;
    if (isInteger(from.dtype) && isInteger(to.dtype) && from.dtype != DType::Int1 &&
        bitWidth(to.dtype) >= bitWidth(from.dtype))
      return operandSteps(0);
    break;
  }
  default:
    break;
  }
  // Whatever does not change along an axis gives a result that does not change there.
  if (!isElementwise(op->kind) && op->kind != OpKind::Load)
    return opaque;
  AxisSteps result(rank);
  for (size_t axis = 0; axis < rank; ++axis)
    for (const ValueId operand : op->operands)
      if (p_.isTile(operand) && !steps(operand)[axis].isZero())
        result[axis] = {Kind::Other};
  return result;
}

ValueId TileAccess::base(ValueId pointer) {
  pointer = p_.canonical(pointer);
  if (const auto known = bases_.find(pointer); known != bases_.end())
    return known->second;
  bases_[pointer] = kNone; // for cycles through loops
  ValueId result = kNone;
  if (const Op *op = p_.definition(pointer)) {
    switch (op->kind) {
    case OpKind::AddPtr:
    case OpKind::Splat:
    case OpKind::Broadcast:
    case OpKind::ExpandDims:
    case OpKind::Reshape:
    case OpKind::Permute:
    case OpKind::Hint:
      result = base(op->operands[0]);
      break;
    case OpKind::Bitcast:
      if (p_.value(op->operands[0]).type.isPointer())
        result = base(op->operands[0]);
      break;
    case OpKind::Select:
      if (base(op->operands[1]) == base(op->operands[2]))
        result = base(op->operands[1]);
      break;
    default:
      break;
    }
  } else if (p_.value(pointer).owner == 0) {
    result = pointer;
  } else if (const Induction *induction = this->induction(pointer)) {
    result = base(induction->init);
  }
  return bases_[pointer] = result;
}

const Induction *TileAccess::induction(ValueId argument) {
  auto known = inductions_.find(argument);
  if (known == inductions_.end()) {
    inductions_[argument] = std::nullopt; // for cycles
    known = inductions_.insert_or_assign(argument, findInduction(argument)).first;
  }
  return known->second ? &*known->second : nullptr;
}

std::optional<Induction> TileAccess::findInduction(ValueId argument) {
  const Value &value = p_.value(argument);
  if (value.owner == kNone || value.owner == 0 || value.index == 0)
    return std::nullopt;
  if (!value.type.isPointer() &&
      !(value.type.isTile() && isInteger(value.type.dtype) && value.type.dtype != DType::Int1))
    return std::nullopt;
  const Region &region = p_.program().region(value.owner);
  if (region.parent == kNone || region.ops.empty())
    return std::nullopt;
  const Op &loop = p_.op(region.parent);
  const Op &yield = p_.op(region.ops.back());
  if (loop.kind != OpKind::For || yield.kind != OpKind::Yield)
    return std::nullopt;
  const uint32_t carried = value.index - 1;
  Induction result;
  result.init = loop.operands[3 + carried];
  for (ValueId next = p_.canonical(yield.operands[carried]); next != argument;) {
    const Op *op = p_.definition(next);
    if (!op || (op->kind != OpKind::Add && op->kind != OpKind::AddPtr))
      return std::nullopt;
    // Only ops of the loop body itself move the value exactly once an iteration.
    if (p_.regionOf(p_.idOf(*op)) != value.owner)
      return std::nullopt;
    size_t moved = 0;
    if (op->kind == OpKind::Add && isUniform(op->operands[0]) && p_.canonical(op->operands[0]) != argument)
      moved = 1;
    if (!isUniform(op->operands[1 - moved]) || p_.canonical(op->operands[1 - moved]) == argument)
      return std::nullopt;
    result.deltas.push_back(op->operands[1 - moved]);
    next = p_.canonical(op->operands[moved]);
  }
  return result;
}

bool TileAccess::mayConflict(const Op &load, const Op &store, bool sameNest) {
  const ValueId read = load.operands[0], written = store.operands[0];
  const ValueId readBase = base(read), writtenBase = base(written);
  if (readBase == kNone || writtenBase == kNone)
    return true;
  const bool sameBase = p_.canonical(readBase) == p_.canonical(writtenBase);
  if (!sameNest)
    return true;
  if (sameBase)
    return p_.canonical(read) != p_.canonical(written);
  const AxisSteps &from = steps(read), &to = steps(written);
  if (from.size() != to.size())
    return true;
  for (size_t axis = 0; axis < from.size(); ++axis)
    if (!from[axis].isZero() && (!(from[axis] == to[axis]) || from[axis].kind == Kind::Other))
      return true;
  return false;
}

} // namespace tilewright::cpu

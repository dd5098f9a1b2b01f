#include "Clipping.h"

namespace tilewright::cpu {

AxisMap identityMap(size_t rank) {
  AxisMap map(rank);
  for (size_t axis = 0; axis < rank; ++axis)
    map[axis] = static_cast<int>(axis);
  return map;
}

std::optional<AxisMap> operandMap(const BoundProgram &program, const Op &op, const AxisMap &result) {
  switch (op.kind) {
  case OpKind::ExpandDims: {
    AxisMap map = result;
    map.erase(map.begin() + op.attributes.integer("axis"));
    return map;
  }
  case OpKind::Broadcast: {
    AxisMap map = result;
    for (size_t axis = 0; axis < map.size(); ++axis)
      if (program.shape(op.operands[0])[axis] == 1)
        map[axis] = -1;
    return map;
  }
  case OpKind::Permute: {
    AxisMap map(result.size(), -1);
    const auto &order = op.attributes.integers("order");
    for (size_t axis = 0; axis < result.size(); ++axis)
      map[order[axis]] = result[axis];
    return map;
  }
  case OpKind::Splat:
    return AxisMap{};
  default:
    if (isElementwise(op.kind) || op.kind == OpKind::Load || op.kind == OpKind::Hint)
      return result;
    return std::nullopt;
  }
}

std::optional<Bound> wrapBound(const BoundProgram &program, TileAccess &access, ValueId remainder,
                               const AxisMap &map) {
  const Op *op = program.definition(remainder);
  const Type &type = program.value(remainder).type;
  if (!op || op->kind != OpKind::Rem || !isInteger(type.dtype) || !isSigned(type.dtype) ||
      !access.isUniform(op->operands[1]))
    return std::nullopt;
  std::optional<Bound> found;
  const AxisSteps &steps = access.steps(op->operands[0]);
  for (unsigned axis = 0; axis < map.size(); ++axis) {
    if (steps[axis].isZero())
      continue;
    if (found || map[axis] < 0 || !steps[axis].isConstant(1))
      return std::nullopt;
    found = Bound{program.canonical(remainder), axis, map[axis], true, 0, true};
  }
  return found;
}

void collectBounds(const BoundProgram &program, TileAccess &access, ValueId mask, const AxisMap &map,
                   llvm::SmallVectorImpl<Bound> &bounds) {
  const Op *op = program.definition(mask);
  if (!op || !program.isTile(mask))
    return;
  if (op->kind == OpKind::Compare) {
    const ValueId left = op->operands[0], right = op->operands[1];
    const Type &type = program.value(left).type;
    if (type.isPointer() || !isSigned(type.dtype) || !isInteger(type.dtype))
      return;
    const AxisSteps &a = access.steps(left), &b = access.steps(right);
    const std::string predicate = op->attributes.text("predicate");
    std::optional<Bound> found;
    for (unsigned axis = 0; axis < map.size(); ++axis) {
      if (a[axis].isZero() && b[axis].isZero())
        continue;
      if (found || map[axis] < 0)
        return;
      Bound bound{program.canonical(mask), axis, map[axis], true, 0, false};
      if (a[axis].isConstant(1) && b[axis].isZero() && (predicate == "lt" || predicate == "le"))
        bound.plus = predicate == "le";
      else if (a[axis].isZero() && b[axis].isConstant(1) && (predicate == "gt" || predicate == "ge"))
        bound.fromLeft = false, bound.plus = predicate == "ge";
      else
        return;
      found = bound;
    }
    if (found && std::find(bounds.begin(), bounds.end(), *found) == bounds.end())
      bounds.push_back(*found);
    return;
  }
  const bool isAnd = op->kind == OpKind::And;
  if (!isAnd && op->kind != OpKind::Broadcast && op->kind != OpKind::ExpandDims &&
      op->kind != OpKind::Permute)
    return;
  const auto inner = operandMap(program, *op, map);
  if (!inner)
    return;
  for (const ValueId operand : op->operands)
    collectBounds(program, access, operand, *inner, bounds);
}

} // namespace tilewright::cpu

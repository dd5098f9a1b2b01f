// What a loop nest will read: bounds, contiguity, widths.
#include "LoopNest.h"

#include <bit>

namespace tilewright::cpu {

namespace {

constexpr unsigned kFunction = 16; ///< operations that a function of one operand counts for
constexpr int kContiguous = 4, kStrided = -4, kStoredRow = 2, kStoredColumn = -2;

int64_t computedBytes(DType dtype) {
  if (dtype == DType::Int1)
    return 1;
  if (dtype == DType::Float16 || dtype == DType::BFloat16)
    return 4;
  return byteSize(dtype);
}

} // namespace

void LoopNest::walk(ValueId value, const AxisMap &map, llvm::ArrayRef<int64_t> shape, NestSurvey &survey,
                    std::set<std::pair<ValueId, std::vector<int>>> &seen) {
  value = p_.canonical(value);
  if (!p_.isTile(value) || !seen.insert({value, std::vector<int>(map.begin(), map.end())}).second)
    return;
  const Type &type = p_.value(value).type;
  if (const StoredTile *stored = evaluator_.findStored(value)) {
    for (size_t axis = 0; axis < map.size(); ++axis)
      if (map[axis] >= 0)
        survey.axisScores[map[axis]] += axis + 1 == map.size() ? kStoredRow : kStoredColumn;
    if (!type.isPointer())
      survey.widestBytes = std::max(survey.widestBytes, computedBytes(stored->buffer.dtype));
    return;
  }
  const Op *op = p_.definition(value);
  if (!op) {
    if (const Induction *induction = access_.induction(value))
      walk(induction->init, map, shape, survey, seen);
    return;
  }
  if (op->kind == OpKind::Load) {
    const AxisSteps &steps = access_.steps(op->operands[0]);
    for (size_t axis = 0; axis < map.size(); ++axis)
      if (map[axis] >= 0 && !steps[axis].isZero())
        survey.axisScores[map[axis]] += steps[axis].isConstant(1) ? kContiguous : kStrided;
    if (op->operands.size() > 1)
      collectBounds(p_, access_, op->operands[1], map, survey.bounds);
  }
  if (op->kind == OpKind::Select && p_.isTile(op->operands[0]))
    collectBounds(p_, access_, op->operands[0], map, survey.bounds);
  if (const auto wrap = wrapBound(p_, access_, value, map))
    if (std::find(survey.bounds.begin(), survey.bounds.end(), *wrap) == survey.bounds.end())
      survey.bounds.push_back(*wrap);
  if (isElementwise(op->kind) || op->kind == OpKind::Load) {
    bool isIndex = type.isPointer();
    if (!isIndex && isInteger(type.dtype)) {
      isIndex = true;
      for (const AxisStep step : access_.steps(value))
        isIndex &= step.kind != AxisStep::Kind::Other;
    }
    if (!isIndex && !access_.isUniform(value)) {
      survey.widestBytes = std::max(survey.widestBytes, computedBytes(type.dtype));
      survey.operations += op->kind == OpKind::Unary && isFloat(type.dtype) ? kFunction : 1;
    }
  }
  if (plan_.storeWhileComputing(value) && map == identityMap(shape.size()) && p_.shape(value) == shape)
    if (std::find(survey.passing.begin(), survey.passing.end(), value) == survey.passing.end())
      survey.passing.push_back(value);
  if (const auto inner = operandMap(p_, *op, map)) {
    for (const ValueId operand : op->operands)
      if (p_.isTile(operand))
        walk(operand, *inner, shape, survey, seen);
  } else {
    // Elements are moved about: what is read there is no longer aligned with the nest.
    for (const ValueId operand : op->operands)
      if (p_.isTile(operand))
        walk(operand, AxisMap(p_.rank(operand), -1), shape, survey, seen);
  }
}

NestSurvey LoopNest::survey(llvm::ArrayRef<ValueId> values, llvm::ArrayRef<int64_t> shape) {
  NestSurvey result;
  result.axisScores.assign(shape.size(), 0);
  std::set<std::pair<ValueId, std::vector<int>>> seen;
  for (const ValueId value : values)
    walk(value, identityMap(p_.rank(value)), shape, result, seen);
  return result;
}

int LoopNest::chooseVectorAxis(const NestSurvey &survey, llvm::ArrayRef<ValueId> targets,
                               llvm::ArrayRef<int64_t> shape) const {
  llvm::SmallVector<int, 4> scores = survey.axisScores;
  for (const ValueId target : targets) {
    const AxisSteps &steps = access_.steps(target);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (!steps[axis].isZero())
        scores[axis] += steps[axis].isConstant(1) ? 2 * kContiguous : 2 * kStrided;
  }
  int best = -1;
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis)
    if (shape[axis] > 1 && (best < 0 || scores[axis] > scores[best]))
      best = axis;
  return best < 0 ? static_cast<int>(shape.size()) - 1 : best;
}

int64_t LoopNest::chooseLanes(const NestSurvey &survey, int64_t size) const {
  const int64_t native = std::max<int64_t>(1, e_.isa.vectorBytes / survey.widestBytes);
  return std::min<int64_t>(
      native, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(size, 1)))));
}

llvm::SmallVector<StoredTile, 2> LoopNest::passingTiles(const NestSurvey &survey) {
  llvm::SmallVector<StoredTile, 2> tiles;
  for (const ValueId value : survey.passing) {
    StoredTile tile{value, e_.scratch.allocate(p_.value(value).type, p_.shape(value)), {}};
    if (const ValueId target = plan_.streamsInto(value); target != kNone && evaluator_.isAvailable(target))
      tile.target = target;
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

} // namespace tilewright::cpu

#include "TileEvaluator.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace {

bool sameLane(const Lane &a, const Lane &b) {
  return a.form == b.form && a.value == b.value && a.step == b.step;
}

} // namespace

const Lane *TileEvaluator::findScalar(ValueId value) const {
  const auto found = scalars_.find(p_.canonical(value));
  return found == scalars_.end() ? nullptr : &found->second;
}

const StoredTile *TileEvaluator::findStored(ValueId value) const {
  value = p_.canonical(value);
  for (size_t index = stored_.size(); index-- > 0;)
    if (stored_[index].value == value)
      return &stored_[index];
  return nullptr;
}

void TileEvaluator::beginNest(Nest nest) {
  memo_.clear();
  nest_ = std::move(nest);
}

void TileEvaluator::endNest() {
  for (StoredTile &tile : nest_.passing) {
    tile.inside.assign(nest_.domain.begin(), nest_.domain.end());
    stored_.push_back(std::move(tile));
  }
  nest_ = {};
  memo_.clear();
}

void TileEvaluator::leaveLevel() {
  std::erase_if(memo_, [&](const auto &entry) { return entry.second.level > e_.level(); });
}

bool TileEvaluator::isCurrent(const Position &position) const {
  return position.size() == nest_.current.size() &&
         std::equal(position.begin(), position.end(), nest_.current.begin(), sameLane);
}

/// Whether every element that this nest reads of the tile was written.
bool TileEvaluator::covers(const StoredTile &tile, const Position &position) const {
  if (tile.inside.empty())
    return true;
  if (!isCurrent(position))
    return false;
  for (const Bound &bound : tile.inside)
    if (std::find(nest_.domain.begin(), nest_.domain.end(), bound) == nest_.domain.end())
      return false;
  return true;
}

const Lane *TileEvaluator::assumedLane(ValueId value, const Position &position, Lane &storage) {
  if (value == nest_.beyond) {
    for (const Lane &lane : position)
      if (lane.unknown())
        return &(storage = lanes_.boolean(false, 0));
  }
  if (!nest_.assume)
    return nullptr;
  for (const AssumedBound &assumed : nest_.assumed) {
    const Bound &bound = assumed.bound;
    if (bound.compare != value || !sameLane(position[bound.compareAxis], nest_.current[bound.nestAxis]))
      continue;
    if (!bound.wraps)
      return &(storage = lanes_.boolean(true, assumed.level));
    storage = at(p_.definition(value)->operands[0], position);
    storage.level = std::max(storage.level, assumed.level);
    return &storage;
  }
  return nullptr;
}

bool TileEvaluator::isAvailable(ValueId value) const {
  value = p_.canonical(value);
  if (scalars_.contains(value))
    return true;
  const Op *op = p_.definition(value);
  if (!op) {
    const Induction *induction = access_.induction(value);
    return induction && offsets_.contains(value) && isAvailable(induction->init);
  }
  if (!isPure(op->kind) || op->kind == OpKind::Gather)
    return false;
  return std::all_of(op->operands.begin(), op->operands.end(),
                     [&](ValueId operand) { return isAvailable(operand); });
}

void TileEvaluator::prefetch(ValueId target, const Position &position) {
  const Lane pointer = at(target, position);
  if (pointer.form != Lane::Form::Affine || !lanes_.stepOf(pointer))
    return;
  constexpr uint32_t kForWriting = 1, kKeep = 3, kIsData = 1;
  mlir::LLVM::Prefetch::create(e_.builder, e_.loc, lanes_.addressOf(pointer), kForWriting, kKeep, kIsData);
}

void TileEvaluator::store(const TileBuffer &buffer, const Position &position, const Lane &value) {
  lanes_.writeBuffer(buffer, position, value, nest_.existing ? &*nest_.existing : nullptr);
}

Lane TileEvaluator::first(ValueId value) {
  Position position(p_.rank(value), lanes_.constantIndex(0));
  return at(value, position);
}

Lane TileEvaluator::at(ValueId value, const Position &position) {
  value = p_.canonical(value);
  if (const auto scalar = scalars_.find(value); scalar != scalars_.end())
    return scalar->second;
  Lane storage;
  if (const Lane *known = assumedLane(value, position, storage))
    return *known;

  Key key{reinterpret_cast<const void *>(static_cast<uintptr_t>(value) * 4 + nest_.assume * 2 +
                                         (nest_.beyond != kNone))};
  for (const Lane &lane : position) {
    key.push_back(lane.value.getAsOpaquePointer());
    key.push_back(lane.step.getAsOpaquePointer());
  }
  if (const auto known = memo_.find(key); known != memo_.end())
    return known->second;

  Lane result = [&] {
    for (size_t index = stored_.size(); index-- > 0;)
      if (stored_[index].value == value && covers(stored_[index], position))
        return lanes_.readBuffer(stored_[index].buffer, position);
    Lane computed = compute(value, position);
    if (nest_.beyond == kNone && isCurrent(position))
      for (const StoredTile &tile : nest_.passing)
        if (tile.value == value) {
          store(tile.buffer, position, computed);
          if (nest_.assume && tile.target != kNone)
            prefetch(tile.target, position);
        }
    return computed;
  }();
  memo_.insert_or_assign(std::move(key), result);
  return result;
}

Lane TileEvaluator::compute(ValueId value, const Position &position) {
  const Op *op = p_.definition(value);
  if (!op) {
    if (const Induction *induction = access_.induction(value))
      if (const auto offset = offsets_.find(value); offset != offsets_.end()) {
        Lane base = at(induction->init, position);
        Op add{OpKind::Add, {}, {}, {}, {}, {}};
        if (base.isPointer())
          add.kind = OpKind::AddPtr;
        return lanes_.apply(add, p_.value(value).type, {base, offset->second});
      }
    e_.refuse(nullptr, fmt::format("the value %{} is not available here", value));
    return lanes_.constantIndex(0);
  }
  if (const auto moved = movedResults_.find(value); moved != movedResults_.end()) {
    Lane base = at(moved->second.first, position);
    Op add{base.isPointer() ? OpKind::AddPtr : OpKind::Add, {}, {}, {}, {}, {}};
    return lanes_.apply(add, p_.value(value).type, {base, moved->second.second});
  }
  const auto &operands = op->operands;
  switch (op->kind) {
  case OpKind::Constant: {
    const DType dtype = p_.value(value).type.dtype;
    const mlir::Type element = e_.elementType(dtype);
    return lanes_.uniform(isInteger(dtype) ? e_.constant(element, p_.constantOf(value).value_or(0))
                                           : e_.constant(element, p_.floatConstantOf(value).value_or(0)),
                          dtype);
  }
  case OpKind::Iota: {
    const auto start = p_.evaluate(op->attributes.sym("start"));
    return lanes_.withDType(lanes_.addConstant(lanes_.wide(position[0]), start.value_or(0)),
                            p_.value(value).type.dtype);
  }
  case OpKind::Splat:
    return at(operands[0], {});
  case OpKind::ExpandDims: {
    Position inner = position;
    inner.erase(inner.begin() + op->attributes.integer("axis"));
    return at(operands[0], inner);
  }
  case OpKind::Broadcast: {
    Position inner = position;
    for (size_t axis = 0; axis < inner.size(); ++axis)
      if (p_.shape(operands[0])[axis] == 1)
        inner[axis] = lanes_.constantIndex(0);
    return at(operands[0], inner);
  }
  case OpKind::Permute: {
    Position inner(position.size());
    const auto &order = op->attributes.integers("order");
    for (size_t axis = 0; axis < position.size(); ++axis)
      inner[order[axis]] = position[axis];
    return at(operands[0], inner);
  }
  case OpKind::Reshape:
    return reshape(*op, operands[0], position);
  case OpKind::Join: {
    Position inner(position.begin(), position.end() - 1);
    return lanes_.select(lanes_.less(position.back(), lanes_.constantIndex(1)), at(operands[0], inner),
                         at(operands[1], inner));
  }
  case OpKind::Split: {
    Position inner = position;
    inner.push_back(lanes_.constantIndex(p_.value(value).index));
    return at(operands[0], inner);
  }
  case OpKind::Gather: {
    Position inner = position;
    inner[op->attributes.integer("axis")] = lanes_.wide(at(operands[1], position));
    return at(operands[0], inner);
  }
  case OpKind::Load:
    return loadAt(*op, position);
  default:
    break;
  }
  if (isElementwise(op->kind)) {
    llvm::SmallVector<Lane, 3> values;
    for (const ValueId operand : operands)
      values.push_back(at(operand, position));
    return lanes_.apply(*op, p_.value(value).type, values);
  }
  e_.refuse(op, fmt::format("operation {}", name(op->kind)));
  return lanes_.constantIndex(0);
}

Lane TileEvaluator::reshape(const Op &op, ValueId operand, const Position &position) {
  const auto from = p_.shape(operand), to = p_.shape(op.results[0]);
  // Axes of size 1 carry nothing: when the others agree, their positions are handed over as they are.
  Position significant;
  llvm::SmallVector<int64_t, 4> fromSizes, toSizes;
  for (size_t axis = 0; axis < to.size(); ++axis)
    if (to[axis] != 1)
      significant.push_back(position[axis]), toSizes.push_back(to[axis]);
  for (const int64_t size : from)
    if (size != 1)
      fromSizes.push_back(size);
  Position inner(from.size(), lanes_.constantIndex(0));
  if (fromSizes == toSizes) {
    for (size_t axis = 0, next = 0; axis < from.size(); ++axis)
      if (from[axis] != 1)
        inner[axis] = significant[next++];
    return at(operand, inner);
  }
  // Otherwise the row-major number of the element is taken apart by the operand's shape. A chunk of lanes
  // starts at a multiple of its length, so it stays within the last axis whenever that is a multiple of the
  // length too.
  Lane number = lanes_.constantIndex(0);
  for (size_t axis = 0; axis < to.size(); ++axis)
    number = lanes_.addWide(lanes_.mulConstant(number, to[axis]), position[axis]);
  const bool chunk = number.form == Lane::Form::Affine && lanes_.stepOf(number) == 1;
  const bool whole = chunk && from.back() % e_.lanes == 0 && to.back() % e_.lanes == 0;
  if (whole) {
    Lane start = lanes_.affine(number.value, e_.index(0), DType::Int64, number.level);
    for (size_t axis = from.size(); axis-- > 0;) {
      inner[axis] = lanes_.modConstant(start, from[axis]);
      start = lanes_.divConstant(start, from[axis]);
    }
    inner.back().step = e_.index(1);
    return at(operand, inner);
  }
  for (size_t axis = from.size(); axis-- > 0;) {
    inner[axis] = axis == 0 ? number : lanes_.modConstant(number, from[axis]);
    number = lanes_.divConstant(number, from[axis]);
  }
  return at(operand, inner);
}

Lane TileEvaluator::loadAt(const Op &op, const Position &position) {
  const Lane pointer = at(op.operands[0], position);
  const bool uniform = !pointer.unknown() && lanes_.isUniform(pointer);
  std::optional<Lane> mask, other;
  if (op.operands.size() > 1) {
    // A load that is hoisted out of the inner loop runs although the loop may be empty: it keeps its own
    // mask.
    const bool assume = nest_.assume;
    nest_.assume = assume && !uniform;
    mask = at(op.operands[1], position);
    nest_.assume = assume;
  }
  if (nest_.existing && !uniform && !pointer.unknown())
    mask = mask ? lanes_.logicalAnd(*mask, *nest_.existing) : *nest_.existing;
  if (op.operands.size() > 2)
    other = at(op.operands[2], position);
  return lanes_.load(&op, pointer, mask ? &*mask : nullptr, other ? &*other : nullptr);
}

} // namespace tilewright::cpu

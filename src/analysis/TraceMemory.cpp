#include "Tracer.h"

#include <algorithm>

namespace tilewright::analysis {

void Tracer::visitAddPtr(OpId id) {
  const Op &op = program_.op(id);
  const ValueId result = op.results[0];
  at(result) = at(op.operands[0]);
  if (at(result).kind != IndexValue::Kind::Pointer)
    return setOpaque(result, id);
  at(result).expr = context_.add(at(result).expr, integer(op.operands[1]));
}

void Tracer::visitPointerAccess(OpId id) {
  const Op &op = program_.op(id);
  const Type &pointerType = program_.value(op.operands[0]).type;
  AccessRecord access;
  access.op = id;
  access.dtype = pointerType.dtype;
  access.tileShape = pointerType.shape;
  access.guard = guard_;
  access.loop = loop_;
  const bool isPoll = op.kind == OpKind::AtomicPoll;
  access.atomic = (op.kind != OpKind::Load && op.kind != OpKind::Store) || op.attributes.has("sem");
  access.read = op.kind != OpKind::Store;
  access.write = op.kind != OpKind::Load && !isPoll;
  const size_t maskAt = op.kind == OpKind::Load ? 1 : isPoll || op.kind == OpKind::AtomicCas ? SIZE_MAX : 2;
  if (maskAt < op.operands.size())
    access.mask = integer(op.operands[maskAt]);
  const IndexValue &pointer = at(op.operands[0]);
  if (pointer.kind == IndexValue::Kind::Pointer) {
    access.buffers = pointer.buffers;
    access.offset = pointer.expr;
  } else
    access.offset = indices_.opaque(id, allLanes(pointerType), false);

  if (op.results.size() == 1) {
    const ValueId result = op.results[0];
    const Type &type = program_.value(result).type;
    if (type.kind == Type::Kind::Value && isInteger(type.dtype)) {
      const uint32_t laneAxes = indices_.laneAxesOf(access.offset);
      SymInt value;
      if (op.kind == OpKind::Load && access.buffers.size() == 1) {
        SymInt &known = loadedBy_[uint64_t(access.buffers[0]) << 32 | access.offset.node()->id];
        if (!known.valid())
          known = indices_.loaded(id, laneAxes, type.dtype);
        value = known;
      } else
        value = indices_.loaded(id, laneAxes, type.dtype);
      setInteger(result, value);
    } else
      setOpaque(result, id);
  }
  result_.accesses.push_back(std::move(access));
}

void Tracer::visitMakeBlock(OpId id) {
  const Op &op = program_.op(id);
  IndexValue block = at(op.operands[0]);
  block.kind = IndexValue::Kind::Block;
  if (!block.expr.valid())
    block.expr = indices_.opaque(id, 0, false);
  const bool isPointer = op.kind == OpKind::MakeBlockPtr;
  const size_t rank = (op.operands.size() - 1) / (isPointer ? 3 : 2);
  for (size_t d = 0; d < rank; ++d) {
    block.shape.push_back(integer(op.operands[1 + d]));
    block.strides.push_back(integer(op.operands[1 + rank + d]));
    block.offsets.push_back(isPointer ? integer(op.operands[1 + 2 * rank + d]) : constant(0));
  }
  at(op.results[0]) = std::move(block);
}

void Tracer::visitAdvance(OpId id) {
  const Op &op = program_.op(id);
  IndexValue block = at(op.operands[0]);
  if (block.kind != IndexValue::Kind::Block)
    return;
  for (size_t d = 0; d < block.offsets.size() && 1 + d < op.operands.size(); ++d)
    block.offsets[d] = context_.add(block.offsets[d], integer(op.operands[1 + d]));
  at(op.results[0]) = std::move(block);
}

void Tracer::visitBlockAccess(OpId id) {
  const Op &op = program_.op(id);
  const IndexValue &block = at(op.operands[0]);
  std::vector<SymInt> offsets = block.offsets;
  uint32_t checked = 0;
  if (op.kind == OpKind::BlockLoad || op.kind == OpKind::BlockStore) {
    for (int64_t axis : op.attributes.integers("boundary"))
      if (axis >= 0 && axis < 32)
        checked |= 1u << axis;
  } else {
    checked = ~0u; // descriptors always check
    const size_t first = op.kind == OpKind::DescriptorLoad ? 1 : 2;
    for (size_t d = 0; d < offsets.size() && first + d < op.operands.size(); ++d)
      offsets[d] = integer(op.operands[first + d]);
  }
  recordBlockAccess(id, block, offsets, checked);
  setResultsOpaque(id);
}

/// Rows of a buffer, picked by a tile of row numbers: one access with the picked row as its first coordinate.
void Tracer::visitRowAccess(OpId id) {
  const Op &op = program_.op(id);
  const bool write = op.kind == OpKind::DescriptorScatter;
  const IndexValue &block = at(op.operands[0]);
  const Type &type = program_.value(op.operands[0]).type;
  const ValueId rows = op.operands[write ? 2 : 1];
  AccessRecord access;
  access.op = id;
  access.dtype = type.dtype;
  access.tileShape = {program_.value(rows).type.shape[0], type.shape[1]};
  access.guard = guard_;
  access.loop = loop_;
  access.write = write;
  access.read = !write;
  access.buffers = block.buffers;
  if (block.kind == IndexValue::Kind::Block && block.shape.size() == 2) {
    const SymInt row = integer(rows); // over lane 0, as the rows of the tile are
    const SymInt column =
        context_.add(integer(op.operands[write ? 3 : 2]), indices_.lane(1, access.tileShape[1]));
    access.offset = context_.add(block.expr, context_.add(context_.mul(row, block.strides[0]),
                                                          context_.mul(column, block.strides[1])));
    access.mask = conjunction(context_.lt(row, block.shape[0]), context_.lt(column, block.shape[1]));
  } else
    access.offset = indices_.opaque(id, 3, false);
  result_.accesses.push_back(std::move(access));
  setResultsOpaque(id);
}

/// The same access in pointer form: base + Σ (offset_d + lane_d) * stride_d, masked where the axis is
/// checked.
void Tracer::recordBlockAccess(OpId id, const IndexValue &block, const std::vector<SymInt> &offsets,
                               uint32_t checkedAxes) {
  const Op &op = program_.op(id);
  const Type &type = program_.value(op.operands[0]).type;
  AccessRecord access;
  access.op = id;
  access.dtype = type.dtype;
  access.tileShape = type.shape;
  access.guard = guard_;
  access.loop = loop_;
  access.atomic = op.kind == OpKind::DescriptorReduce;
  access.write = access.atomic || op.kind == OpKind::BlockStore || op.kind == OpKind::DescriptorStore;
  access.read = access.atomic || !access.write;
  // A descriptor that the host made has a buffer, but no shape that the kernel knows.
  if (block.kind != IndexValue::Kind::Block || block.shape.size() != type.shape.size()) {
    access.buffers = block.buffers;
    access.offset = indices_.opaque(id, allLanes(type), false);
    result_.accesses.push_back(std::move(access));
    return;
  }
  access.buffers = block.buffers;
  access.offset = block.expr;
  // A descriptor of higher rank than its block has leading axes of size 1.
  for (size_t d = 0; d < type.shape.size() && d < offsets.size(); ++d) {
    const SymInt position = context_.add(offsets[d], indices_.lane(static_cast<uint32_t>(d), type.shape[d]));
    access.offset = context_.add(access.offset, context_.mul(position, block.strides[d]));
    access.declaredOffset.push_back(offsets[d]);
    access.declaredExtent.push_back(block.shape[d]);
    if (checkedAxes >> d & 1)
      access.mask = conjunction(access.mask, context_.lt(position, block.shape[d]));
  }
  result_.accesses.push_back(std::move(access));
}

} // namespace tilewright::analysis

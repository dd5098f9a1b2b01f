// Block pointers and tensor descriptors: handles are scalars (base, shape, strides, offsets); an access is a
// loop nest over the block whose masks are known limits of its axes.
#include "KernelEmitter.h"

#include <limits>

namespace tilewright::cpu {

namespace arith = mlir::arith;

void KernelEmitter::emitBlockHandle(const Op &op) {
  const auto scalar = [&](size_t index) { return lanes_.wide(*evaluator_.findScalar(op.operands[index])); };
  if (op.kind == OpKind::Advance) {
    BlockHandle handle = blocks_[op.operands[0]];
    for (size_t axis = 0; axis < handle.offsets.size(); ++axis)
      handle.offsets[axis] = lanes_.addWide(handle.offsets[axis], scalar(1 + axis));
    blocks_[op.results[0]] = std::move(handle);
    return;
  }
  if (op.attributes.flag("opaque"))
    return e_.refuse(&op, "a descriptor that the host made");
  const auto rank = static_cast<size_t>(op.attributes.integer("rank"));
  BlockHandle handle;
  handle.base = *evaluator_.findScalar(op.operands[0]);
  handle.padsWithNan = op.attributes.text("padding") == "nan";
  for (size_t axis = 0; axis < rank; ++axis) {
    handle.shape.push_back(scalar(1 + axis));
    const auto stride = p_.constantOf(op.operands[1 + rank + axis]);
    handle.strides.push_back(stride ? lanes_.constantIndex(*stride) : scalar(1 + rank + axis));
    if (op.kind == OpKind::MakeBlockPtr)
      handle.offsets.push_back(scalar(1 + 2 * rank + axis));
  }
  blocks_[op.results[0]] = std::move(handle);
}

void KernelEmitter::emitBlockAccess(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const bool isDescriptor = op.kind == OpKind::DescriptorLoad || op.kind == OpKind::DescriptorStore;
  const bool writes = op.kind == OpKind::BlockStore || op.kind == OpKind::DescriptorStore;
  const auto found = blocks_.find(op.operands[0]);
  if (found == blocks_.end())
    return e_.refuse(&op, "a block pointer of unknown origin");
  BlockHandle handle = found->second;
  const auto shape = p_.shape(op.operands[0]);
  const size_t rank = shape.size();
  const DType dtype = p_.value(op.operands[0]).type.dtype;
  if (p_.shape(writes ? op.operands[1] : op.results[0]) != shape)
    return e_.refuse(&op, "a block access of another shape than its block");
  llvm::SmallVector<bool, 4> checked(rank, isDescriptor);
  if (isDescriptor) {
    handle.offsets.clear();
    for (size_t axis = 0; axis < rank; ++axis)
      handle.offsets.push_back(lanes_.wide(*evaluator_.findScalar(op.operands[(writes ? 2 : 1) + axis])));
  } else if (op.attributes.has("boundary")) {
    for (const int64_t axis : op.attributes.integers("boundary"))
      if (axis >= 0 && axis < static_cast<int64_t>(rank))
        checked[axis] = true;
  }

  LoopNest::Request request;
  request.shape.assign(shape.begin(), shape.end());
  request.elementBytes = byteSize(dtype);
  if (writes)
    request.values = {op.operands[1]};
  for (size_t axis = 0; axis < rank; ++axis) {
    if (lanes_.constantOf(handle.strides[axis]) == 1)
      request.contiguousAxis = static_cast<int>(axis);
    if (!checked[axis])
      continue;
    const mlir::Value offset = lanes_.wideScalar(handle.offsets[axis]), size = e_.index(shape[axis]),
                      zero = e_.index(0);
    mlir::Value limit = b.createOrFold<arith::SubIOp>(e_.loc, lanes_.wideScalar(handle.shape[axis]), offset);
    limit = b.createOrFold<arith::MinSIOp>(e_.loc, b.createOrFold<arith::MaxSIOp>(e_.loc, limit, zero), size);
    request.limits.push_back({static_cast<int>(axis), limit, writes});
    const mlir::Value startsInside =
        arith::CmpIOp::create(b, e_.loc, arith::CmpIPredicate::sge, offset, zero);
    request.limits.push_back(
        {static_cast<int>(axis), arith::SelectOp::create(b, e_.loc, startsInside, size, zero), false});
  }

  const double padding = handle.padsWithNan || op.attributes.text("padding") == "nan"
                             ? std::numeric_limits<double>::quiet_NaN()
                             : 0;
  const mlir::Type element = e_.elementType(dtype);
  const Lane other = lanes_.uniform(isFloat(dtype) && bitWidth(dtype) > 8 ? e_.constant(element, padding)
                                                                          : e_.constant(element, int64_t{0}),
                                    dtype);
  std::optional<TileBuffer> buffer;
  if (!writes)
    buffer = e_.scratch.allocate(p_.value(op.results[0]).type, shape);

  nests_.emit(request, [&](const Position &position) {
    Lane elementOffset = lanes_.constantIndex(0);
    std::optional<Lane> mask = evaluator_.nest().existing;
    for (size_t axis = 0; axis < rank; ++axis) {
      const Lane coordinate = lanes_.addWide(handle.offsets[axis], position[axis]);
      elementOffset = lanes_.addWide(elementOffset, lanes_.mulWide(coordinate, handle.strides[axis]));
      if (!checked[axis] || evaluator_.nest().assume)
        continue;
      const Lane inside = lanes_.logicalAnd(lanes_.less(coordinate, handle.shape[axis]),
                                            lanes_.less(lanes_.constantIndex(-1), coordinate));
      mask = mask ? lanes_.logicalAnd(*mask, inside) : inside;
    }
    const Lane pointer = lanes_.apply({OpKind::AddPtr, {}, {}, {}, {}, {}}, Type::pointer(dtype),
                                      {handle.base, elementOffset});
    if (writes)
      lanes_.store(&op, pointer, evaluator_.at(op.operands[1], position), mask ? &*mask : nullptr);
    else
      evaluator_.store(*buffer, position, lanes_.load(&op, pointer, mask ? &*mask : nullptr, &other));
  });
  if (buffer)
    evaluator_.addStored({op.results[0], *buffer, {}});
}

} // namespace tilewright::cpu

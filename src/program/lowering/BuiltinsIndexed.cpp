#include "Builtins.h"

#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

using lang::BinaryOperator;
using lang::CompareOperator;

// Ascend's transfers through a tile of indices between global memory and a tile. In pointer form they are
// plain masked loads and stores, and that is what they become.

/// Builds the address and the mask of such a transfer, one axis after the other, over a tile of `shape`.
class IndexedAccess {
public:
  IndexedAccess(BuiltinCall &call, size_t pointer, Emitter::Shape shape)
      : call_(call), c_(call.c), shape_(std::move(shape)) {
    if (!call.at(pointer).isRuntime() || !c_.typeOf(call.at(pointer).value).isPointer() ||
        !c_.typeOf(call.at(pointer).value).shape.empty())
      call.failArgument(pointer, "a scalar pointer");
    address_ = FrontValue::runtime(call.emit.splat(call.at(pointer).value, shape_));
  }

  /// The positions 0, 1, 2, ... along an axis, as a tile of the access's shape.
  FrontValue lanes(size_t axis) {
    Attributes bounds;
    bounds.set("start", c_.syms.constant(0));
    bounds.set("end", shape_[axis]);
    ValueId iota = c_.create(OpKind::Iota, {}, Type::tile(DType::Int32, {shape_[axis]}), std::move(bounds));
    return along(iota, axis);
  }
  /// A one-dimensional tile laid along an axis.
  FrontValue along(ValueId line, size_t axis) {
    for (size_t i = 0; i < shape_.size(); ++i)
      if (i != axis)
        line = call_.emit.expandDims(line, static_cast<int64_t>(i));
    return FrontValue::runtime(call_.emit.broadcastTo(line, shape_));
  }
  void move(const FrontValue &position, const FrontValue &stride) {
    const FrontValue wide = FrontValue::runtime(call_.emit.cast(call_.emit.toTensor(position), DType::Int64));
    address_ = binary(BinaryOperator::Add, address_, binary(BinaryOperator::Mult, wide, stride));
  }
  void require(const FrontValue &position, const FrontValue &bound) {
    const FrontValue inside = FrontValue::runtime(call_.emit.compare(CompareOperator::Lt, position, bound));
    mask_ = mask_.isRuntime() ? binary(BinaryOperator::BitAnd, mask_, inside) : inside;
  }
  FrontValue binary(BinaryOperator op, const FrontValue &a, const FrontValue &b) {
    return call_.function.binary(op, a, b, call_.range);
  }

  FrontValue load(std::optional<FrontValue> other) {
    const DType dtype = c_.typeOf(address_.value).dtype;
    std::vector<ValueId> operands{address_.value, mask_.value};
    if (other)
      operands.push_back(call_.emit.splat(call_.emit.cast(call_.emit.toTensor(*other), dtype), shape_));
    const ValueId result = c_.create(OpKind::Load, std::move(operands), Type::tile(dtype, shape_));
    c_.setSym(result, {}, "loaded");
    return FrontValue::runtime(result);
  }
  FrontValue store(ValueId value) {
    value = call_.emit.broadcastTo(call_.emit.cast(value, c_.typeOf(address_.value).dtype), shape_);
    c_.createOp(OpKind::Store, {address_.value, value, mask_.value}, {});
    return FrontValue::none();
  }

private:
  BuiltinCall &call_;
  LoweringContext &c_;
  Emitter::Shape shape_;
  FrontValue address_, mask_;
};

std::vector<FrontValue> anAxisEach(BuiltinCall &call, size_t i, size_t rank) {
  std::vector<FrontValue> items = call.sequence(i);
  if (items.size() != rank)
    call.c.fail(call.where(i), "lower.shape",
                fmt::format("expected {} {}, but got {}", rank, call.parameters[i], items.size()));
  return items;
}

ValueId indexTile(BuiltinCall &call, size_t i) {
  const ValueId index = call.tensor(i);
  const Type &type = call.c.typeOf(index);
  if (type.shape.empty() || type.kind != Type::Kind::Value || !isInteger(type.dtype))
    call.failArgument(i, "a tile of integers");
  return index;
}

/// Argument numbers of a transfer with an index for each element.
struct Arguments {
  size_t index, boundary, dim, strides, ends, starts;
};

/// memory[start + lane, ...], with the index in place of the lane along `dim`.
IndexedAccess elementwiseAccess(BuiltinCall &call, size_t pointer, const Arguments &at) {
  const ValueId index = indexTile(call, at.index);
  const Emitter::Shape shape = call.c.typeOf(index).shape;
  const size_t rank = shape.size();
  const auto dim = static_cast<size_t>(call.axis(at.dim, rank));
  IndexedAccess access(call, pointer, shape);
  const auto strides = anAxisEach(call, at.strides, rank), ends = anAxisEach(call, at.ends, rank),
             starts = anAxisEach(call, at.starts, rank);
  access.require(FrontValue::runtime(index), call.at(at.boundary));
  for (size_t axis = 0; axis < rank; ++axis) {
    const FrontValue lane = access.binary(BinaryOperator::Add, access.lanes(axis), starts[axis]);
    access.require(lane, ends[axis]);
    access.move(axis == dim ? access.binary(BinaryOperator::Add, FrontValue::runtime(index), starts[axis])
                            : lane,
                strides[axis]);
  }
  return access;
}

FrontValue gatherToTile(BuiltinCall &call) {
  enum { kSource, kIndex, kBoundary, kDim, kStrides, kEnds, kStarts, kOther };
  IndexedAccess access =
      elementwiseAccess(call, kSource, {kIndex, kBoundary, kDim, kStrides, kEnds, kStarts});
  return access.load(call.has(kOther) ? std::optional(call.at(kOther)) : std::nullopt);
}

FrontValue scatterFromTile(BuiltinCall &call) {
  enum { kPointer, kValue, kIndex, kBoundary, kDim, kStrides, kEnds, kStarts };
  const ValueId value = call.tensor(kValue);
  return elementwiseAccess(call, kPointer, {kIndex, kBoundary, kDim, kStrides, kEnds, kStarts}).store(value);
}

/// Whole slices: one index for each slice along `dim`.
FrontValue indexPut(BuiltinCall &call) {
  enum { kPointer, kIndex, kValue, kDim, kBoundary, kEnds, kStarts, kStrides };
  const ValueId value = call.tensor(kValue);
  checkTile(call, call.tensor(kValue));
  const Emitter::Shape shape = call.c.typeOf(value).shape;
  const size_t rank = shape.size();
  const auto dim = static_cast<size_t>(call.axis(kDim, rank));
  const ValueId given = indexTile(call, kIndex);
  const ValueId index = call.emit.reshape(given, {call.emit.elementCount(call.c.typeOf(given).shape)});
  if (!call.emit.sameExtent(call.c.typeOf(index).shape[0], shape[dim]))
    call.c.fail(call.where(kIndex), "lower.shape", "index.numel must equal value.shape[dim]");
  IndexedAccess access(call, kPointer, shape);
  const auto strides = anAxisEach(call, kStrides, rank), ends = anAxisEach(call, kEnds, rank),
             starts = anAxisEach(call, kStarts, rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const FrontValue position = axis == dim
                                    ? access.along(index, axis)
                                    : access.binary(BinaryOperator::Add, access.lanes(axis), starts[axis]);
    access.require(position, axis == dim ? call.at(kBoundary) : ends[axis]);
    access.move(position, strides[axis]);
  }
  return access.store(value);
}

/// A dense source, so its strides follow from its shape; what lies past an extent is left out.
FrontValue indexSelect(BuiltinCall &call) {
  enum { kSource, kDim, kIndex, kShape, kOffset, kRead };
  const auto extents = call.sequence(kShape);
  const size_t rank = extents.size();
  const auto dim = static_cast<size_t>(call.axis(kDim, rank));
  const auto offsets = anAxisEach(call, kOffset, rank), read = anAxisEach(call, kRead, rank);
  const ValueId index = indexTile(call, kIndex);
  if (call.c.typeOf(index).rank() != 1)
    call.failArgument(kIndex, "a 1D tile of integers");
  Emitter::Shape shape;
  for (size_t axis = 0; axis < rank; ++axis)
    shape.push_back(axis == dim ? call.c.typeOf(index).shape[0] : call.extent(read[axis], call.where(kRead)));
  IndexedAccess access(call, kSource, shape);
  FrontValue stride = call.c.integer(1);
  for (size_t axis = rank; axis-- > 0;) {
    const FrontValue position = axis == dim
                                    ? access.along(index, axis)
                                    : access.binary(BinaryOperator::Add, access.lanes(axis), offsets[axis]);
    access.require(position, extents[axis]);
    access.move(position, stride);
    stride = access.binary(BinaryOperator::Mult, stride, extents[axis]);
  }
  return access.load(std::nullopt);
}

constexpr Builtin kRows[] = {
    {"gather_out_to_ub",
     "src, index, index_boundary, dim, src_stride, end_offset, start_offset, other=", gatherToTile},
    {"scatter_ub_to_out", "ptr, value, index, index_boundary, dim, dst_stride, end_offset, start_offset",
     scatterFromTile},
    {"index_select_simd", "src, dim, index, src_shape, src_offset, read_shape", indexSelect},
    {"index_put", "ptr, index, value, dim, index_boundary, end_offset, start_offset, dst_stride", indexPut},
};

} // namespace

std::span<const Builtin> indexedBuiltins() { return kRows; }

} // namespace tilewright::lowering

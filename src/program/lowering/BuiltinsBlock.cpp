#include "Builtins.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

/// Shapes, strides and offsets of a block: integer scalars of one width.
void addScalars(BuiltinCall &call, std::vector<ValueId> &operands, const std::vector<FrontValue> &items,
                size_t argument, DType dtype) {
  for (const FrontValue &item : items) {
    if (!item.isIntegral() && !item.isRuntime())
      call.failArgument(argument, "integers");
    ValueId value = item.isRuntime() ? call.emit.unsplat(item.value) : call.emit.toTensor(item);
    if (!isInteger(call.c.typeOf(value).dtype) || call.c.typeOf(value).kind != Type::Kind::Value)
      call.c.failType(call.where(argument),
                      fmt::format("expected an integer scalar type in shape/strides/offsets, not {}",
                                  call.emit.typeName(item)));
    operands.push_back(call.emit.cast(value, dtype));
  }
}

void sameLength(BuiltinCall &call, size_t argument, size_t given, size_t wanted) {
  if (given != wanted)
    call.c.fail(call.where(argument), "lower.shape",
                fmt::format("expected {} {}, but got {}", wanted, call.parameters[argument], given));
}

FrontValue makeBlockPtr(BuiltinCall &call) {
  enum { kBase, kShape, kStrides, kOffsets, kBlock, kOrder };
  if (!call.at(kBase).isRuntime() || !call.c.typeOf(call.at(kBase).value).isPointer() ||
      !call.c.typeOf(call.at(kBase).value).shape.empty())
    call.failArgument(kBase, "a scalar pointer");
  const Emitter::Shape block = call.shape(call.sequence(kBlock), call.where(kBlock));
  call.emit.checkTileShape(block);
  std::vector<ValueId> operands{call.at(kBase).value};
  for (const size_t part : {size_t(kShape), size_t(kStrides), size_t(kOffsets)}) {
    const auto items = call.sequence(part);
    sameLength(call, part, items.size(), block.size());
    addScalars(call, operands, items, part, part == kOffsets ? DType::Int32 : DType::Int64);
  }
  std::vector<int64_t> order;
  for (const FrontValue &axis : call.sequence(kOrder)) {
    if (!axis.isIntegral())
      call.failArgument(kOrder, "constexpr integers");
    order.push_back(call.c.concrete(axis, call.where(kOrder)));
  }
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted.size() != block.size() || sorted[i] != static_cast<int64_t>(i))
      call.c.fail(call.where(kOrder), "lower.shape",
                  "expected a permutation of (0, 1, ..., len(order)-1) in order");
  Attributes attributes;
  attributes.set("rank", static_cast<int64_t>(block.size()));
  attributes.set("order", order);
  const DType dtype = call.c.typeOf(operands[0]).dtype;
  return FrontValue::runtime(call.c.create(OpKind::MakeBlockPtr, std::move(operands),
                                           Type{Type::Kind::BlockPointer, dtype, block},
                                           std::move(attributes)));
}

FrontValue advance(BuiltinCall &call) {
  if (!call.at(0).isRuntime() || call.c.typeOf(call.at(0).value).kind != Type::Kind::BlockPointer)
    call.failArgument(0, "a block pointer");
  const Type type = call.c.typeOf(call.at(0).value);
  std::vector<ValueId> operands{call.at(0).value};
  const auto offsets = call.sequence(1);
  sameLength(call, 1, offsets.size(), type.rank());
  addScalars(call, operands, offsets, 1, DType::Int32);
  return FrontValue::runtime(call.c.create(OpKind::Advance, std::move(operands), type));
}

std::vector<int64_t> checkedAxes(BuiltinCall &call, const FrontValue *boundary, size_t rank) {
  std::vector<int64_t> axes;
  if (!boundary)
    return axes;
  const std::vector<FrontValue> items =
      boundary->is(FrontKind::Tuple) ? *boundary->items : std::vector<FrontValue>{*boundary};
  for (const FrontValue &item : items) {
    if (!item.isIntegral())
      call.c.failType(call.range, "`boundary_check` must be constexpr integers");
    int64_t axis = call.c.concrete(item, call.range);
    axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
    if (axis < 0 || axis >= static_cast<int64_t>(rank))
      call.c.fail(call.range, "lower.shape", fmt::format("`boundary_check` names axis {} of {}", axis, rank));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      call.c.fail(call.range, "lower.shape", "duplicate dimension in `boundary_check`");
    axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

ValueId descriptorOf(BuiltinCall &call) {
  if (!call.at(0).isRuntime() || call.c.typeOf(call.at(0).value).kind != Type::Kind::Descriptor)
    call.failArgument(0, "a tensor descriptor");
  return call.at(0).value;
}

FrontValue makeDescriptor(BuiltinCall &call) {
  enum { kBase, kShape, kStrides, kBlock, kPadding };
  if (!call.at(kBase).isRuntime() || !call.c.typeOf(call.at(kBase).value).isPointer() ||
      !call.c.typeOf(call.at(kBase).value).shape.empty())
    call.failArgument(kBase, "a scalar pointer");
  const Emitter::Shape block = call.shape(call.sequence(kBlock), call.where(kBlock));
  const auto shape = call.sequence(kShape), strides = call.sequence(kStrides);
  if (shape.empty() || shape.size() > 5)
    call.c.fail(call.where(kShape), "lower.shape",
                fmt::format("expected 1 <= ndim <= 5 but got {} dimensions", shape.size()));
  sameLength(call, kStrides, strides.size(), shape.size());
  sameLength(call, kBlock, block.size(), shape.size());
  if (!strides.back().isIntegral() || strides.back().witness != 1)
    call.c.fail(call.where(kStrides), "lower.type",
                "tensor descriptor last dim's stride must be the constexpr 1",
                strides.back().isIntegral() && !strides.back().sym.isConstant()
                    ? call.c.syms.eq(strides.back().sym, call.c.syms.constant(1))
                    : SymInt());
  const DType dtype = call.c.typeOf(call.at(kBase).value).dtype;
  const SymInt bytes = call.c.syms.mul(block.back(), call.c.syms.constant(byteSize(dtype)));
  call.c.require(
      call.c.syms.le(call.c.syms.constant(16), bytes), "lower.shape",
      "a descriptor's last block axis has at least 16 bytes", call.range,
      fmt::format("descriptor block shape must have at least 16 bytes in the last dimension, but got {} * {}",
                  toString(block.back()), byteSize(dtype)));
  call.emit.checkTileShape(block);
  std::vector<ValueId> operands{call.at(kBase).value};
  addScalars(call, operands, shape, kShape, DType::Int32);
  addScalars(call, operands, strides, kStrides, DType::Int64);
  Attributes attributes;
  attributes.set("rank", static_cast<int64_t>(block.size()));
  attributes.set("padding", call.text(kPadding, "zero"));
  return FrontValue::runtime(call.c.create(OpKind::MakeDescriptor, std::move(operands),
                                           Type{Type::Kind::Descriptor, dtype, block},
                                           std::move(attributes)));
}

FrontValue descriptorLoad(BuiltinCall &call) {
  const ValueId descriptor = descriptorOf(call);
  const Type type = call.c.typeOf(descriptor);
  std::vector<ValueId> operands{descriptor};
  const auto offsets = call.sequence(1);
  sameLength(call, 1, offsets.size(), type.rank());
  addScalars(call, operands, offsets, 1, DType::Int32);
  return FrontValue::runtime(
      call.c.create(OpKind::DescriptorLoad, std::move(operands), Type::tile(type.dtype, type.shape)));
}

FrontValue descriptorStore(BuiltinCall &call) {
  const ValueId descriptor = descriptorOf(call);
  const Type type = call.c.typeOf(descriptor);
  const ValueId value = call.emit.cast(call.tensor(2), type.dtype);
  if (!call.emit.sameShape(call.c.typeOf(value).shape, type.shape))
    call.c.fail(call.where(2), "lower.shape",
                fmt::format("expected value shape {}, got {}", call.emit.shapeText(type.shape),
                            call.emit.shapeText(call.c.typeOf(value).shape)));
  std::vector<ValueId> operands{descriptor, value};
  const auto offsets = call.sequence(1);
  sameLength(call, 1, offsets.size(), type.rank());
  addScalars(call, operands, offsets, 1, DType::Int32);
  call.c.createOp(OpKind::DescriptorStore, std::move(operands), {});
  return FrontValue::none();
}

/// The descriptor of rows that are picked one by one: blocks of one row.
ValueId rowDescriptor(BuiltinCall &call) {
  const ValueId descriptor = descriptorOf(call);
  const Type &type = call.c.typeOf(descriptor);
  if (type.rank() != 2)
    call.c.fail(call.where(0), "lower.shape",
                fmt::format("descriptor must be 2D, but got {}", call.emit.shapeText(type.shape)));
  if (!type.shape[0].isConstant(1))
    call.c.fail(call.where(0), "lower.shape",
                fmt::format("descriptor block must have 1 row, but got {}", call.emit.shapeText(type.shape)));
  return descriptor;
}

ValueId rowsOf(BuiltinCall &call, size_t i) {
  const ValueId rows = call.tensor(i);
  const Type &type = call.c.typeOf(rows);
  if (type.rank() != 1 || (type.dtype != DType::Int16 && type.dtype != DType::Int32))
    call.failArgument(i, "a 1D tile of int16 or int32");
  call.c.require(call.c.syms.le(call.c.syms.constant(8), type.shape[0]), "lower.shape",
                 fmt::format("{} must be at least 8", toString(type.shape[0])), call.where(i),
                 fmt::format("descriptor gather and scatter take at least 8 rows, but got {}",
                             call.emit.shapeText(type.shape)));
  return rows;
}

FrontValue descriptorGather(BuiltinCall &call) {
  const ValueId descriptor = rowDescriptor(call);
  const Type type = call.c.typeOf(descriptor);
  const ValueId rows = rowsOf(call, 1);
  std::vector<ValueId> operands{descriptor, rows};
  addScalars(call, operands, {call.at(2)}, 2, DType::Int32);
  return FrontValue::runtime(
      call.c.create(OpKind::DescriptorGather, std::move(operands),
                    Type::tile(type.dtype, {call.c.typeOf(rows).shape[0], type.shape[1]})));
}

FrontValue descriptorScatter(BuiltinCall &call) {
  const ValueId descriptor = rowDescriptor(call);
  const Type type = call.c.typeOf(descriptor);
  const ValueId value = call.emit.cast(call.tensor(1), type.dtype), rows = rowsOf(call, 2);
  const Emitter::Shape shape{call.c.typeOf(rows).shape[0], type.shape[1]};
  if (!call.emit.sameShape(call.c.typeOf(value).shape, shape))
    call.c.fail(call.where(1), "lower.shape",
                fmt::format("expected value shape {}, got {}", call.emit.shapeText(shape),
                            call.emit.shapeText(call.c.typeOf(value).shape)));
  std::vector<ValueId> operands{descriptor, value, rows};
  addScalars(call, operands, {call.at(3)}, 3, DType::Int32);
  call.c.createOp(OpKind::DescriptorScatter, std::move(operands), {});
  return FrontValue::none();
}

/// desc.atomic_add(offsets, value) and its kin: one atomic update an element, results thrown away.
FrontValue descriptorAtomic(BuiltinCall &call) {
  const ValueId descriptor = descriptorOf(call);
  const Type type = call.c.typeOf(descriptor);
  std::string operation = call.name.substr(call.name.rfind('_') + 1);
  const bool bitwise = operation == "and" || operation == "or" || operation == "xor";
  const DType d = type.dtype;
  const bool half = d == DType::Float16 || d == DType::BFloat16;
  const bool wide = isInteger(d) && bitWidth(d) >= 32;
  const bool allowed = bitwise              ? wide
                       : operation == "add" ? (wide && d != DType::Int64) || half || d == DType::Float32
                                            : wide || half;
  if (!allowed)
    call.c.failType(call.range, fmt::format("unsupported dtype {} for {}", tritonName(d), operation));
  const ValueId value = call.emit.cast(call.tensor(2), d);
  if (!call.emit.sameShape(call.c.typeOf(value).shape, type.shape))
    call.c.fail(call.where(2), "lower.shape",
                fmt::format("expected value shape {}, got {}", call.emit.shapeText(type.shape),
                            call.emit.shapeText(call.c.typeOf(value).shape)));
  std::vector<ValueId> operands{descriptor, value};
  const auto offsets = call.sequence(1);
  sameLength(call, 1, offsets.size(), type.rank());
  addScalars(call, operands, offsets, 1, DType::Int32);
  if (operation == "add" && isFloat(d))
    operation = "fadd";
  else if (!bitwise && operation != "add" && isInteger(d) && !isSigned(d))
    operation = "u" + operation;
  Attributes attributes;
  attributes.set("operation", operation);
  call.c.createOp(OpKind::DescriptorReduce, std::move(operands), {}, std::move(attributes));
  return FrontValue::none();
}

/// The forms before tensor descriptors: the host made a descriptor, the kernel is given its address and says
/// the block at each access.
ValueId hostDescriptor(BuiltinCall &call, const Emitter::Shape &block, DType dtype) {
  if (!call.at(0).isRuntime() || !call.c.typeOf(call.at(0).value).isPointer() ||
      !call.c.typeOf(call.at(0).value).shape.empty())
    call.failArgument(0, "a scalar pointer");
  Attributes attributes;
  attributes.set("rank", static_cast<int64_t>(block.size()));
  attributes.set("opaque", true);
  return call.c.create(OpKind::MakeDescriptor, {call.at(0).value}, Type{Type::Kind::Descriptor, dtype, block},
                       std::move(attributes));
}

FrontValue hostDescriptorLoad(BuiltinCall &call) {
  const Emitter::Shape block = call.shape(call.sequence(2), call.where(2));
  call.emit.checkTileShape(block);
  const DType dtype = call.dtype(3);
  std::vector<ValueId> operands{hostDescriptor(call, block, dtype)};
  const auto offsets = call.sequence(1);
  sameLength(call, 1, offsets.size(), block.size());
  addScalars(call, operands, offsets, 1, DType::Int32);
  return FrontValue::runtime(
      call.c.create(OpKind::DescriptorLoad, std::move(operands), Type::tile(dtype, block)));
}

FrontValue hostDescriptorStore(BuiltinCall &call) {
  const ValueId value = call.tensor(1);
  const Type type = call.c.typeOf(value);
  if (type.kind != Type::Kind::Value || type.shape.empty())
    call.failArgument(1, "a tile");
  std::vector<ValueId> operands{hostDescriptor(call, type.shape, type.dtype), value};
  const auto offsets = call.sequence(2);
  sameLength(call, 2, offsets.size(), type.rank());
  addScalars(call, operands, offsets, 2, DType::Int32);
  call.c.createOp(OpKind::DescriptorStore, std::move(operands), {});
  return FrontValue::none();
}

constexpr std::string_view kDescriptorAtomic = "desc, offsets, value";

constexpr Builtin kRows[] = {
    {"make_block_ptr", "base, shape, strides, offsets, block_shape, order", makeBlockPtr},
    {"advance", "base, offsets", advance, true},
    {"make_tensor_descriptor", "base, shape, strides, block_shape, padding_option=", makeDescriptor},
    {"load_tensor_descriptor", "desc, offsets", descriptorLoad},
    {"store_tensor_descriptor", "desc, offsets, value", descriptorStore},
    {"descriptor.load", "desc, offsets", descriptorLoad},
    {"descriptor.store", "desc, offsets, value", descriptorStore},
    {"descriptor.gather", "desc, x_offsets, y_offset", descriptorGather},
    {"descriptor.scatter", "desc, value, x_offsets, y_offset", descriptorScatter},
    {"descriptor.atomic_add", kDescriptorAtomic, descriptorAtomic},
    {"descriptor.atomic_min", kDescriptorAtomic, descriptorAtomic},
    {"descriptor.atomic_max", kDescriptorAtomic, descriptorAtomic},
    {"descriptor.atomic_and", kDescriptorAtomic, descriptorAtomic},
    {"descriptor.atomic_or", kDescriptorAtomic, descriptorAtomic},
    {"descriptor.atomic_xor", kDescriptorAtomic, descriptorAtomic},
    {"_experimental_descriptor_load", "desc_pointer, offsets, shape, dtype", hostDescriptorLoad},
    {"_experimental_descriptor_store", "desc_pointer, value, offsets", hostDescriptorStore},
    {"_experimental_make_tensor_descriptor",
     "base, shape, strides, block_shape, padding_option=", makeDescriptor},
};

} // namespace

FrontValue blockLoad(BuiltinCall &call, ValueId pointer, const FrontValue *boundary,
                     const std::string &padding) {
  const Type type = call.c.typeOf(pointer);
  Attributes attributes;
  attributes.set("boundary", checkedAxes(call, boundary, type.rank()));
  if (!padding.empty()) {
    if (padding != "zero" && padding != "nan")
      call.c.fail(call.range, "lower.type", fmt::format("padding option {} not supported", padding));
    attributes.set("padding", padding);
  }
  return FrontValue::runtime(
      call.c.create(OpKind::BlockLoad, {pointer}, Type::tile(type.dtype, type.shape), std::move(attributes)));
}

void blockStore(BuiltinCall &call, ValueId pointer, ValueId value, const FrontValue *boundary) {
  const Type type = call.c.typeOf(pointer);
  value = call.emit.cast(value, type.dtype);
  value = call.emit.broadcastTo(value, type.shape);
  Attributes attributes;
  attributes.set("boundary", checkedAxes(call, boundary, type.rank()));
  call.c.createOp(OpKind::BlockStore, {pointer, value}, {}, std::move(attributes));
}

std::span<const Builtin> blockBuiltins() { return kRows; }

} // namespace tilewright::lowering

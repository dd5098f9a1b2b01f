// Loads and stores of lanes: contiguous vectors, broadcast scalars, gathers and scatters.
#include "EmitElementwise.h"
#include "LaneBuilder.h"

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace llvmir = mlir::LLVM;

namespace {

/// Bytes that the pointer's offset counts in.
int64_t offsetUnit(const Lane &pointer) { return pointer.pointer ? byteSize(pointer.dtype) : 1; }

/// A computed value as it lies in memory: bytes for bools, and the bits of half floats, since x86 without
/// native half arithmetic takes masked accesses of them apart into conversions lane by lane.
mlir::Value toStored(Emission &e, DType dtype, mlir::Value value) {
  const mlir::Type type = withElement(value.getType(), e.memoryType(dtype));
  if (type == value.getType())
    return value;
  if (dtype == DType::Int1)
    return arith::ExtUIOp::create(e.builder, e.loc, type, value);
  return arith::BitcastOp::create(e.builder, e.loc, type, value);
}

mlir::Value fromStored(Emission &e, DType dtype, mlir::Value value) {
  const mlir::Type type = withElement(value.getType(), e.elementType(dtype));
  if (type == value.getType())
    return value;
  if (dtype == DType::Int1)
    return arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::ne, value,
                                 e.constant(value.getType(), int64_t{0}));
  return arith::BitcastOp::create(e.builder, e.loc, type, value);
}

} // namespace

mlir::Value LaneBuilder::startAddress(const Lane &lane) {
  mlir::OpBuilder &b = e_.builder;
  if (!lane.pointer)
    return llvmir::IntToPtrOp::create(b, e_.loc, e_.pointerType(), lane.value);
  if (mlir::getConstantIntValue(lane.value) == 0)
    return lane.pointer;
  return llvmir::GEPOp::create(b, e_.loc, e_.pointerType(), e_.memoryType(lane.dtype), lane.pointer,
                               llvm::ArrayRef<llvmir::GEPArg>{lane.value});
}

mlir::Value LaneBuilder::laneAddresses(const Lane &lane) {
  mlir::OpBuilder &b = e_.builder;
  const mlir::Value offsets = wideVector(lane);
  const auto type = e_.vectorOf(e_.pointerType());
  if (!lane.pointer)
    return llvmir::IntToPtrOp::create(b, e_.loc, type, offsets);
  return llvmir::GEPOp::create(b, e_.loc, type, e_.memoryType(lane.dtype), lane.pointer,
                               llvm::ArrayRef<llvmir::GEPArg>{offsets});
}

Lane LaneBuilder::load(const Op *op, const Lane &pointer, const Lane *mask, const Lane *other) {
  const DType dtype = pointer.dtype;
  if (mask && constantOf(*mask) == 1)
    mask = nullptr;
  if (mask && mask->unknown())
    return Lane::makeUnknown(dtype);
  const int maskLevel = mask ? mask->level : 0;
  Lane fallback =
      other && !other->unknown() ? *other : uniform(e_.constant(e_.elementType(dtype), int64_t{0}), dtype);
  if (mask && constantOf(*mask) == 0) {
    if (other && other->unknown())
      return Lane::makeUnknown(dtype);
    fallback.level = std::max(fallback.level, maskLevel);
    return fallback;
  }
  if (pointer.unknown())
    return Lane::makeUnknown(dtype);
  if (op && op->attributes.flag("volatile"))
    e_.refuse(op, "volatile loads");

  mlir::OpBuilder &b = e_.builder;
  const uint32_t alignment = byteSize(dtype);
  const mlir::Type memory = e_.memoryType(dtype);
  const auto fromMemory = [&](mlir::Value value) { return fromStored(e_, dtype, value); };

  // The same address for every lane: one scalar load, from the landing place when it must not be touched.
  if (isUniform(pointer)) {
    const bool uniformMask = !mask || isUniform(*mask);
    const int level = std::max(pointer.level, maskLevel);
    mlir::Value allowed;
    if (mask && uniformMask)
      allowed = scalar(*mask);
    else if (mask)
      allowed = e_.atLevel(level, [&] {
        return mlir::vector::ReductionOp::create(b, e_.loc, mlir::vector::CombiningKind::OR, vector(*mask));
      });
    Lane loaded = make(uniform({}, dtype), level, [&]() -> mlir::Value {
      mlir::Value address = startAddress(pointer);
      if (allowed)
        address = arith::SelectOp::create(b, e_.loc, allowed, address, e_.scratchBase);
      return fromMemory(llvmir::LoadOp::create(b, e_.loc, memory, address, alignment));
    });
    return mask ? select(*mask, loaded, fallback) : loaded;
  }

  const int level = std::max({pointer.level, maskLevel, mask ? fallback.level : 0});
  const auto type = e_.vectorOf(memory);
  const auto step = stepOf(pointer);
  const bool contiguous = pointer.form == Lane::Form::Affine &&
                          step == static_cast<int64_t>(byteSize(dtype)) / offsetUnit(pointer);
  mlir::Value flags, passThrough;
  if (mask) {
    flags = vector(*mask);
    passThrough = vector(fallback);
    passThrough = e_.atLevel(level, [&] { return toStored(e_, dtype, passThrough); });
  }
  return make(vectorLane({}, dtype, level), level, [&]() -> mlir::Value {
    if (contiguous) {
      const mlir::Value address = startAddress(pointer);
      if (!mask)
        return fromMemory(llvmir::LoadOp::create(b, e_.loc, type, address, alignment));
      return fromMemory(
          llvmir::MaskedLoadOp::create(b, e_.loc, type, address, flags, passThrough, alignment));
    }
    if (!flags) {
      flags = e_.constant(e_.vectorOf(b.getI1Type()), int64_t{1});
      passThrough = e_.constant(type, int64_t{0});
    }
    return fromMemory(llvmir::masked_gather::create(b, e_.loc, type, laneAddresses(pointer), flags,
                                                    mlir::ValueRange{passThrough}, alignment));
  });
}

void LaneBuilder::store(const Op *, const Lane &pointer, const Lane &value, const Lane *mask) {
  mlir::OpBuilder &b = e_.builder;
  const DType dtype = pointer.dtype;
  const uint32_t alignment = byteSize(dtype);
  if (mask && constantOf(*mask) == 1)
    mask = nullptr;
  if (mask && constantOf(*mask) == 0)
    return;
  const auto toMemory = [&](mlir::Value computed) { return toStored(e_, dtype, computed); };
  if (isUniform(pointer) && isUniform(value) && (!mask || isUniform(*mask))) {
    const mlir::Value stored = toMemory(scalar(value));
    const mlir::Value allowed = mask ? scalar(*mask) : mlir::Value{};
    const auto emit = [&] { llvmir::StoreOp::create(b, e_.loc, stored, startAddress(pointer), alignment); };
    if (!allowed)
      return emit();
    auto branch = mlir::scf::IfOp::create(b, e_.loc, allowed, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    return emit();
  }
  const auto step = stepOf(pointer);
  const bool contiguous = pointer.form == Lane::Form::Affine &&
                          step == static_cast<int64_t>(byteSize(dtype)) / offsetUnit(pointer);
  const mlir::Value stored = toMemory(vector(value));
  const mlir::Value flags = mask ? vector(*mask) : mlir::Value{};
  if (contiguous) {
    const mlir::Value address = startAddress(pointer);
    if (!mask)
      llvmir::StoreOp::create(b, e_.loc, stored, address, alignment);
    else
      llvmir::MaskedStoreOp::create(b, e_.loc, stored, address, flags, alignment);
    return;
  }
  llvmir::masked_scatter::create(b, e_.loc, stored, laneAddresses(pointer),
                                 flags ? flags : e_.constant(e_.vectorOf(b.getI1Type()), int64_t{1}),
                                 alignment);
}

Lane LaneBuilder::bufferPointer(const TileBuffer &buffer, const Position &position) {
  Lane offset = constantIndex(0);
  for (size_t axis = 0; axis < position.size(); ++axis)
    offset = addWide(offset, mulConstant(position[axis], buffer.strides[axis]));
  offset.pointer = e_.scratchAt(buffer.offset);
  const bool isPointer = buffer.kind == Type::Kind::Pointer;
  offset.kind = Type::Kind::Pointer;
  offset.dtype = isPointer ? DType::Int64 : buffer.dtype;
  return offset;
}

Lane LaneBuilder::readBuffer(const TileBuffer &buffer, const Position &position) {
  for (const Lane &lane : position)
    if (lane.unknown())
      return Lane::makeUnknown(buffer.dtype);
  Lane loaded = load(nullptr, bufferPointer(buffer, position), nullptr, nullptr);
  if (buffer.kind == Type::Kind::Pointer) {
    loaded = wide(loaded);
    loaded.kind = Type::Kind::Pointer;
    loaded.dtype = buffer.dtype;
  }
  return loaded;
}

void LaneBuilder::writeBuffer(const TileBuffer &buffer, const Position &position, const Lane &value,
                              const Lane *mask) {
  Lane stored = value;
  if (value.isPointer()) {
    stored = pointerAddress(value);
    stored.kind = Type::Kind::Value;
    stored.dtype = DType::Int64;
  }
  store(nullptr, bufferPointer(buffer, position), stored, mask);
}

} // namespace tilewright::cpu

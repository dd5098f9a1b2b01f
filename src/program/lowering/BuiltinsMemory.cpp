#include "Builtins.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::lowering {

FrontValue blockLoad(BuiltinCall &call, ValueId pointer, const FrontValue *boundary,
                     const std::string &padding); // BuiltinsBlock.cpp
void blockStore(BuiltinCall &call, ValueId pointer, ValueId value, const FrontValue *boundary);

namespace {

void setModifiers(BuiltinCall &call, Attributes &attributes, size_t cache, size_t eviction,
                  std::span<const std::string_view> caches) {
  if (const std::string text = call.text(cache, ""); !text.empty()) {
    if (std::find(caches.begin(), caches.end(), text) == caches.end())
      call.c.fail(call.where(cache), "lower.type", fmt::format("cache modifier {} not supported", text));
    attributes.set("cache", text);
  }
  if (const std::string text = call.text(eviction, ""); !text.empty()) {
    if (text != "evict_last" && text != "evict_first" && text != "evict_normal")
      call.c.fail(call.where(eviction), "lower.type", fmt::format("eviction policy {} not supported", text));
    attributes.set("eviction", text);
  }
}

ValueId pointerOf(BuiltinCall &call, size_t i) {
  const FrontValue &value = call.at(i);
  if (!value.isRuntime() || !call.c.typeOf(value.value).isPointer())
    call.c.failType(call.where(i), fmt::format("unsupported ptr type {} in `{}`", call.emit.typeName(value),
                                               call.nameRange.text()));
  return value.value;
}

void failBlock(BuiltinCall &call, size_t i, std::string_view what) {
  call.c.fail(call.where(i), "lower.shape",
              fmt::format("{} argument cannot be block type if pointer argument is not a block", what));
}

/// In memory a bool is a byte.
ValueId bytePointer(BuiltinCall &call, ValueId pointer) {
  return call.c.typeOf(pointer).dtype == DType::Int1 ? call.emit.castTo(pointer, Type::pointer(DType::Int8))
                                                     : pointer;
}

FrontValue load(BuiltinCall &call) {
  enum { kPointer, kMask, kOther, kBoundary, kPadding, kCache, kEviction, kVolatile };
  LoweringContext &c = call.c;
  if (call.at(kPointer).isRuntime() && c.typeOf(call.at(kPointer).value).kind == Type::Kind::BlockPointer) {
    if (call.has(kMask) || call.has(kOther))
      c.failType(call.range, "`mask` and `other` arguments cannot be specified for loading block pointers");
    return blockLoad(call, call.at(kPointer).value, call.has(kBoundary) ? &call.at(kBoundary) : nullptr,
                     call.text(kPadding, ""));
  }
  ValueId pointer = pointerOf(call, kPointer);
  if (call.has(kBoundary) && !(call.at(kBoundary).is(FrontKind::Tuple) && call.at(kBoundary).items->empty()))
    c.failType(call.where(kBoundary), "`boundary_check` is for block pointers only");
  std::optional<ValueId> mask, other;
  if (call.has(kMask))
    mask = call.tensor(kMask);
  if (call.has(kOther)) {
    if (!mask)
      c.fail(call.where(kOther), "lower.call", "`other` cannot be provided without `mask`");
    other = call.tensor(kOther);
  }
  if (c.typeOf(pointer).shape.empty()) {
    if (mask && !c.typeOf(*mask).shape.empty())
      failBlock(call, kMask, "mask");
    if (other && !c.typeOf(*other).shape.empty())
      failBlock(call, kOther, "other");
  } else {
    if (mask)
      std::tie(pointer, mask) = call.emit.broadcast(pointer, *mask);
    if (other)
      std::tie(pointer, other) = call.emit.broadcast(pointer, *other);
    if (mask)
      std::tie(pointer, mask) = call.emit.broadcast(pointer, *mask);
  }
  const bool isBool = c.typeOf(pointer).dtype == DType::Int1;
  pointer = bytePointer(call, pointer);
  const Type type = c.typeOf(pointer);
  std::vector<ValueId> operands{pointer};
  if (mask) {
    operands.push_back(call.emit.cast(*mask, DType::Int1));
    if (other)
      operands.push_back(call.emit.cast(*other, type.dtype));
  }
  Attributes attributes;
  static constexpr std::array<std::string_view, 4> kCaches = {".ca", ".cg", ".cs", ".cv"};
  setModifiers(call, attributes, kCache, kEviction, kCaches);
  if (call.flag(kVolatile, false))
    attributes.set("volatile", true);
  ValueId result = c.create(OpKind::Load, std::move(operands),
                            Type{Type::Kind::Value, type.dtype, type.shape}, std::move(attributes));
  c.setSym(result, {}, "loaded");
  if (isBool)
    result = call.emit.cast(result, DType::Int1);
  return FrontValue::runtime(result);
}

/// Pointer, value and mask with one shape. The pointer must have it already: a store never repeats itself.
void broadcastForStore(BuiltinCall &call, ValueId &pointer, ValueId &value, std::optional<ValueId> &mask) {
  const Emitter::Shape shape = call.c.typeOf(pointer).shape;
  if (shape.empty()) {
    if (!call.c.typeOf(value).shape.empty())
      failBlock(call, 1, "value");
    if (mask && !call.c.typeOf(*mask).shape.empty())
      failBlock(call, 2, "mask");
    return;
  }
  for (int pass = 0; pass < 2; ++pass) {
    std::tie(pointer, value) = call.emit.broadcast(pointer, value);
    if (mask)
      std::tie(pointer, mask) = call.emit.broadcast(pointer, *mask);
  }
  if (call.c.typeOf(pointer).shape != shape)
    call.c.fail(call.where(0), "lower.shape",
                fmt::format("expected pointer argument to have shape {} but got {}",
                            call.emit.shapeText(call.c.typeOf(pointer).shape), call.emit.shapeText(shape)));
}

FrontValue store(BuiltinCall &call) {
  enum { kPointer, kValue, kMask, kBoundary, kCache, kEviction };
  LoweringContext &c = call.c;
  ValueId value = call.tensor(kValue);
  if (call.at(kPointer).isRuntime() && c.typeOf(call.at(kPointer).value).kind == Type::Kind::BlockPointer) {
    if (call.has(kMask))
      c.failType(call.range, "`mask` cannot be specified for storing through block pointers");
    blockStore(call, call.at(kPointer).value, value, call.has(kBoundary) ? &call.at(kBoundary) : nullptr);
    return FrontValue::none();
  }
  ValueId pointer = pointerOf(call, kPointer);
  std::optional<ValueId> mask;
  if (call.has(kMask))
    mask = call.tensor(kMask);
  broadcastForStore(call, pointer, value, mask);
  const DType dtype = c.typeOf(pointer).dtype;
  value = call.emit.cast(value, dtype);
  if (dtype == DType::Int1) {
    pointer = bytePointer(call, pointer);
    value = call.emit.cast(value, DType::Int8);
  }
  std::vector<ValueId> operands{pointer, value};
  if (mask) {
    if (c.typeOf(*mask).dtype != DType::Int1)
      c.failType(call.where(kMask), "mask must have boolean scalar type");
    operands.push_back(*mask);
  }
  Attributes attributes;
  static constexpr std::array<std::string_view, 4> kCaches = {".wb", ".cg", ".cs", ".wt"};
  setModifiers(call, attributes, kCache, kEviction, kCaches);
  c.createOp(OpKind::Store, std::move(operands), {}, std::move(attributes));
  return FrontValue::none();
}

std::string oneOf(BuiltinCall &call, size_t i, std::string_view otherwise,
                  std::span<const std::string_view> allowed, std::string_view what) {
  const std::string text = call.text(i, std::string(otherwise));
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
    call.c.fail(call.where(i), "lower.type", fmt::format("{} {} not supported", what, text));
  return text;
}

void setOrder(BuiltinCall &call, Attributes &attributes, size_t sem, size_t scope) {
  static constexpr std::array<std::string_view, 4> kSems = {"acquire", "release", "acq_rel", "relaxed"};
  static constexpr std::array<std::string_view, 3> kScopes = {"gpu", "cta", "sys"};
  attributes.set("sem", oneOf(call, sem, "acq_rel", kSems, "memory semantic"));
  attributes.set("scope", oneOf(call, scope, "gpu", kScopes, "memory scope"));
}

FrontValue atomic(BuiltinCall &call, std::string_view operation) {
  enum { kPointer, kValue, kMask, kSem, kScope };
  LoweringContext &c = call.c;
  ValueId pointer = pointerOf(call, kPointer);
  ValueId value = call.tensor(kValue);
  std::optional<ValueId> mask;
  if (call.has(kMask))
    mask = call.tensor(kMask);
  broadcastForStore(call, pointer, value, mask);
  const DType dtype = c.typeOf(pointer).dtype;
  const bool narrow = dtype == DType::Int16 || dtype == DType::UInt16 || bitWidth(dtype) < 16;
  const bool half = dtype == DType::Float16 || dtype == DType::BFloat16;
  if (narrow || (half && operation != "add"))
    c.failType(call.range, fmt::format("atomic_{} does not support {}", operation, tritonName(dtype)));
  value = call.emit.cast(value, dtype);
  std::vector<ValueId> operands{pointer, value};
  if (mask) {
    if (c.typeOf(*mask).dtype != DType::Int1)
      c.failType(call.where(kMask), "mask must have boolean scalar type");
    operands.push_back(*mask);
  }
  std::string name(operation);
  if (operation == "add" && isFloat(dtype))
    name = "fadd";
  else if ((operation == "max" || operation == "min") && isInteger(dtype) && !isSigned(dtype))
    name = "u" + name;
  Attributes attributes;
  attributes.set("operation", name);
  setOrder(call, attributes, kSem, kScope);
  const ValueId result =
      c.create(OpKind::AtomicRmw, std::move(operands), c.typeOf(value), std::move(attributes));
  c.setSym(result, {}, "atomic");
  return FrontValue::runtime(result);
}

FrontValue atomicAdd(BuiltinCall &call) { return atomic(call, "add"); }
FrontValue atomicMax(BuiltinCall &call) { return atomic(call, "max"); }
FrontValue atomicMin(BuiltinCall &call) { return atomic(call, "min"); }
FrontValue atomicAnd(BuiltinCall &call) { return atomic(call, "and"); }
FrontValue atomicOr(BuiltinCall &call) { return atomic(call, "or"); }
FrontValue atomicXor(BuiltinCall &call) { return atomic(call, "xor"); }
FrontValue atomicXchg(BuiltinCall &call) { return atomic(call, "xchg"); }

FrontValue atomicCas(BuiltinCall &call) {
  enum { kPointer, kCompare, kValue, kSem, kScope };
  const ValueId pointer = pointerOf(call, kPointer);
  const Type type = call.c.typeOf(pointer);
  if (bitWidth(type.dtype) < 16)
    call.c.failType(call.range, "atomic_cas only supports elements with width {16, 32, 64}");
  ValueId compare = call.emit.cast(call.tensor(kCompare), type.dtype),
          value = call.emit.cast(call.tensor(kValue), type.dtype);
  if (!type.shape.empty()) {
    compare = call.emit.broadcastTo(compare, type.shape);
    value = call.emit.broadcastTo(value, type.shape);
  }
  Attributes attributes;
  setOrder(call, attributes, kSem, kScope);
  const ValueId result = call.c.create(OpKind::AtomicCas, {pointer, compare, value}, call.c.typeOf(value),
                                       std::move(attributes));
  call.c.setSym(result, {}, "atomic");
  return FrontValue::runtime(result);
}

/// The access order of a single atomic load, store or poll: what it may not be weaker or stronger than is
/// fixed.
void setAccessOrder(BuiltinCall &call, Attributes &attributes, size_t sem, size_t scope,
                    std::string_view ordered) {
  const std::string given = call.text(sem, std::string(ordered));
  if (given != ordered && given != "relaxed")
    call.c.fail(call.where(sem), "lower.type",
                fmt::format("{} only supports {} and relaxed semantics", call.nameRange.text(), ordered));
  attributes.set("sem", given);
  static constexpr std::array<std::string_view, 3> kScopes = {"gpu", "cta", "sys"};
  attributes.set("scope", oneOf(call, scope, "gpu", kScopes, "memory scope"));
}

FrontValue atomicLoad(BuiltinCall &call) {
  enum { kPointer, kMask, kSem, kScope };
  LoweringContext &c = call.c;
  ValueId pointer = pointerOf(call, kPointer);
  const bool isBool = c.typeOf(pointer).dtype == DType::Int1;
  std::optional<ValueId> mask;
  if (call.has(kMask)) {
    mask = call.tensor(kMask);
    if (c.typeOf(*mask).dtype != DType::Int1)
      c.failType(call.where(kMask), "mask must have boolean scalar type");
    if (c.typeOf(pointer).shape.empty() && !c.typeOf(*mask).shape.empty())
      failBlock(call, kMask, "mask");
    std::tie(pointer, mask) = call.emit.broadcast(pointer, *mask);
  }
  pointer = bytePointer(call, pointer);
  const Type type = c.typeOf(pointer);
  std::vector<ValueId> operands{pointer};
  if (mask)
    operands.push_back(*mask);
  Attributes attributes;
  setAccessOrder(call, attributes, kSem, kScope, "acquire");
  ValueId result = c.create(OpKind::Load, std::move(operands),
                            Type{Type::Kind::Value, type.dtype, type.shape}, std::move(attributes));
  c.setSym(result, {}, "loaded");
  if (isBool)
    result = call.emit.cast(result, DType::Int1);
  return FrontValue::runtime(result);
}

FrontValue atomicStore(BuiltinCall &call) {
  enum { kPointer, kValue, kMask, kSem, kScope };
  LoweringContext &c = call.c;
  ValueId pointer = pointerOf(call, kPointer), value = call.tensor(kValue);
  std::optional<ValueId> mask;
  if (call.has(kMask)) {
    mask = call.tensor(kMask);
    if (c.typeOf(*mask).dtype != DType::Int1)
      c.failType(call.where(kMask), "mask must have boolean scalar type");
  }
  broadcastForStore(call, pointer, value, mask);
  pointer = bytePointer(call, pointer);
  value = call.emit.cast(value, c.typeOf(pointer).dtype);
  std::vector<ValueId> operands{pointer, value};
  if (mask)
    operands.push_back(*mask);
  Attributes attributes;
  setAccessOrder(call, attributes, kSem, kScope, "release");
  c.createOp(OpKind::Store, std::move(operands), {}, std::move(attributes));
  return FrontValue::none();
}

/// Waits until the value at each pointer is the expected one, or the time is over: true for those that came.
FrontValue atomicPoll(BuiltinCall &call) {
  enum { kPointer, kExpected, kSem, kScope, kTimeout };
  LoweringContext &c = call.c;
  ValueId pointer = pointerOf(call, kPointer);
  const DType dtype = c.typeOf(pointer).dtype;
  if (!isInteger(dtype) || bitWidth(dtype) < 16)
    c.failType(call.where(kPointer), "atomic_poll only supports integer elements with width {16, 32, 64}");
  ValueId expected = call.emit.cast(call.tensor(kExpected), dtype);
  std::optional<ValueId> none;
  broadcastForStore(call, pointer, expected, none);
  std::vector<ValueId> operands{pointer, expected};
  if (call.has(kTimeout)) {
    const ValueId timeout = call.tensor(kTimeout);
    if (!c.typeOf(timeout).shape.empty() || !isInteger(c.typeOf(timeout).dtype))
      call.failArgument(kTimeout, "a scalar integer");
    operands.push_back(call.emit.cast(timeout, DType::UInt64));
  }
  Attributes attributes;
  setAccessOrder(call, attributes, kSem, kScope, "acquire");
  const ValueId result = c.create(OpKind::AtomicPoll, std::move(operands),
                                  Type::tile(DType::Int1, c.typeOf(pointer).shape), std::move(attributes));
  c.setSym(result, {}, "polled");
  return FrontValue::runtime(result);
}

constexpr std::string_view kAtomicParameters = "pointer, val, mask=, sem=, scope=";

constexpr Builtin kRows[] = {
    {"load",
     // care_padding is Ascend's: whether lanes without `other` must be filled at all
     "pointer, mask=, other=, boundary_check=, padding_option=, cache_modifier=, eviction_policy=, "
     "volatile=, "
     "care_padding=",
     load},
    {"store", "pointer, value, mask=, boundary_check=, cache_modifier=, eviction_policy=", store, true},
    {"atomic_add", kAtomicParameters, atomicAdd, true},
    {"atomic_max", kAtomicParameters, atomicMax, true},
    {"atomic_min", kAtomicParameters, atomicMin, true},
    {"atomic_and", kAtomicParameters, atomicAnd, true},
    {"atomic_or", kAtomicParameters, atomicOr, true},
    {"atomic_xor", kAtomicParameters, atomicXor, true},
    {"atomic_xchg", kAtomicParameters, atomicXchg, true},
    {"atomic_load", "pointer, mask=, sem=, scope=", atomicLoad, true},
    {"atomic_store", "pointer, val, mask=, sem=, scope=", atomicStore, true},
    {"atomic_poll", "pointer, expected_value, sem=, scope=, timeout_ns=", atomicPoll, true},
    {"atomic_cas", "pointer, cmp, val, sem=, scope=", atomicCas, true},
};

} // namespace

std::span<const Builtin> memoryBuiltins() { return kRows; }

} // namespace tilewright::lowering

#include "Builtins.h"

#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

// What one family of targets adds to the language. The meaning goes into the Program where it has one on
// every target (a slice of a tile); what only orders or hints a back end is kept as that.

// --- parts of a tile (Ascend) ---

std::vector<ValueId> offsetsOf(BuiltinCall &call, size_t i, size_t rank) {
  std::vector<ValueId> values;
  for (const FrontValue &item : call.sequence(i)) {
    if (!item.isRuntime() && !item.isIntegral())
      call.failArgument(i, "integers");
    const ValueId value = item.isRuntime() ? call.emit.unsplat(item.value) : call.emit.toTensor(item);
    if (call.c.typeOf(value).kind != Type::Kind::Value || !isInteger(call.c.typeOf(value).dtype))
      call.failArgument(i, "integers");
    values.push_back(value);
  }
  if (values.size() != rank)
    call.c.fail(call.where(i), "lower.shape",
                fmt::format("expected {} {}, but got {}", rank, call.parameters[i], values.size()));
  return values;
}

std::vector<int64_t> stridesOf(BuiltinCall &call, size_t i, size_t rank) {
  std::vector<int64_t> strides;
  for (const FrontValue &item : call.sequence(i)) {
    if (!item.isIntegral())
      call.failArgument(i, "constexpr integers");
    strides.push_back(call.c.concrete(item, call.where(i)));
    if (strides.back() < 0)
      call.c.fail(call.where(i), "lower.shape", "a slice's stride must not be negative");
  }
  if (strides.size() != rank)
    call.c.fail(call.where(i), "lower.shape",
                fmt::format("expected {} strides, but got {}", rank, strides.size()));
  return strides;
}

/// The extents of a slice. They need not be powers of two: the tile they are cut from is the one that must
/// fit.
Emitter::Shape sizesOf(BuiltinCall &call, size_t i, size_t rank) {
  const Emitter::Shape shape = call.shape(call.sequence(i), call.where(i));
  if (shape.size() != rank)
    call.c.fail(call.where(i), "lower.shape",
                fmt::format("expected {} sizes, but got {}", rank, shape.size()));
  for (const SymInt extent : shape)
    call.c.require(call.c.syms.lt(call.c.syms.constant(0), extent), "lower.shape",
                   fmt::format("{} must be at least 1", toString(extent)), call.where(i),
                   fmt::format("a slice's size must be at least 1, but {} is not", toString(extent)));
  return shape;
}

FrontValue extractSlice(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  const Type type = call.c.typeOf(x);
  std::vector<ValueId> operands{x};
  const std::vector<ValueId> offsets = offsetsOf(call, 1, type.rank());
  operands.insert(operands.end(), offsets.begin(), offsets.end());
  const Emitter::Shape sizes = sizesOf(call, 2, type.rank());
  Attributes attributes;
  attributes.set("strides", stridesOf(call, 3, type.rank()));
  return FrontValue::runtime(
      call.c.create(OpKind::ExtractSlice, std::move(operands), type.withShape(sizes), std::move(attributes)));
}

FrontValue insertSlice(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  const Type type = call.c.typeOf(x);
  const ValueId part = call.emit.cast(call.tensor(1), type.dtype);
  const Emitter::Shape sizes = sizesOf(call, 3, type.rank());
  if (!call.emit.sameShape(call.c.typeOf(part).shape, sizes))
    call.c.fail(call.where(1), "lower.shape",
                fmt::format("the inserted tile must have shape {}, not {}", call.emit.shapeText(sizes),
                            call.emit.shapeText(call.c.typeOf(part).shape)));
  std::vector<ValueId> operands{x, part};
  const std::vector<ValueId> offsets = offsetsOf(call, 2, type.rank());
  operands.insert(operands.end(), offsets.begin(), offsets.end());
  Attributes attributes;
  attributes.set("strides", stridesOf(call, 4, type.rank()));
  return FrontValue::runtime(
      call.c.create(OpKind::InsertSlice, std::move(operands), type, std::move(attributes)));
}

/// One element as a scalar: a slice of one, taken out of its tile.
FrontValue getElement(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  const Type type = call.c.typeOf(x);
  std::vector<ValueId> operands{x};
  const std::vector<ValueId> offsets = offsetsOf(call, 1, type.rank());
  operands.insert(operands.end(), offsets.begin(), offsets.end());
  Attributes attributes;
  attributes.set("strides", std::vector<int64_t>(type.rank(), 1));
  const Emitter::Shape one(type.rank(), call.c.syms.constant(1));
  const ValueId slice =
      call.c.create(OpKind::ExtractSlice, std::move(operands), type.withShape(one), std::move(attributes));
  const ValueId element = call.emit.unsplat(slice);
  call.c.setSym(element, {}, "element");
  return FrontValue::runtime(element);
}

// --- hints to a back end ---

/// A hint to the vendor's compiler, which reads it from the source itself: nothing is computed.
FrontValue compileHint(BuiltinCall &call) {
  call.tensor(0);
  return FrontValue::none();
}

// --- synchronisation ---

/// Units and grids that wait for each other: what is computed does not change, only when.
FrontValue synchronise(BuiltinCall &call) {
  Attributes attributes;
  attributes.set("kind", call.name);
  call.c.createOp(OpKind::Barrier, {}, {}, std::move(attributes));
  return FrontValue::none();
}

/// `with async_task(scope=...)`: says which unit runs the block; the block means the same without it.
FrontValue scope(BuiltinCall &) { return FrontValue::none(); }

// --- what the hardware says about itself ---

FrontValue hardwareValue(BuiltinCall &call, DType dtype, bool pure) {
  Attributes attributes;
  attributes.set("asm", call.name);
  attributes.set("constraints", std::string());
  attributes.set("pure", pure);
  attributes.set("pack", int64_t(1));
  const OpId op = call.c.createOp(OpKind::InlineAsm, {}, {Type::scalar(dtype)}, std::move(attributes));
  const ValueId result = call.c.builder.result(op);
  call.c.setSym(result, {}, call.name);
  return FrontValue::runtime(result);
}
FrontValue clock(BuiltinCall &call) { return hardwareValue(call, DType::Int64, false); }
FrontValue unitId(BuiltinCall &call) { return hardwareValue(call, DType::Int32, true); }
FrontValue unitId64(BuiltinCall &call) { return hardwareValue(call, DType::Int64, true); }

/// Programs are lowered for every target at once, so these answer as Triton does where no driver is active.
FrontValue noTarget(BuiltinCall &call) {
  call.c.remark("target.unknown",
                fmt::format("{} is taken as False: a Program is lowered for no target in particular",
                            call.nameRange.text()),
                call.range);
  return call.c.boolean(false);
}

/// The vendor's generator: n counters from (c0 .. c3) on under one key, four words each. Which word stands
/// where in the result is not documented, so the result is opaque.
FrontValue vendorPhilox(BuiltinCall &call) {
  std::vector<ValueId> operands;
  for (size_t i = 1; i < 7; ++i)
    operands.push_back(call.emit.unsplat(call.tensor(i)));
  const SymInt n = call.extent(call.at(0), call.where(0));
  call.c.require(call.c.syms.lt(call.c.syms.constant(0), n), "lower.shape",
                 fmt::format("{} must be at least 1", toString(n)), call.where(0),
                 "the number of counters must be at least 1");
  Attributes attributes;
  attributes.set("symbol", std::string("philox"));
  attributes.set("library", std::string("mlu"));
  attributes.set("pure", true);
  return FrontValue::runtime(call.c.create(OpKind::ExternCall, std::move(operands),
                                           Type::tile(DType::UInt32, {n, call.c.syms.constant(4)}),
                                           std::move(attributes)));
}

constexpr Builtin kRows[] = {
    {"extract_slice", "ful, offsets, sizes, strides", extractSlice, true},
    {"insert_slice", "ful, sub, offsets, sizes, strides", insertSlice, true},
    {"get_element", "src, indice", getElement, true},
    {"compile_hint", "ptr, hint_name, hint_val=", compileHint},
    {"multibuffer", "src, size", compileHint},
    {"sync_block_all", "mode=, event_id=", synchronise},
    {"sync_block_set", "sender, receiver, event_id, *rest", synchronise},
    {"sync_block_wait", "sender, receiver, event_id, *rest", synchronise},
    {"set_cross_flag", "flag, event_id=", synchronise},
    {"wait_cross_flag", "flag, event_id=", synchronise},
    {"gdc_wait", "", synchronise},
    {"gdc_launch_dependents", "", synchronise},
    {"async_task", "*rest, scope=", scope},
    {"scope", "*rest, core_mode=, disable_auto_sync=", scope},
    {"sub_vec_id", "", unitId64},
    {"globaltimer", "", clock},
    {"memrealtime", "", clock},
    {"smid", "", unitId},
    {"target_info.is_cuda", "", noTarget},
    {"target_info.is_hip", "", noTarget},
    {"target_info.is_hip_cdna3", "", noTarget},
    {"target_info.is_hip_cdna4", "", noTarget},
    {"target_info.is_hip_gfx1250", "", noTarget},
    {"target_info.cuda_capability_geq", "major, minor=", noTarget},
    {"math.philox", "n, k0, k1, c0, c1, c2, c3, n_rounds=", vendorPhilox},
};

} // namespace

std::span<const Builtin> targetBuiltins() { return kRows; }

} // namespace tilewright::lowering

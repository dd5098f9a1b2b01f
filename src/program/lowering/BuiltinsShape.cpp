#include "Builtins.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::lowering {

namespace {

std::vector<int64_t> axes(BuiltinCall &call, const std::vector<FrontValue> &items, size_t i) {
  std::vector<int64_t> result;
  for (const FrontValue &item : items) {
    if (!item.isIntegral())
      call.failArgument(i, "constexpr integers");
    result.push_back(call.c.concrete(item, call.where(i)));
  }
  return result;
}

Emitter::Shape tileShape(BuiltinCall &call, size_t i) {
  const Emitter::Shape shape = call.shape(call.sequence(i), call.where(i));
  const SourceRange here = std::exchange(call.c.here, call.where(i));
  call.emit.checkTileShape(shape);
  call.c.here = here;
  return shape;
}

FrontValue fullOf(BuiltinCall &call, const Emitter::Shape &shape, const FrontValue &value, DType dtype) {
  ValueId scalar;
  if (value.isRuntime()) {
    scalar = call.emit.unsplat(value.value);
    scalar = call.emit.cast(scalar, dtype);
  } else {
    scalar = call.emit.constant(value, dtype);
  }
  return FrontValue::runtime(call.emit.splat(scalar, shape));
}

FrontValue full(BuiltinCall &call) {
  if (!call.at(1).isRuntime() && !call.at(1).isNumber())
    call.failArgument(1, "a number or a scalar");
  return fullOf(call, tileShape(call, 0), call.at(1), call.dtype(2));
}
FrontValue zeros(BuiltinCall &call) {
  return fullOf(call, tileShape(call, 0), call.c.integer(0), call.dtype(1));
}
FrontValue zerosLike(BuiltinCall &call) {
  const Type type = call.c.typeOf(call.tensor(0));
  return fullOf(call, type.shape, call.c.integer(0), type.dtype);
}

FrontValue broadcast(BuiltinCall &call) {
  const auto [a, b] = call.emit.broadcast(call.tensor(0), call.tensor(1));
  return FrontValue::tuple({FrontValue::runtime(a), FrontValue::runtime(b)});
}
FrontValue broadcastTo(BuiltinCall &call) {
  return FrontValue::runtime(call.emit.broadcastTo(call.tensor(0), tileShape(call, 1)));
}

FrontValue permute(BuiltinCall &call) {
  return FrontValue::runtime(call.emit.permute(call.tensor(0), axes(call, call.sequence(1), 1)));
}

FrontValue transpose(BuiltinCall &call) {
  std::vector<int64_t> order = axes(call, call.sequence(1), 1);
  const ValueId x = call.tensor(0);
  if (order.empty()) {
    order.resize(call.c.typeOf(x).rank());
    if (order.size() < 2)
      call.c.fail(call.range, "lower.shape", "tl.trans invoked with a 0- or 1-dimensional tensor");
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  }
  return FrontValue::runtime(call.emit.permute(x, order));
}

FrontValue reshapeTo(BuiltinCall &call, bool reorder) {
  const Emitter::Shape shape = tileShape(call, 1);
  const ValueId x = call.tensor(0);
  return FrontValue::runtime(shape.empty() ? call.emit.unsplat(x) : call.emit.reshape(x, shape, reorder));
}
FrontValue reshape(BuiltinCall &call) { return reshapeTo(call, call.flag(2, false)); }
FrontValue view(BuiltinCall &call) { return reshapeTo(call, true); }
FrontValue ravel(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  return FrontValue::runtime(
      call.emit.reshape(x, {call.emit.elementCount(call.c.typeOf(x).shape)}, call.flag(1, false)));
}
FrontValue item(BuiltinCall &call) { return FrontValue::runtime(call.emit.unsplat(call.tensor(0))); }

FrontValue expandDims(BuiltinCall &call) {
  ValueId x = call.tensor(0);
  std::vector<int64_t> wanted = axes(call, call.sequence(1), 1);
  const int64_t rank = static_cast<int64_t>(call.c.typeOf(x).rank() + wanted.size());
  for (int64_t &axis : wanted) {
    if (axis < -rank || axis >= rank)
      call.c.fail(call.where(1), "lower.shape",
                  fmt::format("invalid axis {}; expected {} <= axis < {}", axis, -rank, rank));
    axis += axis < 0 ? rank : 0;
  }
  std::sort(wanted.begin(), wanted.end());
  if (std::adjacent_find(wanted.begin(), wanted.end()) != wanted.end())
    call.c.fail(call.where(1), "lower.shape", "expand_dims received duplicate axes");
  for (const int64_t axis : wanted)
    x = call.emit.expandDims(x, axis);
  return FrontValue::runtime(x);
}

FrontValue squeeze(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  Emitter::Shape shape = call.c.typeOf(x).shape;
  const int64_t axis = call.axis(1, shape.size());
  if (!call.emit.sameExtent(shape[axis], call.c.syms.constant(1)))
    call.c.fail(call.where(1), "lower.shape",
                fmt::format("squeeze needs an axis of extent 1, not {}", toString(shape[axis])));
  shape.erase(shape.begin() + axis);
  return FrontValue::runtime(shape.empty() ? call.emit.unsplat(x) : call.emit.reshape(x, shape));
}

ValueId joined(BuiltinCall &call, ValueId a, ValueId b) {
  std::tie(a, b) = call.emit.broadcast(a, b);
  const bool scalars = call.c.typeOf(a).shape.empty();
  if (scalars) {
    a = call.emit.expandDims(a, 0);
    b = call.emit.expandDims(b, 0);
  }
  Type type = call.c.typeOf(a);
  if (type != call.c.typeOf(b))
    call.c.failType(call.range, fmt::format("join needs tensors of one type, not {} and {}",
                                            call.emit.typeName(type), call.emit.typeName(call.c.typeOf(b))));
  type.shape.push_back(call.c.syms.constant(2));
  const ValueId result = call.c.create(OpKind::Join, {a, b}, type);
  return scalars ? call.emit.reshape(result, {call.c.syms.constant(2)}) : result;
}
FrontValue join(BuiltinCall &call) {
  return FrontValue::runtime(joined(call, call.tensor(0), call.tensor(1)));
}

FrontValue split(BuiltinCall &call) {
  ValueId x = call.tensor(0);
  Type type = call.c.typeOf(x);
  if (type.shape.empty() || !call.emit.sameExtent(type.shape.back(), call.c.syms.constant(2)))
    call.c.fail(call.range, "lower.shape",
                fmt::format("split needs a last axis of extent 2, not {}", call.emit.typeName(type)));
  const bool flat = type.shape.size() == 1;
  if (flat) {
    x = call.emit.expandDims(x, 0);
    type = call.c.typeOf(x);
  }
  type.shape.pop_back();
  const OpId op = call.c.createOp(OpKind::Split, {x}, {type, type});
  ValueId left = call.c.builder.result(op, 0), right = call.c.builder.result(op, 1);
  if (flat) {
    left = call.emit.unsplat(left);
    right = call.emit.unsplat(right);
  }
  return FrontValue::tuple({FrontValue::runtime(left), FrontValue::runtime(right)});
}

FrontValue interleave(BuiltinCall &call) {
  const ValueId pair = joined(call, call.tensor(0), call.tensor(1));
  Emitter::Shape shape = call.c.typeOf(pair).shape;
  if (shape.size() == 1)
    return FrontValue::runtime(pair);
  shape.pop_back();
  shape.back() = call.c.syms.mul(shape.back(), call.c.syms.constant(2));
  return FrontValue::runtime(call.emit.reshape(pair, shape));
}

FrontValue cat(BuiltinCall &call) {
  const ValueId a = call.tensor(0), b = call.tensor(1);
  const Type type = call.c.typeOf(a), other = call.c.typeOf(b);
  if (type.dtype != other.dtype || type.rank() != other.rank() || type.rank() == 0)
    call.c.failType(call.range, fmt::format("cat needs tensors of one dtype and rank, not {} and {}",
                                            call.emit.typeName(type), call.emit.typeName(other)));
  if (call.flag(2, false)) {
    if (type.rank() != 1)
      call.c.fail(call.range, "lower.shape", fmt::format("expected 1D input for cat, got {}D", type.rank()));
    const SymInt size = call.c.syms.add(type.shape[0], other.shape[0]);
    call.emit.checkTileShape({size});
    return FrontValue::runtime(call.c.create(OpKind::Cat, {a, b}, type.withShape({size})));
  }
  if (!call.emit.sameShape(type.shape, other.shape))
    call.c.fail(call.range, "lower.shape",
                fmt::format("tl.cat requires tensors of the same shape, got {} and {}",
                            call.emit.shapeText(type.shape), call.emit.shapeText(other.shape)));
  // Join makes a new last axis; moved before the axis to grow and merged with it, it is the concatenation.
  const size_t rank = type.rank();
  const int64_t axis = call.axis(3, rank);
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + axis, static_cast<int64_t>(rank));
  Emitter::Shape shape = type.shape;
  shape[axis] = call.c.syms.add(shape[axis], shape[axis]);
  return FrontValue::runtime(call.emit.reshape(call.emit.permute(joined(call, a, b), order), shape));
}

/// Kept within the range of a narrower integer, for Ascend's overflow_mode="saturate". (From floats a cast
/// saturates anyway.)
ValueId withinRange(BuiltinCall &call, ValueId x, DType to) {
  const Type &type = call.c.typeOf(x);
  const DType from = type.dtype;
  if (type.kind != Type::Kind::Value || !isInteger(from) || !isInteger(to) || to == DType::Int1 ||
      bitWidth(to) >= 64)
    return x;
  const int64_t high = (int64_t(1) << (bitWidth(to) - (isSigned(to) ? 1 : 0))) - 1,
                low = isSigned(to) ? -high - 1 : 0;
  const auto bounded = [&](OpKind kind, int64_t bound) {
    const ValueId limit = call.emit.integerConstant(bound, from);
    x = call.emit.minMax(kind, FrontValue::runtime(x), FrontValue::runtime(limit), false);
  };
  if (bitWidth(from) > bitWidth(to) - (isSigned(to) && !isSigned(from) ? 1 : 0))
    bounded(OpKind::Min, high);
  if (isSigned(from) && (bitWidth(from) > bitWidth(to) || !isSigned(to)))
    bounded(OpKind::Max, low);
  return x;
}

FrontValue cast(BuiltinCall &call) {
  enum { kInput, kDType, kRounding, kBitcast, kOverflow };
  const Type to = call.typeArgument(kDType);
  ValueId x = call.tensor(kInput);
  if (call.flag(kBitcast, false))
    return FrontValue::runtime(call.emit.bitcast(x, to));
  const std::string overflow = call.text(kOverflow, "trunc");
  if (overflow != "trunc" && overflow != "saturate")
    call.c.failType(call.where(kOverflow),
                    fmt::format("overflow_mode must be 'trunc' or 'saturate', not '{}'", overflow));
  if (overflow == "saturate" && !to.isPointer())
    x = withinRange(call, x, to.dtype);
  return FrontValue::runtime(call.emit.castTo(x, to, call.text(kRounding, "")));
}

FrontValue gather(BuiltinCall &call) {
  const ValueId source = call.tensor(0), index = call.tensor(1);
  const Type type = call.c.typeOf(source), positions = call.c.typeOf(index);
  if (!isInteger(positions.dtype) || positions.isPointer())
    call.failArgument(1, "an integer tensor");
  if (type.rank() != positions.rank())
    call.c.fail(call.range, "lower.shape", "source and index tensors must have the same rank");
  const int64_t axis = call.axis(2, type.rank());
  for (size_t i = 0; i < type.rank(); ++i)
    if (static_cast<int64_t>(i) != axis && !call.emit.sameExtent(type.shape[i], positions.shape[i]))
      call.c.fail(call.range, "lower.shape",
                  fmt::format("index dim {} must match the corresponding source dim", i));
  Attributes attributes;
  attributes.set("axis", axis);
  return FrontValue::runtime(
      call.c.create(OpKind::Gather, {source, index}, type.withShape(positions.shape), std::move(attributes)));
}

constexpr Builtin kRows[] = {
    {"full", "shape, value, dtype", full},
    {"zeros", "shape, dtype", zeros},
    {"zeros_like", "input", zerosLike},
    // Cambricon's: contents are up to the target, so zeros are as good as any
    {"empty", "shape, dtype", zeros},
    {"empty_like", "input", zerosLike},
    {"broadcast", "input, other", broadcast},
    {"broadcast_to", "input, shape=, *rest", broadcastTo, true},
    {"permute", "input, dims=, *rest", permute, true},
    {"trans", "input, dims=, *rest", transpose, true},
    {"reshape", "input, shape=, *rest, can_reorder=", reshape, true},
    {"view", "input, shape=, *rest", view, true},
    {"ravel", "x, can_reorder=", ravel, true},
    {"item", "input", item, true},
    {"expand_dims", "input, axis", expandDims, true},
    {"unsqueeze", "x, dim", expandDims},
    {"squeeze", "x, dim", squeeze},
    {"join", "a, b", join},
    {"split", "a", split, true},
    {"interleave", "a, b", interleave},
    {"cat", "input, other, can_reorder=, dim=", cat},
    {"cast", "input, dtype, fp_downcast_rounding=, bitcast=, overflow_mode=", cast, true},
    {"to", "input, dtype, fp_downcast_rounding=, bitcast=, overflow_mode=", cast, true},
    {"gather", "src, index, axis", gather, true},
};

} // namespace

std::span<const Builtin> shapeBuiltins() { return kRows; }

} // namespace tilewright::lowering

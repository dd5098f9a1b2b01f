#include "Builtins.h"

#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

/// The axis that a sort works along: always the last one, as in Triton.
int64_t sortedAxis(BuiltinCall &call, size_t i, const Type &type) {
  const auto last = static_cast<int64_t>(type.rank()) - 1;
  if (call.has(i) && call.axis(i, type.rank()) != last)
    call.c.unsupported(call.where(i), "only the minor dimension can be sorted");
  return last;
}

FrontValue ordered(BuiltinCall &call, OpKind kind, ValueId x, Type result, int64_t axis, bool descending,
                   bool merge) {
  Attributes attributes;
  attributes.set("axis", axis);
  attributes.set("descending", descending);
  if (merge)
    attributes.set("merge", true);
  return FrontValue::runtime(call.c.create(kind, {x}, std::move(result), std::move(attributes)));
}

/// Where Triton's network takes a maximum or minimum, narrow elements become 32 bits wide.
ValueId widened(BuiltinCall &call, ValueId x) {
  const DType dtype = call.c.typeOf(x).dtype;
  return bitWidth(dtype) < 32 ? call.emit.cast(x, isFloat(dtype) ? DType::Float32 : DType::Int32) : x;
}

FrontValue sort(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  const Type type = call.c.typeOf(x);
  return ordered(call, OpKind::Sort, x, type, sortedAxis(call, 1, type), call.flag(2, false), false);
}

FrontValue bitonicMerge(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  const Type type = call.c.typeOf(x);
  return ordered(call, OpKind::Sort, x, type, sortedAxis(call, 1, type), call.flag(2, false), true);
}

FrontValue topK(BuiltinCall &call) {
  enum { kInput, kCount, kDim, kDescending };
  ValueId x = call.tensor(kInput);
  checkTile(call, x);
  Type type = call.c.typeOf(x);
  const int64_t axis = sortedAxis(call, kDim, type);
  const bool descending = call.flag(kDescending, true);
  if (!call.at(kCount).isIntegral())
    call.failArgument(kCount, "a constexpr integer");
  const SymInt k = call.at(kCount).sym, length = type.shape[static_cast<size_t>(axis)];
  LoweringContext &c = call.c;
  c.require(c.syms.lt(c.syms.constant(0), k), "lower.shape", "topk: k must be greater than 0",
            call.where(kCount), "topk: k must be greater than 0");
  c.require(c.syms.eq(c.syms.nextPow2(k), k), "shape.pow2", "topk: k must be a power of two",
            call.where(kCount), "topk: k must be a power of two");
  c.require(c.syms.le(k, length), "lower.shape", "topk: k must not exceed the size of the selected dimension",
            call.where(kCount), "topk: k must not exceed the size of the selected dimension");
  if (c.decide(c.syms.eq(k, length), c.valueOf(k, c.here) == c.valueOf(length, c.here), call.range))
    return ordered(call, OpKind::Sort, x, type, axis, descending, false);
  x = widened(call, x);
  type = c.typeOf(x);
  type.shape[static_cast<size_t>(axis)] = k;
  return ordered(call, OpKind::TopK, x, type, axis, descending, false);
}

/// Element i of the result is element n-1-i: a gather with that index.
FrontValue flip(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  const Type type = call.c.typeOf(x);
  const size_t rank = type.rank();
  if (rank == 0)
    call.c.fail(call.range, "lower.shape", "flip needs a tile");
  const int64_t axis = call.has(1) ? call.axis(1, rank) : static_cast<int64_t>(rank) - 1;
  Attributes bounds;
  bounds.set("start", call.c.syms.constant(0));
  bounds.set("end", type.shape[axis]);
  const FrontValue iota = FrontValue::runtime(
      call.c.create(OpKind::Iota, {}, Type::tile(DType::Int32, {type.shape[axis]}), std::move(bounds)));
  const FrontValue last =
      call.c.integer(call.c.syms.sub(type.shape[axis], call.c.syms.constant(1)), call.range);
  ValueId index = call.emit.binary(lang::BinaryOperator::Sub, last, iota);
  for (int64_t i = 0; i < static_cast<int64_t>(rank); ++i)
    if (i != axis)
      index = call.emit.expandDims(index, i);
  index = call.emit.broadcastTo(index, type.shape);
  Attributes attributes;
  attributes.set("axis", axis);
  return FrontValue::runtime(call.c.create(OpKind::Gather, {x, index}, type, std::move(attributes)));
}

constexpr Builtin kRows[] = {
    {"sort", "x, dim=, descending=", sort, true},
    {"topk", "x, k, dim=, descending=", topK},
    {"bitonic_merge", "x, dim=, descending=", bitonicMerge},
    {"flip", "x, dim=", flip, true},
};

} // namespace

std::span<const Builtin> sortBuiltins() { return kRows; }

} // namespace tilewright::lowering

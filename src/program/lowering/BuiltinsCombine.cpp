#include "Builtins.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

/// Reductions compute in at least 32 bits: in f32 for narrow floats where the kind asks for it, in i32 or u32
/// for narrow integers of their sign.
DType sumType(DType dtype) {
  if (!isInteger(dtype) || bitWidth(dtype) >= 32)
    return dtype;
  return isSigned(dtype) ? DType::Int32 : DType::UInt32;
}

std::optional<int64_t> optionalAxis(BuiltinCall &call, size_t i, size_t rank) {
  return call.has(i) ? std::optional(call.axis(i, rank)) : std::nullopt;
}

ValueId restoreAxes(BuiltinCall &call, ValueId value, std::optional<int64_t> axis, size_t rank) {
  if (axis)
    return call.emit.expandDims(value, *axis);
  for (size_t i = 0; i < rank; ++i)
    value = call.emit.expandDims(value, 0);
  return value;
}

Type withoutAxis(const Type &type, int64_t axis) {
  Type result = type;
  result.shape.erase(result.shape.begin() + axis);
  return result;
}

FrontValue sum(BuiltinCall &call) {
  enum { kInput, kAxis, kKeep, kDtype };
  ValueId x = call.tensor(kInput);
  checkTile(call, x);
  x = call.emit.cast(x, call.has(kDtype) ? call.dtype(kDtype) : sumType(call.c.typeOf(x).dtype));
  return reduceByKind(call, x, optionalAxis(call, kAxis, call.c.typeOf(x).rank()), "sum",
                      call.flag(kKeep, false));
}

FrontValue extreme(BuiltinCall &call, bool wantMax) {
  enum { kInput, kAxis, kIndices, kTieLeft, kKeep };
  ValueId x = call.tensor(kInput);
  checkTile(call, x);
  const auto axis = optionalAxis(call, kAxis, call.c.typeOf(x).rank());
  if (call.flag(kIndices, false)) {
    if (!axis)
      call.c.fail(call.range, "lower.call", "return_indices needs an axis");
    const auto [value, index] =
        reduceWithIndex(call, x, *axis, wantMax, call.flag(kTieLeft, true), call.flag(kKeep, false));
    return FrontValue::tuple({FrontValue::runtime(value), FrontValue::runtime(index)});
  }
  const DType dtype = call.c.typeOf(x).dtype;
  if (bitWidth(dtype) < 32)
    x = call.emit.cast(x, isFloat(dtype) ? DType::Float32 : DType::Int32);
  return reduceByKind(call, x, axis, wantMax ? "max" : "min", call.flag(kKeep, false));
}
FrontValue reduceMax(BuiltinCall &call) { return extreme(call, true); }
FrontValue reduceMin(BuiltinCall &call) { return extreme(call, false); }

FrontValue argExtreme(BuiltinCall &call, bool wantMax) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  const int64_t axis = call.axis(1, call.c.typeOf(x).rank());
  return FrontValue::runtime(
      reduceWithIndex(call, x, axis, wantMax, call.flag(2, true), call.flag(3, false)).second);
}
FrontValue argmax(BuiltinCall &call) { return argExtreme(call, true); }
FrontValue argmin(BuiltinCall &call) { return argExtreme(call, false); }

FrontValue bitReduction(BuiltinCall &call, std::string_view kind) {
  const ValueId x = call.tensor(0);
  checkTile(call, x);
  if (!isInteger(call.c.typeOf(x).dtype))
    call.c.failType(call.where(0), fmt::format("{} only supported for integers", call.nameRange.text()));
  return reduceByKind(call, x, optionalAxis(call, 1, call.c.typeOf(x).rank()), kind, call.flag(2, false));
}
FrontValue xorSum(BuiltinCall &call) { return bitReduction(call, "xor"); }
FrontValue reduceOr(BuiltinCall &call) { return bitReduction(call, "or"); }

FrontValue scanByKind(BuiltinCall &call, std::string_view kind) {
  enum { kInput, kAxis, kReverse, kDtype };
  ValueId x = call.tensor(kInput);
  checkTile(call, x);
  x = call.emit.cast(x, call.has(kDtype) ? call.dtype(kDtype) : sumType(call.c.typeOf(x).dtype));
  Attributes attributes;
  attributes.set("axis", call.axis(kAxis, call.c.typeOf(x).rank()));
  attributes.set("kind", std::string(kind));
  attributes.set("reverse", call.flag(kReverse, false));
  return FrontValue::runtime(call.c.create(OpKind::Scan, {x}, call.c.typeOf(x), std::move(attributes)));
}
FrontValue cumsum(BuiltinCall &call) { return scanByKind(call, "sum"); }
FrontValue cumprod(BuiltinCall &call) { return scanByKind(call, "prod"); }

/// The kind that a combine region of one element computes, or "": one operation on its two arguments, then a
/// yield.
std::string kindOf(const LoweringContext &c, RegionId id, bool &propagatesNan) {
  const Region &region = c.program.regions[id];
  if (region.arguments.size() != 2 || region.ops.size() != 2)
    return {};
  const Op &op = c.program.ops[region.ops[0]], &end = c.program.ops[region.ops[1]];
  if (op.operands.size() != 2 || op.results.size() != 1 || end.operands != op.results)
    return {};
  const bool inOrder = op.operands[0] == region.arguments[0] && op.operands[1] == region.arguments[1];
  const bool swapped = op.operands[0] == region.arguments[1] && op.operands[1] == region.arguments[0];
  if (!inOrder && !swapped)
    return {};
  propagatesNan = op.attributes.flag("propagate_nan");
  switch (op.kind) {
  case OpKind::Add:
    return "sum";
  case OpKind::Mul:
    return "prod";
  case OpKind::Max:
    return "max";
  case OpKind::Min:
    return "min";
  case OpKind::Xor:
    return "xor";
  case OpKind::And:
    return "and";
  case OpKind::Or:
    return "or";
  default:
    return {};
  }
}

/// tl.reduce and tl.associative_scan: the helper's body becomes the combine region, or its kind where it has
/// one.
FrontValue combine(BuiltinCall &call, OpKind kind) {
  LoweringContext &c = call.c;
  enum { kInput, kAxis, kFunction, kLast }; // keep_dims or reverse
  std::vector<ValueId> inputs;
  const bool single = !call.at(kInput).is(FrontKind::Tuple);
  for (const FrontValue &item : single ? std::vector<FrontValue>{call.at(kInput)} : *call.at(kInput).items) {
    if (!item.isRuntime() || c.typeOf(item.value).shape.empty())
      call.failArgument(kInput, "a tile or a tuple of tiles");
    inputs.push_back(item.value);
  }
  if (inputs.empty())
    call.failArgument(kInput, "a tile or a tuple of tiles");
  if (!call.at(kFunction).is(FrontKind::Function))
    call.failArgument(kFunction, "a @triton.jit function");
  const size_t rank = c.typeOf(inputs[0]).rank();
  for (ValueId &input : inputs)
    if (!call.emit.sameShape(c.typeOf(input).shape, c.typeOf(inputs[0]).shape))
      c.fail(call.range, "lower.shape",
             fmt::format("all {} inputs must have the same shape",
                         kind == OpKind::Reduce ? "reduction" : "scan"));
    else if (c.typeOf(input).shape != c.typeOf(inputs[0]).shape)
      input = c.create(OpKind::Reshape, {input}, c.typeOf(input).withShape(c.typeOf(inputs[0]).shape));
  auto axis = optionalAxis(call, kAxis, rank);
  const bool last = call.flag(kLast, false);
  const bool whole = !axis;
  if (whole) {
    if (kind == OpKind::Scan)
      c.fail(call.range, "lower.call", "associative_scan needs an axis");
    for (ValueId &input : inputs)
      input = call.emit.reshape(input, {call.emit.elementCount(c.typeOf(input).shape)}, true);
    axis = 0;
  }
  std::vector<Type> results;
  for (const ValueId input : inputs)
    results.push_back(kind == OpKind::Reduce ? withoutAxis(c.typeOf(input), *axis) : c.typeOf(input));
  Attributes attributes;
  attributes.set("axis", *axis);
  if (kind == OpKind::Scan)
    attributes.set("reverse", last);
  const OpId op = c.createOp(kind, inputs, results, std::move(attributes));
  LoweringContext::Mark mark = c.mark();
  const RegionId region = c.builder.newRegion(op);
  FunctionLowerer::CallArguments arguments;
  arguments.range = call.range;
  arguments.nameRange = call.where(kFunction);
  for (int side = 0; side < 2; ++side)
    for (const ValueId input : inputs) {
      const auto formals = call.at(kFunction).function->def->args->args;
      const size_t position = arguments.positional.size();
      const ValueId argument = c.builder.addArgument(
          region, c.typeOf(input).withShape({}),
          position < formals.size() ? std::string(formals[position]->arg) : std::string());
      c.setSym(argument, {}, "element");
      arguments.positional.push_back(FrontValue::runtime(argument));
      arguments.positionalRanges.push_back(call.where(kFunction));
    }
  c.builder.enter(region);
  const FrontValue combined = call.function.callFunction(*call.at(kFunction).function, arguments);
  const std::vector<FrontValue> parts =
      combined.is(FrontKind::Tuple) ? *combined.items : std::vector<FrontValue>{combined};
  if (parts.size() != inputs.size())
    c.failType(call.where(kFunction), fmt::format("the combine function returns {} values for {} inputs",
                                                  parts.size(), inputs.size()));
  std::vector<ValueId> yielded;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].isRuntime() && !parts[i].isNumber())
      c.failType(call.where(kFunction),
                 fmt::format("the combine function returns {}", call.emit.typeName(parts[i])));
    const ValueId value = call.emit.toTensor(parts[i]);
    if (c.typeOf(value) != c.typeOf(inputs[i]).withShape({}))
      c.failType(call.where(kFunction), fmt::format("the combine function returns {} for elements of type {}",
                                                    call.emit.typeName(c.typeOf(value)),
                                                    call.emit.typeName(c.typeOf(inputs[i]).withShape({}))));
    yielded.push_back(value);
  }
  c.createOp(OpKind::Yield, std::move(yielded), {});
  c.builder.leave();
  bool propagatesNan = false;
  if (const std::string known = kindOf(c, region, propagatesNan); !known.empty()) {
    // The region goes, what was decided on the way to it stays.
    mark.paths = c.program.pathConditions.size();
    mark.requirements = c.program.requirements.size();
    c.rollback(mark);
    c.program.ops[op].attributes.set("kind", known);
    if (propagatesNan)
      c.program.ops[op].attributes.set("propagate_nan", true);
  } else {
    c.program.ops[op].regions.push_back(region);
  }
  std::vector<FrontValue> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueId value = c.program.ops[op].results[i];
    c.setSym(value, {}, "reduced");
    if (kind == OpKind::Reduce && last)
      value = restoreAxes(call, value, whole ? std::nullopt : axis, rank);
    values.push_back(FrontValue::runtime(value));
  }
  return single ? values[0] : FrontValue::tuple(std::move(values));
}
FrontValue reduce(BuiltinCall &call) { return combine(call, OpKind::Reduce); }
FrontValue associativeScan(BuiltinCall &call) { return combine(call, OpKind::Scan); }

FrontValue softmax(BuiltinCall &call) {
  enum { kInput, kDim, kKeep, kRounding };
  const ValueId x = call.tensor(kInput);
  checkTile(call, x);
  const int64_t axis = call.has(kDim) ? call.axis(kDim, call.c.typeOf(x).rank()) : 0;
  const DType dtype = call.c.typeOf(x).dtype;
  const ValueId wide = isFloat(dtype) && bitWidth(dtype) < 32 ? call.emit.cast(x, DType::Float32) : x;
  const FrontValue largest = reduceByKind(call, wide, axis, "max", true);
  const ValueId shifted = call.emit.binary(lang::BinaryOperator::Sub, FrontValue::runtime(x), largest);
  if (!isFloat(call.c.typeOf(shifted).dtype) || bitWidth(call.c.typeOf(shifted).dtype) < 32)
    call.c.failType(call.where(kInput),
                    fmt::format("expected dtype ['fp32', 'fp64'] but got {}", tritonName(dtype)));
  const FrontValue powers = FrontValue::runtime(call.emit.unary("exp", shifted));
  const FrontValue total = reduceByKind(call, powers.value, axis, "sum", true);
  const auto [a, b] = call.emit.convert(powers, total, false, false, true, true);
  if (call.flag(kRounding, false))
    return FrontValue::runtime(call.emit.libraryBinary("div_rn", a, b));
  return FrontValue::runtime(call.c.create(OpKind::Div, {a, b}, call.c.typeOf(a)));
}

FrontValue histogram(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  const Type type = call.c.typeOf(x);
  if (type.rank() != 1 || !isInteger(type.dtype) || bitWidth(type.dtype) != 32)
    call.c.failType(call.where(0), fmt::format("histogram only supports 1D 32-bit integer input, but got {}",
                                               call.emit.typeName(type)));
  if (!call.at(1).isIntegral())
    call.failArgument(1, "a constexpr integer");
  const SymInt bins = call.at(1).sym;
  call.emit.checkTileShape({bins});
  std::vector<ValueId> operands{x};
  if (call.has(2))
    operands.push_back(call.emit.broadcastTo(call.emit.cast(call.tensor(2), DType::Int1), type.shape));
  Attributes attributes;
  attributes.set("bins", bins);
  return FrontValue::runtime(call.c.create(OpKind::Histogram, std::move(operands),
                                           Type::tile(DType::Int32, {bins}), std::move(attributes)));
}

constexpr std::string_view kExtremeParameters =
    "input, axis=, return_indices=, return_indices_tie_break_left=, keep_dims=";

constexpr Builtin kRows[] = {
    {"sum", "input, axis=, keep_dims=, dtype=", sum, true},
    {"max", kExtremeParameters, reduceMax, true},
    {"min", kExtremeParameters, reduceMin, true},
    {"argmax", "input, axis, tie_break_left=, keep_dims=", argmax, true},
    {"argmin", "input, axis, tie_break_left=, keep_dims=", argmin, true},
    {"xor_sum", "input, axis=, keep_dims=", xorSum, true},
    {"reduce_or", "input, axis=, keep_dims=", reduceOr, true},
    {"cumsum", "input, axis=, reverse=, dtype=", cumsum, true},
    {"cumprod", "input, axis=, reverse=, dtype=", cumprod, true},
    {"reduce", "input, axis, combine_fn, keep_dims=", reduce, true},
    {"associative_scan", "input, axis, combine_fn, reverse=", associativeScan, true},
    {"softmax", "x, dim=, keep_dims=, ieee_rounding=", softmax, true},
    {"histogram", "input, num_bins, mask=", histogram, true},
};

} // namespace

void checkTile(BuiltinCall &call, ValueId value) {
  const Type &type = call.c.typeOf(value);
  if (type.shape.empty() || type.kind != Type::Kind::Value)
    call.c.failType(call.where(0),
                    fmt::format("{} needs a tile, not {}", call.nameRange.text(), call.emit.typeName(type)));
}

FrontValue reduceByKind(BuiltinCall &call, ValueId input, std::optional<int64_t> axis, std::string_view kind,
                        bool keepDims) {
  const size_t rank = call.c.typeOf(input).rank();
  const ValueId operand =
      axis ? input : call.emit.reshape(input, {call.emit.elementCount(call.c.typeOf(input).shape)}, true);
  Attributes attributes;
  attributes.set("axis", axis.value_or(0));
  attributes.set("kind", std::string(kind));
  ValueId result =
      call.c.create(OpKind::Reduce, {operand}, withoutAxis(call.c.typeOf(operand), axis.value_or(0)),
                    std::move(attributes));
  call.c.setSym(result, {}, "reduced");
  if (keepDims)
    result = restoreAxes(call, result, axis, rank);
  return FrontValue::runtime(result);
}

std::pair<ValueId, ValueId> reduceWithIndex(BuiltinCall &call, ValueId input, int64_t axis, bool wantMax,
                                            bool tieLeft, bool keepDims) {
  LoweringContext &c = call.c;
  const Type type = c.typeOf(input);
  Attributes bounds;
  bounds.set("start", c.syms.constant(0));
  bounds.set("end", type.shape[axis]);
  ValueId index = c.create(OpKind::Iota, {}, Type::tile(DType::Int32, {type.shape[axis]}), std::move(bounds));
  for (int64_t i = 0; i < static_cast<int64_t>(type.rank()); ++i)
    if (i != axis)
      index = call.emit.expandDims(index, i);
  index = call.emit.broadcastTo(index, type.shape);
  Attributes attributes;
  attributes.set("axis", axis);
  attributes.set("kind", std::string(wantMax ? "argmax" : "argmin"));
  attributes.set("tie_left", tieLeft);
  const OpId op =
      c.createOp(OpKind::Reduce, {input, index},
                 {withoutAxis(type, axis), withoutAxis(c.typeOf(index), axis)}, std::move(attributes));
  ValueId value = c.builder.result(op, 0), where = c.builder.result(op, 1);
  c.setSym(value, {}, "reduced");
  c.setSym(where, {}, "position");
  if (keepDims) {
    value = call.emit.expandDims(value, axis);
    where = call.emit.expandDims(where, axis);
  }
  return {value, where};
}

std::span<const Builtin> combineBuiltins() { return kRows; }

} // namespace tilewright::lowering

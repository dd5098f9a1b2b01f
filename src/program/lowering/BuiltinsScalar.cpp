#include "Builtins.h"
#include "ConstexprArithmetic.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

/// Tiles of one shape: NumPy's broadcast of all, dtypes as they are.
std::vector<ValueId> broadcastAll(BuiltinCall &call, const std::vector<FrontValue> &items, size_t argument) {
  std::vector<ValueId> values;
  for (const FrontValue &item : items) {
    if (!item.isRuntime() && !item.isNumber())
      call.failArgument(argument, "tensors and numbers");
    values.push_back(call.emit.toTensor(item));
  }
  // Twice, because the last operand may bring an axis that the first ones lack.
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 1; i < values.size(); ++i)
      std::tie(values[0], values[i]) = call.emit.broadcast(values[0], values[i]);
  return values;
}

int64_t packOf(BuiltinCall &call, size_t i) {
  const int64_t pack = call.integer(i, 1);
  constexpr int64_t kMostLanes = 1024; // far past any register; each lane is an argument of the region
  if (pack < 1)
    call.c.fail(call.where(i), "lower.type", fmt::format("pack must be >= 1, got {}", pack));
  if (pack > kMostLanes)
    call.c.fail(call.where(i), "lower.limit", fmt::format("pack must be <= {}, got {}", kMostLanes, pack));
  return pack;
}

FrontValue oneOrTuple(BuiltinCall &call, OpId op, bool single) {
  std::vector<FrontValue> values;
  for (const ValueId result : call.c.program.ops[op].results) {
    call.c.setSym(result, {}, "opaque");
    values.push_back(FrontValue::runtime(result));
  }
  return single ? values[0] : FrontValue::tuple(std::move(values));
}

/// Assembly cannot be looked into: what it gives is unknown, but its types and shapes are declared, which is
/// what tiling needs. Running it is up to the target that it is written for.
FrontValue inlineAsm(BuiltinCall &call) {
  enum { kAsm, kConstraints, kArgs, kDType, kPure, kPack };
  LoweringContext &c = call.c;
  const std::vector<FrontValue> items =
      call.at(kArgs).is(FrontKind::Tuple) ? *call.at(kArgs).items : std::vector<FrontValue>{call.at(kArgs)};
  const std::vector<ValueId> operands = broadcastAll(call, items, kArgs);
  const Emitter::Shape shape = operands.empty() ? Emitter::Shape{} : c.typeOf(operands[0]).shape;
  const bool single = !call.at(kDType).is(FrontKind::Tuple);
  std::vector<Type> results;
  if (single)
    results.push_back(Type::tile(call.dtype(kDType), shape));
  else
    for (const FrontValue &item : *call.at(kDType).items) {
      if (!item.is(FrontKind::TypeObject) || item.type.kind != Type::Kind::Value)
        call.failArgument(kDType, "a dtype or a tuple of dtypes");
      results.push_back(Type::tile(item.type.dtype, shape));
    }
  if (results.empty())
    c.failType(call.where(kDType), "inline assembly must return at least one tensor");
  Attributes attributes;
  attributes.set("asm", call.text(kAsm, ""));
  attributes.set("constraints", call.text(kConstraints, ""));
  attributes.set("pure", call.flag(kPure, true));
  attributes.set("pack", packOf(call, kPack));
  return oneOrTuple(call, c.createOp(OpKind::InlineAsm, operands, results, std::move(attributes)), single);
}

/// tl.map_elementwise: the helper's body becomes a region over scalars, run once for each pack of lanes.
FrontValue mapElementwise(BuiltinCall &call) {
  enum { kFunction, kPack };
  LoweringContext &c = call.c;
  if (!call.at(kFunction).is(FrontKind::Function))
    call.failArgument(kFunction, "a @triton.jit function");
  if (call.rest.empty())
    c.fail(call.range, "lower.call", "map_elementwise needs a tensor to map over");
  const int64_t pack = packOf(call, kPack);
  const std::vector<ValueId> inputs = broadcastAll(call, call.rest, kFunction);
  const Emitter::Shape shape = c.typeOf(inputs[0]).shape;
  const RegionId region = c.builder.newRegion();
  FunctionLowerer::CallArguments arguments;
  arguments.range = call.range;
  arguments.nameRange = call.where(kFunction);
  for (const ValueId input : inputs)
    for (int64_t lane = 0; lane < pack; ++lane) {
      const ValueId argument = c.builder.addArgument(region, c.typeOf(input).withShape({}));
      c.setSym(argument, {}, "element");
      arguments.positional.push_back(FrontValue::runtime(argument));
      arguments.positionalRanges.push_back(call.where(kFunction));
    }
  c.builder.enter(region);
  const FrontValue mapped = call.function.callFunction(*call.at(kFunction).function, arguments);
  const bool single = !mapped.is(FrontKind::Tuple);
  const std::vector<FrontValue> parts = single ? std::vector<FrontValue>{mapped} : *mapped.items;
  std::vector<ValueId> yielded;
  for (const FrontValue &part : parts) {
    if (!part.isRuntime() && !part.isNumber())
      c.failType(call.where(kFunction),
                 fmt::format("the mapped function returns {}", call.emit.typeName(part)));
    yielded.push_back(call.emit.toTensor(part));
    if (!c.typeOf(yielded.back()).shape.empty())
      c.failType(call.where(kFunction),
                 fmt::format("the mapped function returns {}, not scalars", call.emit.typeName(part)));
  }
  const auto lanes = static_cast<size_t>(pack);
  if (parts.empty() || parts.size() % lanes != 0)
    c.failType(call.where(kFunction),
               fmt::format("the mapped function returns {} values for packs of {}", parts.size(), pack));
  std::vector<Type> results;
  for (size_t i = 0; i < yielded.size(); i += lanes) {
    for (size_t lane = 1; lane < lanes; ++lane)
      if (c.typeOf(yielded[i + lane]) != c.typeOf(yielded[i]))
        c.failType(call.where(kFunction), "type mismatch in unpacked results");
    results.push_back(c.typeOf(yielded[i]).withShape(shape));
  }
  c.createOp(OpKind::Yield, std::move(yielded), {});
  c.builder.leave();
  Attributes attributes;
  attributes.set("pack", pack);
  const OpId op = c.createOp(OpKind::Map, inputs, results, std::move(attributes));
  c.program.ops[op].regions.push_back(region);
  c.program.regions[region].parent = op;
  return oneOrTuple(call, op, single && pack == 1);
}

constexpr Builtin kRows[] = {
    {"inline_asm_elementwise", "asm, constraints, args, dtype, is_pure, pack", inlineAsm},
    {"map_elementwise", "scalar_fn, *args, pack=", mapElementwise},
};

} // namespace

std::span<const Builtin> scalarBuiltins() { return kRows; }

} // namespace tilewright::lowering

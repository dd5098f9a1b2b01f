#include "Builtins.h"
#include "ConstexprArithmetic.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

using lang::BinaryOperator;

FrontValue programIndex(BuiltinCall &call, OpKind kind, SymbolKind symbol, std::string_view name,
                        int64_t min) {
  const int64_t axis = call.integer(0, 0);
  if (axis < 0 || axis > 2)
    call.c.fail(call.where(0), "lower.type",
                fmt::format("{} axis must be 0, 1, or 2 but got {}", call.nameRange.text(), axis));
  Attributes attributes;
  attributes.set("axis", axis);
  const ValueId value = call.c.create(kind, {}, Type::scalar(DType::Int32), std::move(attributes));
  call.c.setSym(value, call.c.programSymbol(symbol, static_cast<uint32_t>(axis), name, min), name);
  return FrontValue::runtime(value);
}

FrontValue programId(BuiltinCall &call) {
  return programIndex(call, OpKind::ProgramId, SymbolKind::ProgramId, "pid", 0);
}
FrontValue programCount(BuiltinCall &call) {
  return programIndex(call, OpKind::ProgramCount, SymbolKind::ProgramCount, "npid", 1);
}

FrontValue arange(BuiltinCall &call) {
  LoweringContext &c = call.c;
  for (size_t i = 0; i < 2; ++i)
    if (!call.at(i).isIntegral())
      c.fail(call.where(i), "lower.type",
             fmt::format("arange's arguments must be of type tl.constexpr, but '{}' is {}",
                         call.where(i).text(), call.emit.typeName(call.at(i))),
             {},
             call.at(i).isRuntime() ? "declare the parameter `: tl.constexpr`, or annotate the variable so"
                                    : "");
  const FrontValue &start = call.at(0), &end = call.at(1);
  const SymInt size = c.syms.sub(end.sym, start.sym);
  if (end.witness <= start.witness)
    c.fail(call.range, "lower.shape", "arange's end argument must be greater than the start argument",
           size.isConstant() ? SymInt() : c.syms.lt(start.sym, end.sym));
  if (start.witness < 0 || end.witness > UINT32_MAX)
    c.fail(call.range, "lower.type", "arange must fit in int32");
  const SourceRange here = c.here;
  call.emit.checkTileShape({size});
  c.here = here;
  Attributes attributes;
  attributes.set("start", start.sym);
  attributes.set("end", end.sym);
  return FrontValue::runtime(
      c.create(OpKind::Iota, {}, Type::tile(DType::Int32, {size}), std::move(attributes)));
}

/// (x + (div - 1)) // div, which for run-time values is what tl.cdiv does too.
FrontValue cdiv(BuiltinCall &call) {
  FunctionLowerer &f = call.function;
  const FrontValue &x = call.at(0), &div = call.at(1);
  const FrontValue less = f.binary(BinaryOperator::Sub, div, call.c.integer(1), call.range);
  const FrontValue sum = f.binary(BinaryOperator::Add, x, less, call.range);
  FrontValue result = f.binary(BinaryOperator::FloorDiv, sum, div, call.range);
  if (!result.isRuntime() && x.isIntegral() && div.isIntegral())
    return FrontValue::integer(call.c.syms.cdiv(x.sym, div.sym), result.witness);
  return result;
}

FrontValue nextPowerOf2(BuiltinCall &call) {
  if (!call.at(0).isIntegral())
    call.failArgument(0, "a constexpr integer");
  return call.c.integer(call.c.syms.nextPow2(call.at(0).sym), call.range);
}

FrontValue constexprOf(BuiltinCall &call) {
  if (call.at(0).isRuntime())
    call.failArgument(0, "known at compile time");
  return call.at(0);
}

FrontValue toTensor(BuiltinCall &call) { return FrontValue::runtime(call.tensor(0)); }

FrontValue deviceAssert(BuiltinCall &call) {
  if (!call.at(0).isRuntime() && !call.at(0).isNumber())
    call.failArgument(0, "a condition");
  ValueId condition = call.emit.cast(call.tensor(0), DType::Int1);
  std::vector<ValueId> operands{condition};
  if (call.has(2)) {
    const auto [x, mask] = call.emit.broadcast(condition, call.emit.cast(call.tensor(2), DType::Int1));
    operands = {x, mask};
  }
  Attributes attributes;
  attributes.set("message", call.text(1, ""));
  call.c.createOp(OpKind::DeviceAssert, std::move(operands), {}, std::move(attributes));
  return FrontValue::none();
}

FrontValue devicePrint(BuiltinCall &call) {
  std::vector<ValueId> values;
  for (const FrontValue &value : call.rest) {
    if (!value.isRuntime() && !value.isNumber())
      call.c.failType(call.range, fmt::format("device_print prints tensors and numbers, not {}",
                                              call.emit.typeName(value)));
    values.push_back(call.emit.toTensor(value));
  }
  Attributes attributes;
  attributes.set("prefix", call.has(0) ? pythonText(call.at(0)) : std::string());
  attributes.set("hex", call.flag(1, false));
  call.c.createOp(OpKind::DevicePrint, std::move(values), {}, std::move(attributes));
  return FrontValue::none();
}

/// What the kernel promises of a value. The promise may mention open parameters (`tl.multiple_of(x, BLOCK)`):
/// it stays an expression, since every candidate is promised something else and none needs another Program.
FrontValue hint(BuiltinCall &call, std::string_view kind) {
  std::vector<SymInt> values;
  for (const FrontValue &value : call.sequence(1)) {
    if (!value.isIntegral())
      call.failArgument(1, "constexpr integers");
    values.push_back(value.sym);
  }
  const ValueId x = call.tensor(0);
  const size_t rank = std::max<size_t>(1, call.c.typeOf(x).rank());
  if (values.size() != rank)
    call.c.fail(call.range, "lower.shape",
                fmt::format("shape of input to {} does not match the length of values", kind));
  Attributes attributes;
  attributes.set("kind", std::string(kind));
  attributes.set("values", values);
  const ValueId result = call.c.create(OpKind::Hint, {x}, call.c.typeOf(x), std::move(attributes));
  call.c.setSym(result, call.c.symOf(x), "hint");
  return FrontValue::runtime(result);
}

FrontValue multipleOf(BuiltinCall &call) { return hint(call, "multiple_of"); }
FrontValue maxContiguous(BuiltinCall &call) { return hint(call, "max_contiguous"); }
FrontValue maxConstancy(BuiltinCall &call) { return hint(call, "max_constancy"); }

FrontValue assume(BuiltinCall &call) {
  const ValueId condition = call.emit.cast(call.tensor(0), DType::Int1);
  call.c.createOp(OpKind::Assume, {condition}, {});
  return FrontValue::none();
}

FrontValue barrier(BuiltinCall &call) {
  call.c.createOp(OpKind::Barrier, {}, {});
  return FrontValue::none();
}

FrontValue pointerType(BuiltinCall &call) {
  const Type element = call.typeArgument(0);
  return FrontValue::typeObject(Type::pointer(element.dtype));
}

FrontValue blockType(BuiltinCall &call) {
  Type element = call.typeArgument(0);
  return FrontValue::typeObject(element.withShape(call.shape(call.sequence(1), call.where(1))));
}

FrontValue loopOnly(BuiltinCall &call) {
  call.c.unsupported(call.range, fmt::format("{} is for `for` loops only", call.nameRange.text()));
}

FrontValue swizzle2d(BuiltinCall &call) {
  FunctionLowerer &f = call.function;
  const auto op = [&](BinaryOperator o, const FrontValue &a, const FrontValue &b) {
    return f.binary(o, a, b, call.range);
  };
  const FrontValue &i = call.at(0), &j = call.at(1), &sizeI = call.at(2), &sizeJ = call.at(3),
                   &group = call.at(4);
  const FrontValue flat = op(BinaryOperator::Add, op(BinaryOperator::Mult, i, sizeJ), j);
  const FrontValue perGroup = op(BinaryOperator::Mult, group, sizeJ);
  const FrontValue first = op(BinaryOperator::Mult, op(BinaryOperator::FloorDiv, flat, perGroup), group);
  const FrontValue left = op(BinaryOperator::Sub, sizeI, first);
  const FrontValue rows = left.isRuntime() || group.isRuntime()
                              ? FrontValue::runtime(call.emit.minMax(OpKind::Min, left, group, false))
                              : constexprExtreme(call.c, false, {left, group}, call.range);
  const FrontValue inGroup = op(BinaryOperator::Mod, flat, perGroup);
  return FrontValue::tuple({op(BinaryOperator::Add, first, op(BinaryOperator::Mod, inGroup, rows)),
                            op(BinaryOperator::FloorDiv, inGroup, rows)});
}

/// dtypes by width: tl.core.get_int_dtype.
FrontValue integerDType(BuiltinCall &call) {
  const int64_t bits = call.integer(0, 0);
  const bool isSigned = call.flag(1, true);
  const auto dtype = parseTritonDType(fmt::format("{}int{}", isSigned ? "" : "u", bits));
  if (!dtype || (bits == 1 && !isSigned))
    call.c.fail(call.range, "lower.type",
                fmt::format("unsupported bitwidth {} and signedness {}", bits, isSigned));
  return FrontValue::typeObject(Type::scalar(*dtype));
}

/// The whole logarithm of a constexpr: tl.standard._log2.
FrontValue wholeLog2(BuiltinCall &call) {
  int64_t n = call.integer(0, 1), log2 = 0;
  for (; n > 1; n >>= 1)
    ++log2;
  return call.c.integer(log2);
}
FrontValue isPowerOfTwo(BuiltinCall &call) {
  if (!call.at(0).isIntegral())
    call.failArgument(0, "a constexpr integer");
  const SymInt n = call.at(0).sym;
  return call.c.condition(call.c.syms.eq(call.c.syms.nextPow2(n), n), call.range);
}

/// `name` of a dtype, for tl.str_to_ty and tl.dtype("fp32").
FrontValue dtypeByName(BuiltinCall &call) { return FrontValue::typeObject(call.typeArgument(0)); }

FrontValue sliceOf(BuiltinCall &call) {
  std::vector<FrontValue> parts;
  for (size_t i = 0; i < 3; ++i)
    parts.push_back(call.bound[i] ? call.at(i) : FrontValue::none());
  FrontValue value = FrontValue::tuple(std::move(parts));
  value.kind = FrontKind::Slice;
  return value;
}

constexpr Builtin kRows[] = {
    {"get_int_dtype", "bitwidth, signed", integerDType},
    {"_get_int_dtype", "bitwidth, signed", integerDType},
    {"_log2", "i", wholeLog2},
    {"_is_power_of_two", "i", isPowerOfTwo},
    {"dtype", "name", dtypeByName},
    {"str_to_ty", "name, c=", dtypeByName},
    {"slice", "start, stop, step=", sliceOf},
    {"program_id", "axis", programId},
    {"num_programs", "axis", programCount},
    {"arange", "start, end", arange},
    {"cdiv", "x, div", cdiv, true},
    {"triton.cdiv", "x, y", cdiv},
    {"triton.next_power_of_2", "n", nextPowerOf2},
    {"constexpr", "value", constexprOf},
    {"to_tensor", "x", toTensor},
    {"device_assert", "cond, msg=, mask=", deviceAssert},
    {"device_print", "prefix, *values, hex=", devicePrint},
    {"python.print", "prefix, *values, hex=", devicePrint},
    {"multiple_of", "input, values", multipleOf, true},
    {"max_contiguous", "input, values", maxContiguous, true},
    {"max_constancy", "input, values", maxConstancy, true},
    {"assume", "cond", assume},
    {"debug_barrier", "", barrier},
    {"pointer_type", "element_ty, address_space=, const=", pointerType},
    {"block_type", "element_ty, shape", blockType},
    {"range", "arg1, arg2=, step=", loopOnly},
    {"static_range", "arg1, arg2=, step=", loopOnly},
    {"parallel", "arg1, arg2=, step=, *rest", loopOnly},
    {"swizzle2d", "i, j, size_i, size_j, size_g", swizzle2d},
};

} // namespace

std::span<const Builtin> programBuiltins() { return kRows; }

} // namespace tilewright::lowering

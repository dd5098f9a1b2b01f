#include "Builtins.h"

#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

using lang::BinaryOperator;

/// tl.exp and its kin take f32 and f64 only, as in Triton: narrower floats must be widened by the kernel.
FrontValue unaryFloat(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  const Type &type = call.c.typeOf(x);
  if (type.kind != Type::Kind::Value || (type.dtype != DType::Float32 && type.dtype != DType::Float64))
    call.c.fail(
        call.where(0), "lower.type",
        fmt::format("expected dtype ['fp32', 'fp64'] but got {}", call.emit.typeName(type.withShape({}))), {},
        isFloat(type.dtype) ? "convert it first: x.to(tl.float32)" : "");
  return FrontValue::runtime(call.emit.unary(call.name, x));
}

FrontValue absolute(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  const Type type = call.c.typeOf(x);
  if (type.kind != Type::Kind::Value)
    call.failArgument(0, "a number");
  if (isInteger(type.dtype) && !isSigned(type.dtype))
    return FrontValue::runtime(x);
  const SymInt sym = call.c.symOf(x);
  const ValueId result = call.emit.unary("abs", x);
  call.c.setSym(result, sym.valid() ? call.c.syms.max(sym, call.c.syms.neg(sym)) : SymInt(), "abs");
  return FrontValue::runtime(result);
}

/// tl.PropagateNan.ALL asks for NaN to win.
bool propagatesNan(BuiltinCall &call, size_t i) {
  if (!call.has(i))
    return false;
  const std::string &text = call.at(i).text;
  return text.size() >= 3 && text.substr(text.size() - 3) == "ALL";
}

FrontValue extreme(BuiltinCall &call, OpKind kind) {
  return FrontValue::runtime(call.emit.minMax(kind, call.at(0), call.at(1), propagatesNan(call, 2)));
}
FrontValue minimum(BuiltinCall &call) { return extreme(call, OpKind::Min); }
FrontValue maximum(BuiltinCall &call) { return extreme(call, OpKind::Max); }

FrontValue clamp(BuiltinCall &call) {
  const auto values = call.emit.convertAll({call.at(0), call.at(1), call.at(2)});
  const Type type = call.c.typeOf(values[0]);
  if (isInteger(type.dtype)) {
    const ValueId raised =
        call.emit.minMax(OpKind::Max, FrontValue::runtime(values[0]), FrontValue::runtime(values[1]), false);
    return FrontValue::runtime(
        call.emit.minMax(OpKind::Min, FrontValue::runtime(raised), FrontValue::runtime(values[2]), false));
  }
  Attributes attributes;
  if (propagatesNan(call, 3))
    attributes.set("propagate_nan", true);
  return FrontValue::runtime(call.c.create(OpKind::Clamp, values, type, std::move(attributes)));
}

FrontValue fma(BuiltinCall &call) {
  const auto values = call.emit.convertAll({call.at(0), call.at(1), call.at(2)});
  return FrontValue::runtime(call.c.create(OpKind::Fma, values, call.c.typeOf(values[0])));
}

FrontValue fdiv(BuiltinCall &call) {
  const auto [x, y] = call.emit.convert(call.at(0), call.at(1), false, false, true, true);
  if (!isFloat(call.c.typeOf(x).dtype))
    call.c.failType(call.range, "fdiv requires floating-point operands after type promotion");
  if (call.flag(2, false))
    return FrontValue::runtime(call.emit.libraryBinary("div_rn", x, y));
  return FrontValue::runtime(call.c.create(OpKind::Div, {x, y}, call.c.typeOf(x)));
}

/// tl.sqrt_rn and tl.div_rn exist for f32 only.
void requireF32(BuiltinCall &call, ValueId x) {
  const Type &type = call.c.typeOf(x);
  if (type.kind != Type::Kind::Value || type.dtype != DType::Float32)
    call.c.fail(call.where(0), "lower.type",
                fmt::format("expected dtype ['fp32'] but got {}", call.emit.typeName(type.withShape({}))), {},
                isFloat(type.dtype) ? "convert it first: x.to(tl.float32)" : "");
}
FrontValue preciseSqrt(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  requireF32(call, x);
  return FrontValue::runtime(call.emit.unary("sqrt_rn", x));
}
FrontValue preciseDivide(BuiltinCall &call) {
  const auto [x, y] = call.emit.convert(call.at(0), call.at(1));
  requireF32(call, x);
  return FrontValue::runtime(call.emit.libraryBinary("div_rn", x, y));
}

FrontValue umulhi(BuiltinCall &call) {
  const auto [x, y] = call.emit.convert(call.at(0), call.at(1));
  const Type type = call.c.typeOf(x);
  if (!isInteger(type.dtype) || bitWidth(type.dtype) < 32)
    call.c.failType(call.range,
                    fmt::format("expected dtype ['int32', 'int64', 'uint32', 'uint64'] but got {}",
                                call.emit.typeName(type.withShape({}))));
  return FrontValue::runtime(call.c.create(OpKind::MulHi, {x, y}, type));
}

FrontValue where(BuiltinCall &call) {
  return FrontValue::runtime(call.emit.select(call.at(0), call.at(1), call.at(2)));
}
FrontValue expectZero(BuiltinCall &call) { return call.at(0); }

FrontValue sigmoid(BuiltinCall &call) {
  const ValueId x = call.tensor(0);
  const Type &type = call.c.typeOf(x);
  if (type.dtype != DType::Float32 && type.dtype != DType::Float64)
    call.c.fail(
        call.where(0), "lower.type",
        fmt::format("expected dtype ['fp32', 'fp64'] but got {}", call.emit.typeName(type.withShape({}))), {},
        isFloat(type.dtype) ? "convert it first: x.to(tl.float32)" : "");
  return FrontValue::runtime(call.emit.unary("sigmoid", x));
}

FrontValue arithmetic(BuiltinCall &call, BinaryOperator op) {
  return call.function.binary(op, call.at(0), call.at(1), call.range);
}
FrontValue add(BuiltinCall &call) { return arithmetic(call, BinaryOperator::Add); }
FrontValue sub(BuiltinCall &call) { return arithmetic(call, BinaryOperator::Sub); }
FrontValue mul(BuiltinCall &call) { return arithmetic(call, BinaryOperator::Mult); }

FrontValue logical(BuiltinCall &call, lang::BoolOperator op) {
  return FrontValue::runtime(call.emit.logical(op, call.at(0), call.at(1)));
}
FrontValue logicalAnd(BuiltinCall &call) { return logical(call, lang::BoolOperator::And); }
FrontValue logicalOr(BuiltinCall &call) { return logical(call, lang::BoolOperator::Or); }

constexpr std::string_view kOne = "x", kTwo = "x, y";

constexpr Builtin kRows[] = {
    {"exp", kOne, unaryFloat, true},
    {"exp2", kOne, unaryFloat, true},
    {"log", kOne, unaryFloat, true},
    {"log2", kOne, unaryFloat, true},
    {"cos", kOne, unaryFloat, true},
    {"sin", kOne, unaryFloat, true},
    {"sqrt", kOne, unaryFloat, true},
    {"sqrt_rn", kOne, preciseSqrt, true},
    {"rsqrt", kOne, unaryFloat, true},
    {"erf", kOne, unaryFloat, true},
    {"floor", kOne, unaryFloat, true},
    {"ceil", kOne, unaryFloat, true},
    {"abs", kOne, absolute, true},
    {"sigmoid", kOne, sigmoid, true},
    {"fdiv", "x, y, ieee_rounding=, approx=", fdiv},
    {"div_rn", kTwo, preciseDivide},
    {"fma", "x, y, z", fma},
    {"umulhi", kTwo, umulhi},
    {"minimum", "x, y, propagate_nan=", minimum},
    {"maximum", "x, y, propagate_nan=", maximum},
    {"clamp", "x, min, max, propagate_nan=", clamp},
    {"where", "condition, x, y", where},
    {"expect_zero", "x, mask", expectZero},
    {"add", "x, y, sanitize_overflow=", add},
    {"sub", "x, y, sanitize_overflow=", sub},
    {"mul", "x, y, sanitize_overflow=", mul},
    {"logical_and", "x, other", logicalAnd, true},
    {"logical_or", "x, other", logicalOr, true},
};

} // namespace

std::span<const Builtin> mathBuiltins() { return kRows; }

} // namespace tilewright::lowering

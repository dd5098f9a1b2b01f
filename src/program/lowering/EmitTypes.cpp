#include "ConstexprArithmetic.h"
#include "Emitter.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

bool isUnsigned(DType dtype) { return isInteger(dtype) && !isSigned(dtype); }
bool isFloat8(DType dtype) { return isFloat(dtype) && bitWidth(dtype) == 8; }

/// bool < integer < float: a number of a lower or equal kind takes no part in promotion.
int kindOf(DType dtype) { return dtype == DType::Int1 ? 0 : isInteger(dtype) ? 1 : 2; }

bool fits(int64_t value, DType dtype) {
  const uint32_t bits = bitWidth(dtype);
  if (isUnsigned(dtype))
    return value >= 0 && (bits >= 63 || value < (int64_t(1) << bits));
  return bits >= 64 || (value >= -(int64_t(1) << (bits - 1)) && value < (int64_t(1) << (bits - 1)));
}

} // namespace

SymInt Emitter::representable(SymInt sym, DType dtype) {
  if (!sym.valid())
    return sym;
  if (const auto number = sym.constant()) {
    const uint32_t bits = bitWidth(dtype);
    if (fits(*number, dtype))
      return sym;
    if (bits >= 64) // a negative number as an unsigned one of 64 bits
      return {};
    const uint64_t low = static_cast<uint64_t>(*number) & ((uint64_t(1) << bits) - 1);
    const bool negative = isSigned(dtype) && (low >> (bits - 1) & 1);
    return c.syms.constant(static_cast<int64_t>(negative ? low | ~uint64_t(0) << bits : low));
  }
  // Without a lower bound it is made of runtime scalars, which are taken as not negative.
  const int64_t least = sym.range().min;
  return isUnsigned(dtype) && least < 0 && least != INT64_MIN ? SymInt() : sym;
}

std::string Emitter::typeName(const Type &type) {
  std::string scalar(tritonName(type.dtype));
  if (type.kind == Type::Kind::Pointer)
    scalar = "pointer<" + scalar + ">";
  else if (type.kind == Type::Kind::BlockPointer)
    scalar = "block pointer<" + scalar + ">";
  else if (type.kind == Type::Kind::Descriptor)
    scalar = "tensor_descriptor<" + scalar + ">";
  return type.shape.empty() ? scalar : scalar + shapeText(type.shape);
}

std::string Emitter::typeName(const FrontValue &value) {
  switch (value.kind) {
  case FrontKind::None:
    return "None";
  case FrontKind::Bool:
    return "constexpr[bool]";
  case FrontKind::Int:
    return "constexpr[int]";
  case FrontKind::Float:
    return "constexpr[float]";
  case FrontKind::String:
    return "constexpr[str]";
  case FrontKind::TypeObject:
    return "dtype";
  case FrontKind::Tuple:
    return "tuple";
  case FrontKind::Slice:
    return "slice";
  case FrontKind::Runtime:
    return typeName(c.typeOf(value.value));
  default:
    return "function or module '" + value.text + "'";
  }
}

DType Emitter::numberType(const FrontValue &number) {
  if (number.kind == FrontKind::Bool)
    return DType::Int1;
  if (number.wide) {
    if (*number.wide < 0 || *number.wide > UINT64_MAX)
      c.failType(c.here, "the integer is too large for any dtype");
    return DType::UInt64;
  }
  if (number.kind == FrontKind::Int) {
    const int64_t value = number.witness;
    if (value >= INT32_MIN && value <= INT32_MAX)
      return DType::Int32;
    return value >= 0 && value <= UINT32_MAX ? DType::UInt32 : DType::Int64;
  }
  const double magnitude = std::fabs(number.number);
  if (!std::isfinite(number.number) || magnitude == 0 ||
      (magnitude >= std::ldexp(1.0, -126) && magnitude <= (2 - std::ldexp(1.0, -23)) * std::ldexp(1.0, 127)))
    return DType::Float32;
  return DType::Float64;
}

ValueId Emitter::integerConstant(int64_t value, DType dtype) { return constant(c.integer(value), dtype); }

ValueId Emitter::floatConstant(double value, DType dtype) {
  return constant(FrontValue::floating(value), dtype);
}

ValueId Emitter::constant(const FrontValue &number, DType dtype) {
  Attributes attributes;
  if (isFloat(dtype)) {
    // An open parameter has no number yet: it becomes an integer, converted where the program runs.
    if (number.isIntegral() && !number.sym.isConstant())
      return cast(constant(number, numberType(number)), dtype);
    attributes.set("value", number.asDouble());
    return c.create(OpKind::Constant, {}, Type::scalar(dtype), std::move(attributes));
  }
  FrontValue integer = number;
  if (number.kind == FrontKind::Float) {
    // For compatibility Triton allows 0.0 where an integer is asked for, and nothing else.
    if (number.number != 0)
      c.failType(c.here, fmt::format("the float {} cannot become a {}", number.number, tritonName(dtype)));
    integer = c.integer(0);
  }
  if (integer.wide && (dtype != DType::UInt64 || *integer.wide < 0 || *integer.wide > UINT64_MAX))
    c.failType(c.here, fmt::format("the number {} is out of range for type {}", pythonText(integer),
                                   tritonName(dtype)));
  if (dtype == DType::Int1 && integer.kind == FrontKind::Int && integer.witness != 0 && integer.witness != 1)
    c.failType(c.here, fmt::format("the integer {} cannot become an int1", integer.witness));
  attributes.set("value", integer.sym);
  return c.create(OpKind::Constant, {}, Type::scalar(dtype), std::move(attributes));
}

ValueId Emitter::toTensor(const FrontValue &value) {
  if (value.isRuntime())
    return value.value;
  if (!value.isNumber())
    c.failType(c.here, fmt::format("cannot convert {} to a tensor", typeName(value)));
  return constant(value, numberType(value));
}

ValueId Emitter::castNumberOrValue(const FrontValue &value, DType dtype) {
  if (value.isRuntime())
    return cast(value.value, dtype);
  if (value.isIntegral() && !value.wide && isInteger(dtype)) {
    if (value.witness < 0 && isUnsigned(dtype))
      c.failType(c.here, "cannot combine an unsigned tensor with a negative number; cast one of them first");
    if (!fits(value.witness, dtype))
      c.failType(c.here,
                 fmt::format("the number {} is out of range for type {}", value.witness, tritonName(dtype)));
  }
  return constant(value, dtype);
}

DType Emitter::promoteIntegers(DType a, DType b) {
  const uint32_t aBits = bitWidth(a), bBits = bitWidth(b);
  if (isSigned(a) == isSigned(b))
    return aBits > bBits ? a : b;
  if (isUnsigned(a))
    return aBits >= bBits ? a : b;
  return bBits >= aBits ? b : a;
}

DType Emitter::computationType(DType a, bool aIsNumber, DType b, bool bIsNumber, bool divideOrModulo) {
  if (aIsNumber != bIsNumber) {
    const DType number = aIsNumber ? a : b;
    const DType tensor = aIsNumber ? b : a;
    if (kindOf(number) <= kindOf(tensor))
      a = b = tensor;
  }
  const auto either = [&](DType dtype) { return a == dtype || b == dtype; };
  if (either(DType::Float64))
    return DType::Float64;
  if (divideOrModulo && (isFloat(a) || isFloat(b)))
    return DType::Float32;
  if (either(DType::Float32))
    return DType::Float32;
  if (either(DType::Float16))
    return DType::Float16;
  if (either(DType::BFloat16))
    return a == b ? DType::BFloat16 : DType::Float32;
  if (isFloat8(a) && isFloat8(b))
    return a == b ? a : DType::Float16;
  if (!isInteger(a) || !isInteger(b))
    c.failType(c.here, fmt::format("unexpected type {} and {}", tritonName(a), tritonName(b)));
  if (divideOrModulo && isSigned(a) != isSigned(b))
    c.failType(
        c.here,
        fmt::format("cannot use /, // or % with {} and {}: they differ in signedness, so the result would "
                    "hardly be what is meant; cast them to the same signedness",
                    tritonName(a), tritonName(b)));
  return promoteIntegers(a, b);
}

std::optional<ValueId> Emitter::castConstant(ValueId value, DType dtype) {
  const Op *op = c.program.definingOp(value);
  if (op && op->kind == OpKind::Splat) {
    const Emitter::Shape shape = c.typeOf(value).shape;
    const auto scalar = castConstant(op->operands[0], dtype);
    return scalar ? std::optional(splat(*scalar, shape)) : std::nullopt;
  }
  if (!op || op->kind != OpKind::Constant)
    return std::nullopt;
  const DType from = c.typeOf(value).dtype;
  if (isFloat(from)) {
    // Rounded in the steps that the conversions would take: to its own dtype here, to the next one by whoever
    // reads it.
    if (!isFloat(dtype) || (from != DType::Float32 && from != DType::Float64))
      return std::nullopt;
    const double number = op->attributes.number("value");
    return floatConstant(from == DType::Float32 ? static_cast<double>(static_cast<float>(number)) : number,
                         dtype);
  }
  const SymInt sym = op->attributes.sym("value");
  const auto number = sym.constant();
  if (isFloat(dtype)) {
    constexpr int64_t kExact = int64_t(1) << 24; // every such integer is an f32
    if (!number || *number > kExact || *number < -kExact)
      return std::nullopt;
    return floatConstant(static_cast<double>(*number), dtype);
  }
  const bool fitsAlways =
      number ? fits(*number, dtype) : isSigned(dtype) && bitWidth(dtype) >= 32 && bitWidth(from) <= 32;
  if (dtype == DType::Int1 || !fitsAlways)
    return std::nullopt;
  return constant(FrontValue::integer(sym, c.valueOf(sym, c.here)), dtype);
}

ValueId Emitter::cast(ValueId value, DType dtype, const std::string &rounding) {
  return castTo(value, Type::scalar(dtype), rounding);
}

ValueId Emitter::castTo(ValueId value, const Type &scalarType, const std::string &rounding) {
  const Type from = c.typeOf(value);
  Type to = scalarType;
  to.shape = from.shape;
  const bool narrowing = !from.isPointer() && !to.isPointer() && isFloat(from.dtype) && isFloat(to.dtype) &&
                         bitWidth(to.dtype) < bitWidth(from.dtype);
  if (from == to)
    return value;
  if (from.kind == Type::Kind::BlockPointer || from.kind == Type::Kind::Descriptor)
    c.failType(c.here, fmt::format("cannot cast {} to {}", typeName(from), typeName(to)));
  if (!rounding.empty() && !narrowing)
    c.failType(
        c.here,
        fmt::format("fp_downcast_rounding is for conversions to a narrower float only, not for {} to {}",
                    typeName(from), typeName(to)));
  if (!rounding.empty() && rounding != "rtne" && rounding != "rtz")
    c.failType(c.here, fmt::format("invalid rounding mode '{}'; supported are 'rtne' and 'rtz'", rounding));
  Attributes attributes;
  if (narrowing)
    attributes.set("rounding", rounding.empty() ? std::string("rtne") : rounding);
  if (from.isPointer() || to.isPointer()) {
    if (from.isPointer() && to.isPointer())
      return c.create(OpKind::Bitcast, {value}, to);
    if (from.isPointer() && to.dtype == DType::Int1) {
      const ValueId address = castTo(value, Type::scalar(DType::Int64));
      return compare(lang::CompareOperator::NotEq, FrontValue::runtime(address), c.integer(0));
    }
    const DType integer = from.isPointer() ? to.dtype : from.dtype;
    if (!isInteger(integer) || bitWidth(integer) != 64)
      c.failType(c.here, fmt::format("cannot cast {} to {}", typeName(from), typeName(to)));
    return c.create(OpKind::Bitcast, {value}, to);
  }
  if (rounding.empty() || rounding == "rtne")
    if (const auto folded = castConstant(value, to.dtype))
      return *folded;
  const ValueId result = c.create(OpKind::Cast, {value}, to, std::move(attributes));
  SymInt sym = isInteger(from.dtype) && isInteger(to.dtype) ? c.symOf(value) : SymInt();
  if (sym.valid() && to.dtype == DType::Int1)
    sym = c.syms.logicalNot(c.syms.eq(sym, c.syms.constant(0)));
  sym = representable(sym, to.dtype);
  c.setSym(result, sym, "cast");
  return result;
}

ValueId Emitter::bitcast(ValueId value, const Type &scalarType) {
  const Type from = c.typeOf(value);
  Type to = scalarType;
  to.shape = from.shape;
  if (from == to)
    return value;
  if (from.isPointer() || to.isPointer())
    return castTo(value, scalarType);
  if (bitWidth(from.dtype) != bitWidth(to.dtype))
    c.failType(c.here, fmt::format("cannot bitcast data-type of size {} to data-type of size {}",
                                   bitWidth(from.dtype), bitWidth(to.dtype)));
  const ValueId result = c.create(OpKind::Bitcast, {value}, to);
  c.setSym(result,
           isInteger(from.dtype) && isInteger(to.dtype) ? representable(c.symOf(value), to.dtype) : SymInt(),
           "bitcast");
  return result;
}

} // namespace tilewright::lowering

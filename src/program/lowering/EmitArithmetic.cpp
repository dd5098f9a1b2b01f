#include "Emitter.h"

#include <fmt/format.h>

namespace tilewright::lowering {

using lang::BinaryOperator;
using lang::BoolOperator;
using lang::CompareOperator;

namespace {

std::string_view predicateOf(CompareOperator op) {
  switch (op) {
  case CompareOperator::Lt:
    return "lt";
  case CompareOperator::LtE:
    return "le";
  case CompareOperator::Gt:
    return "gt";
  case CompareOperator::GtE:
    return "ge";
  case CompareOperator::Eq:
    return "eq";
  default:
    return "ne";
  }
}

/// The divisions of the IR truncate and SymInt's round down. The two agree where the dividend is not negative
/// and the divisor is positive. A dividend without a lower bound is made of runtime scalars (extents,
/// strides, counts): the analysis takes those as non-negative, as every kernel that divides them does. A
/// divisor that may be negative is taken as positive, because dividing by a count that isn't makes no sense
/// in a kernel.
bool dividesAsFloor(SymInt dividend, SymInt divisor) {
  return (dividend.range().min >= 0 || dividend.range().min == INT64_MIN) && divisor.range().max > 0;
}

SymInt symOfArithmetic(SymContext &syms, OpKind kind, SymInt a, SymInt b, DType dtype) {
  if (!a.valid() || !b.valid())
    return {};
  switch (kind) {
  case OpKind::Add:
    return syms.add(a, b);
  case OpKind::Sub:
    return syms.sub(a, b);
  case OpKind::Mul:
    return syms.mul(a, b);
  case OpKind::Div:
    return dividesAsFloor(a, b) ? syms.floorDiv(a, b) : SymInt();
  case OpKind::Rem:
    return dividesAsFloor(a, b) ? syms.mod(a, b) : SymInt();
  case OpKind::Min:
    return syms.min(a, b);
  case OpKind::Max:
    return syms.max(a, b);
  case OpKind::And:
    return dtype == DType::Int1 ? syms.logicalAnd(a, b) : syms.bit(SymOp::BitAnd, a, b);
  case OpKind::Or:
    return dtype == DType::Int1 ? syms.logicalOr(a, b) : syms.bit(SymOp::BitOr, a, b);
  case OpKind::Xor:
    return syms.bit(SymOp::Xor, a, b);
  case OpKind::Shl:
    return syms.bit(SymOp::Shl, a, b);
  case OpKind::Shr:
    return syms.bit(SymOp::Shr, a, b);
  default:
    return {};
  }
}

SymInt symOfCompare(SymContext &syms, CompareOperator op, SymInt a, SymInt b) {
  if (!a.valid() || !b.valid())
    return {};
  switch (op) {
  case CompareOperator::Lt:
    return syms.lt(a, b);
  case CompareOperator::LtE:
    return syms.le(a, b);
  case CompareOperator::Gt:
    return syms.lt(b, a);
  case CompareOperator::GtE:
    return syms.le(b, a);
  case CompareOperator::Eq:
    return syms.eq(a, b);
  default:
    return syms.logicalNot(syms.eq(a, b));
  }
}

} // namespace

void Emitter::failOperands(const FrontValue &a, const FrontValue &b) {
  std::vector<ValueId> floats;
  for (const FrontValue *operand : {&a, &b})
    if (operand->isRuntime() && isFloat(c.typeOf(operand->value).dtype) &&
        !c.typeOf(operand->value).isPointer())
      floats.push_back(operand->value);
  c.failLoaded(c.here, fmt::format("invalid operands of type {} and {}", typeName(a), typeName(b)), floats);
}

DType Emitter::scalarType(const FrontValue &value) {
  return value.isRuntime() ? c.typeOf(value.value).dtype : numberType(value);
}

Emitter::Operands Emitter::convert(const FrontValue &a, const FrontValue &b, bool allowPointerA,
                                   bool allowPointerB, bool arithmetic, bool divideOrModulo) {
  if ((!a.isRuntime() && !a.isNumber()) || (!b.isRuntime() && !b.isNumber()))
    failOperands(a, b);
  const auto handle = [&](const FrontValue &v) {
    return v.isRuntime() && c.typeOf(v.value).kind >= Type::Kind::BlockPointer;
  };
  if (handle(a) || handle(b))
    failOperands(a, b);
  const bool pointerA = a.isRuntime() && c.typeOf(a.value).isPointer();
  const bool pointerB = b.isRuntime() && c.typeOf(b.value).isPointer();
  if ((pointerA && !allowPointerA) || (pointerB && !allowPointerB))
    failOperands(a, b);
  if (pointerA && pointerB && c.typeOf(a.value).dtype != c.typeOf(b.value).dtype)
    failOperands(a, b);
  if ((pointerA && !pointerB && isFloat(scalarType(b))) || (pointerB && !pointerA && isFloat(scalarType(a))))
    failOperands(a, b);
  ValueId x, y;
  if (arithmetic && !pointerA && !pointerB) {
    const DType common =
        computationType(scalarType(a), !a.isRuntime(), scalarType(b), !b.isRuntime(), divideOrModulo);
    x = castNumberOrValue(a, common);
    y = castNumberOrValue(b, common);
  } else {
    x = toTensor(a);
    y = toTensor(b);
  }
  const auto [left, right] = broadcast(x, y);
  return {left, right};
}

std::vector<ValueId> Emitter::convertAll(const std::vector<FrontValue> &operands) {
  std::optional<DType> tensors, numbers;
  for (const FrontValue &operand : operands) {
    if (!operand.isRuntime() && !operand.isNumber())
      c.failType(c.here, fmt::format("unexpected operand of type {}", typeName(operand)));
    auto &common = operand.isRuntime() ? tensors : numbers;
    const DType dtype = scalarType(operand);
    common =
        common ? computationType(*common, !operand.isRuntime(), dtype, !operand.isRuntime(), false) : dtype;
  }
  const DType dtype = !tensors   ? *numbers
                      : !numbers ? *tensors
                                 : computationType(*tensors, false, *numbers, true, false);
  std::vector<ValueId> values;
  for (const FrontValue &operand : operands)
    values.push_back(castNumberOrValue(operand, dtype));
  // Twice, because the last operand may bring an axis that the first ones lack.
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 1; i < values.size(); ++i)
      std::tie(values[0], values[i]) = broadcast(values[0], values[i]);
  return values;
}

ValueId Emitter::arithmetic(OpKind kind, ValueId a, ValueId b) {
  const Type type = c.typeOf(a);
  const SymInt sym =
      representable(symOfArithmetic(c.syms, kind, c.symOf(a), c.symOf(b), type.dtype), type.dtype);
  const ValueId result = c.create(kind, {a, b}, type);
  c.setSym(result, sym, name(kind));
  return result;
}

ValueId Emitter::addPointer(ValueId pointer, ValueId offset) {
  const DType dtype = c.typeOf(offset).dtype;
  // addptr takes its offset as signed; narrower unsigned ones are widened so that they stay positive.
  if (!isSigned(dtype) && bitWidth(dtype) < 64)
    offset = cast(offset, DType::Int64);
  return c.create(OpKind::AddPtr, {pointer, offset}, c.typeOf(pointer));
}

ValueId Emitter::bitwise(OpKind kind, const FrontValue &a, const FrontValue &b) {
  auto [x, y] = convert(a, b);
  if (!isInteger(c.typeOf(x).dtype))
    failOperands(a, b);
  return arithmetic(kind, x, y);
}

ValueId Emitter::binary(BinaryOperator op, const FrontValue &a, const FrontValue &b) {
  switch (op) {
  case BinaryOperator::Add: {
    const auto [x, y] = convert(a, b, true, true);
    const bool pointerX = c.typeOf(x).isPointer(), pointerY = c.typeOf(y).isPointer();
    if (pointerX && pointerY)
      c.failType(c.here, "cannot add pointers together");
    if (pointerX || pointerY)
      return pointerX ? addPointer(x, y) : addPointer(y, x);
    return arithmetic(OpKind::Add, x, y);
  }
  case BinaryOperator::Sub: {
    const auto [x, y] = convert(a, b, true, false);
    return c.typeOf(x).isPointer() ? addPointer(x, negate(y)) : arithmetic(OpKind::Sub, x, y);
  }
  case BinaryOperator::Mult: {
    const auto [x, y] = convert(a, b);
    return arithmetic(OpKind::Mul, x, y);
  }
  case BinaryOperator::Div: {
    auto [x, y] = convert(a, b, false, false, true, true);
    if (isInteger(c.typeOf(x).dtype)) {
      x = cast(x, DType::Float32);
      y = cast(y, DType::Float32);
    }
    return arithmetic(OpKind::Div, x, y);
  }
  case BinaryOperator::FloorDiv:
  case BinaryOperator::Mod: {
    const auto [x, y] = convert(a, b, false, false, true, true);
    if (op == BinaryOperator::FloorDiv && !isInteger(c.typeOf(x).dtype))
      c.failLoaded(c.here,
                   fmt::format("// is for integers only, not for {} and {}", typeName(a), typeName(b)),
                   {x, y});
    return arithmetic(op == BinaryOperator::Mod ? OpKind::Rem : OpKind::Div, x, y);
  }
  case BinaryOperator::BitAnd:
    return bitwise(OpKind::And, a, b);
  case BinaryOperator::BitOr:
    return bitwise(OpKind::Or, a, b);
  case BinaryOperator::BitXor:
    return bitwise(OpKind::Xor, a, b);
  case BinaryOperator::LShift:
    return bitwise(OpKind::Shl, a, b);
  case BinaryOperator::RShift:
    return bitwise(OpKind::Shr, a, b);
  case BinaryOperator::Pow:
  case BinaryOperator::MatMult:
    break;
  }
  c.unsupported(c.here,
                fmt::format("unsupported operand type(s) for {}: {} and {}", operatorText(op), typeName(a),
                            typeName(b)),
                op == BinaryOperator::MatMult ? "use tl.dot" : "use tl.exp2, tl.exp or libdevice.pow");
}

ValueId Emitter::compare(CompareOperator op, const FrontValue &a, const FrontValue &b) {
  const auto [x, y] = convert(a, b);
  Attributes attributes;
  attributes.set("predicate", std::string(predicateOf(op)));
  const SymInt sym = symOfCompare(c.syms, op, c.symOf(x), c.symOf(y));
  const ValueId result =
      c.create(OpKind::Compare, {x, y}, c.typeOf(x).withDType(DType::Int1), std::move(attributes));
  c.setSym(result, sym, "compare");
  return result;
}

ValueId Emitter::negate(ValueId value) {
  const Type type = c.typeOf(value);
  if (type.kind != Type::Kind::Value)
    c.failType(c.here, fmt::format("wrong type argument to unary minus ({})", typeName(type)));
  const SymInt sym = c.symOf(value).valid() ? c.syms.neg(c.symOf(value)) : SymInt();
  const ValueId result = unary("neg", value);
  c.setSym(result, sym, "neg");
  return result;
}

ValueId Emitter::invert(ValueId value) {
  const Type type = c.typeOf(value);
  if (type.kind != Type::Kind::Value || !isInteger(type.dtype))
    c.failType(c.here, fmt::format("wrong type argument to unary invert ({})", typeName(type)));
  const ValueId result = unary("not", value);
  SymInt sym = c.symOf(value);
  if (sym.valid())
    sym = type.dtype == DType::Int1 ? c.syms.logicalNot(sym) : c.syms.sub(c.syms.constant(-1), sym);
  c.setSym(result, sym, "not");
  return result;
}

ValueId Emitter::logicalNot(ValueId value) { return invert(bitcast(value, Type::scalar(DType::Int1))); }

ValueId Emitter::logical(BoolOperator op, const FrontValue &a, const FrontValue &b) {
  const ValueId x = bitcast(toTensor(a), Type::scalar(DType::Int1));
  const ValueId y = bitcast(toTensor(b), Type::scalar(DType::Int1));
  return bitwise(op == BoolOperator::And ? OpKind::And : OpKind::Or, FrontValue::runtime(x),
                 FrontValue::runtime(y));
}

ValueId Emitter::minMax(OpKind kind, const FrontValue &a, const FrontValue &b, bool propagateNan) {
  const auto [x, y] = convert(a, b);
  const ValueId result = arithmetic(kind, x, y);
  if (propagateNan && isFloat(c.typeOf(x).dtype))
    c.program.ops[c.program.values[result].definingOp].attributes.set("propagate_nan", true);
  return result;
}

ValueId Emitter::select(const FrontValue &condition, const FrontValue &a, const FrontValue &b) {
  ValueId mask = cast(toTensor(condition), DType::Int1);
  auto [x, y] = convert(a, b, true, true);
  if (c.typeOf(x).kind != c.typeOf(y).kind)
    c.failType(c.here,
               fmt::format("cannot choose between {} and {}", typeName(c.typeOf(x)), typeName(c.typeOf(y))));
  if (!c.typeOf(mask).shape.empty()) {
    std::tie(mask, x) = broadcast(mask, x);
    std::tie(x, y) = broadcast(x, y);
  } else {
    mask = broadcast(mask, x).first;
  }
  const SymInt m = c.symOf(mask), sx = c.symOf(x), sy = c.symOf(y);
  const ValueId result = c.create(OpKind::Select, {mask, x, y}, c.typeOf(x));
  c.setSym(result, m.valid() && sx.valid() && sy.valid() ? c.syms.select(m, sx, sy) : SymInt(), "select");
  return result;
}

ValueId Emitter::unary(std::string_view function, ValueId value) {
  Attributes attributes;
  attributes.set("function", std::string(function));
  const ValueId result = c.create(OpKind::Unary, {value}, c.typeOf(value), std::move(attributes));
  return result;
}

ValueId Emitter::libraryBinary(std::string_view function, ValueId a, ValueId b) {
  Attributes attributes;
  attributes.set("function", std::string(function));
  return c.create(OpKind::Binary, {a, b}, c.typeOf(a), std::move(attributes));
}

} // namespace tilewright::lowering

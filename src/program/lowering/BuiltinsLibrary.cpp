#include "Builtins.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

using lang::BinaryOperator;
using lang::CompareOperator;

struct LibraryName {
  std::string_view name, function;
};
/// Row names to function names, for the rows whose function is just called.
constexpr LibraryName kFunctions[] = {
#define UNARY(name, function) {"math." name, function},
#define BINARY(name, function) {"math." name, function},
#define TERNARY(name, function) {"math." name, function},
#define QUATERNARY(name, function) {"math." name, function},
#include "Libdevice.def"
};

std::string_view functionOf(const BuiltinCall &call) {
  for (const LibraryName &row : kFunctions)
    if (row.name == call.name)
      return row.function;
  return {};
}
/// The name without "math.".
std::string_view spelled(const BuiltinCall &call) {
  const std::string_view name = call.name;
  return name.substr(name.find('.') + 1);
}

FrontValue value(ValueId id) { return FrontValue::runtime(id); }
FrontValue binary(BuiltinCall &call, BinaryOperator op, const FrontValue &a, const FrontValue &b) {
  return value(call.emit.binary(op, a, b));
}
FrontValue number(BuiltinCall &call, int64_t n) { return call.c.integer(n); }

/// Operand `i` as an integer of at least 32 bits.
FrontValue integer(BuiltinCall &call, size_t i) {
  const ValueId x = call.tensor(i);
  const Type &type = call.c.typeOf(x);
  if (type.kind != Type::Kind::Value || !isInteger(type.dtype))
    call.failArgument(i, "an integer tensor");
  return value(
      bitWidth(type.dtype) < 32 ? call.emit.cast(x, isSigned(type.dtype) ? DType::Int32 : DType::UInt32) : x);
}
FrontValue bits(BuiltinCall &call, const FrontValue &x, DType dtype) {
  return value(call.emit.bitcast(x.value, Type::scalar(dtype)));
}
FrontValue to(BuiltinCall &call, const FrontValue &x, DType dtype) {
  return value(call.emit.cast(x.value, dtype));
}
DType dtypeOf(BuiltinCall &call, const FrontValue &x) { return call.c.typeOf(x.value).dtype; }

FrontValue unary(BuiltinCall &call) { return value(call.emit.unary(functionOf(call), call.floating(0))); }

FrontValue binaryFunction(BuiltinCall &call) {
  const auto [x, y] = call.emit.convert(call.at(0), call.at(1));
  const Type &type = call.c.typeOf(x);
  if (!isFloat(type.dtype))
    call.c.failType(call.range, fmt::format("{} needs floating-point operands, not {}", call.nameRange.text(),
                                            call.emit.typeName(type)));
  return value(call.emit.libraryBinary(functionOf(call), x, y));
}

FrontValue several(BuiltinCall &call) {
  std::vector<FrontValue> given;
  for (size_t i = 0; i < call.parameters.size(); ++i)
    given.push_back(call.at(i));
  std::vector<ValueId> operands = call.emit.convertAll(given);
  const Type type = call.c.typeOf(operands[0]);
  if (!isFloat(type.dtype))
    call.c.failType(call.range, fmt::format("{} needs floating-point operands, not {}", call.nameRange.text(),
                                            call.emit.typeName(type)));
  Attributes attributes;
  attributes.set("symbol", std::string(functionOf(call)));
  attributes.set("library", std::string("libdevice"));
  attributes.set("pure", true);
  return value(call.c.create(OpKind::ExternCall, std::move(operands), type, std::move(attributes)));
}

// --- predicates ---

FrontValue isNan(BuiltinCall &call) {
  const FrontValue x = value(call.floating(0));
  return value(call.emit.compare(CompareOperator::NotEq, x, x));
}
FrontValue comparedMagnitude(BuiltinCall &call, CompareOperator op) {
  const FrontValue magnitude = value(call.emit.unary("abs", call.floating(0)));
  return value(call.emit.compare(op, magnitude, FrontValue::floating(HUGE_VAL)));
}
FrontValue isInf(BuiltinCall &call) { return comparedMagnitude(call, CompareOperator::Eq); }
FrontValue isFinite(BuiltinCall &call) { return comparedMagnitude(call, CompareOperator::Lt); }

/// A float's bits as a signed integer of its width.
FrontValue signedBits(BuiltinCall &call, ValueId x) {
  const uint32_t width = bitWidth(call.c.typeOf(x).dtype);
  return bits(call, value(x), width == 64 ? DType::Int64 : width == 32 ? DType::Int32 : DType::Int16);
}
FrontValue signBit(BuiltinCall &call) {
  const FrontValue pattern = signedBits(call, call.floating(0));
  return to(call, value(call.emit.compare(CompareOperator::Lt, pattern, number(call, 0))), DType::Int32);
}

// --- floats to integers and back ---

FrontValue integerExponent(BuiltinCall &call) {
  const FrontValue x = value(call.floating(0));
  const FrontValue nan = value(call.emit.compare(CompareOperator::NotEq, x, x));
  // Infinite exponents (of 0 and of infinity) saturate, as C's ilogb does.
  const FrontValue exponent = to(call, value(call.emit.unary("logb", x.value)), DType::Int32);
  return value(call.emit.select(nan, number(call, INT32_MIN), exponent));
}
FrontValue roundedInteger(BuiltinCall &call) {
  const std::string_view function = spelled(call) == "llrint" ? "rint" : "round";
  return to(call, value(call.emit.unary(function, call.floating(0))), DType::Int64);
}

struct NumberKind {
  std::string_view name;
  DType dtype;
};
constexpr std::array<NumberKind, 6> kKinds = {{{"float", DType::Float32},
                                               {"double", DType::Float64},
                                               {"int", DType::Int32},
                                               {"uint", DType::UInt32},
                                               {"ll", DType::Int64},
                                               {"ull", DType::UInt64}}};
DType kindNamed(std::string_view name) {
  for (const NumberKind &kind : kKinds)
    if (kind.name == name)
      return kind.dtype;
  return DType::Void;
}

/// "float2int_rd" and its kin.
FrontValue conversion(BuiltinCall &call) {
  const std::string_view name = spelled(call);
  const size_t two = name.find('2'), bar = name.find('_');
  const DType from = kindNamed(name.substr(0, two)), target = kindNamed(name.substr(two + 1, bar - two - 1));
  const std::string_view mode = name.substr(bar + 1);
  ValueId x = call.tensor(0);
  if (isFloat(from) != isFloat(call.c.typeOf(x).dtype))
    call.failArgument(0, isFloat(from) ? "a floating-point tensor" : "an integer tensor");
  x = call.emit.cast(x, from);
  if (!isFloat(target)) {
    // The cast itself truncates and saturates; an unsigned result is handed out in a signed type.
    const std::string_view whole = mode == "rn" ? "rint" : mode == "rd" ? "floor" : "ceil";
    const FrontValue rounded = mode == "rz" ? value(x) : value(call.emit.unary(whole, x));
    const FrontValue result = to(call, rounded, target);
    return isSigned(target) ? result
                            : bits(call, result, bitWidth(target) == 32 ? DType::Int32 : DType::Int64);
  }
  if (mode == "rn")
    return to(call, value(x), target);
  Attributes attributes;
  attributes.set("rounding", std::string(mode == "rz" ? "rtz" : mode == "rd" ? "rtn" : "rtp"));
  return value(call.c.create(OpKind::Cast, {x}, call.c.typeOf(x).withDType(target), std::move(attributes)));
}

FrontValue reinterpreted(BuiltinCall &call, DType from, DType target) {
  ValueId x = call.tensor(0);
  const DType given = call.c.typeOf(x).dtype;
  if (isFloat(given) != isFloat(from) || bitWidth(given) != bitWidth(from))
    call.failArgument(0, fmt::format("of dtype {}", tritonName(from)));
  return bits(call, value(x), target);
}
FrontValue reinterpretedF32(BuiltinCall &call) { return reinterpreted(call, DType::Float32, DType::Int32); }
FrontValue reinterpretedI32(BuiltinCall &call) { return reinterpreted(call, DType::Int32, DType::Float32); }
FrontValue reinterpretedF64(BuiltinCall &call) { return reinterpreted(call, DType::Float64, DType::Int64); }
FrontValue reinterpretedI64(BuiltinCall &call) { return reinterpreted(call, DType::Int64, DType::Float64); }

FrontValue highWord(BuiltinCall &call) {
  const FrontValue pattern = reinterpretedF64(call);
  return to(call, binary(call, BinaryOperator::RShift, pattern, number(call, 32)), DType::Int32);
}
FrontValue lowWord(BuiltinCall &call) { return to(call, reinterpretedF64(call), DType::Int32); }
FrontValue fromWords(BuiltinCall &call) {
  const FrontValue high = to(call, integer(call, 0), DType::Int64),
                   low = to(call, to(call, integer(call, 1), DType::UInt32), DType::Int64);
  const FrontValue shifted = binary(call, BinaryOperator::LShift, high, number(call, 32));
  return bits(call, binary(call, BinaryOperator::BitOr, shifted, low), DType::Float64);
}

// --- arithmetic ---

FrontValue nearest(BuiltinCall &call, BinaryOperator op) {
  call.floating(0);
  return binary(call, op, call.at(0), call.at(1));
}
FrontValue addNearest(BuiltinCall &call) { return nearest(call, BinaryOperator::Add); }
FrontValue subNearest(BuiltinCall &call) { return nearest(call, BinaryOperator::Sub); }
FrontValue mulNearest(BuiltinCall &call) { return nearest(call, BinaryOperator::Mult); }
FrontValue divideFast(BuiltinCall &call) { return nearest(call, BinaryOperator::Div); }
FrontValue fusedNearest(BuiltinCall &call) {
  const auto values = call.emit.convertAll({call.at(0), call.at(1), call.at(2)});
  return value(call.c.create(OpKind::Fma, values, call.c.typeOf(values[0])));
}
FrontValue saturate(BuiltinCall &call) {
  const auto values =
      call.emit.convertAll({value(call.floating(0)), FrontValue::floating(0.0), FrontValue::floating(1.0)});
  return value(call.c.create(OpKind::Clamp, values, call.c.typeOf(values[0])));
}
/// A function of a float and an integer: ldexp(x, n), jn(n, x).
FrontValue mixed(BuiltinCall &call, size_t floatAt) {
  ValueId x = call.floating(floatAt);
  ValueId n = integer(call, 1 - floatAt).value;
  std::tie(x, n) = call.emit.broadcast(x, n);
  Attributes attributes;
  attributes.set("function", std::string(spelled(call) == "scalbn" ? "ldexp" : spelled(call)));
  const std::vector<ValueId> operands = floatAt == 0 ? std::vector{x, n} : std::vector{n, x};
  return value(call.c.create(OpKind::Binary, operands, call.c.typeOf(x), std::move(attributes)));
}
FrontValue scaled(BuiltinCall &call) { return mixed(call, 0); }
FrontValue ofOrder(BuiltinCall &call) { return mixed(call, 1); }

// --- bits of integers ---

FrontValue bitCount(BuiltinCall &call) {
  return to(call, value(call.emit.unary(spelled(call), integer(call, 0).value)), DType::Int32);
}
FrontValue reversedBits(BuiltinCall &call) { return value(call.emit.unary("brev", integer(call, 0).value)); }

/// Byte i of the result is the byte of y:x that bits 4i..4i+2 of s name.
FrontValue permutedBytes(BuiltinCall &call) {
  const auto word = [&](size_t i) {
    return to(call, to(call, integer(call, i), DType::UInt32), DType::Int64);
  };
  const FrontValue both = binary(call, BinaryOperator::BitOr, word(0),
                                 binary(call, BinaryOperator::LShift, word(1), number(call, 32)));
  const FrontValue selector = word(2);
  FrontValue result;
  for (int64_t byte = 0; byte < 4; ++byte) {
    const FrontValue index =
        binary(call, BinaryOperator::BitAnd,
               binary(call, BinaryOperator::RShift, selector, number(call, 4 * byte)), number(call, 7));
    const FrontValue shift = binary(call, BinaryOperator::Mult, index, number(call, 8));
    const FrontValue picked = binary(call, BinaryOperator::BitAnd,
                                     binary(call, BinaryOperator::RShift, both, shift), number(call, 255));
    const FrontValue placed = binary(call, BinaryOperator::LShift, picked, number(call, 8 * byte));
    result = byte == 0 ? placed : binary(call, BinaryOperator::BitOr, result, placed);
  }
  return to(call, result, DType::Int32);
}

std::pair<FrontValue, FrontValue> integerPair(BuiltinCall &call) {
  const auto [x, y] = call.emit.convert(integer(call, 0), integer(call, 1));
  return {value(x), value(y)};
}

/// The high half of the product; MulHi is the unsigned one, so a negative factor is made up for.
FrontValue highProduct(BuiltinCall &call) {
  const auto [x, y] = integerPair(call);
  FrontValue high = value(call.c.create(OpKind::MulHi, {x.value, y.value}, call.c.typeOf(x.value)));
  if (!isSigned(dtypeOf(call, x)))
    return high;
  const auto correction = [&](const FrontValue &factor, const FrontValue &other) {
    const FrontValue negative = value(call.emit.compare(CompareOperator::Lt, factor, number(call, 0)));
    return value(call.emit.select(negative, other, number(call, 0)));
  };
  const FrontValue first = binary(call, BinaryOperator::Sub, high, correction(x, y));
  return binary(call, BinaryOperator::Sub, first, correction(y, x));
}

FrontValue product24(BuiltinCall &call) {
  const auto [x, y] = integerPair(call);
  const auto low = [&](const FrontValue &v) {
    const FrontValue raised = binary(call, BinaryOperator::LShift, v, number(call, 8));
    return binary(call, BinaryOperator::RShift, raised, number(call, 8));
  };
  return binary(call, BinaryOperator::Mult, low(x), low(y));
}

FrontValue sumOfDifference(BuiltinCall &call) {
  const auto [x, y] = integerPair(call);
  const FrontValue larger = value(call.emit.minMax(OpKind::Max, x, y, false)),
                   smaller = value(call.emit.minMax(OpKind::Min, x, y, false));
  const FrontValue distance = binary(call, BinaryOperator::Sub, larger, smaller);
  return binary(call, BinaryOperator::Add, distance, to(call, integer(call, 2), dtypeOf(call, distance)));
}

/// (x + y) / 2 without overflow, rounded down (hadd) or up (rhadd).
FrontValue halvedSum(BuiltinCall &call) {
  const auto [x, y] = integerPair(call);
  const FrontValue half =
      binary(call, BinaryOperator::RShift, binary(call, BinaryOperator::BitXor, x, y), number(call, 1));
  if (spelled(call) == "hadd")
    return binary(call, BinaryOperator::Add, binary(call, BinaryOperator::BitAnd, x, y), half);
  return binary(call, BinaryOperator::Sub, binary(call, BinaryOperator::BitOr, x, y), half);
}

constexpr Builtin kRows[] = {
#define UNARY(name, function) {"math." name, "x", unary},
#define BINARY(name, function) {"math." name, "x, y", binaryFunction},
#define TERNARY(name, function) {"math." name, "x, y, z", several},
#define QUATERNARY(name, function) {"math." name, "x, y, z, w", several},
#define CONVERSION(name) {"math." name, "x", conversion},
#define SPECIAL(name, parameters, handler) {"math." name, parameters, handler},
#include "Libdevice.def"
};

} // namespace

std::span<const Builtin> libraryBuiltins() { return kRows; }

} // namespace tilewright::lowering

#include "ConstexprArithmetic.h"

#include <cmath>
#include <fmt/format.h>

namespace tilewright::lowering {

using lang::BinaryOperator;
using lang::CompareOperator;
using lang::UnaryOperator;

namespace {

std::string kindText(const FrontValue &v) {
  switch (v.kind) {
  case FrontKind::None:
    return "NoneType";
  case FrontKind::Bool:
    return "bool";
  case FrontKind::Int:
    return "int";
  case FrontKind::Float:
    return "float";
  case FrontKind::String:
    return "str";
  case FrontKind::TypeObject:
    return "dtype";
  case FrontKind::Tuple:
    return "tuple";
  default:
    return "function";
  }
}

[[noreturn]] void failOperands(LoweringContext &c, std::string_view op, const FrontValue &a,
                               const FrontValue &b, const SourceRange &range) {
  c.failType(range,
             fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", op, kindText(a), kindText(b)));
}

[[noreturn]] void failOverflow(LoweringContext &c, const SourceRange &range) {
  c.failType(range, "a constexpr integer grows past 128 bits");
}

/// Arithmetic past int64. Operands that depend on parameters are pinned: no expression holds such numbers.
FrontValue wideBinary(LoweringContext &c, BinaryOperator op, const FrontValue &a, const FrontValue &b,
                      const SourceRange &range) {
  for (const FrontValue *v : {&a, &b})
    if (!v->wide)
      c.concrete(*v, range);
  const WideInteger x = a.exact(), y = b.exact();
  WideInteger value = 0;
  bool overflow = false;
  switch (op) {
  case BinaryOperator::Add:
    overflow = __builtin_add_overflow(x, y, &value);
    break;
  case BinaryOperator::Sub:
    overflow = __builtin_sub_overflow(x, y, &value);
    break;
  case BinaryOperator::Mult:
    overflow = __builtin_mul_overflow(x, y, &value);
    break;
  case BinaryOperator::FloorDiv:
  case BinaryOperator::Mod: {
    if (y == 0)
      c.failType(range, "integer division or modulo by zero");
    const WideInteger quotient = x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
    value = op == BinaryOperator::FloorDiv ? quotient : x - quotient * y;
    break;
  }
  case BinaryOperator::Div:
    if (y == 0)
      c.failType(range, "division by zero");
    return FrontValue::floating(static_cast<double>(x) / static_cast<double>(y));
  case BinaryOperator::Pow:
    if (y < 0)
      return FrontValue::floating(std::pow(static_cast<double>(x), static_cast<double>(y)));
    if (x >= -1 && x <= 1) { // never grows, however often it is multiplied
      value = x == -1 && y % 2 == 0 ? 1 : y == 0 ? 1 : x;
      break;
    }
    value = 1;
    for (WideInteger i = 0; i < y && !overflow; ++i)
      overflow = __builtin_mul_overflow(value, x, &value);
    break;
  case BinaryOperator::LShift:
    overflow = y < 0 || y > 126 || __builtin_mul_overflow(x, WideInteger(1) << static_cast<int>(y), &value);
    break;
  case BinaryOperator::RShift:
    if (y < 0)
      c.failType(range, "negative shift count");
    value = x >> static_cast<int>(y > 127 ? 127 : y);
    break;
  case BinaryOperator::BitAnd:
    value = x & y;
    break;
  case BinaryOperator::BitOr:
    value = x | y;
    break;
  case BinaryOperator::BitXor:
    value = x ^ y;
    break;
  case BinaryOperator::MatMult:
    failOperands(c, operatorText(op), a, b, range);
  }
  if (overflow)
    failOverflow(c, range);
  return constexprInteger(c, value);
}

int64_t floorDivide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

FrontValue power(LoweringContext &c, const FrontValue &a, const FrontValue &b, const SourceRange &range) {
  const int64_t exponent = b.witness;
  if (exponent < 0)
    return FrontValue::floating(
        std::pow(static_cast<double>(c.concrete(a, range)), static_cast<double>(c.concrete(b, range))));
  int64_t value = 1;
  if (a.witness == -1)
    value = exponent % 2 == 0 ? 1 : -1;
  else
    for (int64_t i = 0; i < exponent; ++i) {
      if (__builtin_mul_overflow(value, a.witness, &value))
        return wideBinary(c, BinaryOperator::Pow, a, b, range);
      if (value == 0 || (value == 1 && a.witness == 1))
        break;
    }
  if (a.sym.isConstant(2) && !b.sym.isConstant())
    return FrontValue::integer(c.syms.bit(SymOp::Shl, c.syms.constant(1), b.sym), value);
  c.concrete(b, range);
  SymInt sym = c.syms.constant(1);
  if (exponent <= 8)
    for (int64_t i = 0; i < exponent; ++i)
      sym = c.syms.mul(sym, a.sym);
  else {
    c.concrete(a, range);
    sym = c.syms.constant(value);
  }
  return FrontValue::integer(sym, value);
}

FrontValue integerBinary(LoweringContext &c, BinaryOperator op, const FrontValue &a, const FrontValue &b,
                         const SourceRange &range) {
  if (a.wide || b.wide)
    return wideBinary(c, op, a, b, range);
  const int64_t x = a.witness, y = b.witness;
  int64_t value = 0;
  SymInt sym;
  bool overflow = false;
  const bool logical = a.kind == FrontKind::Bool && b.kind == FrontKind::Bool;
  switch (op) {
  case BinaryOperator::Add:
    overflow = __builtin_add_overflow(x, y, &value);
    sym = c.syms.add(a.sym, b.sym);
    break;
  case BinaryOperator::Sub:
    overflow = __builtin_sub_overflow(x, y, &value);
    sym = c.syms.sub(a.sym, b.sym);
    break;
  case BinaryOperator::Mult:
    overflow = __builtin_mul_overflow(x, y, &value);
    sym = c.syms.mul(a.sym, b.sym);
    break;
  case BinaryOperator::FloorDiv:
  case BinaryOperator::Mod:
    if (y == 0)
      c.fail(range, "lower.type", "integer division or modulo by zero",
             b.sym.isConstant() ? SymInt() : c.syms.logicalNot(c.syms.eq(b.sym, c.syms.constant(0))));
    if (x == INT64_MIN && y == -1)
      return wideBinary(c, op, a, b, range);
    value = op == BinaryOperator::FloorDiv ? floorDivide(x, y) : x - floorDivide(x, y) * y;
    sym = op == BinaryOperator::FloorDiv ? c.syms.floorDiv(a.sym, b.sym) : c.syms.mod(a.sym, b.sym);
    break;
  case BinaryOperator::Div: {
    const double numerator = static_cast<double>(c.concrete(a, range)),
                 denominator = static_cast<double>(c.concrete(b, range));
    if (denominator == 0)
      c.failType(range, "division by zero");
    return FrontValue::floating(numerator / denominator);
  }
  case BinaryOperator::Pow:
    return power(c, a, b, range);
  case BinaryOperator::LShift:
    if (y < 0)
      c.failType(range, "negative shift count");
    if (y > 62 || (x != 0 && (x == INT64_MIN || std::abs(x) > (INT64_MAX >> y))))
      return wideBinary(c, op, a, b, range);
    value = x * (int64_t(1) << y);
    sym = b.sym.isConstant() ? c.syms.mul(a.sym, c.syms.constant(int64_t(1) << y))
                             : c.syms.bit(SymOp::Shl, a.sym, b.sym);
    break;
  case BinaryOperator::RShift:
    if (y < 0)
      c.failType(range, "negative shift count");
    value = y > 63 ? (x < 0 ? -1 : 0) : x >> y;
    sym = b.sym.isConstant() && y <= 62 ? c.syms.floorDiv(a.sym, c.syms.constant(int64_t(1) << y))
                                        : c.syms.bit(SymOp::Shr, a.sym, b.sym);
    break;
  case BinaryOperator::BitAnd:
    value = x & y;
    sym = logical ? c.syms.logicalAnd(a.sym, b.sym) : c.syms.bit(SymOp::BitAnd, a.sym, b.sym);
    break;
  case BinaryOperator::BitOr:
    value = x | y;
    sym = logical ? c.syms.logicalOr(a.sym, b.sym) : c.syms.bit(SymOp::BitOr, a.sym, b.sym);
    break;
  case BinaryOperator::BitXor:
    value = x ^ y;
    sym = c.syms.bit(SymOp::Xor, a.sym, b.sym);
    break;
  case BinaryOperator::MatMult:
    failOperands(c, operatorText(op), a, b, range);
  }
  if (overflow)
    return wideBinary(c, op, a, b, range);
  const bool bitwise =
      op == BinaryOperator::BitAnd || op == BinaryOperator::BitOr || op == BinaryOperator::BitXor;
  return logical && bitwise ? FrontValue::boolean(sym, value != 0) : FrontValue::integer(sym, value);
}

FrontValue floatBinary(LoweringContext &c, BinaryOperator op, double x, double y, const FrontValue &a,
                       const FrontValue &b, const SourceRange &range) {
  if (y == 0 && (op == BinaryOperator::Div || op == BinaryOperator::FloorDiv || op == BinaryOperator::Mod))
    c.failType(range, "float division by zero");
  switch (op) {
  case BinaryOperator::Add:
    return FrontValue::floating(x + y);
  case BinaryOperator::Sub:
    return FrontValue::floating(x - y);
  case BinaryOperator::Mult:
    return FrontValue::floating(x * y);
  case BinaryOperator::Div:
    return FrontValue::floating(x / y);
  case BinaryOperator::FloorDiv:
    return FrontValue::floating(std::floor(x / y));
  case BinaryOperator::Mod: {
    const double r = std::fmod(x, y);
    return FrontValue::floating(r != 0 && (r < 0) != (y < 0) ? r + y : r);
  }
  case BinaryOperator::Pow:
    return FrontValue::floating(std::pow(x, y));
  default:
    failOperands(c, operatorText(op), a, b, range);
  }
}

double asFloat(LoweringContext &c, const FrontValue &v, const SourceRange &range) {
  return v.kind == FrontKind::Float || v.wide ? v.asDouble() : static_cast<double>(c.concrete(v, range));
}

/// Python's == between values of any kinds. For integers it is a condition; everything else is known now.
FrontValue equal(LoweringContext &c, const FrontValue &a, const FrontValue &b, const SourceRange &range) {
  if (a.isIntegral() && b.isIntegral() && (a.wide || b.wide))
    return c.boolean(a.exact() == b.exact());
  if (a.isIntegral() && b.isIntegral())
    return c.condition(c.syms.eq(a.sym, b.sym), range);
  if (a.isNumber() && b.isNumber())
    return c.boolean(asFloat(c, a, range) == asFloat(c, b, range));
  if (a.kind == FrontKind::Tuple && b.kind == FrontKind::Tuple) {
    if (a.items->size() != b.items->size())
      return c.boolean(false);
    SymInt all = c.syms.constant(1);
    for (size_t i = 0; i < a.items->size(); ++i)
      all = c.syms.logicalAnd(all, equal(c, (*a.items)[i], (*b.items)[i], range).sym);
    return c.condition(all, range);
  }
  if (a.kind != b.kind)
    return c.boolean(false);
  switch (a.kind) {
  case FrontKind::None:
    return c.boolean(true);
  case FrontKind::TypeObject:
    return c.boolean(a.type == b.type);
  case FrontKind::Function:
    return c.boolean(a.function == b.function);
  case FrontKind::Runtime:
    return c.boolean(a.value == b.value);
  default:
    return c.boolean(a.text == b.text);
  }
}

FrontValue negated(LoweringContext &c, const FrontValue &condition) {
  return FrontValue::boolean(c.syms.logicalNot(condition.sym), condition.witness == 0);
}

} // namespace

FrontValue constexprBinary(LoweringContext &c, BinaryOperator op, const FrontValue &a, const FrontValue &b,
                           const SourceRange &range) {
  if (a.isIntegral() && b.isIntegral())
    return integerBinary(c, op, a, b, range);
  if (a.isNumber() && b.isNumber())
    return floatBinary(c, op, asFloat(c, a, range), asFloat(c, b, range), a, b, range);
  if (op == BinaryOperator::Add && a.kind == FrontKind::String && b.kind == FrontKind::String)
    return FrontValue::string(a.text + b.text);
  if (op == BinaryOperator::Add && a.kind == FrontKind::Tuple && b.kind == FrontKind::Tuple) {
    auto items = *a.items;
    items.insert(items.end(), b.items->begin(), b.items->end());
    return FrontValue::tuple(std::move(items));
  }
  if (op == BinaryOperator::Mult && (a.kind == FrontKind::Tuple || b.kind == FrontKind::Tuple)) {
    const FrontValue &tuple = a.kind == FrontKind::Tuple ? a : b;
    const FrontValue &count = a.kind == FrontKind::Tuple ? b : a;
    if (count.isIntegral()) {
      std::vector<FrontValue> items;
      const int64_t times = c.concrete(count, range);
      if (times > 0 && times * static_cast<int64_t>(tuple.items->size()) > 65536)
        c.fail(range, "lower.limit", "a tuple grows past 65536 items");
      for (int64_t i = 0; i < times; ++i)
        items.insert(items.end(), tuple.items->begin(), tuple.items->end());
      return FrontValue::tuple(std::move(items));
    }
  }
  failOperands(c, operatorText(op), a, b, range);
}

FrontValue constexprCompare(LoweringContext &c, CompareOperator op, const FrontValue &a, const FrontValue &b,
                            const SourceRange &range) {
  switch (op) {
  case CompareOperator::Eq:
    return equal(c, a, b, range);
  case CompareOperator::NotEq:
    return negated(c, equal(c, a, b, range));
  case CompareOperator::Is:
  case CompareOperator::IsNot: {
    const FrontValue same = a.kind == b.kind ? equal(c, a, b, range) : c.boolean(false);
    return op == CompareOperator::Is ? same : negated(c, same);
  }
  case CompareOperator::In:
  case CompareOperator::NotIn: {
    FrontValue found = c.boolean(false);
    if (b.kind == FrontKind::Tuple) {
      SymInt any = c.syms.constant(0);
      for (const FrontValue &item : *b.items)
        any = c.syms.logicalOr(any, equal(c, a, item, range).sym);
      found = c.condition(any, range);
    } else if (a.kind == FrontKind::String && b.kind == FrontKind::String) {
      found = c.boolean(b.text.find(a.text) != std::string::npos);
    } else {
      failOperands(c, operatorText(op), a, b, range);
    }
    return op == CompareOperator::In ? found : negated(c, found);
  }
  default:
    break;
  }
  const auto order = [&](const auto &x, const auto &y) {
    return op == CompareOperator::Lt    ? x < y
           : op == CompareOperator::LtE ? x <= y
           : op == CompareOperator::Gt  ? x > y
                                        : x >= y;
  };
  if (a.isIntegral() && b.isIntegral() && (a.wide || b.wide))
    return c.boolean(order(a.exact(), b.exact()));
  if (a.isIntegral() && b.isIntegral()) {
    switch (op) {
    case CompareOperator::Lt:
      return c.condition(c.syms.lt(a.sym, b.sym), range);
    case CompareOperator::LtE:
      return c.condition(c.syms.le(a.sym, b.sym), range);
    case CompareOperator::Gt:
      return c.condition(c.syms.lt(b.sym, a.sym), range);
    default:
      return c.condition(c.syms.le(b.sym, a.sym), range);
    }
  }
  if (a.isNumber() && b.isNumber())
    return c.boolean(order(asFloat(c, a, range), asFloat(c, b, range)));
  if (a.kind == FrontKind::String && b.kind == FrontKind::String)
    return c.boolean(order(a.text, b.text));
  failOperands(c, operatorText(op), a, b, range);
}

FrontValue constexprUnary(LoweringContext &c, UnaryOperator op, const FrontValue &a,
                          const SourceRange &range) {
  if (op == UnaryOperator::Not) {
    if (a.kind == FrontKind::Bool)
      return negated(c, a);
    if (a.kind == FrontKind::Int && !a.wide)
      return c.condition(c.syms.eq(a.sym, c.syms.constant(0)), range);
    return c.boolean(!c.truth(a, range));
  }
  if (a.kind == FrontKind::Float && op != UnaryOperator::Invert)
    return FrontValue::floating(op == UnaryOperator::USub ? -a.number : a.number);
  if (!a.isIntegral())
    c.failType(range, fmt::format("bad operand type for unary {}: '{}'", operatorText(op), kindText(a)));
  if (a.wide || (op == UnaryOperator::USub && a.witness == INT64_MIN))
    return constexprInteger(c, op == UnaryOperator::UAdd     ? a.exact()
                               : op == UnaryOperator::Invert ? ~a.exact()
                                                             : -a.exact());
  if (op == UnaryOperator::UAdd)
    return FrontValue::integer(a.sym, a.witness);
  if (op == UnaryOperator::Invert)
    return FrontValue::integer(c.syms.sub(c.syms.constant(-1), a.sym), ~a.witness);
  return FrontValue::integer(c.syms.neg(a.sym), -a.witness);
}

FrontValue constexprInteger(LoweringContext &c, WideInteger value) {
  const auto low = static_cast<int64_t>(static_cast<uint64_t>(value));
  return value == low ? c.integer(low) : FrontValue::wideInteger(c.syms.constant(low), low, value);
}

FrontValue constexprInteger(LoweringContext &c, std::string_view digits, const SourceRange &range) {
  WideInteger value = 0;
  for (const char digit : digits)
    if (__builtin_mul_overflow(value, WideInteger(10), &value) ||
        __builtin_add_overflow(value, WideInteger(digit - '0'), &value))
      failOverflow(c, range);
  return constexprInteger(c, value);
}

FrontValue constexprExtreme(LoweringContext &c, bool wantMax, const std::vector<FrontValue> &values,
                            const SourceRange &range) {
  FrontValue best = values.front();
  for (size_t i = 1; i < values.size(); ++i) {
    const FrontValue &next = values[i];
    if (!best.isNumber() || !next.isNumber())
      failOperands(c, wantMax ? "max" : "min", best, next, range);
    if (best.isIntegral() && next.isIntegral() && (best.wide || next.wide)) {
      if (wantMax ? next.exact() > best.exact() : next.exact() < best.exact())
        best = next;
    } else if (best.isIntegral() && next.isIntegral()) {
      best = c.integer(wantMax ? c.syms.max(best.sym, next.sym) : c.syms.min(best.sym, next.sym), range);
    } else {
      const double x = asFloat(c, best, range), y = asFloat(c, next, range);
      if (wantMax ? y > x : y < x)
        best = next;
    }
  }
  return best;
}

std::string pythonText(const FrontValue &value) {
  switch (value.kind) {
  case FrontKind::None:
    return "None";
  case FrontKind::Bool:
    return value.witness ? "True" : "False";
  case FrontKind::Int: {
    if (!value.wide)
      return fmt::format("{}", value.witness);
    std::string text;
    WideInteger rest = *value.wide;
    for (; rest != 0; rest /= 10)
      text.insert(text.begin(),
                  static_cast<char>('0' + static_cast<int>(rest < 0 ? -(rest % 10) : rest % 10)));
    return *value.wide < 0 ? "-" + text : text;
  }
  case FrontKind::Float: {
    auto text = fmt::format("{}", value.number);
    return std::isfinite(value.number) && text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  case FrontKind::TypeObject:
    return std::string(tritonName(value.type.dtype));
  case FrontKind::Tuple: {
    std::string text = "(";
    for (size_t i = 0; i < value.items->size(); ++i)
      text += (i ? ", " : "") + pythonText((*value.items)[i]);
    return text + (value.items->size() == 1 ? ",)" : ")");
  }
  default:
    return value.text;
  }
}

} // namespace tilewright::lowering

#include "Functions.h"
#include "Machine.h"
#include "MinMax.h"

#include <cmath>

namespace tilewright::interp {

namespace {

uint64_t bitsOf(int64_t value) { return static_cast<uint64_t>(value); }

uint64_t maskOf(DType dtype) {
  const uint32_t width = bitWidth(dtype);
  return width >= 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
}

/// Division by zero has no meaning in Triton (the hardware decides); here the quotient is 0 and the remainder
/// the dividend. The one overflowing quotient wraps.
int64_t divideIntegers(DType dtype, int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (dtype == DType::UInt64)
    return static_cast<int64_t>(bitsOf(a) / bitsOf(b));
  return b == -1 ? static_cast<int64_t>(-bitsOf(a)) : a / b;
}
int64_t remainderOf(DType dtype, int64_t a, int64_t b) {
  if (b == 0)
    return a;
  if (dtype == DType::UInt64)
    return static_cast<int64_t>(bitsOf(a) % bitsOf(b));
  return b == -1 ? 0 : a % b;
}

/// Shifting by the width or more (or by a negative number) leaves nothing but the sign of an arithmetic
/// shift.
int64_t shiftLeft(DType dtype, int64_t a, int64_t b) {
  return bitsOf(b) >= bitWidth(dtype) ? 0 : static_cast<int64_t>(bitsOf(a) << b);
}
int64_t shiftRight(DType dtype, int64_t a, int64_t b) {
  if (isSigned(dtype))
    return a >> (bitsOf(b) >= bitWidth(dtype) ? 63 : b);
  return bitsOf(b) >= bitWidth(dtype) ? 0 : static_cast<int64_t>(bitsOf(a) >> b);
}

int64_t multiplyHigh(DType dtype, int64_t a, int64_t b) {
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = static_cast<Wide>(bitsOf(a) & maskOf(dtype)) * (bitsOf(b) & maskOf(dtype));
  return static_cast<int64_t>(static_cast<uint64_t>(product >> bitWidth(dtype)));
}

} // namespace

Machine::Flow Machine::constant(const Op &op) {
  Cell *out = result(op);
  const DType d = dtype(op.results[0]);
  if (isFloat(d)) {
    out->f = roundTo(d, op.attributes.number("value"));
    return Flow::Next;
  }
  const auto value = tilewright::evaluate(op.attributes.sym("value"), symbols_);
  if (!value)
    return failed(op, ErrorKind::Internal, "internal",
                  "the constant " + toString(op.attributes.sym("value")) + " has no value here");
  out->i = wrap(d, *value);
  return Flow::Next;
}

Machine::Flow Machine::iota(const Op &op) {
  Cell *out = result(op);
  const auto start = tilewright::evaluate(op.attributes.sym("start"), symbols_);
  if (!start)
    return failed(op, ErrorKind::Internal, "internal", "the start of an iota has no value here");
  for (size_t i = 0; i < count(op.results[0]); ++i)
    out[i].i = wrap(DType::Int32, *start + static_cast<int64_t>(i));
  return Flow::Next;
}

Machine::Flow Machine::binary(const Op &op) {
  const DType d = dtype(op.results[0]);
  const size_t n = count(op.results[0]);
  const Cell *a = operand(op, 0), *b = operand(op, 1);
  Cell *out = result(op);
  if (isFloat(d) && !type(op.results[0]).isPointer()) {
    const auto lanes = [&](auto f) {
      floatLanes(d, out, n, [&](auto t, size_t i) {
        using T = decltype(t);
        return f(static_cast<T>(a[i].f), static_cast<T>(b[i].f));
      });
      return Flow::Next;
    };
    const bool nan = op.attributes.flag("propagate_nan");
    switch (op.kind) {
    case OpKind::Add:
      return lanes([](auto x, auto y) { return x + y; });
    case OpKind::Sub:
      return lanes([](auto x, auto y) { return x - y; });
    case OpKind::Mul:
      return lanes([](auto x, auto y) { return x * y; });
    case OpKind::Div:
      return lanes([](auto x, auto y) { return x / y; });
    case OpKind::Rem:
      return lanes([](auto x, auto y) { return std::fmod(x, y); });
    case OpKind::Min:
      return lanes([nan](auto x, auto y) { return minimum(x, y, nan); });
    case OpKind::Max:
      return lanes([nan](auto x, auto y) { return maximum(x, y, nan); });
    default:
      return unsupported(op, "on floats");
    }
  }
  const auto lanes = [&](auto f) {
    integerLanes(d, out, n, [&](size_t i) { return f(a[i].i, b[i].i); });
    return Flow::Next;
  };
  switch (op.kind) {
  case OpKind::Add:
    return lanes([](int64_t x, int64_t y) { return bitsOf(x) + bitsOf(y); });
  case OpKind::Sub:
    return lanes([](int64_t x, int64_t y) { return bitsOf(x) - bitsOf(y); });
  case OpKind::Mul:
    return lanes([](int64_t x, int64_t y) { return bitsOf(x) * bitsOf(y); });
  case OpKind::Div:
    return lanes([d](int64_t x, int64_t y) { return divideIntegers(d, x, y); });
  case OpKind::Rem:
    return lanes([d](int64_t x, int64_t y) { return remainderOf(d, x, y); });
  case OpKind::And:
    return lanes([](int64_t x, int64_t y) { return x & y; });
  case OpKind::Or:
    return lanes([](int64_t x, int64_t y) { return x | y; });
  case OpKind::Xor:
    return lanes([](int64_t x, int64_t y) { return x ^ y; });
  case OpKind::Shl:
    return lanes([d](int64_t x, int64_t y) { return shiftLeft(d, x, y); });
  case OpKind::Shr:
    return lanes([d](int64_t x, int64_t y) { return shiftRight(d, x, y); });
  case OpKind::Min:
    return lanes([d](int64_t x, int64_t y) { return lessInteger(d, y, x) ? y : x; });
  case OpKind::Max:
    return lanes([d](int64_t x, int64_t y) { return lessInteger(d, x, y) ? y : x; });
  case OpKind::MulHi:
    return lanes([d](int64_t x, int64_t y) { return multiplyHigh(d, x, y); });
  default:
    return unsupported(op, "on integers");
  }
}

Machine::Flow Machine::compare(const Op &op) {
  const size_t n = count(op.results[0]);
  const Cell *a = operand(op, 0), *b = operand(op, 1);
  Cell *out = result(op);
  const auto *attribute = op.attributes.find("predicate");
  const std::string &predicate = std::get<std::string>(*attribute);
  const Type &t = type(op.operands[0]);
  const auto lanes = [&](auto holds) {
    for (size_t i = 0; i < n; ++i)
      out[i].i = holds(a[i], b[i]);
    return Flow::Next;
  };
  if (isFloat(t.dtype) && !t.isPointer()) {
    if (predicate == "lt")
      return lanes([](Cell x, Cell y) { return x.f < y.f; });
    if (predicate == "le")
      return lanes([](Cell x, Cell y) { return x.f <= y.f; });
    if (predicate == "gt")
      return lanes([](Cell x, Cell y) { return x.f > y.f; });
    if (predicate == "ge")
      return lanes([](Cell x, Cell y) { return x.f >= y.f; });
    if (predicate == "eq")
      return lanes([](Cell x, Cell y) { return x.f == y.f; });
    if (predicate == "ne")
      return lanes([](Cell x, Cell y) { return x.f != y.f; });
    return unsupported(op, predicate);
  }
  const DType d = t.isPointer() ? DType::UInt64 : t.dtype;
  if (predicate == "lt")
    return lanes([d](Cell x, Cell y) { return lessInteger(d, x.i, y.i); });
  if (predicate == "le")
    return lanes([d](Cell x, Cell y) { return !lessInteger(d, y.i, x.i); });
  if (predicate == "gt")
    return lanes([d](Cell x, Cell y) { return lessInteger(d, y.i, x.i); });
  if (predicate == "ge")
    return lanes([d](Cell x, Cell y) { return !lessInteger(d, x.i, y.i); });
  if (predicate == "eq")
    return lanes([](Cell x, Cell y) { return x.i == y.i; });
  if (predicate == "ne")
    return lanes([](Cell x, Cell y) { return x.i != y.i; });
  return unsupported(op, predicate);
}

Machine::Flow Machine::select(const Op &op) {
  const Cell *condition = operand(op, 0), *ifTrue = operand(op, 1), *ifFalse = operand(op, 2);
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.results[0]); ++i)
    out[i] = condition[i].i ? ifTrue[i] : ifFalse[i];
  return Flow::Next;
}

Machine::Flow Machine::unary(const Op &op) {
  const std::string &function = std::get<std::string>(*op.attributes.find("function"));
  const DType d = dtype(op.operands[0]);
  const size_t n = count(op.results[0]);
  const Cell *x = operand(op, 0);
  Cell *out = result(op);
  if (isFloat(d)) {
    if (function == "neg" || function == "abs") { // exact in every format, and signs of zero and NaN count
      for (size_t i = 0; i < n; ++i)
        out[i].f = function == "neg" ? -x[i].f : std::fabs(x[i].f);
      return Flow::Next;
    }
    return libraryCall(op, function);
  }
  const auto lanes = [&](auto f) {
    integerLanes(dtype(op.results[0]), out, n, [&](size_t i) { return f(x[i].i); });
    return Flow::Next;
  };
  if (function == "neg")
    return lanes([](int64_t v) { return -bitsOf(v); });
  if (function == "not")
    return lanes([](int64_t v) { return ~v; });
  if (function == "abs")
    return lanes([d](int64_t v) { return isSigned(d) && v < 0 ? -bitsOf(v) : bitsOf(v); });
  if (function == "popc")
    return lanes([d](int64_t v) { return std::popcount(bitsOf(v) & maskOf(d)); });
  if (function == "clz")
    return lanes([d](int64_t v) {
      return std::countl_zero(bitsOf(v) & maskOf(d)) - 64 + static_cast<int>(bitWidth(d));
    });
  if (function == "ffs")
    return lanes([d](int64_t v) { return (bitsOf(v) & maskOf(d)) ? std::countr_zero(bitsOf(v)) + 1 : 0; });
  if (function == "brev")
    return lanes([d](int64_t v) {
      uint64_t reversed = 0;
      for (uint32_t bit = 0; bit < bitWidth(d); ++bit)
        reversed = reversed << 1 | (bitsOf(v) >> bit & 1);
      return reversed;
    });
  return libraryCall(op, function);
}

Machine::Flow Machine::libraryCall(const Op &op, std::string_view function) {
  const LibraryFunction *found = findFunction(function);
  if (!found || found->operands != op.operands.size())
    return unsupported(op, function);
  const DType d = dtype(op.results[0]);
  const Cell *x[kMostOperands] = {};
  bool floats[kMostOperands] = {};
  DType from[kMostOperands] = {};
  for (size_t k = 0; k < op.operands.size(); ++k) {
    x[k] = operand(op, k);
    from[k] = dtype(op.operands[k]);
    floats[k] = isFloat(from[k]);
  }
  Cell *out = result(op);
  const auto value = [&](size_t k, size_t i) {
    return floats[k] ? x[k][i].f : convert(from[k], DType::Float64, x[k][i]).f;
  };
  const bool single = d == DType::Float32 && found->single;
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    double arguments[kMostOperands] = {};
    for (size_t k = 0; k < op.operands.size(); ++k)
      arguments[k] = value(k, i);
    Cell cell;
    cell.f = single ? found->single(arguments) : found->call(arguments);
    out[i] = convert(DType::Float64, d, cell);
  }
  return Flow::Next;
}

Machine::Flow Machine::fma(const Op &op) {
  const DType d = dtype(op.results[0]);
  const Cell *a = operand(op, 0), *b = operand(op, 1), *c = operand(op, 2);
  Cell *out = result(op);
  if (isFloat(d))
    floatLanes(d, out, count(op.results[0]), [&](auto t, size_t i) {
      using T = decltype(t);
      return std::fma(static_cast<T>(a[i].f), static_cast<T>(b[i].f), static_cast<T>(c[i].f));
    });
  else
    integerLanes(d, out, count(op.results[0]),
                 [&](size_t i) { return bitsOf(a[i].i) * bitsOf(b[i].i) + bitsOf(c[i].i); });
  return Flow::Next;
}

Machine::Flow Machine::clamp(const Op &op) {
  const DType d = dtype(op.results[0]);
  const Cell *x = operand(op, 0), *low = operand(op, 1), *high = operand(op, 2);
  Cell *out = result(op);
  const bool nan = op.attributes.flag("propagate_nan");
  for (size_t i = 0; i < count(op.results[0]); ++i)
    if (isFloat(d))
      out[i].f = nan && std::isnan(x[i].f) ? x[i].f : minimum(maximum(x[i].f, low[i].f), high[i].f);
    else {
      const int64_t raised = lessInteger(d, x[i].i, low[i].i) ? low[i].i : x[i].i;
      out[i].i = lessInteger(d, high[i].i, raised) ? high[i].i : raised;
    }
  return Flow::Next;
}

Machine::Flow Machine::cast(const Op &op) {
  const DType from = dtype(op.operands[0]), to = dtype(op.results[0]);
  const Cell *x = operand(op, 0);
  Cell *out = result(op);
  const Rounding rounding = roundingNamed(op.attributes.text("rounding"));
  for (size_t i = 0; i < count(op.results[0]); ++i)
    out[i] = convert(from, to, x[i], rounding);
  return Flow::Next;
}

Machine::Flow Machine::bitcast(const Op &op) {
  const Type &from = type(op.operands[0]), &to = type(op.results[0]);
  const Cell *x = operand(op, 0);
  Cell *out = result(op);
  const bool pointers = from.isPointer() || to.isPointer();
  for (size_t i = 0; i < count(op.results[0]); ++i)
    out[i] = pointers ? x[i] : decode(to.dtype, encode(from.dtype, x[i]));
  return Flow::Next;
}

Machine::Flow Machine::addPtr(const Op &op) {
  const uint64_t size = byteSize(dtype(op.results[0]));
  const Cell *pointer = operand(op, 0), *offset = operand(op, 1);
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.results[0]); ++i)
    out[i].i = static_cast<int64_t>(bitsOf(pointer[i].i) + bitsOf(offset[i].i) * size);
  return Flow::Next;
}

} // namespace tilewright::interp

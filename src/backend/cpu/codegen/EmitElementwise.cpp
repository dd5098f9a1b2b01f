#include "EmitElementwise.h"

#include <fmt/format.h>
#include <limits>

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace math = mlir::math;

mlir::arith::FastMathFlags contractFlags() { return arith::FastMathFlags::contract; }
mlir::arith::FastMathFlags reassociateFlags() {
  return arith::FastMathFlags::contract | arith::FastMathFlags::reassoc;
}

mlir::Type withElement(mlir::Type shaped, mlir::Type element) {
  if (const auto vector = mlir::dyn_cast<mlir::VectorType>(shaped))
    return mlir::VectorType::get(vector.getShape(), element);
  return element;
}

namespace {

bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }
bool isFp8(DType dtype) { return dtype >= DType::Fp8E4M3 && dtype <= DType::Fp8E5B16; }

/// One op at one place; methods read like the table of ops.
class Elementwise {
public:
  Elementwise(Emission &emission, const Op *op)
      : e_(emission), b_(emission.builder), loc_(emission.loc), op_(op) {}

  mlir::Value refuse(std::string text, mlir::Type type) {
    e_.refuse(op_, std::move(text));
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(type)))
      return e_.constant(type, 0.0);
    return e_.constant(type, int64_t{0});
  }

  mlir::Value widen(mlir::Value value) {
    const auto type = value.getType();
    if (const auto element = mlir::getElementTypeOrSelf(type); element.isF16() || element.isBF16())
      return arith::ExtFOp::create(b_, loc_, withElement(type, b_.getF32Type()), value);
    return value;
  }
  mlir::Value narrow(mlir::Value value, DType to) {
    if (isHalf(to) && mlir::getElementTypeOrSelf(value.getType()) != e_.elementType(to))
      return truncate(value, to);
    return value;
  }

  /// Float to a narrower float. Without an instruction for it, f32 is rounded to bf16 on its bits (to
  /// nearest, ties to even; NaN stays NaN): a library call per lane otherwise.
  mlir::Value truncate(mlir::Value value, DType to) {
    const mlir::Type target = withElement(value.getType(), e_.elementType(to));
    if (to != DType::BFloat16 || e_.isa.bf16)
      return arith::TruncFOp::create(b_, loc_, target, value);
    if (mlir::getElementTypeOrSelf(value.getType()).isF64())
      value = arith::TruncFOp::create(b_, loc_, withElement(value.getType(), b_.getF32Type()), value);
    const mlir::Type i32 = withElement(value.getType(), b_.getI32Type());
    const mlir::Type i16 = withElement(value.getType(), b_.getI16Type());
    const mlir::Value bits = arith::BitcastOp::create(b_, loc_, i32, value);
    const mlir::Value sixteen = e_.constant(i32, int64_t{16});
    const mlir::Value odd = arith::AndIOp::create(
        b_, loc_, arith::ShRUIOp::create(b_, loc_, bits, sixteen).getResult(), e_.constant(i32, int64_t{1}));
    mlir::Value rounded = arith::AddIOp::create(b_, loc_, bits, e_.constant(i32, int64_t{0x7fff}));
    rounded = arith::AddIOp::create(b_, loc_, rounded, odd);
    const mlir::Value isNan = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::UNO, value, value);
    rounded = arith::SelectOp::create(b_, loc_, isNan, e_.constant(i32, int64_t{0x7fc00000}), rounded);
    const mlir::Value high = arith::ShRUIOp::create(b_, loc_, rounded, sixteen);
    return arith::BitcastOp::create(b_, loc_, target,
                                    arith::TruncIOp::create(b_, loc_, i16, high).getResult());
  }

  mlir::Value floatOp(OpKind kind, mlir::Value x, mlir::Value y) {
    const auto contract = contractFlags();
    switch (kind) {
    case OpKind::Add:
      return arith::AddFOp::create(b_, loc_, x, y, contract);
    case OpKind::Sub:
      return arith::SubFOp::create(b_, loc_, x, y, contract);
    case OpKind::Mul:
      return arith::MulFOp::create(b_, loc_, x, y, contract);
    case OpKind::Div:
      return arith::DivFOp::create(b_, loc_, x, y);
    case OpKind::Rem:
      return arith::RemFOp::create(b_, loc_, x, y);
    default:
      return nullptr;
    }
  }

  mlir::Value minMax(bool isMax, DType dtype, bool propagateNan, mlir::Value x, mlir::Value y) {
    if (isFloat(dtype)) {
      x = widen(x), y = widen(y);
      mlir::Value result;
      if (propagateNan)
        result = isMax ? arith::MaximumFOp::create(b_, loc_, x, y).getResult()
                       : arith::MinimumFOp::create(b_, loc_, x, y).getResult();
      else
        result = isMax ? arith::MaxNumFOp::create(b_, loc_, x, y).getResult()
                       : arith::MinNumFOp::create(b_, loc_, x, y).getResult();
      return narrow(result, dtype);
    }
    if (isSigned(dtype))
      return isMax ? arith::MaxSIOp::create(b_, loc_, x, y).getResult()
                   : arith::MinSIOp::create(b_, loc_, x, y).getResult();
    return isMax ? arith::MaxUIOp::create(b_, loc_, x, y).getResult()
                 : arith::MinUIOp::create(b_, loc_, x, y).getResult();
  }

  mlir::Value integerDivision(bool remainder, DType dtype, mlir::Value x, mlir::Value y) {
    const auto type = x.getType();
    const auto zero = e_.constant(type, int64_t{0}), one = e_.constant(type, int64_t{1});
    llvm::APInt known;
    const bool constantDivisor = mlir::matchPattern(y, mlir::m_ConstantInt(&known));
    const bool harmless = constantDivisor && !known.isZero() && !known.isAllOnes();
    mlir::Value safe = y, isMinusOne;
    if (!harmless) {
      safe = arith::SelectOp::create(
          b_, loc_, arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, y, zero), one, y);
      if (isSigned(dtype)) {
        isMinusOne =
            arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, y, e_.constant(type, int64_t{-1}));
        safe = arith::SelectOp::create(b_, loc_, isMinusOne, one, safe);
      }
    }
    mlir::Value result;
    if (isSigned(dtype))
      result = remainder ? arith::RemSIOp::create(b_, loc_, x, safe).getResult()
                         : arith::DivSIOp::create(b_, loc_, x, safe).getResult();
    else
      result = remainder ? arith::RemUIOp::create(b_, loc_, x, safe).getResult()
                         : arith::DivUIOp::create(b_, loc_, x, safe).getResult();
    if (isMinusOne && !remainder)
      result = arith::SelectOp::create(b_, loc_, isMinusOne,
                                       arith::SubIOp::create(b_, loc_, zero, x).getResult(), result);
    return result;
  }

  /// Shifts by the width or more give 0 (or the sign), not poison.
  mlir::Value shift(OpKind kind, DType dtype, mlir::Value x, mlir::Value amount) {
    const auto type = x.getType();
    llvm::APInt known;
    const bool inRange =
        mlir::matchPattern(amount, mlir::m_ConstantInt(&known)) && known.ult(bitWidth(dtype));
    mlir::Value tooFar;
    if (!inRange) {
      const auto last = e_.constant(type, int64_t{bitWidth(dtype)} - 1);
      tooFar = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ugt, amount, last);
      amount = arith::MinUIOp::create(b_, loc_, amount, last);
    }
    if (kind == OpKind::Shr && isSigned(dtype))
      return arith::ShRSIOp::create(b_, loc_, x, amount);
    mlir::Value result = kind == OpKind::Shl ? arith::ShLIOp::create(b_, loc_, x, amount).getResult()
                                             : arith::ShRUIOp::create(b_, loc_, x, amount).getResult();
    if (tooFar)
      result = arith::SelectOp::create(b_, loc_, tooFar, e_.constant(type, int64_t{0}), result);
    return result;
  }

  mlir::Value compare(DType dtype, const std::string &predicate, mlir::Value x, mlir::Value y) {
    static constexpr std::string_view kNames[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    const size_t which = std::find(std::begin(kNames), std::end(kNames), predicate) - std::begin(kNames);
    if (which == std::size(kNames))
      return refuse("comparison \"" + predicate + "\"", withElement(x.getType(), b_.getI1Type()));
    if (isFloat(dtype)) {
      using P = arith::CmpFPredicate;
      constexpr P kFloat[] = {P::OLT, P::OLE, P::OGT, P::OGE, P::OEQ, P::UNE};
      return arith::CmpFOp::create(b_, loc_, kFloat[which], widen(x), widen(y));
    }
    using P = arith::CmpIPredicate;
    constexpr P kSigned[] = {P::slt, P::sle, P::sgt, P::sge, P::eq, P::ne};
    constexpr P kUnsigned[] = {P::ult, P::ule, P::ugt, P::uge, P::eq, P::ne};
    return arith::CmpIOp::create(b_, loc_, isSigned(dtype) ? kSigned[which] : kUnsigned[which], x, y);
  }

  mlir::Value unaryInteger(const std::string &function, DType dtype, mlir::Value x) {
    const auto type = x.getType();
    if (function == "neg")
      return arith::SubIOp::create(b_, loc_, e_.constant(type, int64_t{0}), x);
    if (function == "not")
      return arith::XOrIOp::create(b_, loc_, x, e_.constant(type, int64_t{-1}));
    if (function == "abs")
      return isSigned(dtype) ? math::AbsIOp::create(b_, loc_, x).getResult() : x;
    return refuse("integer function \"" + function + "\"", type);
  }

  mlir::Value unaryFloat(const std::string &function, mlir::Value x) {
    const auto type = x.getType();
    const auto one = e_.constant(type, 1.0);
    if (function == "neg")
      return arith::NegFOp::create(b_, loc_, x);
    if (function == "abs")
      return math::AbsFOp::create(b_, loc_, x);
    if (function == "exp")
      return math::ExpOp::create(b_, loc_, x);
    if (function == "exp2")
      return math::Exp2Op::create(b_, loc_, x);
    if (function == "log")
      return math::LogOp::create(b_, loc_, x);
    if (function == "log2")
      return math::Log2Op::create(b_, loc_, x);
    if (function == "log10")
      return math::Log10Op::create(b_, loc_, x);
    if (function == "log1p")
      return math::Log1pOp::create(b_, loc_, x);
    if (function == "expm1")
      return math::ExpM1Op::create(b_, loc_, x);
    if (function == "sqrt" || function == "sqrt_rn")
      return math::SqrtOp::create(b_, loc_, x);
    if (function == "rsqrt")
      return arith::DivFOp::create(b_, loc_, one, math::SqrtOp::create(b_, loc_, x));
    if (function == "sin")
      return math::SinOp::create(b_, loc_, x);
    if (function == "cos")
      return math::CosOp::create(b_, loc_, x);
    if (function == "tan")
      return math::TanOp::create(b_, loc_, x);
    if (function == "asin")
      return math::AsinOp::create(b_, loc_, x);
    if (function == "acos")
      return math::AcosOp::create(b_, loc_, x);
    if (function == "atan")
      return math::AtanOp::create(b_, loc_, x);
    if (function == "sinh")
      return math::SinhOp::create(b_, loc_, x);
    if (function == "cosh")
      return math::CoshOp::create(b_, loc_, x);
    if (function == "tanh")
      return math::TanhOp::create(b_, loc_, x);
    if (function == "erf")
      return math::ErfOp::create(b_, loc_, x);
    if (function == "sigmoid") {
      const mlir::Value e = math::ExpOp::create(b_, loc_, arith::NegFOp::create(b_, loc_, x));
      return arith::DivFOp::create(b_, loc_, one, arith::AddFOp::create(b_, loc_, one, e));
    }
    if (function == "floor")
      return math::FloorOp::create(b_, loc_, x);
    if (function == "ceil")
      return math::CeilOp::create(b_, loc_, x);
    if (function == "round")
      return math::RoundOp::create(b_, loc_, x);
    if (function == "rint" || function == "nearbyint")
      return math::RoundEvenOp::create(b_, loc_, x);
    if (function == "trunc")
      return math::TruncOp::create(b_, loc_, x);
    return refuse("function \"" + function + "\"", type);
  }

  mlir::Value binaryFunction(const std::string &function, DType dtype, mlir::Value x, mlir::Value y) {
    if (!isFloat(dtype))
      return refuse("integer function \"" + function + "\"", x.getType());
    x = widen(x), y = widen(y);
    if (function == "pow")
      return narrow(math::PowFOp::create(b_, loc_, x, y), dtype);
    if (function == "atan2")
      return narrow(math::Atan2Op::create(b_, loc_, x, y), dtype);
    if (function == "div_rn" || function == "fdiv")
      return narrow(arith::DivFOp::create(b_, loc_, x, y), dtype);
    if (function == "fmod")
      return narrow(arith::RemFOp::create(b_, loc_, x, y), dtype);
    if (function == "copysign")
      return narrow(math::CopySignOp::create(b_, loc_, x, y), dtype);
    return refuse("function \"" + function + "\"", withElement(x.getType(), e_.elementType(dtype)));
  }

  mlir::Value cast(DType from, DType to, mlir::Value x) {
    const mlir::Type target = withElement(x.getType(), e_.elementType(to));
    if (from == to || x.getType() == target) {
      if (isFloat(from) == isFloat(to) && bitWidth(from) == bitWidth(to))
        return x;
    }
    if (isFp8(from) || isFp8(to))
      return refuse(fmt::format("conversion from {} to {}", name(from), name(to)), target);
    const uint32_t fromBits = bitWidth(from), toBits = bitWidth(to);
    if (to == DType::Int1) {
      if (isFloat(from)) {
        x = widen(x);
        return arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::UNE, x, e_.constant(x.getType(), 0.0));
      }
      return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, x,
                                   e_.constant(x.getType(), int64_t{0}));
    }
    if (isInteger(from) && isInteger(to)) {
      if (toBits == fromBits)
        return x;
      if (toBits < fromBits)
        return arith::TruncIOp::create(b_, loc_, target, x);
      return isSigned(from) ? arith::ExtSIOp::create(b_, loc_, target, x).getResult()
                            : arith::ExtUIOp::create(b_, loc_, target, x).getResult();
    }
    if (isInteger(from)) {
      const mlir::Type computed = isHalf(to) ? withElement(x.getType(), b_.getF32Type()) : target;
      mlir::Value result = isSigned(from) ? arith::SIToFPOp::create(b_, loc_, computed, x).getResult()
                                          : arith::UIToFPOp::create(b_, loc_, computed, x).getResult();
      return narrow(result, to);
    }
    if (isInteger(to)) {
      x = widen(x);
      return isSigned(to) ? arith::FPToSIOp::create(b_, loc_, target, x).getResult()
                          : arith::FPToUIOp::create(b_, loc_, target, x).getResult();
    }
    if (isHalf(from) && isHalf(to))
      return narrow(widen(x), to);
    if (toBits > fromBits)
      return arith::ExtFOp::create(b_, loc_, target, x);
    return truncate(x, to);
  }

  mlir::Value emit(DType from, DType to, llvm::ArrayRef<mlir::Value> v) {
    const Op &op = *op_;
    if ((isFp8(from) || isFp8(to)) && op.kind != OpKind::Select && op.kind != OpKind::Bitcast)
      return refuse(fmt::format("arithmetic on {}", name(isFp8(from) ? from : to)),
                    withElement(v[0].getType(), e_.elementType(to)));
    switch (op.kind) {
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Rem:
      if (isFloat(from))
        return narrow(floatOp(op.kind, widen(v[0]), widen(v[1])), to);
      if (op.kind == OpKind::Add)
        return b_.createOrFold<arith::AddIOp>(loc_, v[0], v[1]);
      if (op.kind == OpKind::Sub)
        return b_.createOrFold<arith::SubIOp>(loc_, v[0], v[1]);
      if (op.kind == OpKind::Mul)
        return b_.createOrFold<arith::MulIOp>(loc_, v[0], v[1]);
      return integerDivision(op.kind == OpKind::Rem, from, v[0], v[1]);
    case OpKind::And:
      return b_.createOrFold<arith::AndIOp>(loc_, v[0], v[1]);
    case OpKind::Or:
      return b_.createOrFold<arith::OrIOp>(loc_, v[0], v[1]);
    case OpKind::Xor:
      return b_.createOrFold<arith::XOrIOp>(loc_, v[0], v[1]);
    case OpKind::Shl:
    case OpKind::Shr:
      return shift(op.kind, from, v[0], v[1]);
    case OpKind::Min:
    case OpKind::Max:
      return minMax(op.kind == OpKind::Max, from, op.attributes.flag("propagate_nan"), v[0], v[1]);
    case OpKind::MulHi:
      if (isSigned(from))
        return arith::MulSIExtendedOp::create(b_, loc_, v[0], v[1]).getHigh();
      return arith::MulUIExtendedOp::create(b_, loc_, v[0], v[1]).getHigh();
    case OpKind::Compare:
      return compare(from, op.attributes.text("predicate"), v[0], v[1]);
    case OpKind::Select:
      return arith::SelectOp::create(b_, loc_, v[0], v[1], v[2]);
    case OpKind::Fma:
      if (isFloat(from))
        return narrow(math::FmaOp::create(b_, loc_, widen(v[0]), widen(v[1]), widen(v[2])), to);
      return arith::AddIOp::create(b_, loc_, arith::MulIOp::create(b_, loc_, v[0], v[1]), v[2]);
    case OpKind::Clamp: {
      const bool nan = op.attributes.flag("propagate_nan");
      return minMax(false, from, nan, minMax(true, from, nan, v[0], v[1]), v[2]);
    }
    case OpKind::Unary: {
      const std::string function = op.attributes.text("function");
      if (isFloat(from))
        return narrow(unaryFloat(function, widen(v[0])), to);
      return unaryInteger(function, from, v[0]);
    }
    case OpKind::Binary:
      return binaryFunction(op.attributes.text("function"), from, v[0], v[1]);
    case OpKind::Cast:
      if (const auto rounding = op.attributes.text("rounding"); !rounding.empty() && rounding != "rtne")
        return refuse("rounding \"" + rounding + "\"", withElement(v[0].getType(), e_.elementType(to)));
      return cast(from, to, v[0]);
    case OpKind::Bitcast: {
      const mlir::Type target = withElement(v[0].getType(), e_.elementType(to));
      return target == v[0].getType() ? v[0] : arith::BitcastOp::create(b_, loc_, target, v[0]).getResult();
    }
    default:
      return refuse(fmt::format("operation {}", name(op.kind)),
                    withElement(v[0].getType(), e_.elementType(to)));
    }
  }

private:
  Emission &e_;
  mlir::OpBuilder &b_;
  mlir::Location loc_;
  const Op *op_;
};

} // namespace

mlir::Value emitElementwise(Emission &emission, const Op &op, DType from, DType to,
                            llvm::ArrayRef<mlir::Value> operands) {
  return Elementwise(emission, &op).emit(from, to, operands);
}

mlir::Value emitCast(Emission &emission, const Op *op, DType from, DType to, mlir::Value value) {
  return Elementwise(emission, op).cast(from, to, value);
}

mlir::Value emitCombine(Emission &emission, std::string_view kind, DType dtype, bool propagateNan,
                        mlir::Value left, mlir::Value right) {
  mlir::OpBuilder &b = emission.builder;
  const mlir::Location loc = emission.loc;
  Elementwise ops(emission, nullptr);
  if (kind == "max" || kind == "min")
    return ops.minMax(kind == "max", dtype, propagateNan, left, right);
  if (isFloat(dtype)) {
    left = ops.widen(left), right = ops.widen(right);
    if (kind == "sum")
      return ops.narrow(arith::AddFOp::create(b, loc, left, right, reassociateFlags()), dtype);
    if (kind == "prod")
      return ops.narrow(arith::MulFOp::create(b, loc, left, right, reassociateFlags()), dtype);
  } else {
    if (kind == "sum")
      return arith::AddIOp::create(b, loc, left, right);
    if (kind == "prod")
      return arith::MulIOp::create(b, loc, left, right);
    if (kind == "xor")
      return arith::XOrIOp::create(b, loc, left, right);
    if (kind == "and")
      return arith::AndIOp::create(b, loc, left, right);
    if (kind == "or" || kind == "any")
      return arith::OrIOp::create(b, loc, left, right);
  }
  emission.refuse(nullptr, fmt::format("reduction \"{}\" of {}", kind, name(dtype)));
  return left;
}

} // namespace tilewright::cpu

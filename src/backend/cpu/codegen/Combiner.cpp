#include "Combiner.h"
#include "EmitElementwise.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tilewright::cpu {

namespace arith = mlir::arith;

namespace {

bool isHalf(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

} // namespace

Combiner::Combiner(Emission &emission, LaneBuilder &lanes, TileEvaluator &evaluator, const Op &op)
    : e_(emission), lanes_(lanes), evaluator_(evaluator), op_(op), kind_(op.attributes.text("kind")),
      propagateNan_(op.attributes.flag("propagate_nan")) {
  const bool pairs = kind_ == "argmax" || kind_ == "argmin";
  for (const ValueId operand : op.operands) {
    inputs_.push_back(e_.program.value(operand).type.dtype);
    accumulators_.push_back(!kind_.empty() && !pairs && isHalf(inputs_.back()) ? DType::Float32
                                                                               : inputs_.back());
  }
  if (kind_.empty() || pairs)
    return;
  const DType dtype = inputs_[0];
  if (kind_ == "sum" || kind_ == "xor" || kind_ == "or" || kind_ == "any")
    identity_ = {0};
  else if (kind_ == "prod")
    identity_ = {1};
  else if (kind_ == "and")
    identity_ = {-1};
  else if ((kind_ == "max" || kind_ == "min") &&
           isFloat(dtype)) // maxnum(NaN, x) is x, so that NaN alone stays NaN
    identity_ = {!propagateNan_ ? std::numeric_limits<double>::quiet_NaN()
                                : (kind_ == "max" ? -1 : 1) * std::numeric_limits<double>::infinity()};
  else if (kind_ == "max" || kind_ == "min")
    identity_ = {0}; // the integer value is made in identity()
  else
    e_.refuse(&op, fmt::format("reduction \"{}\"", kind_));
}

mlir::Value Combiner::identity(size_t index, mlir::Type shapedLike) const {
  const DType dtype = accumulators_[index];
  const mlir::Type type = withElement(shapedLike, e_.elementType(dtype));
  if (isFloat(dtype))
    return e_.constant(type, identity_[0]);
  if (kind_ == "max" || kind_ == "min") {
    const unsigned bits = bitWidth(dtype);
    const llvm::APInt extreme =
        kind_ == "max"
            ? (isSigned(dtype) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits))
            : (isSigned(dtype) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
    return e_.constant(type, extreme.getSExtValue());
  }
  return e_.constant(type, static_cast<int64_t>(identity_[0]));
}

bool Combiner::isIdentity(size_t index, mlir::Value value) const {
  llvm::APFloat real(0.0);
  if (mlir::matchPattern(value, mlir::m_ConstantFloat(&real))) {
    if (kind_ == "sum")
      return real.isZero();
    if (kind_ == "max")
      return real.isInfinity() && real.isNegative() && propagateNan_;
    if (kind_ == "min")
      return real.isInfinity() && !real.isNegative() && propagateNan_;
    return false;
  }
  llvm::APInt integer;
  (void)index;
  return mlir::matchPattern(value, mlir::m_ConstantInt(&integer)) && integer.isZero() &&
         (kind_ == "sum" || kind_ == "or" || kind_ == "xor" || kind_ == "any");
}

Combiner::Values Combiner::combine(const Values &left, const Values &right) {
  if (kind_.empty())
    return combineByRegion(left, right);
  mlir::OpBuilder &b = e_.builder;
  if (kind_ == "argmax" || kind_ == "argmin") {
    const DType dtype = inputs_[0];
    const bool isMax = kind_ == "argmax";
    mlir::Value better, equal;
    if (isFloat(dtype)) {
      mlir::Value x = left[0], y = right[0];
      // NaN loses against numbers, as in Triton's default; equal values leave the smaller index.
      better = arith::CmpFOp::create(b, e_.loc, isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
                                     y, x);
      equal = arith::CmpFOp::create(b, e_.loc, arith::CmpFPredicate::OEQ, x, y);
    } else {
      using P = arith::CmpIPredicate;
      const P predicate = isSigned(dtype) ? (isMax ? P::sgt : P::slt) : (isMax ? P::ugt : P::ult);
      better = arith::CmpIOp::create(b, e_.loc, predicate, right[0], left[0]);
      equal = arith::CmpIOp::create(b, e_.loc, P::eq, left[0], right[0]);
    }
    const mlir::Value earlier =
        arith::CmpIOp::create(b, e_.loc, arith::CmpIPredicate::slt, right[1], left[1]);
    const mlir::Value takeRight =
        arith::OrIOp::create(b, e_.loc, better, arith::AndIOp::create(b, e_.loc, equal, earlier).getResult());
    return {arith::SelectOp::create(b, e_.loc, takeRight, right[0], left[0]),
            arith::SelectOp::create(b, e_.loc, takeRight, right[1], left[1])};
  }
  return {emitCombine(e_, kind_, accumulators_[0], propagateNan_, left[0], right[0])};
}

Combiner::Values Combiner::combineByRegion(const Values &left, const Values &right) {
  const Region &region = e_.program.program().region(op_.regions[0]);
  const BoundProgram &p = e_.program;
  std::map<ValueId, Lane> known;
  const bool isVector = mlir::isa<mlir::VectorType>(left[0].getType());
  const int level = e_.level();
  const auto laneOf = [&](mlir::Value value, DType dtype) {
    return isVector ? lanes_.vectorLane(value, dtype, level) : lanes_.uniform(value, dtype, level);
  };
  for (size_t index = 0; index < width(); ++index) {
    known[region.arguments[index]] = laneOf(left[index], inputs_[index]);
    known[region.arguments[width() + index]] = laneOf(right[index], inputs_[index]);
  }
  const auto find = [&](ValueId value) -> Lane {
    if (const auto found = known.find(value); found != known.end())
      return found->second;
    if (const auto found = known.find(p.canonical(value)); found != known.end())
      return found->second;
    if (const Lane *scalar = evaluator_.findScalar(value))
      return *scalar;
    e_.refuse(&op_, "a combine function that uses a tile of its kernel");
    return laneOf(left[0], inputs_[0]);
  };
  Values results;
  for (const OpId id : region.ops) {
    const Op &op = p.op(id);
    if (op.kind == OpKind::Yield) {
      for (size_t index = 0; index < width(); ++index) {
        const Lane lane = find(op.operands[index]);
        results.push_back(isVector ? lanes_.vector(lane) : lanes_.scalar(lane));
      }
      break;
    }
    const Type &type = p.value(op.results[0]).type;
    if (op.kind == OpKind::Constant) {
      if (isInteger(type.dtype))
        known[op.results[0]] = lanes_.uniform(
            e_.constant(e_.elementType(type.dtype), p.constantOf(op.results[0]).value_or(0)), type.dtype);
      else
        known[op.results[0]] = lanes_.uniform(
            e_.constant(e_.elementType(type.dtype), p.floatConstantOf(op.results[0]).value_or(0)),
            type.dtype);
      continue;
    }
    if (!isElementwise(op.kind) || type.isPointer()) {
      e_.refuse(&op, fmt::format("{} in a combine function", name(op.kind)));
      return left;
    }
    llvm::SmallVector<Lane, 3> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(find(operand));
    known[op.results[0]] = lanes_.apply(op, type, operands);
  }
  return results;
}

mlir::Value Combiner::toAccumulator(size_t index, mlir::Value value) {
  return emitCast(e_, &op_, inputs_[index], accumulators_[index], value);
}
mlir::Value Combiner::fromAccumulator(size_t index, mlir::Value value) {
  return emitCast(e_, &op_, accumulators_[index], inputs_[index], value);
}

Combiner::Values Combiner::acrossLanes(Values vectors, int64_t lanes) {
  mlir::OpBuilder &b = e_.builder;
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back((lane + half) % lanes);
    Values moved;
    for (const mlir::Value vector : vectors)
      moved.push_back(mlir::vector::ShuffleOp::create(b, e_.loc, vector, vector, order));
    vectors = combine(vectors, moved);
  }
  for (mlir::Value &vector : vectors)
    vector = mlir::vector::ExtractOp::create(b, e_.loc, vector, llvm::ArrayRef<int64_t>{0});
  return vectors;
}

bool Combiner::hasClosedForm() const {
  return kind_ == "sum" || kind_ == "max" || kind_ == "min" || kind_ == "and" || kind_ == "or" ||
         kind_ == "any";
}

mlir::Value Combiner::combineCopies(size_t index, mlir::Value accumulator, mlir::Value value,
                                    mlir::Value count) {
  if (isIdentity(index, value))
    return accumulator;
  mlir::OpBuilder &b = e_.builder;
  const DType dtype = accumulators_[index];
  mlir::Value copies = value;
  if (kind_ == "sum") {
    mlir::Value factor = isFloat(dtype)
                             ? arith::SIToFPOp::create(b, e_.loc, e_.elementType(dtype), count).getResult()
                             : emitCast(e_, &op_, DType::Int64, dtype, count);
    if (const auto vector = mlir::dyn_cast<mlir::VectorType>(value.getType()))
      factor = mlir::vector::BroadcastOp::create(b, e_.loc, vector, factor);
    copies = isFloat(dtype) ? arith::MulFOp::create(b, e_.loc, value, factor).getResult()
                            : arith::MulIOp::create(b, e_.loc, value, factor).getResult();
  }
  const mlir::Value any = arith::CmpIOp::create(b, e_.loc, arith::CmpIPredicate::sgt, count, e_.index(0));
  return arith::SelectOp::create(b, e_.loc, any, combine({accumulator}, {copies})[0], accumulator);
}

} // namespace tilewright::cpu

#include "LaneBuilder.h"
#include "EmitElementwise.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace arith = mlir::arith;

namespace {

/// Constant factors beyond this are hashes, not strides: they rely on wrapping in the type's own width.
constexpr int64_t kLargestStride = int64_t{1} << 20;

bool isIndexType(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

} // namespace

Lane LaneBuilder::uniform(mlir::Value scalar, DType dtype, int level) const {
  Lane lane;
  lane.value = scalar;
  lane.dtype = dtype;
  lane.level = level;
  return lane;
}

Lane LaneBuilder::affine(mlir::Value base, mlir::Value step, DType dtype, int level) const {
  Lane lane;
  lane.form = Lane::Form::Affine;
  lane.value = base;
  lane.step = step;
  lane.dtype = dtype;
  lane.level = level;
  return lane;
}

Lane LaneBuilder::vectorLane(mlir::Value vector, DType dtype, int level) const {
  Lane lane;
  lane.form = Lane::Form::Vector;
  lane.value = vector;
  lane.dtype = dtype;
  lane.level = level;
  return lane;
}

int LaneBuilder::maxLevel(llvm::ArrayRef<Lane> lanes) const {
  int level = 0;
  for (const Lane &lane : lanes)
    level = std::max(level, lane.level);
  return level;
}

std::optional<int64_t> LaneBuilder::stepOf(const Lane &lane) const {
  return lane.step ? mlir::getConstantIntValue(lane.step) : std::nullopt;
}

bool LaneBuilder::isUniform(const Lane &lane) const {
  return lane.form == Lane::Form::Uniform || (lane.form == Lane::Form::Affine && stepOf(lane) == 0);
}

std::optional<int64_t> LaneBuilder::constantOf(const Lane &lane) const {
  if (lane.isPointer() || !isUniform(lane) || !isInteger(lane.dtype))
    return std::nullopt;
  const auto constant = mlir::getConstantIntValue(lane.value);
  if (constant && lane.dtype == DType::Int1)
    return *constant != 0;
  return constant;
}

mlir::Value LaneBuilder::scalar(const Lane &lane) {
  if (lane.form == Lane::Form::Uniform || bitWidth(lane.dtype) == 64)
    return lane.value;
  return e_.atLevel(lane.level, [&] {
    return e_.builder.createOrFold<arith::TruncIOp>(e_.loc, e_.elementType(lane.dtype), lane.value);
  });
}

mlir::Value LaneBuilder::wideScalar(const Lane &lane) {
  if (lane.form == Lane::Form::Affine || bitWidth(lane.dtype) == 64)
    return lane.value;
  return e_.atLevel(lane.level, [&]() -> mlir::Value {
    const auto i64 = e_.builder.getI64Type();
    if (isSigned(lane.dtype))
      return e_.builder.createOrFold<arith::ExtSIOp>(e_.loc, i64, lane.value);
    return e_.builder.createOrFold<arith::ExtUIOp>(e_.loc, i64, lane.value);
  });
}

mlir::Value LaneBuilder::vector(const Lane &lane) {
  if (lane.form == Lane::Form::Vector)
    return lane.value;
  if (lane.isPointer())
    return wideVector(lane);
  return e_.atLevel(lane.level, [&]() -> mlir::Value {
    mlir::OpBuilder &b = e_.builder;
    const mlir::Type element = e_.elementType(lane.dtype);
    const auto type = e_.vectorOf(element);
    if (isUniform(lane)) {
      const mlir::Value value = scalar(lane);
      if (mlir::Attribute attribute; mlir::matchPattern(value, mlir::m_Constant(&attribute)))
        return e_.splatConstant(mlir::DenseElementsAttr::get(type, attribute));
      return mlir::vector::BroadcastOp::create(b, e_.loc, type, value);
    }
    const auto narrowed = [&](mlir::Value wide) -> mlir::Value {
      return wide.getType() == element ? wide : b.createOrFold<arith::TruncIOp>(e_.loc, element, wide);
    };
    mlir::Value ramp = e_.iota(element, e_.lanes);
    if (const auto step = stepOf(lane)) {
      if (*step != 1)
        ramp = arith::MulIOp::create(b, e_.loc, ramp, e_.constant(type, *step));
    } else {
      ramp = arith::MulIOp::create(b, e_.loc, ramp,
                                   mlir::vector::BroadcastOp::create(b, e_.loc, type, narrowed(lane.step)));
    }
    return arith::AddIOp::create(
        b, e_.loc, mlir::vector::BroadcastOp::create(b, e_.loc, type, narrowed(lane.value)), ramp);
  });
}

mlir::Value LaneBuilder::wideVector(const Lane &lane) {
  const mlir::Type i64 = e_.builder.getI64Type();
  if (lane.form == Lane::Form::Vector) {
    if (mlir::getElementTypeOrSelf(lane.value.getType()) == i64)
      return lane.value;
    return e_.atLevel(lane.level, [&]() -> mlir::Value {
      const auto type = e_.vectorOf(i64);
      if (isSigned(lane.dtype))
        return arith::ExtSIOp::create(e_.builder, e_.loc, type, lane.value);
      return arith::ExtUIOp::create(e_.builder, e_.loc, type, lane.value);
    });
  }
  Lane plain = lane.form == Lane::Form::Affine
                   ? lane
                   : affine(wideScalar(lane), e_.index(0), DType::Int64, lane.level);
  plain.kind = Type::Kind::Value;
  plain.dtype = DType::Int64;
  return vector(plain);
}

Lane LaneBuilder::wide(const Lane &lane) {
  if (lane.form == Lane::Form::Affine || lane.unknown())
    return lane;
  if (lane.form == Lane::Form::Uniform)
    return affine(wideScalar(lane), e_.index(0), DType::Int64, lane.level);
  return vectorLane(wideVector(lane), DType::Int64, lane.level);
}

Lane LaneBuilder::addWide(const Lane &a, const Lane &b) {
  if (a.unknown() || b.unknown())
    return Lane::makeUnknown(DType::Int64);
  const int level = std::max(a.level, b.level);
  const Lane x = wide(a), y = wide(b);
  if (x.form == Lane::Form::Affine && y.form == Lane::Form::Affine) {
    return e_.atLevel(level, [&] {
      return affine(e_.builder.createOrFold<arith::AddIOp>(e_.loc, x.value, y.value),
                    e_.builder.createOrFold<arith::AddIOp>(e_.loc, x.step, y.step), DType::Int64, level);
    });
  }
  const mlir::Value left = wideVector(x), right = wideVector(y);
  return e_.atLevel(level, [&] {
    return vectorLane(arith::AddIOp::create(e_.builder, e_.loc, left, right), DType::Int64, level);
  });
}

Lane LaneBuilder::mulWide(const Lane &a, const Lane &b) {
  if (a.unknown() || b.unknown())
    return Lane::makeUnknown(DType::Int64);
  const int level = std::max(a.level, b.level);
  Lane x = wide(a), y = wide(b);
  if (stepOf(x) == 0)
    std::swap(x, y);
  if (x.form == Lane::Form::Affine && y.form == Lane::Form::Affine && stepOf(y) == 0) {
    return e_.atLevel(level, [&] {
      return affine(e_.builder.createOrFold<arith::MulIOp>(e_.loc, x.value, y.value),
                    e_.builder.createOrFold<arith::MulIOp>(e_.loc, x.step, y.value), DType::Int64, level);
    });
  }
  const mlir::Value left = wideVector(x), right = wideVector(y);
  return e_.atLevel(level, [&] {
    return vectorLane(arith::MulIOp::create(e_.builder, e_.loc, left, right), DType::Int64, level);
  });
}

Lane LaneBuilder::addConstant(const Lane &a, int64_t constant) {
  return constant == 0 ? a : addWide(a, constantIndex(constant));
}
Lane LaneBuilder::mulConstant(const Lane &a, int64_t constant) {
  return constant == 1 ? a : mulWide(a, constantIndex(constant));
}

Lane LaneBuilder::divConstant(const Lane &a, int64_t divisor) {
  if (divisor == 1 || a.unknown())
    return a;
  if (isUniform(a)) {
    const mlir::Value value = wideScalar(a);
    return e_.atLevel(a.level, [&] {
      return affine(e_.builder.createOrFold<arith::DivUIOp>(e_.loc, value, e_.index(divisor)), e_.index(0),
                    DType::Int64, a.level);
    });
  }
  const mlir::Value value = wideVector(a);
  return e_.atLevel(a.level, [&] {
    return vectorLane(
        arith::DivUIOp::create(e_.builder, e_.loc, value, e_.constant(value.getType(), divisor)),
        DType::Int64, a.level);
  });
}

Lane LaneBuilder::modConstant(const Lane &a, int64_t divisor) {
  if (a.unknown())
    return a;
  if (divisor == 1)
    return constantIndex(0);
  if (isUniform(a)) {
    const mlir::Value value = wideScalar(a);
    return e_.atLevel(a.level, [&] {
      return affine(e_.builder.createOrFold<arith::RemUIOp>(e_.loc, value, e_.index(divisor)), e_.index(0),
                    DType::Int64, a.level);
    });
  }
  const mlir::Value value = wideVector(a);
  return e_.atLevel(a.level, [&] {
    return vectorLane(
        arith::RemUIOp::create(e_.builder, e_.loc, value, e_.constant(value.getType(), divisor)),
        DType::Int64, a.level);
  });
}

Lane LaneBuilder::withDType(Lane lane, DType dtype) {
  if (lane.unknown() || lane.form == Lane::Form::Affine) {
    lane.dtype = dtype;
    return lane;
  }
  if (lane.dtype == dtype)
    return lane;
  const DType from = lane.dtype;
  const mlir::Value value = lane.value;
  lane.dtype = dtype;
  return make(lane, lane.level, [&] { return emitCast(e_, nullptr, from, dtype, value); });
}

Lane LaneBuilder::less(const Lane &a, const Lane &b) {
  if (a.unknown() || b.unknown())
    return Lane::makeUnknown(DType::Int1);
  const auto left = constantOf(a), right = constantOf(b);
  if (left && right)
    return boolean(*left < *right, std::max(a.level, b.level));
  const bool bothUniform = isUniform(a) && isUniform(b);
  const mlir::Value x = bothUniform ? wideScalar(a) : wideVector(a),
                    y = bothUniform ? wideScalar(b) : wideVector(b);
  const Lane like = bothUniform ? uniform({}, DType::Int1) : vectorLane({}, DType::Int1, 0);
  return make(like, std::max(a.level, b.level), [&]() -> mlir::Value {
    return arith::CmpIOp::create(e_.builder, e_.loc, arith::CmpIPredicate::slt, x, y);
  });
}

Lane LaneBuilder::logicalAnd(const Lane &a, const Lane &b) {
  for (const auto &[one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (one->unknown())
      continue;
    if (const auto known = constantOf(*one)) {
      if (*known == 0)
        return boolean(false, one->level);
      Lane result = *other;
      result.level = std::max(a.level, b.level);
      return result;
    }
  }
  if (a.unknown() || b.unknown())
    return Lane::makeUnknown(DType::Int1);
  const int level = std::max(a.level, b.level);
  if (isUniform(a) && isUniform(b)) {
    const mlir::Value x = scalar(a), y = scalar(b);
    return make(uniform({}, DType::Int1), level,
                [&] { return e_.builder.createOrFold<arith::AndIOp>(e_.loc, x, y); });
  }
  const mlir::Value x = vector(a), y = vector(b);
  return make(vectorLane({}, DType::Int1, level), level,
              [&] { return e_.builder.createOrFold<arith::AndIOp>(e_.loc, x, y); });
}

Lane LaneBuilder::select(const Lane &condition, const Lane &ifTrue, const Lane &ifFalse) {
  if (condition.unknown())
    return Lane::makeUnknown(ifTrue.dtype);
  if (const auto known = constantOf(condition)) {
    Lane chosen = *known ? ifTrue : ifFalse;
    chosen.level = std::max(chosen.level, condition.level);
    return chosen;
  }
  if (ifTrue.unknown() || ifFalse.unknown())
    return Lane::makeUnknown(ifTrue.dtype);
  const int level = maxLevel({condition, ifTrue, ifFalse});
  Lane x = ifTrue, y = ifFalse;
  if (x.isPointer() && x.pointer != y.pointer)
    x = pointerAddress(x), y = pointerAddress(y);
  Lane result = x;
  result.level = level;
  const bool affineSides = x.form == Lane::Form::Affine && y.form == Lane::Form::Affine;
  if (isUniform(condition) && affineSides && (x.step == y.step || (stepOf(x) && stepOf(x) == stepOf(y)))) {
    const mlir::Value flag = scalar(condition);
    return make(result, level,
                [&] { return e_.builder.createOrFold<arith::SelectOp>(e_.loc, flag, x.value, y.value); });
  }
  if (isUniform(condition) && isUniform(x) && isUniform(y) && !x.isPointer()) {
    const mlir::Value flag = scalar(condition), left = scalar(x), right = scalar(y);
    return make(uniform({}, x.dtype), level,
                [&] { return e_.builder.createOrFold<arith::SelectOp>(e_.loc, flag, left, right); });
  }
  const mlir::Value flag = isUniform(condition) ? scalar(condition) : vector(condition);
  const mlir::Value left = vector(x), right = vector(y);
  result.form = Lane::Form::Vector;
  result.step = {};
  return make(result, level,
              [&] { return e_.builder.createOrFold<arith::SelectOp>(e_.loc, flag, left, right); });
}

Lane LaneBuilder::pointerAddress(const Lane &lane) {
  if (!lane.pointer)
    return lane;
  const int level = lane.level;
  Lane base = e_.atLevel(level, [&] {
    return affine(mlir::LLVM::PtrToIntOp::create(e_.builder, e_.loc, e_.builder.getI64Type(), lane.pointer),
                  e_.index(0), DType::Int64, level);
  });
  Lane offset = lane;
  offset.kind = Type::Kind::Value;
  offset.dtype = DType::Int64;
  offset.pointer = {};
  Lane address = addWide(base, mulConstant(offset, byteSize(lane.dtype)));
  address.kind = Type::Kind::Pointer;
  address.dtype = lane.dtype;
  return address;
}

Lane LaneBuilder::applyPointer(const Op &op, Type resultType, llvm::ArrayRef<Lane> operands) {
  const auto asPointer = [&](Lane lane) {
    lane.kind = Type::Kind::Pointer;
    lane.dtype = resultType.dtype;
    return lane;
  };
  const auto asInteger = [&](Lane lane, DType dtype) {
    lane = pointerAddress(lane);
    lane.kind = Type::Kind::Value;
    lane.dtype = dtype;
    return lane;
  };
  switch (op.kind) {
  case OpKind::AddPtr: {
    Lane offset = operands[0];
    offset.kind = Type::Kind::Value;
    offset.dtype = DType::Int64;
    offset.pointer = {};
    Lane delta = operands[1];
    if (!operands[0].pointer)
      delta = mulConstant(wide(delta), byteSize(resultType.dtype));
    Lane sum = asPointer(addWide(offset, delta));
    sum.pointer = operands[0].pointer;
    return sum;
  }
  case OpKind::Bitcast:
    if (!resultType.isPointer())
      return asInteger(operands[0], resultType.dtype);
    if (!operands[0].isPointer())
      return asPointer(wide(operands[0]));
    if (byteSize(operands[0].dtype) == byteSize(resultType.dtype))
      return asPointer(operands[0]);
    return asPointer(pointerAddress(operands[0]));
  case OpKind::Cast:
    return resultType.isPointer() ? asPointer(wide(operands[0])) : asInteger(operands[0], resultType.dtype);
  case OpKind::Select:
    return select(operands[0], operands[1], operands[2]);
  case OpKind::Compare:
    return apply(op, resultType,
                 {asInteger(operands[0], DType::UInt64), asInteger(operands[1], DType::UInt64)});
  default:
    e_.refuse(&op, fmt::format("{} on pointers", name(op.kind)));
    return operands[0];
  }
}

Lane LaneBuilder::apply(const Op &op, Type resultType, llvm::ArrayRef<Lane> operands) {
  if (op.kind == OpKind::And && resultType.dtype == DType::Int1)
    return logicalAnd(operands[0], operands[1]);
  if (op.kind == OpKind::Select)
    return select(operands[0], operands[1], operands[2]);
  bool allUniform = true, anyAffine = false, anyVector = false, anyPointer = resultType.isPointer();
  for (const Lane &lane : operands) {
    if (lane.unknown())
      return Lane::makeUnknown(resultType.dtype);
    allUniform &= isUniform(lane);
    anyAffine |= lane.form == Lane::Form::Affine;
    anyVector |= lane.form == Lane::Form::Vector;
    anyPointer |= lane.isPointer();
  }
  if (anyPointer)
    return applyPointer(op, resultType, operands);
  const int level = maxLevel(operands);
  const DType from = operands[0].dtype;

  if (anyAffine && !anyVector && isIndexType(resultType.dtype) && isIndexType(from)) {
    switch (op.kind) {
    case OpKind::Add:
      return withDType(addWide(operands[0], operands[1]), resultType.dtype);
    case OpKind::Sub:
      return withDType(addWide(operands[0], mulWide(operands[1], constantIndex(-1))), resultType.dtype);
    case OpKind::Mul: {
      const auto large = [&](const Lane &lane) {
        return std::abs(constantOf(lane).value_or(0)) > kLargestStride;
      };
      if (!large(operands[0]) && !large(operands[1]) && (isUniform(operands[0]) || isUniform(operands[1])))
        return withDType(mulWide(operands[0], operands[1]), resultType.dtype);
      break;
    }
    case OpKind::Cast:
      if (bitWidth(resultType.dtype) >= bitWidth(from))
        return withDType(operands[0], resultType.dtype);
      break;
    default:
      break;
    }
  }

  if (op.kind == OpKind::Div && from == DType::Float32 && !allUniform && isUniform(operands[1]) &&
      operands[1].level < level)
    return divideByInvariant(operands[0], operands[1], level);

  llvm::SmallVector<mlir::Value, 3> values;
  for (const Lane &lane : operands)
    values.push_back(allUniform ? scalar(lane) : vector(lane));
  Lane result = allUniform ? uniform({}, resultType.dtype) : vectorLane({}, resultType.dtype, level);
  return make(result, level, [&] { return emitElementwise(e_, op, from, resultType.dtype, values); });
}

/// x / d as (x * s) * (1 / (d * s)): one division in front of the loop instead of one for each vector in it.
/// s is a power of two that keeps the reciprocal in the range of normal numbers; then the result is within 2
/// ulp for every x and d, which is the precision of Triton's `/` on its own targets (div_rn is the exact
/// one).
Lane LaneBuilder::divideByInvariant(const Lane &x, const Lane &divisor, int level) {
  namespace math = mlir::math;
  mlir::OpBuilder &b = e_.builder;
  const mlir::Type f32 = b.getF32Type();
  const mlir::Value d = scalar(divisor);
  Lane scale = uniform({}, DType::Float32), reciprocal = scale;
  scale = make(scale, divisor.level, [&]() -> mlir::Value {
    const mlir::Value size = math::AbsFOp::create(b, e_.loc, d);
    const mlir::Value isSmall =
        arith::CmpFOp::create(b, e_.loc, arith::CmpFPredicate::OLT, size, e_.constant(f32, 0x1p-100));
    const mlir::Value isLarge =
        arith::CmpFOp::create(b, e_.loc, arith::CmpFPredicate::OGT, size, e_.constant(f32, 0x1p100));
    const mlir::Value down =
        arith::SelectOp::create(b, e_.loc, isLarge, e_.constant(f32, 0x1p-64), e_.constant(f32, 1.0));
    return arith::SelectOp::create(b, e_.loc, isSmall, e_.constant(f32, 0x1p64), down);
  });
  reciprocal = make(reciprocal, divisor.level, [&]() -> mlir::Value {
    return arith::DivFOp::create(b, e_.loc, e_.constant(f32, 1.0),
                                 arith::MulFOp::create(b, e_.loc, d, scale.value).getResult());
  });
  const mlir::Value scales = vector(scale), reciprocals = vector(reciprocal), values = vector(x);
  return make(vectorLane({}, DType::Float32, level), level, [&]() -> mlir::Value {
    const mlir::Value scaled = arith::MulFOp::create(b, e_.loc, values, scales);
    return arith::MulFOp::create(b, e_.loc, scaled, reciprocals);
  });
}

} // namespace tilewright::cpu

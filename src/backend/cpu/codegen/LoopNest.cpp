#include "LoopNest.h"

namespace tilewright::cpu {

namespace arith = mlir::arith;

namespace {

/// Cheap bodies are unrolled this often, so that loop control does not dominate.
constexpr int64_t kUnroll = 4;
constexpr int kKnownContiguous = 4; ///< score of an axis along which the body's own access is contiguous

} // namespace

mlir::Value LoopNest::limitOf(const Bound &bound, int64_t size) {
  const Op *compare = p_.definition(bound.compare);
  const ValueId moving = compare->operands[bound.fromLeft ? 0 : 1],
                fixed = compare->operands[bound.fromLeft ? 1 : 0];
  const Lane distance =
      lanes_.addConstant(lanes_.addWide(evaluator_.first(fixed),
                                        lanes_.mulWide(evaluator_.first(moving), lanes_.constantIndex(-1))),
                         bound.plus);
  mlir::Value limit = lanes_.wideScalar(distance);
  limit = e_.builder.createOrFold<arith::MaxSIOp>(e_.loc, limit, e_.index(0));
  if (bound.wraps) { // the remainder of a negative index is another number
    const mlir::Value start = lanes_.wideScalar(evaluator_.first(moving));
    const mlir::Value usual =
        arith::CmpIOp::create(e_.builder, e_.loc, arith::CmpIPredicate::sge, start, e_.index(0));
    limit = e_.builder.createOrFold<arith::SelectOp>(e_.loc, usual, limit, e_.index(0));
  }
  return e_.builder.createOrFold<arith::MinSIOp>(e_.loc, limit, e_.index(size));
}

LoopNest::Chunks LoopNest::chunks(int64_t size, int64_t lanes, int64_t unroll, mlir::Value holds,
                                  mlir::Value limit, mlir::Value end) {
  mlir::OpBuilder &b = e_.builder;
  Chunks result;
  result.mainStep = lanes * unroll;
  result.end = end ? end : e_.index(size);
  if (!holds && !limit && !end) {
    const int64_t whole = size / result.mainStep * result.mainStep;
    result.mainEnd = e_.index(whole);
    result.hasRest = whole < size;
    return result;
  }
  mlir::Value reach = result.end;
  if (limit)
    reach = b.createOrFold<arith::MinSIOp>(e_.loc, reach, limit);
  if (holds)
    reach = b.createOrFold<arith::SelectOp>(e_.loc, holds, reach, e_.index(0));
  // Steps are powers of two and counts are not negative.
  result.mainEnd = b.createOrFold<arith::AndIOp>(e_.loc, reach, e_.index(-result.mainStep));
  return result;
}

std::optional<Lane> LoopNest::existingLanes(const Lane &start, int64_t size) {
  if (size % e_.lanes == 0)
    return std::nullopt;
  return lanesBelow(start, e_.index(size));
}

Lane LoopNest::lanesBelow(Lane position, mlir::Value end) {
  position.dtype = DType::Int32; // tile sizes fit, and half the registers do
  const mlir::Value indices = lanes_.vector(position);
  const mlir::Value last = lanes_.vector(lanes_.affine(end, e_.index(0), DType::Int32, position.level));
  return lanes_.vectorLane(
      arith::CmpIOp::create(e_.builder, e_.loc, arith::CmpIPredicate::slt, indices, last), DType::Int1,
      e_.level());
}

void LoopNest::emit(const Request &request, Body body) {
  const auto &shape = request.shape;
  for (const int64_t size : shape)
    if (size == 0)
      return;
  NestSurvey survey = this->survey(request.values, shape);
  survey.widestBytes = std::max(survey.widestBytes, request.elementBytes);
  const int rank = static_cast<int>(shape.size());
  if (request.contiguousAxis >= 0)
    survey.axisScores[request.contiguousAxis] += kKnownContiguous;
  const int vectorAxis = request.scalar ? -1 : chooseVectorAxis(survey, request.targets, shape);
  if (!request.scalar)
    for (const ValueId target : request.targets)
      survey.widestBytes =
          std::max<int64_t>(survey.widestBytes, std::min<int64_t>(byteSize(p_.value(target).type.dtype), 8));
  const int64_t lanes = vectorAxis < 0 ? 1 : chooseLanes(survey, shape[vectorAxis]);
  e_.lanes = lanes;

  // Bounds that clip hold for every store of the nest; the others only tell where masks may be dropped.
  llvm::SmallVector<Bound, 4> clips;
  for (size_t index = 0; index < request.masks.size(); ++index) {
    llvm::SmallVector<Bound, 4> bounds;
    collectBounds(p_, access_, request.masks[index], identityMap(rank), bounds);
    if (index == 0)
      clips = bounds;
    else
      llvm::erase_if(clips, [&](const Bound &bound) {
        return std::find(bounds.begin(), bounds.end(), bound) == bounds.end();
      });
    for (const Bound &bound : bounds)
      if (std::find(survey.bounds.begin(), survey.bounds.end(), bound) == survey.bounds.end())
        survey.bounds.push_back(bound);
  }
  const auto isClip = [&](const Bound &bound) {
    return std::find(clips.begin(), clips.end(), bound) != clips.end();
  };

  TileEvaluator::Nest nest;
  nest.domain.assign(clips.begin(), clips.end());
  if (!request.scalar)
    nest.passing = passingTiles(survey);
  evaluator_.beginNest(std::move(nest));

  auto limits = request.limits;
  for (const Bound &bound : survey.bounds)
    limits.push_back({bound.nestAxis, limitOf(bound, shape[bound.nestAxis]), isClip(bound)});
  /// The smallest limit of the axis among those that clip, or among those that do not.
  const auto limitAlong = [&](int axis, bool clips) {
    mlir::Value least;
    for (const Request::AxisLimit &limit : limits)
      if (limit.axis == axis && limit.clips == clips)
        least = least ? e_.builder.createOrFold<arith::MinSIOp>(e_.loc, least, limit.limit) : limit.limit;
    return least;
  };

  Position position(rank, lanes_.constantIndex(0));
  mlir::Value holds;
  int opened = 0;
  llvm::SmallVector<int, 4> axisLevels(rank, 0);
  for (int axis = 0; axis < rank; ++axis) {
    if (axis == vectorAxis)
      continue;
    const mlir::Value end = limitAlong(axis, true), limit = limitAlong(axis, false);
    if (shape[axis] != 1 || end) {
      auto loop = e_.openLoop(e_.index(0), end ? end : e_.index(shape[axis]), e_.index(1));
      ++opened;
      position[axis] = lanes_.affine(loop.getInductionVar(), e_.index(0), DType::Int64, e_.level());
    }
    axisLevels[axis] = e_.level();
    if (limit) {
      const mlir::Value inside =
          arith::CmpIOp::create(e_.builder, e_.loc, arith::CmpIPredicate::slt, position[axis].value, limit);
      holds = holds ? arith::AndIOp::create(e_.builder, e_.loc, holds, inside).getResult() : inside;
    }
  }

  TileEvaluator::Nest &current = evaluator_.nest();
  if (vectorAxis < 0) {
    current.current = position;
    body(position);
  } else {
    const int64_t size = shape[vectorAxis];
    const int64_t unroll = survey.isCheap() && size >= kUnroll * lanes ? kUnroll : 1;
    const Chunks chunks =
        this->chunks(size, lanes, unroll, holds, limitAlong(vectorAxis, false), limitAlong(vectorAxis, true));

    const auto emitLoop = [&](mlir::Value from, mlir::Value to, int64_t step, bool isMain) {
      auto loop = e_.openLoop(from, to, e_.index(step));
      current.assume = isMain;
      current.assumed.clear();
      for (const Bound &bound : survey.bounds)
        current.assumed.push_back(
            {bound, isClip(bound) && bound.nestAxis != vectorAxis ? axisLevels[bound.nestAxis] : e_.level()});
      for (int64_t chunk = 0; chunk < step; chunk += lanes) {
        Lane start =
            lanes_.affine(loop.getInductionVar(), e_.index(lanes == 1 ? 0 : 1), DType::Int64, e_.level());
        position[vectorAxis] = lanes_.addConstant(start, chunk);
        current.current = position;
        current.existing = isMain ? std::nullopt : existingLanes(position[vectorAxis], size);
        body(position);
      }
      e_.closeLoop();
      current.assume = false;
      current.existing.reset();
      evaluator_.leaveLevel();
    };
    if (mlir::getConstantIntValue(chunks.mainEnd) != 0)
      emitLoop(e_.index(0), chunks.mainEnd, chunks.mainStep, true);
    if (chunks.hasRest)
      emitLoop(chunks.mainEnd, chunks.end, lanes, false);
  }
  for (; opened > 0; --opened) {
    e_.closeLoop();
    evaluator_.leaveLevel();
  }
  evaluator_.endNest();
  e_.lanes = 1;
}

void LoopNest::materialise(ValueId value, const TileBuffer &buffer) {
  Request request;
  request.shape.assign(p_.shape(value).begin(), p_.shape(value).end());
  request.values = {value};
  request.elementBytes = p_.value(value).type.isPointer() ? 8 : byteSize(buffer.dtype);
  emit(request,
       [&](const Position &position) { evaluator_.store(buffer, position, evaluator_.at(value, position)); });
}

} // namespace tilewright::cpu

// Reductions: along the vector axis with several independent vector accumulators, or along another axis with
// one accumulator per chunk of lanes.
#include "Combiner.h"
#include "KernelEmitter.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace arith = mlir::arith;

namespace {

constexpr int64_t kAccumulators = 4; ///< hides the latency of add and max

} // namespace

void KernelEmitter::emitReduce(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const int axis = static_cast<int>(op.attributes.integer("axis"));
  const auto shape = p_.shape(op.operands[0]);
  const int rank = static_cast<int>(shape.size());
  const int64_t size = shape[axis];
  const size_t width = op.operands.size();
  for (const int64_t extent : shape)
    if (extent == 0)
      return e_.refuse(&op, "a reduction of an empty tile");
  Combiner combiner(e_, lanes_, evaluator_, op);
  if (e_.refusal())
    return;

  NestSurvey survey = nests_.survey(op.operands, shape);
  const int vectorAxis = nests_.chooseVectorAxis(survey, {}, shape);
  const bool alongLanes = vectorAxis == axis;
  int64_t lanes = nests_.chooseLanes(survey, shape[vectorAxis]);
  if (alongLanes && !combiner.hasIdentity() && size % lanes != 0)
    lanes = 1;
  e_.lanes = lanes;

  llvm::SmallVector<std::optional<TileBuffer>> buffers;
  for (const ValueId result : op.results) {
    buffers.emplace_back();
    if (!isScalar(result))
      buffers.back() = e_.scratch.allocate(p_.value(result).type, p_.shape(result));
  }
  TileEvaluator::Nest begin;
  begin.passing = nests_.passingTiles(survey);
  evaluator_.beginNest(std::move(begin));
  TileEvaluator::Nest &nest = evaluator_.nest();

  llvm::SmallVector<mlir::Value, 4> limits;
  for (const Bound &bound : survey.bounds)
    limits.push_back(nests_.limitOf(bound, shape[bound.nestAxis]));
  const auto limitAlong = [&](int along) -> mlir::Value {
    mlir::Value limit;
    for (size_t index = 0; index < limits.size(); ++index)
      if (survey.bounds[index].nestAxis == along)
        limit = limit ? b.createOrFold<arith::MinSIOp>(e_.loc, limit, limits[index]) : limits[index];
    return limit;
  };

  // Outer loops over the axes that stay, other than the vector axis.
  Position position(rank, lanes_.constantIndex(0));
  mlir::Value holds;
  int opened = 0;
  for (int kept = 0; kept < rank; ++kept) {
    if (kept == axis || kept == vectorAxis)
      continue;
    if (shape[kept] != 1) {
      auto loop = e_.openLoop(e_.index(0), e_.index(shape[kept]), e_.index(1));
      ++opened;
      position[kept] = lanes_.affine(loop.getInductionVar(), e_.index(0), DType::Int64, e_.level());
    }
    if (const mlir::Value limit = limitAlong(kept)) {
      const mlir::Value inside =
          arith::CmpIOp::create(b, e_.loc, arith::CmpIPredicate::slt, position[kept].value, limit);
      holds = holds ? arith::AndIOp::create(b, e_.loc, holds, inside).getResult() : inside;
    }
  }

  const auto valueOf = [&](const Lane &lane) {
    return e_.lanes == 1 ? lanes_.scalar(lane) : lanes_.vector(lane);
  };
  const auto elements = [&](const Position &at) {
    Combiner::Values values;
    for (size_t index = 0; index < width; ++index)
      values.push_back(combiner.toAccumulator(index, valueOf(evaluator_.at(op.operands[index], at))));
    return values;
  };
  const auto shapedLike = [&]() -> mlir::Type {
    return e_.lanes == 1 ? b.getI1Type() : mlir::Type(e_.vectorOf(b.getI1Type()));
  };

  /// The values of lanes beyond the one bound along the reduced axis, if they are all alike there.
  std::optional<Combiner::Values> beyond;
  const Bound *clip = nullptr;
  const auto findBeyond = [&](Position at) {
    size_t along = 0;
    for (const Bound &bound : survey.bounds)
      if (bound.nestAxis == axis)
        ++along, clip = &bound;
    if (along != 1 || clip->wraps || !combiner.hasIdentity() || !combiner.hasClosedForm()) {
      clip = nullptr;
      return;
    }
    at[axis] = Lane::makeUnknown(DType::Int64);
    nest.beyond = clip->compare;
    const bool assume = std::exchange(nest.assume, false);
    const Lane lane = evaluator_.at(op.operands[0], at);
    nest.beyond = kNone;
    nest.assume = assume;
    if (lane.unknown() || (alongLanes && !lanes_.isUniform(lane))) {
      clip = nullptr;
      return;
    }
    const mlir::Value value = alongLanes ? lanes_.scalar(lane) : valueOf(lane);
    beyond = Combiner::Values{combiner.toAccumulator(0, value)};
  };
  const auto addBeyond = [&](Combiner::Values &totals, mlir::Value end) {
    if (!beyond)
      return;
    const mlir::Value count = b.createOrFold<arith::SubIOp>(e_.loc, e_.index(size), end);
    totals[0] = combiner.combineCopies(0, totals[0], (*beyond)[0], count);
  };
  const auto assumeAll = [&](bool inMain, int clipLevel) {
    nest.assume = inMain || clipLevel >= 0;
    nest.assumed.clear();
    for (const Bound &bound : survey.bounds)
      if (inMain || (clip && bound == *clip))
        nest.assumed.push_back({bound, e_.level()});
  };
  const auto writeResults = [&](const Combiner::Values &totals, bool asVectors) {
    Position kept;
    for (int other = 0; other < rank; ++other)
      if (other != axis)
        kept.push_back(position[other]);
    for (size_t index = 0; index < width; ++index) {
      const mlir::Value value = combiner.fromAccumulator(index, totals[index]);
      const DType dtype = combiner.inputType(index);
      const Lane lane =
          asVectors ? lanes_.vectorLane(value, dtype, e_.level()) : lanes_.uniform(value, dtype, e_.level());
      if (buffers[index])
        evaluator_.store(*buffers[index], kept, lane);
      else
        evaluator_.setScalar(op.results[index], lanes_.uniform(value, dtype));
    }
  };

  if (alongLanes) {
    findBeyond(position);
    const mlir::Value limit = limitAlong(axis);
    mlir::Value end;
    if (clip) {
      end = limit;
      if (holds)
        end = b.createOrFold<arith::SelectOp>(e_.loc, holds, end, e_.index(size));
      nest.domain.push_back(*clip);
    }
    const int64_t unroll =
        combiner.hasIdentity() && survey.isCheap() && size >= kAccumulators * lanes ? kAccumulators : 1;
    const LoopNest::Chunks chunks = nests_.chunks(size, lanes, unroll, holds, limit, end);
    const mlir::Value step = e_.index(lanes == 1 ? 0 : 1);

    Combiner::Values totals;
    mlir::Value from = e_.index(0);
    if (combiner.hasIdentity()) {
      for (int64_t chunk = 0; chunk < unroll; ++chunk)
        for (size_t index = 0; index < width; ++index)
          totals.push_back(combiner.identity(index, shapedLike()));
    } else {
      position[axis] = lanes_.affine(e_.index(0), step, DType::Int64, e_.level());
      nest.current = position;
      totals = elements(position);
      from = e_.index(lanes);
    }
    const auto emitLoop = [&](mlir::Value start, mlir::Value stop, int64_t stride, bool isMain) {
      auto loop = e_.openLoop(start, stop, e_.index(stride), totals);
      assumeAll(isMain, -1);
      Combiner::Values yields;
      for (int64_t chunk = 0; chunk * lanes < stride; ++chunk) {
        position[axis] = lanes_.addConstant(
            lanes_.affine(loop.getInductionVar(), step, DType::Int64, e_.level()), chunk * lanes);
        nest.current = position;
        nest.existing = isMain ? std::nullopt : nests_.existingLanes(position[axis], size);
        Combiner::Values accumulated;
        for (size_t index = 0; index < width; ++index)
          accumulated.push_back(loop.getRegionIterArg(chunk * width + index));
        Combiner::Values values = elements(position);
        if (!isMain && lanes > 1 && combiner.hasIdentity() && (clip || size % lanes != 0)) {
          const mlir::Value counted = nests_.lanesBelow(position[axis], chunks.end).value;
          for (size_t index = 0; index < width; ++index)
            values[index] = arith::SelectOp::create(b, e_.loc, counted, values[index],
                                                    combiner.identity(index, shapedLike()));
        }
        yields.append(combiner.combine(accumulated, values));
      }
      const mlir::ValueRange results = e_.closeLoop(yields);
      totals.assign(results.begin(), results.end());
      nest.assume = false;
      nest.existing.reset();
      evaluator_.leaveLevel();
    };
    if (mlir::getConstantIntValue(chunks.mainEnd) != 0)
      emitLoop(from, chunks.mainEnd, chunks.mainStep, true);
    while (totals.size() > width) {
      Combiner::Values merged;
      for (size_t half = totals.size() / 2, index = 0; index < half; index += width)
        merged.append(combiner.combine(
            Combiner::Values(totals.begin() + index, totals.begin() + index + width),
            Combiner::Values(totals.begin() + half + index, totals.begin() + half + index + width)));
      totals = merged;
    }
    if (chunks.hasRest) {
      mlir::Value start = chunks.mainEnd;
      if (!combiner.hasIdentity())
        start = b.createOrFold<arith::MaxSIOp>(e_.loc, start, from);
      emitLoop(start, chunks.end, lanes, false);
    }
    if (lanes > 1)
      totals = combiner.acrossLanes(totals, lanes);
    addBeyond(totals, chunks.end);
    writeResults(totals, false);
  } else {
    const int64_t lanesSize = shape[vectorAxis];
    const int64_t unroll = survey.isCheap() && lanesSize >= kAccumulators * lanes ? kAccumulators : 1;
    const LoopNest::Chunks chunks =
        nests_.chunks(lanesSize, lanes, unroll, holds, limitAlong(vectorAxis), {});
    const auto emitLoop = [&](mlir::Value start, mlir::Value stop, int64_t stride, bool isMain) {
      auto outer = e_.openLoop(start, stop, e_.index(stride));
      const int64_t count = stride / lanes;
      const auto place = [&](int64_t chunk) {
        position[vectorAxis] = lanes_.addConstant(
            lanes_.affine(outer.getInductionVar(), e_.index(lanes == 1 ? 0 : 1), DType::Int64, e_.level()),
            chunk * lanes);
        nest.existing = isMain ? std::nullopt : nests_.existingLanes(position[vectorAxis], lanesSize);
      };
      llvm::SmallVector<Position> places;
      llvm::SmallVector<std::optional<Lane>> existing;
      for (int64_t chunk = 0; chunk < count; ++chunk) {
        place(chunk);
        places.push_back(position);
        existing.push_back(nest.existing);
      }
      llvm::SmallVector<std::optional<Combiner::Values>> beyonds;
      mlir::Value end = e_.index(size);
      for (int64_t chunk = 0; chunk < count; ++chunk) {
        beyond.reset();
        clip = nullptr;
        nest.existing = existing[chunk];
        findBeyond(places[chunk]);
        beyonds.push_back(beyond);
      }
      if (clip) {
        for (size_t index = 0; index < limits.size(); ++index)
          if (survey.bounds[index] == *clip)
            end = limits[index];
      }
      Combiner::Values totals;
      mlir::Value from = e_.index(0);
      for (int64_t chunk = 0; chunk < count; ++chunk) {
        if (combiner.hasIdentity()) {
          for (size_t index = 0; index < width; ++index)
            totals.push_back(combiner.identity(index, shapedLike()));
          continue;
        }
        Position first = places[chunk];
        first[axis] = lanes_.constantIndex(0);
        nest.current = first;
        nest.existing = existing[chunk];
        totals.append(elements(first));
        from = e_.index(1);
      }
      auto inner = e_.openLoop(from, end, e_.index(1), totals);
      // Along the reduced axis only the clipped bound holds everywhere.
      nest.assume = true;
      nest.assumed.clear();
      for (const Bound &bound : survey.bounds)
        if ((isMain && bound.nestAxis != axis) || (clip && bound == *clip))
          nest.assumed.push_back({bound, e_.level()});
      Combiner::Values yields;
      for (int64_t chunk = 0; chunk < count; ++chunk) {
        Position at = places[chunk];
        at[axis] = lanes_.affine(inner.getInductionVar(), e_.index(0), DType::Int64, e_.level());
        nest.current = at;
        nest.existing = existing[chunk];
        Combiner::Values accumulated;
        for (size_t index = 0; index < width; ++index)
          accumulated.push_back(inner.getRegionIterArg(chunk * width + index));
        yields.append(combiner.combine(accumulated, elements(at)));
      }
      const mlir::ValueRange results = e_.closeLoop(yields);
      totals.assign(results.begin(), results.end());
      nest.assume = false;
      evaluator_.leaveLevel();
      for (int64_t chunk = 0; chunk < count; ++chunk) {
        Combiner::Values chunkTotals(totals.begin() + chunk * width, totals.begin() + (chunk + 1) * width);
        beyond = beyonds[chunk];
        addBeyond(chunkTotals, end);
        position = places[chunk];
        nest.existing = existing[chunk];
        writeResults(chunkTotals, lanes > 1);
      }
      nest.existing.reset();
      e_.closeLoop();
      evaluator_.leaveLevel();
    };
    // Passing tiles would be written for rows of the clip only; leave them to other nests.
    nest.passing.clear();
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
  for (size_t index = 0; index < width; ++index)
    if (buffers[index])
      evaluator_.addStored({op.results[index], *buffers[index], {}});
}

} // namespace tilewright::cpu

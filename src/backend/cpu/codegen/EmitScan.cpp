// Ops whose elements depend on their predecessors: scans and histograms, one element after the other.
#include "Combiner.h"
#include "KernelEmitter.h"

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

void KernelEmitter::emitScan(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const int axis = static_cast<int>(op.attributes.integer("axis"));
  const auto shape = p_.shape(op.operands[0]);
  const int rank = static_cast<int>(shape.size());
  const size_t width = op.operands.size();
  const bool reverse = op.attributes.flag("reverse");
  Combiner combiner(e_, lanes_, evaluator_, op);
  if (e_.refusal())
    return;
  llvm::SmallVector<TileBuffer> buffers;
  for (const ValueId result : op.results)
    buffers.push_back(e_.scratch.allocate(p_.value(result).type, p_.shape(result)));
  evaluator_.beginNest({});
  Position position(rank, lanes_.constantIndex(0));
  int opened = 0;
  for (int other = 0; other < rank; ++other) {
    if (other == axis || shape[other] == 1)
      continue;
    auto loop = e_.openLoop(e_.index(0), e_.index(shape[other]), e_.index(1));
    ++opened;
    position[other] = lanes_.affine(loop.getInductionVar(), e_.index(0), DType::Int64, e_.level());
  }
  const auto elements = [&] {
    Combiner::Values values;
    for (size_t index = 0; index < width; ++index)
      values.push_back(
          combiner.toAccumulator(index, lanes_.scalar(evaluator_.at(op.operands[index], position))));
    return values;
  };
  const auto write = [&](const Combiner::Values &values) {
    for (size_t index = 0; index < width; ++index)
      evaluator_.store(buffers[index], position,
                       lanes_.uniform(combiner.fromAccumulator(index, values[index]),
                                      combiner.inputType(index), e_.level()));
  };
  position[axis] = lanes_.constantIndex(reverse ? shape[axis] - 1 : 0);
  const Combiner::Values first = elements();
  write(first);
  auto loop = e_.openLoop(e_.index(1), e_.index(shape[axis]), e_.index(1), first);
  mlir::Value index = loop.getInductionVar();
  if (reverse)
    index = arith::SubIOp::create(b, e_.loc, e_.index(shape[axis] - 1), index);
  position[axis] = lanes_.affine(index, e_.index(0), DType::Int64, e_.level());
  Combiner::Values before(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  const Combiner::Values total = combiner.combine(before, elements());
  write(total);
  e_.closeLoop(total);
  for (; opened > 0; --opened)
    e_.closeLoop();
  evaluator_.endNest();
  for (size_t result = 0; result < width; ++result)
    evaluator_.addStored({op.results[result], buffers[result], {}});
}

void KernelEmitter::emitHistogram(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const ValueId result = op.results[0];
  const int64_t bins = p_.shape(result)[0];
  const DType dtype = p_.value(result).type.dtype;
  const TileBuffer buffer = e_.scratch.allocate(p_.value(result).type, p_.shape(result));
  const Lane zero = lanes_.uniform(e_.constant(e_.elementType(dtype), int64_t{0}), dtype);
  LoopNest::Request clear;
  clear.shape = {bins};
  clear.elementBytes = byteSize(dtype);
  nests_.emit(clear, [&](const Position &position) { evaluator_.store(buffer, position, zero); });

  LoopNest::Request count;
  count.shape.assign(p_.shape(op.operands[0]).begin(), p_.shape(op.operands[0]).end());
  count.values = {op.operands[0]};
  count.scalar = true;
  nests_.emit(count, [&](const Position &position) {
    const mlir::Value bin = lanes_.wideScalar(evaluator_.at(op.operands[0], position));
    mlir::Value counted = arith::CmpIOp::create(b, e_.loc, arith::CmpIPredicate::ult, bin, e_.index(bins));
    if (op.operands.size() > 1)
      counted =
          arith::AndIOp::create(b, e_.loc, counted, lanes_.scalar(evaluator_.at(op.operands[1], position)));
    auto branch = scf::IfOp::create(b, e_.loc, counted, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    const Position place{lanes_.affine(bin, e_.index(0), DType::Int64, e_.level())};
    const mlir::Value before = lanes_.scalar(lanes_.readBuffer(buffer, place));
    const mlir::Value after =
        arith::AddIOp::create(b, e_.loc, before, e_.constant(before.getType(), int64_t{1}));
    evaluator_.store(buffer, place, lanes_.uniform(after, dtype, e_.level()));
  });
  evaluator_.addStored({result, buffer, {}});
}

} // namespace tilewright::cpu

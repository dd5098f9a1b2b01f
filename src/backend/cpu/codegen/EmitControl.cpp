// Regions in order: scalars where they stand, control flow as scf, everything else to its emitter.
#include "KernelEmitter.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace scf = mlir::scf;

bool KernelEmitter::endsInReturn(const Op &op) const {
  for (const RegionId region : op.regions)
    if (containsReturn(region))
      return true;
  return false;
}

bool KernelEmitter::containsReturn(RegionId region) const {
  for (const OpId id : p_.program().region(region).ops) {
    const Op &op = p_.op(id);
    if (op.kind == OpKind::Return || (op.kind == OpKind::If && endsInReturn(op)))
      return true;
  }
  return false;
}

void KernelEmitter::emitRegion(RegionId region, size_t firstOp) {
  const auto &ops = p_.program().region(region).ops;
  for (size_t index = firstOp; index < ops.size(); ++index) {
    const Op &op = p_.op(ops[index]);
    if (op.kind == OpKind::Return)
      return;
    if (e_.refusal() || !p_.isLive(ops[index]))
      continue;
    if (op.kind == OpKind::If) {
      const bool leaves = endsInReturn(op);
      emitIf(op, leaves ? region : kNone, index + 1);
      if (leaves)
        return; // what follows was emitted in the branches that go on
      continue;
    }
    emitOp(op);
  }
}

void KernelEmitter::emitOp(const Op &op) {
  const OpId id = p_.idOf(op);
  switch (op.kind) {
  case OpKind::ProgramId:
  case OpKind::ProgramCount:
  case OpKind::Yield:
  case OpKind::Assume:
  case OpKind::Barrier:
    return;
  case OpKind::DevicePrint:
    e_.remarks.emplace_back("compile.unsupported: device_print prints nothing on the CPU");
    return;
  case OpKind::For:
    return emitFor(op);
  case OpKind::While:
    return emitWhile(op);
  case OpKind::Store:
    if (isScalar(op.operands[0]))
      return emitScalarStore(op);
    if (const auto group = plan_.storeGroup(id); !group.empty())
      emitStores(group);
    return;
  case OpKind::AtomicRmw:
    return emitAtomicRmw(op);
  case OpKind::AtomicCas:
    return emitAtomicCas(op);
  case OpKind::DeviceAssert:
    return emitAssert(op);
  case OpKind::Reduce:
    return emitReduce(op);
  case OpKind::Scan:
    return emitScan(op);
  case OpKind::Histogram:
    return emitHistogram(op);
  case OpKind::Dot:
    return emitDot(op);
  case OpKind::MakeBlockPtr:
  case OpKind::MakeDescriptor:
  case OpKind::Advance:
    return emitBlockHandle(op);
  case OpKind::BlockLoad:
  case OpKind::BlockStore:
  case OpKind::DescriptorLoad:
  case OpKind::DescriptorStore:
    return emitBlockAccess(op);
  default:
    break;
  }
  if (!isPure(op.kind) && op.kind != OpKind::Load)
    return e_.refuse(&op, fmt::format("operation {}", name(op.kind)));
  if (op.results.size() == 1 && isScalar(op.results[0]))
    return emitScalar(op);
  keepAtDefinition(op);
}

/// Tiles that later code must not compute from memory again.
void KernelEmitter::keepAtDefinition(const Op &op) {
  for (const ValueId result : op.results) {
    if (p_.canonical(result) != result || !plan_.storeAtDefinition(result))
      continue;
    const TileBuffer buffer = e_.scratch.allocate(p_.value(result).type, p_.shape(result));
    nests_.materialise(result, buffer);
    evaluator_.addStored({result, buffer, {}});
  }
}

void KernelEmitter::emitScalar(const Op &op) {
  const ValueId result = op.results[0];
  if (p_.canonical(result) != result)
    return;
  const Type &type = p_.value(result).type;
  if (!type.isPointer() && isInteger(type.dtype)) {
    if (const auto constant = p_.constantOf(result)) {
      evaluator_.setScalar(result,
                           lanes_.uniform(e_.constant(e_.elementType(type.dtype), *constant), type.dtype));
      return;
    }
  }
  if (op.kind == OpKind::Constant) {
    const auto number = p_.floatConstantOf(result);
    if (!number || !isFloat(type.dtype) || bitWidth(type.dtype) < 16)
      return e_.refuse(&op, fmt::format("a constant of type {}", toString(type)));
    evaluator_.setScalar(result,
                         lanes_.uniform(e_.constant(e_.elementType(type.dtype), *number), type.dtype));
    return;
  }
  evaluator_.beginNest({});
  Lane lane = evaluator_.at(result, {});
  evaluator_.endNest();
  lane.level = 0;
  evaluator_.setScalar(result, lane);
}

void KernelEmitter::emitFor(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const RegionId bodyId = op.regions[0];
  const Region &body = p_.program().region(bodyId);
  const DType indexType = p_.value(op.operands[0]).type.dtype;
  const auto bound = [&](size_t index) { return lanes_.scalar(*evaluator_.findScalar(op.operands[index])); };
  mlir::Value lower = bound(0), upper = bound(1), step = bound(2);
  const auto constantStep = p_.constantOf(op.operands[2]);
  if (constantStep && *constantStep == 0)
    return e_.refuse(&op, "a loop with step 0");
  const bool backwards = constantStep && *constantStep < 0;

  llvm::SmallVector<Carried> tiles;
  llvm::SmallVector<size_t> scalars, blocks; ///< carried index
  llvm::SmallVector<mlir::Value> inits;
  for (size_t index = 0; index + 1 < body.arguments.size(); ++index) {
    const ValueId argument = body.arguments[index + 1];
    if (p_.value(argument).type.kind == Type::Kind::Descriptor)
      return e_.refuse(&op, "a descriptor that a loop carries");
    if (isBlock(argument)) {
      blocks.push_back(index);
      continue;
    }
    if (isScalar(argument)) {
      scalars.push_back(index);
      const Lane *init = evaluator_.findScalar(op.operands[3 + index]);
      if (p_.value(argument).type.isPointer())
        inits.push_back(lanes_.wideScalar(lanes_.pointerAddress(*init)));
      else
        inits.push_back(lanes_.scalar(*init));
      continue;
    }
    Carried carried{argument, op.operands[3 + index], op.results[index], access_.induction(argument),
                    std::nullopt};
    if (!carried.induction)
      carried.buffer = e_.scratch.allocate(p_.value(argument).type, p_.shape(argument));
    tiles.push_back(carried);
  }
  for (const Carried &carried : tiles) {
    storeCarriedInit(carried);
    if (carried.induction)
      inits.push_back(e_.index(0));
  }

  for (const size_t index : blocks)
    for (const Lane &offset : blocks_[op.operands[3 + index]].offsets)
      inits.push_back(lanes_.wideScalar(offset));

  const mlir::Type type = e_.elementType(indexType);
  const mlir::Value zero = e_.constant(type, int64_t{0}), one = e_.constant(type, int64_t{1});
  mlir::Value from = lower, to = upper, by = step;
  if (backwards) {
    // lower, lower+step, ... > upper: counted upwards from 0.
    const mlir::Value magnitude = e_.constant(type, -*constantStep);
    const mlir::Value distance = arith::SubIOp::create(b, e_.loc, lower, upper);
    from = zero, by = one;
    to = arith::CeilDivSIOp::create(b, e_.loc, distance, magnitude);
  }
  auto loop = scf::ForOp::create(b, e_.loc, from, to, by, inits);
  if (inits.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  mlir::Value index = loop.getInductionVar();
  if (backwards)
    index = arith::AddIOp::create(b, e_.loc, lower, arith::MulIOp::create(b, e_.loc, index, step));
  evaluator_.setScalar(body.arguments[0], lanes_.uniform(index, indexType));

  const auto scalarLane = [&](ValueId like, mlir::Value value) {
    const Type &scalarType = p_.value(like).type;
    if (!scalarType.isPointer())
      return lanes_.uniform(value, scalarType.dtype);
    Lane lane = lanes_.affine(value, e_.index(0), scalarType.dtype, 0);
    lane.kind = Type::Kind::Pointer;
    return lane;
  };
  size_t next = 0;
  for (const size_t carried : scalars)
    evaluator_.setScalar(body.arguments[carried + 1],
                         scalarLane(body.arguments[carried + 1], loop.getRegionIterArg(next++)));
  llvm::SmallVector<mlir::Value> offsets;
  const int64_t space = e_.scratch.mark();
  const size_t stored = evaluator_.mark();
  for (const Carried &carried : tiles) {
    if (carried.induction) {
      offsets.push_back(loop.getRegionIterArg(next++));
      evaluator_.setInductionOffset(carried.argument,
                                    lanes_.affine(offsets.back(), e_.index(0), DType::Int64, 0));
    } else {
      evaluator_.addStored({carried.argument, *carried.buffer, {}});
    }
  }
  /// The handle of a block pointer before the loop, with the offsets that the loop gives from `value` on.
  const auto movedBlock = [&](size_t carried, const auto &value) {
    BlockHandle handle = blocks_[op.operands[3 + carried]];
    for (Lane &offset : handle.offsets)
      offset = lanes_.affine(value(next++), e_.index(0), DType::Int64, 0);
    return handle;
  };
  for (const size_t carried : blocks)
    blocks_[body.arguments[carried + 1]] =
        movedBlock(carried, [&](size_t at) { return loop.getRegionIterArg(at); });
  emitRegion(bodyId);
  if (e_.refusal())
    return;

  const Op &yield = p_.op(body.ops.back());
  llvm::SmallVector<mlir::Value> yields;
  for (const size_t carried : scalars) {
    const Lane *lane = evaluator_.findScalar(yield.operands[carried]);
    if (p_.value(yield.operands[carried]).type.isPointer())
      yields.push_back(lanes_.wideScalar(lanes_.pointerAddress(*lane)));
    else
      yields.push_back(lanes_.scalar(*lane));
  }
  llvm::SmallVector<Carried> stores;
  llvm::SmallVector<ValueId> nextValues;
  size_t nextOffset = 0;
  for (const Carried &carried : tiles) {
    if (carried.induction) {
      Lane offset = lanes_.affine(offsets[nextOffset++], e_.index(0), DType::Int64, 0);
      evaluator_.beginNest({});
      for (const ValueId delta : carried.induction->deltas)
        offset = lanes_.addWide(offset, evaluator_.first(delta));
      evaluator_.endNest();
      yields.push_back(lanes_.wideScalar(offset));
      continue;
    }
    stores.push_back(carried);
    nextValues.push_back(yield.operands[p_.value(carried.argument).index - 1]);
  }
  for (const size_t carried : blocks) {
    const BlockHandle &before = blocks_[op.operands[3 + carried]], &after = blocks_[yield.operands[carried]];
    if (before.base.pointer != after.base.pointer || before.base.value != after.base.value)
      return e_.refuse(&op, "a loop that moves a block pointer to another base");
    for (const Lane &offset : after.offsets)
      yields.push_back(lanes_.wideScalar(offset));
  }
  updateCarried(stores, nextValues);
  if (!yields.empty())
    scf::YieldOp::create(b, e_.loc, yields);
  evaluator_.release(stored);
  e_.scratch.release(space);
  b.setInsertionPointAfter(loop);

  next = 0;
  for (const size_t carried : scalars)
    evaluator_.setScalar(op.results[carried], scalarLane(op.results[carried], loop.getResult(next++)));
  for (const Carried &carried : tiles) {
    if (carried.induction)
      evaluator_.bindResult(carried.result, carried.init,
                            lanes_.affine(loop.getResult(next++), e_.index(0), DType::Int64, 0));
    else
      evaluator_.addStored({carried.result, *carried.buffer, {}});
  }
  for (const size_t carried : blocks)
    blocks_[op.results[carried]] = movedBlock(carried, [&](size_t at) { return loop.getResult(at); });
}

void KernelEmitter::emitWhile(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const Region &condition = p_.program().region(op.regions[0]);
  const Region &body = p_.program().region(op.regions[1]);
  llvm::SmallVector<size_t> scalars;
  llvm::SmallVector<Carried> tiles;
  llvm::SmallVector<mlir::Value> inits;
  llvm::SmallVector<mlir::Type> types;
  for (size_t index = 0; index < body.arguments.size(); ++index) {
    const ValueId argument = body.arguments[index];
    const Type::Kind kind = p_.value(argument).type.kind;
    if (kind == Type::Kind::BlockPointer || kind == Type::Kind::Descriptor)
      return e_.refuse(&op, "a block pointer that a while loop carries");
    if (!isScalar(argument)) {
      Carried carried{argument, op.operands[index], op.results[index], nullptr,
                      e_.scratch.allocate(p_.value(argument).type, p_.shape(argument))};
      storeCarriedInit(carried);
      tiles.push_back(carried);
      continue;
    }
    if (p_.value(argument).type.isPointer())
      return e_.refuse(&op, "a pointer that a while loop carries");
    scalars.push_back(index);
    inits.push_back(lanes_.scalar(*evaluator_.findScalar(op.operands[index])));
    types.push_back(inits.back().getType());
  }
  auto loop = scf::WhileOp::create(b, e_.loc, types, inits);
  llvm::SmallVector<mlir::Location> locations(types.size(), e_.loc);
  const int64_t space = e_.scratch.mark();
  const size_t stored = evaluator_.mark();

  mlir::Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  b.setInsertionPointToEnd(before);
  for (size_t index = 0; index < scalars.size(); ++index)
    evaluator_.setScalar(
        condition.arguments[scalars[index]],
        lanes_.uniform(before->getArgument(index), p_.value(condition.arguments[scalars[index]]).type.dtype));
  for (const Carried &carried : tiles)
    evaluator_.addStored({condition.arguments[p_.value(carried.argument).index], *carried.buffer, {}});
  emitRegion(op.regions[0]);
  if (e_.refusal())
    return;
  const mlir::Value goesOn = lanes_.scalar(*evaluator_.findScalar(p_.op(condition.ops.back()).operands[0]));
  scf::ConditionOp::create(b, e_.loc, goesOn, before->getArguments());
  evaluator_.release(stored);

  mlir::Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
  b.setInsertionPointToEnd(after);
  for (size_t index = 0; index < scalars.size(); ++index)
    evaluator_.setScalar(
        body.arguments[scalars[index]],
        lanes_.uniform(after->getArgument(index), p_.value(body.arguments[scalars[index]]).type.dtype));
  for (const Carried &carried : tiles)
    evaluator_.addStored({carried.argument, *carried.buffer, {}});
  emitRegion(op.regions[1]);
  if (e_.refusal())
    return;
  const Op &yield = p_.op(body.ops.back());
  llvm::SmallVector<mlir::Value> yields;
  for (const size_t index : scalars)
    yields.push_back(lanes_.scalar(*evaluator_.findScalar(yield.operands[index])));
  llvm::SmallVector<ValueId> nextValues;
  for (const Carried &carried : tiles)
    nextValues.push_back(yield.operands[p_.value(carried.argument).index]);
  updateCarried(tiles, nextValues);
  scf::YieldOp::create(b, e_.loc, yields);
  evaluator_.release(stored);
  e_.scratch.release(space);
  b.setInsertionPointAfter(loop);
  for (size_t index = 0; index < scalars.size(); ++index)
    evaluator_.setScalar(
        op.results[scalars[index]],
        lanes_.uniform(loop.getResult(index), p_.value(op.results[scalars[index]]).type.dtype));
  for (const Carried &carried : tiles)
    evaluator_.addStored({carried.result, *carried.buffer, {}});
}

/// `rest`: the region whose ops from `restFirst` on follow the `if`, when a branch may end the program; they
/// are emitted inside the branches that go on.
void KernelEmitter::emitIf(const Op &op, RegionId rest, size_t restFirst) {
  mlir::OpBuilder &b = e_.builder;
  const mlir::Value condition = lanes_.scalar(*evaluator_.findScalar(op.operands[0]));
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<size_t> scalars;
  llvm::SmallVector<Carried> tiles;
  for (size_t index = 0; index < op.results.size(); ++index) {
    const ValueId result = op.results[index];
    const Type::Kind kind = p_.value(result).type.kind;
    if (kind == Type::Kind::BlockPointer || kind == Type::Kind::Descriptor)
      return e_.refuse(&op, "a block pointer that depends on a branch");
    if (!isScalar(result)) {
      tiles.push_back({static_cast<ValueId>(index), kNone, result, nullptr,
                       e_.scratch.allocate(p_.value(result).type, p_.shape(result))});
      continue;
    }
    scalars.push_back(index);
    types.push_back(p_.value(result).type.isPointer() ? b.getI64Type()
                                                      : e_.elementType(p_.value(result).type.dtype));
  }
  if (rest != kNone && !op.results.empty())
    return e_.refuse(&op, "a return inside an if that also assigns variables");
  if (rest != kNone) {
    for (const OpId parent : p_.parentsOf(rest))
      if (p_.op(parent).kind != OpKind::If)
        return e_.refuse(&op, "a return inside a loop");
    for (const RegionId region : op.regions) {
      const auto &ops = p_.program().region(region).ops;
      const bool direct =
          std::any_of(ops.begin(), ops.end(), [&](OpId id) { return p_.op(id).kind == OpKind::Return; });
      if (containsReturn(region) && !direct)
        return e_.refuse(&op, "a return inside nested ifs");
    }
  }
  auto branch = scf::IfOp::create(b, e_.loc, types, condition, /*withElseRegion=*/true);
  for (const bool isThen : {true, false}) {
    mlir::Block *block = isThen ? branch.thenBlock() : branch.elseBlock();
    const RegionId region = op.regions[isThen ? 0 : 1];
    mlir::OpBuilder::InsertionGuard guard(b);
    if (types.empty())
      b.setInsertionPoint(block->getTerminator());
    else
      b.setInsertionPointToEnd(block);
    const int64_t space = e_.scratch.mark();
    const size_t stored = evaluator_.mark();
    emitRegion(region);
    if (e_.refusal())
      return;
    if (rest != kNone && !containsReturn(region))
      emitRegion(rest, restFirst);
    if (!op.results.empty()) {
      const Op &yield = p_.op(p_.program().region(region).ops.back());
      llvm::SmallVector<mlir::Value> yields;
      for (const size_t index : scalars) {
        const Lane *lane = evaluator_.findScalar(yield.operands[index]);
        yields.push_back(lane->isPointer() ? lanes_.wideScalar(lanes_.pointerAddress(*lane))
                                           : lanes_.scalar(*lane));
      }
      for (const Carried &tile : tiles)
        nests_.materialise(yield.operands[tile.argument], *tile.buffer);
      if (!types.empty())
        scf::YieldOp::create(b, e_.loc, yields);
    }
    evaluator_.release(stored);
    e_.scratch.release(space);
  }
  for (size_t index = 0; index < scalars.size(); ++index) {
    const Type &type = p_.value(op.results[scalars[index]]).type;
    Lane lane = lanes_.uniform(branch.getResult(index), type.dtype);
    if (type.isPointer()) {
      lane = lanes_.affine(branch.getResult(index), e_.index(0), type.dtype, 0);
      lane.kind = Type::Kind::Pointer;
    }
    evaluator_.setScalar(op.results[scalars[index]], lane);
  }
  for (const Carried &tile : tiles)
    evaluator_.addStored({tile.result, *tile.buffer, {}});
}

} // namespace tilewright::cpu

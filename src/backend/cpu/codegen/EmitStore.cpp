// Ops that change memory or check values: stores, atomics, device assertions.
#include "KernelEmitter.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace llvmir = mlir::LLVM;
namespace scf = mlir::scf;

void KernelEmitter::emitStores(llvm::ArrayRef<OpId> stores) {
  const auto shape = p_.shape(p_.op(stores.front()).operands[0]);
  LoopNest::Request request;
  request.shape.assign(shape.begin(), shape.end());
  for (const OpId id : stores) {
    const Op &op = p_.op(id);
    request.values.push_back(op.operands[1]);
    request.values.push_back(op.operands[0]);
    request.targets.push_back(op.operands[0]);
    if (op.operands.size() > 2)
      request.masks.push_back(op.operands[2]);
  }
  nests_.emit(request, [&](const Position &position) {
    // All values are computed before the first one is stored: stores of a group may overwrite each other's
    // operands.
    llvm::SmallVector<Lane> values;
    for (const OpId id : stores)
      values.push_back(evaluator_.at(p_.op(id).operands[1], position));
    for (size_t index = 0; index < stores.size(); ++index) {
      const Op &op = p_.op(stores[index]);
      const Lane pointer = evaluator_.at(op.operands[0], position);
      std::optional<Lane> mask;
      if (op.operands.size() > 2)
        mask = evaluator_.at(op.operands[2], position);
      if (const auto &existing = evaluator_.nest().existing)
        mask = mask ? lanes_.logicalAnd(*mask, *existing) : *existing;
      lanes_.store(&op, pointer, values[index], mask ? &*mask : nullptr);
    }
  });
}

void KernelEmitter::emitScalarStore(const Op &op) {
  std::optional<Lane> mask;
  if (op.operands.size() > 2)
    mask = *evaluator_.findScalar(op.operands[2]);
  lanes_.store(&op, *evaluator_.findScalar(op.operands[0]), *evaluator_.findScalar(op.operands[1]),
               mask ? &*mask : nullptr);
}

namespace {

llvmir::AtomicOrdering orderingOf(const Op &op) {
  const std::string sem = op.attributes.text("sem");
  if (sem == "relaxed")
    return llvmir::AtomicOrdering::monotonic;
  if (sem == "acquire")
    return llvmir::AtomicOrdering::acquire;
  if (sem == "release")
    return llvmir::AtomicOrdering::release;
  return llvmir::AtomicOrdering::acq_rel;
}

std::optional<llvmir::AtomicBinOp> atomicOperation(const std::string &operation, DType dtype) {
  using B = llvmir::AtomicBinOp;
  const bool real = isFloat(dtype);
  if (operation == "add" || operation == "fadd")
    return real ? B::fadd : B::add;
  if (operation == "max")
    return real ? B::fmax : isSigned(dtype) ? B::max : B::umax;
  if (operation == "min")
    return real ? B::fmin : isSigned(dtype) ? B::min : B::umin;
  if (operation == "umax")
    return B::umax;
  if (operation == "umin")
    return B::umin;
  if (operation == "and")
    return B::_and;
  if (operation == "or")
    return B::_or;
  if (operation == "xor")
    return B::_xor;
  if (operation == "xchg")
    return B::xchg;
  return std::nullopt;
}

} // namespace

/// One element of an atomic op at a scalar position; the value that was there before.
mlir::Value KernelEmitter::atomicAt(const Op &op, const Position &position) {
  mlir::OpBuilder &b = e_.builder;
  const DType dtype = p_.value(op.results[0]).type.dtype;
  const mlir::Type element = e_.elementType(dtype);
  const mlir::Value address = lanes_.addressOf(evaluator_.at(op.operands[0], position));
  const mlir::Value first = lanes_.scalar(evaluator_.at(op.operands[1], position));
  if (op.kind == OpKind::AtomicCas) {
    const mlir::Type bits = b.getIntegerType(bitWidth(dtype));
    const auto toBits = [&](mlir::Value value) -> mlir::Value {
      return value.getType() == bits ? value : arith::BitcastOp::create(b, e_.loc, bits, value).getResult();
    };
    const mlir::Value desired = lanes_.scalar(evaluator_.at(op.operands[2], position));
    const auto ordering = orderingOf(op);
    const auto failure =
        ordering == llvmir::AtomicOrdering::monotonic || ordering == llvmir::AtomicOrdering::release
            ? llvmir::AtomicOrdering::monotonic
            : llvmir::AtomicOrdering::acquire;
    const mlir::Value pair = llvmir::AtomicCmpXchgOp::create(b, e_.loc, address, toBits(first),
                                                             toBits(desired), ordering, failure);
    const mlir::Value old = llvmir::ExtractValueOp::create(b, e_.loc, pair, llvm::ArrayRef<int64_t>{0});
    return bits == element ? old : arith::BitcastOp::create(b, e_.loc, element, old).getResult();
  }
  const auto operation = atomicOperation(op.attributes.text("operation"), dtype);
  if (!operation || dtype == DType::Int1) {
    e_.refuse(&op, fmt::format("atomic {} of {}", op.attributes.text("operation"), name(dtype)));
    return first;
  }
  std::optional<Lane> mask;
  if (op.operands.size() > 2)
    mask = evaluator_.at(op.operands[2], position);
  const auto emit = [&]() -> mlir::Value {
    return llvmir::AtomicRMWOp::create(b, e_.loc, *operation, address, first, orderingOf(op));
  };
  if (!mask)
    return emit();
  const mlir::Value none = e_.constant(element, int64_t{0});
  auto branch =
      scf::IfOp::create(b, e_.loc, mlir::TypeRange{element}, lanes_.scalar(*mask), /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, e_.loc, emit());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, e_.loc, none);
  return branch.getResult(0);
}

void KernelEmitter::emitAtomicRmw(const Op &op) {
  const ValueId result = op.results[0];
  const DType dtype = p_.value(result).type.dtype;
  if (isScalar(op.operands[0])) {
    evaluator_.beginNest({});
    evaluator_.setScalar(result, lanes_.uniform(atomicAt(op, {}), dtype));
    evaluator_.endNest();
    return;
  }
  const bool used = !p_.users(result).empty();
  LoopNest::Request request;
  request.shape.assign(p_.shape(op.operands[0]).begin(), p_.shape(op.operands[0]).end());
  request.values.assign(op.operands.begin(), op.operands.begin() + (op.kind == OpKind::AtomicCas ? 3 : 2));
  request.scalar = true;
  std::optional<TileBuffer> buffer;
  if (used)
    buffer = e_.scratch.allocate(p_.value(result).type, p_.shape(result));
  else if (op.kind == OpKind::AtomicRmw && op.operands.size() > 2)
    request.masks.push_back(op.operands[2]);
  nests_.emit(request, [&](const Position &position) {
    const mlir::Value old = atomicAt(op, position);
    if (buffer)
      evaluator_.store(*buffer, position, lanes_.uniform(old, dtype, e_.level()));
  });
  if (buffer)
    evaluator_.addStored({result, *buffer, {}});
}

void KernelEmitter::emitAtomicCas(const Op &op) { emitAtomicRmw(op); }

/// Notes the first failed assertion; the program goes on, and the span reports it when it returns.
void KernelEmitter::recordFailure(const Op &op, mlir::Value holds) {
  mlir::OpBuilder &b = e_.builder;
  const int64_t number = static_cast<int64_t>(assertions_.size());
  const mlir::Type i32 = b.getI32Type();
  const mlir::Value slot = e_.scratchAt(failureSlot_);
  const mlir::Value before = llvmir::LoadOp::create(b, e_.loc, i32, slot, 4);
  const mlir::Value isFirst =
      arith::CmpIOp::create(b, e_.loc, arith::CmpIPredicate::eq, before, e_.constant(i32, int64_t{0}));
  const mlir::Value code = arith::SelectOp::create(b, e_.loc, isFirst, e_.constant(i32, number), before);
  llvmir::StoreOp::create(b, e_.loc, arith::SelectOp::create(b, e_.loc, holds, before, code).getResult(),
                          slot, 4);
  (void)op;
}

void KernelEmitter::emitAssert(const Op &op) {
  std::string text = op.attributes.text("message");
  if (text.empty())
    text = "device assertion";
  if (op.location.valid())
    text = fmt::format("{}:{}: {}", op.location.file->path(), op.location.line(), text);
  assertions_.push_back(std::move(text));
  const auto check = [&](const Position &position) {
    const mlir::Value condition = lanes_.scalar(evaluator_.at(op.operands[0], position));
    mlir::Value holds = condition;
    if (op.operands.size() > 1) {
      const mlir::Value mask = lanes_.scalar(evaluator_.at(op.operands[1], position));
      const mlir::Value off = arith::XOrIOp::create(e_.builder, e_.loc, mask, e_.boolean(true));
      holds = arith::OrIOp::create(e_.builder, e_.loc, condition, off);
    }
    recordFailure(op, holds);
  };
  if (isScalar(op.operands[0])) {
    evaluator_.beginNest({});
    check({});
    evaluator_.endNest();
    return;
  }
  LoopNest::Request request;
  request.shape.assign(p_.shape(op.operands[0]).begin(), p_.shape(op.operands[0]).end());
  request.values = {op.operands[0]};
  request.scalar = true;
  nests_.emit(request, check);
}

} // namespace tilewright::cpu

// Matrix products: operands packed into the arena, accumulators in registers over k.
#include "DotAccumulator.h"
#include "EmitElementwise.h"
#include "KernelEmitter.h"
#include "RegisterTile.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace llvmir = mlir::LLVM;

namespace {

std::optional<DType> accumulationType(DType dtype) {
  switch (dtype) {
  case DType::Float64:
  case DType::Float32:
  case DType::Int32:
    return dtype;
  case DType::Float16:
  case DType::BFloat16:
    return DType::Float32;
  default:
    return std::nullopt;
  }
}

} // namespace

void KernelEmitter::emitDot(const Op &op) {
  mlir::OpBuilder &b = e_.builder;
  const ValueId left = op.operands[0], right = op.operands[1], result = op.results[0];
  if (p_.rank(result) != 2)
    return e_.refuse(&op, "a batched dot");
  const DType resultType = p_.value(result).type.dtype;
  const auto computed = accumulationType(resultType);
  if (!computed || isFloat(*computed) != isFloat(p_.value(left).type.dtype))
    return e_.refuse(&op,
                     fmt::format("a dot of {} into {}", name(p_.value(left).type.dtype), name(resultType)));
  const int64_t m = p_.shape(left)[0], k = p_.shape(left)[1], n = p_.shape(right)[1];

  TileBuffer product;
  const auto inPlace = *computed == resultType ? findCarriedAccumulator(p_, evaluator_, op) : std::nullopt;
  std::optional<TileBuffer> rounded;
  if (inPlace) {
    product = inPlace->buffer;
  } else {
    if (*computed != resultType)
      rounded = e_.scratch.allocate(p_.value(result).type, p_.shape(result));
    product = e_.scratch.allocate(Type::tile(*computed, {}), p_.shape(result));
  }
  const int64_t space = e_.scratch.mark();

  const auto pack = [&](ValueId value) {
    if (const StoredTile *stored = evaluator_.findStored(value); stored && stored->inside.empty() &&
                                                                 stored->buffer.dtype == *computed &&
                                                                 stored->buffer.strides.back() == 1)
      return stored->buffer;
    const TileBuffer buffer = e_.scratch.allocate(Type::tile(*computed, {}), p_.shape(value));
    LoopNest::Request request;
    request.shape.assign(p_.shape(value).begin(), p_.shape(value).end());
    request.values = {value};
    request.elementBytes = byteSize(*computed);
    nests_.emit(request, [&](const Position &position) {
      evaluator_.store(buffer, position, lanes_.withDType(evaluator_.at(value, position), *computed));
    });
    return buffer;
  };
  if (!inPlace || inPlace->needsInit) {
    LoopNest::Request request;
    request.shape.assign(p_.shape(result).begin(), p_.shape(result).end());
    request.values = {op.operands[2]};
    request.elementBytes = byteSize(*computed);
    nests_.emit(request, [&](const Position &position) {
      evaluator_.store(product, position,
                       lanes_.withDType(evaluator_.at(op.operands[2], position), *computed));
    });
  }
  const TileBuffer a = pack(left), c = product, bTile = pack(right);
  if (e_.refusal())
    return;

  const RegisterTile tile = chooseRegisterTile(e_.isa, m, n, byteSize(*computed));
  const mlir::Type element = e_.elementType(*computed);
  const mlir::Type vectorType =
      tile.lanes == 1 ? element : mlir::Type(mlir::VectorType::get({tile.lanes}, element));
  const uint32_t alignment = byteSize(*computed);
  const auto at = [&](mlir::Value base, int64_t elements) -> mlir::Value {
    if (elements == 0)
      return base;
    return llvmir::GEPOp::create(b, e_.loc, e_.pointerType(), element, base,
                                 llvm::ArrayRef<llvmir::GEPArg>{static_cast<int32_t>(elements)});
  };
  const auto offset = [&](mlir::Value base, mlir::Value index, int64_t stride) -> mlir::Value {
    const mlir::Value elements = b.createOrFold<arith::MulIOp>(e_.loc, index, e_.index(stride));
    return llvmir::GEPOp::create(b, e_.loc, e_.pointerType(), element, base,
                                 llvm::ArrayRef<llvmir::GEPArg>{elements});
  };
  const auto multiplyAdd = [&](mlir::Value x, mlir::Value y, mlir::Value sum) -> mlir::Value {
    if (!isFloat(*computed))
      return arith::AddIOp::create(b, e_.loc, arith::MulIOp::create(b, e_.loc, x, y), sum);
    if (e_.isa.fma && tile.lanes > 1)
      return mlir::vector::FMAOp::create(b, e_.loc, x, y, sum);
    return arith::AddFOp::create(b, e_.loc, arith::MulFOp::create(b, e_.loc, x, y, contractFlags()), sum,
                                 contractFlags());
  };

  auto columns = e_.openLoop(e_.index(0), e_.index(n), e_.index(tile.vectors * tile.lanes));
  const mlir::Value bColumn = offset(e_.scratchAt(bTile.offset), columns.getInductionVar(), 1);
  const mlir::Value cColumn = offset(e_.scratchAt(c.offset), columns.getInductionVar(), 1);
  auto rows = e_.openLoop(e_.index(0), e_.index(m), e_.index(tile.rows));
  const mlir::Value aRow = offset(e_.scratchAt(a.offset), rows.getInductionVar(), a.strides[0]);
  const mlir::Value cTile = offset(cColumn, rows.getInductionVar(), c.strides[0]);
  llvm::SmallVector<mlir::Value> sums;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      sums.push_back(llvmir::LoadOp::create(b, e_.loc, vectorType,
                                            at(cTile, row * c.strides[0] + vector * tile.lanes), alignment));
  auto depth = e_.openLoop(e_.index(0), e_.index(k), e_.index(1), sums);
  const mlir::Value bRow = offset(bColumn, depth.getInductionVar(), bTile.strides[0]);
  const mlir::Value aColumn = offset(aRow, depth.getInductionVar(), 1);
  llvm::SmallVector<mlir::Value> factors;
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    factors.push_back(
        llvmir::LoadOp::create(b, e_.loc, vectorType, at(bRow, vector * tile.lanes), alignment));
  llvm::SmallVector<mlir::Value> yields;
  for (int64_t row = 0; row < tile.rows; ++row) {
    mlir::Value scalar =
        llvmir::LoadOp::create(b, e_.loc, element, at(aColumn, row * a.strides[0]), alignment);
    if (tile.lanes > 1)
      scalar = mlir::vector::BroadcastOp::create(b, e_.loc, vectorType, scalar);
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      yields.push_back(
          multiplyAdd(scalar, factors[vector], depth.getRegionIterArg(row * tile.vectors + vector)));
  }
  const mlir::ValueRange totals = e_.closeLoop(yields);
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      llvmir::StoreOp::create(b, e_.loc, totals[row * tile.vectors + vector],
                              at(cTile, row * c.strides[0] + vector * tile.lanes), alignment);
  e_.closeLoop();
  e_.closeLoop();

  if (rounded) {
    LoopNest::Request request;
    request.shape.assign(p_.shape(result).begin(), p_.shape(result).end());
    request.elementBytes = byteSize(*computed);
    nests_.emit(request, [&](const Position &position) {
      evaluator_.store(*rounded, position,
                       lanes_.withDType(lanes_.readBuffer(product, position), resultType));
    });
    product = *rounded;
  }
  e_.scratch.release(space);
  evaluator_.addStored({inPlace ? inPlace->result : p_.canonical(result), product, {}});
}

} // namespace tilewright::cpu

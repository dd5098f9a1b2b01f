#include "Emission.h"

namespace tilewright::cpu {

void Emission::refuse(const Op *op, std::string text) {
  if (refusal_)
    return;
  Diagnostic diagnostic = makeDiagnostic(
      Severity::Error, "compile.unsupported", "the CPU back end cannot generate code: " + std::move(text),
      op && op->location.valid() ? std::optional(op->location) : std::nullopt);
  refusal_ = Error(ErrorKind::Refusal, std::move(diagnostic));
}

mlir::scf::ForOp Emission::openLoop(mlir::Value lower, mlir::Value upper, mlir::Value step,
                                    mlir::ValueRange inits) {
  auto loop = mlir::scf::ForOp::create(builder, loc, lower, upper, step, inits);
  open_.push_back(loop);
  if (inits.empty())
    builder.setInsertionPoint(loop.getBody()->getTerminator());
  else
    builder.setInsertionPointToEnd(loop.getBody());
  return loop;
}

mlir::ValueRange Emission::closeLoop(mlir::ValueRange yields) {
  auto loop = mlir::cast<mlir::scf::ForOp>(open_.pop_back_val());
  if (!yields.empty())
    mlir::scf::YieldOp::create(builder, loc, yields);
  builder.setInsertionPointAfter(loop);
  return loop.getResults();
}

mlir::Value Emission::splatConstant(mlir::TypedAttr attribute) {
  mlir::Value &slot = constants_[attribute];
  if (!slot) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entryBlock);
    slot = mlir::arith::ConstantOp::create(builder, loc, attribute);
  }
  return slot;
}

mlir::Value Emission::constant(mlir::Type type, int64_t value) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  if (mlir::isa<mlir::FloatType>(element))
    return constant(type, static_cast<double>(value));
  mlir::TypedAttr attribute = builder.getIntegerAttr(element, value);
  if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    attribute = mlir::DenseElementsAttr::get(vector, mlir::Attribute(attribute));
  return splatConstant(attribute);
}

mlir::Value Emission::constant(mlir::Type type, double value) {
  mlir::TypedAttr attribute = builder.getFloatAttr(mlir::getElementTypeOrSelf(type), value);
  if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type))
    attribute = mlir::DenseElementsAttr::get(vector, mlir::Attribute(attribute));
  return splatConstant(attribute);
}

mlir::Value Emission::iota(mlir::Type element, int64_t lanes) {
  llvm::SmallVector<mlir::Attribute> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(builder.getIntegerAttr(element, lane));
  return splatConstant(mlir::DenseElementsAttr::get(mlir::VectorType::get({lanes}, element), values));
}

mlir::Type Emission::elementType(DType dtype) const {
  mlir::MLIRContext *context = builder.getContext();
  switch (dtype) {
  case DType::Float64:
    return mlir::Float64Type::get(context);
  case DType::Float32:
    return mlir::Float32Type::get(context);
  case DType::Float16:
    return mlir::Float16Type::get(context);
  case DType::BFloat16:
    return mlir::BFloat16Type::get(context);
  default:
    return mlir::IntegerType::get(context, bitWidth(dtype)); // 8-bit floats are carried as their bits
  }
}

mlir::Type Emission::memoryType(DType dtype) const {
  if (dtype == DType::Int1)
    return mlir::IntegerType::get(builder.getContext(), 8);
  if (dtype == DType::Float16 || dtype == DType::BFloat16)
    return mlir::IntegerType::get(builder.getContext(), 16);
  return elementType(dtype);
}

mlir::Value Emission::scratchAt(int64_t bytes) {
  if (bytes == 0)
    return scratchBase;
  mlir::Value &slot = scratchAddresses_[bytes];
  if (!slot) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entryBlock);
    slot = mlir::LLVM::GEPOp::create(builder, loc, pointerType(), builder.getI8Type(), scratchBase,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{static_cast<int32_t>(bytes)});
  }
  return slot;
}

} // namespace tilewright::cpu

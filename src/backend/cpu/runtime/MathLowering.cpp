#include "MathLowering.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Arith/Transforms/Passes.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/Math/Transforms/Passes.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/Transforms/DialectConversion.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

namespace tilewright::cpu {

namespace {

/// Functions whose approximation is inline and good to 1-2 ulp over the whole range (tests/unit/cpu/RuntimeMathTest.cpp
/// measures them against libm). sin and cos are not: their range reduction loses all digits for large arguments.
bool isApproximatedWell(llvm::StringRef name) {
  using namespace mlir::math;
  return name == ExpOp::getOperationName() || name == ExpM1Op::getOperationName() || name == LogOp::getOperationName() ||
         name == Log2Op::getOperationName() || name == Log1pOp::getOperationName() || name == TanhOp::getOperationName() ||
         name == ErfOp::getOperationName();
}

class MathLoweringPass : public mlir::PassWrapper<MathLoweringPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathLoweringPass)

  llvm::StringRef getName() const override { return "tilewright-cpu-math-lowering"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (mlir::failed(computeShortFloatsInF32()) || mlir::failed(approximate()))
      signalPassFailure();
  }

private:
  mlir::LogicalResult computeShortFloatsInF32() {
    mlir::TypeConverter converter;
    llvm::SetVector<mlir::Type> supported;
    supported.insert(mlir::Float32Type::get(&getContext()));
    supported.insert(mlir::Float64Type::get(&getContext()));
    mlir::math::populateExtendToSupportedTypesTypeConverter(converter, supported, mlir::Float32Type::get(&getContext()));
    mlir::ConversionTarget target(getContext());
    mlir::math::populateExtendToSupportedTypesConversionTarget(target, converter);
    mlir::RewritePatternSet patterns(&getContext());
    mlir::math::populateExtendToSupportedTypesPatterns(patterns, converter);
    return mlir::applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  mlir::LogicalResult approximate() {
    mlir::RewritePatternSet patterns(&getContext());
    mlir::populateMathF32ExpansionPatterns(patterns, isApproximatedWell);
    mlir::populateMathPolynomialApproximationPatterns(patterns, isApproximatedWell);
    mlir::arith::populateExpandBFloat16Patterns(patterns);
    mlir::GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
    return mlir::applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};

} // namespace

std::unique_ptr<mlir::Pass> makeMathLoweringPass(const CpuIsa &) { return std::make_unique<MathLoweringPass>(); }

} // namespace tilewright::cpu

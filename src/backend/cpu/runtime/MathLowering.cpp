#include "MathLowering.h"

#include <llvm/ADT/DenseSet.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Arith/Transforms/Passes.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/Math/Transforms/Passes.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/TypeUtilities.h>
#include <mlir/Transforms/DialectConversion.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

namespace tilewright::cpu {

namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

/// Functions whose approximation in MLIR is inline and good to a few ulp over the whole range
/// (RuntimeMathTest.cpp measures them against libm). sin and cos are not: their range reduction loses all
/// digits for large arguments.
bool isApproximatedWell(llvm::StringRef name) {
  return name == math::ExpOp::getOperationName() || name == math::ExpM1Op::getOperationName() ||
         name == math::LogOp::getOperationName() || name == math::Log2Op::getOperationName() ||
         name == math::Log1pOp::getOperationName() || name == math::TanhOp::getOperationName() ||
         name == math::ErfOp::getOperationName();
}

bool isF32(mlir::Operation *op) { return mlir::getElementTypeOrSelf(op->getResult(0).getType()).isF32(); }

/// Builds f32 and i32 arithmetic on values shaped like one given value.
class LikeBuilder {
public:
  explicit LikeBuilder(mlir::Operation *op)
      : builder_(op), location_(op->getLoc()), type_(op->getResult(0).getType()) {}

  Value constant(float value) { return constantOf(type_, builder_.getF32FloatAttr(value)); }
  Value integer(int32_t value) { return constantOf(integerType(), builder_.getI32IntegerAttr(value)); }
  template <class Op, class... Operands> Value make(Operands... operands) {
    return Op::create(builder_, location_, operands...);
  }
  Value toInteger(Value value) { return arith::FPToSIOp::create(builder_, location_, integerType(), value); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder_, location_, predicate, a, b);
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(builder_, location_, condition, ifTrue, ifFalse);
  }
  /// 2^exponent for a normal result.
  Value powerOfTwo(Value exponent) {
    const Value biased = make<arith::AddIOp>(exponent, integer(127));
    return arith::BitcastOp::create(builder_, location_, type_, make<arith::ShLIOp>(biased, integer(23)));
  }

private:
  mlir::Type integerType() {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type_);
    return vector ? mlir::Type(vector.clone(builder_.getI32Type())) : mlir::Type(builder_.getI32Type());
  }
  Value constantOf(mlir::Type type, mlir::TypedAttr element) {
    if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return arith::ConstantOp::create(builder_, location_,
                                       mlir::DenseElementsAttr::get(vector, mlir::Attribute(element)));
    return arith::ConstantOp::create(builder_, location_, element);
  }

  mlir::OpBuilder builder_;
  mlir::Location location_;
  mlir::Type type_;
};

/// 2^x = 2^n * 2^f with n the nearest integer: f in [-1/2, 1/2], where the Taylor series (ln 2)^k/k! to k = 7
/// is off by 5e-9. Scaling in two steps reaches subnormal results and infinity.
void expandExp2(math::Exp2Op op) {
  LikeBuilder b(op);
  const Value x = op.getOperand();
  const Value bounded =
      b.make<arith::MinNumFOp>(b.make<arith::MaxNumFOp>(x, b.constant(-160)), b.constant(136));
  const Value whole = b.make<math::RoundEvenOp>(bounded);
  const Value fraction = b.make<arith::SubFOp>(bounded, whole);
  constexpr float kTaylor[] = {1.52527338e-5f, 1.54035304e-4f, 1.33335581e-3f, 9.61812911e-3f,
                               5.55041087e-2f, 2.40226507e-1f, 6.93147181e-1f, 1.0f};
  Value sum = b.constant(kTaylor[0]);
  for (const float coefficient : llvm::ArrayRef(kTaylor).drop_front())
    sum = b.make<math::FmaOp>(sum, fraction, b.constant(coefficient));
  const Value exponent = b.toInteger(whole);
  const Value half = b.make<arith::ShRSIOp>(exponent, b.integer(1));
  const Value scaled = b.make<arith::MulFOp>(b.make<arith::MulFOp>(sum, b.powerOfTwo(half)),
                                             b.powerOfTwo(b.make<arith::SubIOp>(exponent, half)));
  const Value result = b.select(b.compare(arith::CmpFPredicate::UNO, x, x), x, scaled);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// MLIR's logarithms treat subnormal arguments as the smallest normal number. Scale those by 2^25 before and
/// correct after.
template <class LogOp> void scaleSubnormalArguments(LogOp op, float logOfScale) {
  LikeBuilder b(op);
  const Value x = op.getOperand();
  const Value small = b.compare(arith::CmpFPredicate::OLT, x, b.constant(1.17549435e-38f));
  const Value scaled = b.select(small, b.make<arith::MulFOp>(x, b.constant(33554432.0f)), x);
  const Value log = b.make<LogOp>(scaled);
  const Value corrected = b.select(small, b.make<arith::SubFOp>(log, b.constant(logOfScale)), log);
  op.replaceAllUsesWith(corrected);
  op.erase();
}

class MathLoweringPass : public mlir::PassWrapper<MathLoweringPass, mlir::OperationPass<mlir::ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MathLoweringPass)

  explicit MathLoweringPass(bool hasFma) : hasFma_(hasFma) {}
  llvm::StringRef getName() const override { return "tilewright-cpu-math-lowering"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, mlir::vector::VectorDialect>();
  }

  void runOnOperation() override {
    llvm::DenseSet<mlir::Operation *> wantedFused; // the kernel's own fma must round once, on every machine
    getOperation().walk([&](math::FmaOp op) { wantedFused.insert(op); });
    if (mlir::failed(computeShortFloatsInF32()))
      return signalPassFailure();
    expand();
    if (mlir::failed(approximate()))
      return signalPassFailure();
    if (!hasFma_)
      splitFusedMultiplyAdds(wantedFused);
  }

private:
  mlir::LogicalResult computeShortFloatsInF32() {
    mlir::TypeConverter converter;
    llvm::SetVector<mlir::Type> supported;
    supported.insert(mlir::Float32Type::get(&getContext()));
    supported.insert(mlir::Float64Type::get(&getContext()));
    math::populateExtendToSupportedTypesTypeConverter(converter, supported,
                                                      mlir::Float32Type::get(&getContext()));
    mlir::ConversionTarget target(getContext());
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    mlir::RewritePatternSet patterns(&getContext());
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    return mlir::applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  void expand() {
    llvm::SmallVector<mlir::Operation *> found;
    getOperation().walk([&](mlir::Operation *op) {
      if (mlir::isa<math::Exp2Op, math::LogOp, math::Log2Op>(op) && isF32(op))
        found.push_back(op);
    });
    for (mlir::Operation *op : found) {
      if (auto exp2 = mlir::dyn_cast<math::Exp2Op>(op))
        expandExp2(exp2);
      else if (auto log = mlir::dyn_cast<math::LogOp>(op))
        scaleSubnormalArguments(log, 17.3286795f); // 25 ln 2
      else
        scaleSubnormalArguments(mlir::cast<math::Log2Op>(op), 25.0f);
    }
  }

  mlir::LogicalResult approximate() {
    mlir::RewritePatternSet patterns(&getContext());
    mlir::populateMathPolynomialApproximationPatterns(patterns, isApproximatedWell);
    arith::populateExpandBFloat16Patterns(patterns);
    mlir::GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled);
    return mlir::applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }

  /// Without the instruction, a fused multiply-add is a library call for every lane.
  void splitFusedMultiplyAdds(const llvm::DenseSet<mlir::Operation *> &keep) {
    llvm::SmallVector<mlir::Operation *> found;
    getOperation().walk([&](mlir::Operation *op) {
      if (mlir::isa<math::FmaOp, mlir::vector::FMAOp>(op) && !keep.contains(op))
        found.push_back(op);
    });
    for (mlir::Operation *op : found) {
      mlir::OpBuilder builder(op);
      const Value product =
          arith::MulFOp::create(builder, op->getLoc(), op->getOperand(0), op->getOperand(1));
      const Value sum = arith::AddFOp::create(builder, op->getLoc(), product, op->getOperand(2));
      op->getResult(0).replaceAllUsesWith(sum);
      op->erase();
    }
  }

  const bool hasFma_;
};

} // namespace

std::unique_ptr<mlir::Pass> makeMathLoweringPass(const CpuIsa &isa) {
  return std::make_unique<MathLoweringPass>(isa.fma);
}

} // namespace tilewright::cpu

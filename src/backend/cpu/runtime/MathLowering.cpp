#include "MathLowering.h"

#include <limits>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Support/FormatVariadic.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Arith/Transforms/Passes.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
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
  return name == math::ExpM1Op::getOperationName() || name == math::LogOp::getOperationName() ||
         name == math::Log2Op::getOperationName() || name == math::Log1pOp::getOperationName() ||
         name == math::TanhOp::getOperationName() || name == math::ErfOp::getOperationName();
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
  /// 4, 8 or 16 for a vector of as many f32, else 0.
  int64_t nativeLanes() {
    const auto vector = mlir::dyn_cast<mlir::VectorType>(type_);
    if (!vector || vector.getRank() != 1 || !vector.getElementType().isF32())
      return 0;
    const int64_t lanes = vector.getNumElements();
    return lanes == 4 || lanes == 8 || lanes == 16 ? lanes : 0;
  }
  /// x * 2^exponent by AVX-512's scalef (exact also for subnormal results, overflow and NaN); nothing if the
  /// type is not one native vector.
  Value scalef(Value x, Value exponent) {
    const int64_t lanes = nativeLanes();
    if (lanes == 0)
      return {};
    const auto name = llvm::formatv("llvm.x86.avx512.mask.scalef.ps.{0}", lanes * 32).str();
    llvm::SmallVector<Value> arguments{x, exponent, constant(0.0f), allLanes(lanes)};
    if (lanes == 16)
      arguments.push_back(scalarInteger(builder_.getI32Type(), kRoundAsSet));
    return intrinsic(name, arguments);
  }
  /// IEEE 754-2008 maxNum or minNum by AVX-512DQ's range; nothing if the type is not one native vector.
  Value range(Value x, Value y, bool isMax) {
    const int64_t lanes = nativeLanes();
    if (lanes == 0)
      return {};
    const auto name = llvm::formatv("llvm.x86.avx512.mask.range.ps.{0}", lanes * 32).str();
    const int64_t choice = 4 + (isMax ? 1 : 0); // sign of the result as compared; 0 = minimum, 1 = maximum
    llvm::SmallVector<Value> arguments{x, y, scalarInteger(builder_.getI32Type(), choice), constant(0.0f),
                                       allLanes(lanes)};
    if (lanes == 16)
      arguments.push_back(scalarInteger(builder_.getI32Type(), kRoundAsSet));
    return intrinsic(name, arguments);
  }
  /// The bits of `value` with the low bits of `integer` added to its exponent.
  Value addToExponent(Value value, Value integer) {
    const auto bits = [&](Value of) {
      return arith::BitcastOp::create(builder_, location_, integerType(), of).getResult();
    };
    const Value exponent = make<arith::ShLIOp>(bits(integer), this->integer(23));
    return arith::BitcastOp::create(builder_, location_, type_, make<arith::AddIOp>(bits(value), exponent));
  }
  /// 2^exponent for a normal result.
  Value powerOfTwo(Value exponent) {
    const Value biased = make<arith::AddIOp>(exponent, integer(127));
    return arith::BitcastOp::create(builder_, location_, type_, make<arith::ShLIOp>(biased, integer(23)));
  }

private:
  static constexpr int64_t kRoundAsSet = 4; ///< _MM_FROUND_CUR_DIRECTION

  Value scalarInteger(mlir::Type type, int64_t value) {
    return arith::ConstantOp::create(builder_, location_, builder_.getIntegerAttr(type, value));
  }
  Value allLanes(int64_t lanes) { return scalarInteger(builder_.getIntegerType(lanes == 16 ? 16 : 8), -1); }
  Value intrinsic(llvm::StringRef name, llvm::ArrayRef<Value> arguments) {
    return mlir::LLVM::CallIntrinsicOp::create(builder_, location_, type_, builder_.getStringAttr(name),
                                               arguments)
        .getResult(0);
  }
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

/// sum * 2^whole, where `sum` is near 1 and `whole` an integer in [-160, 136]. One instruction on AVX-512;
/// elsewhere two multiplications, since one power of two cannot reach both subnormal numbers and the largest
/// normal ones.
Value scaleByPowerOfTwo(LikeBuilder &b, const CpuIsa &isa, Value sum, Value whole) {
  if (isa.avx512)
    if (const Value scaled = b.scalef(sum, whole))
      return scaled;
  const Value exponent = b.toInteger(whole);
  const Value half = b.make<arith::ShRSIOp>(exponent, b.integer(1));
  return b.make<arith::MulFOp>(b.make<arith::MulFOp>(sum, b.powerOfTwo(half)),
                               b.powerOfTwo(b.make<arith::SubIOp>(exponent, half)));
}

/// The nearest integer of |x| < 2^22: adding and subtracting 1.5 * 2^23 leaves no digit behind the point.
Value nearestInteger(LikeBuilder &b, Value x) {
  const Value magic = b.constant(12582912.0f);
  return b.make<arith::SubFOp>(b.make<arith::AddFOp>(x, magic), magic);
}

/// x, but not below `low` and not above `high`; NaN stays NaN (each line is one instruction on x86).
Value clampKeepingNan(LikeBuilder &b, Value x, float low, float high) {
  const Value least = b.constant(low), most = b.constant(high);
  x = b.select(b.compare(arith::CmpFPredicate::OGT, least, x), least, x);
  return b.select(b.compare(arith::CmpFPredicate::OLT, most, x), most, x);
}

Value polynomial(LikeBuilder &b, Value x, llvm::ArrayRef<float> fromHighest) {
  Value sum = b.constant(fromHighest[0]);
  for (const float coefficient : fromHighest.drop_front())
    sum = b.make<math::FmaOp>(sum, x, b.constant(coefficient));
  return sum;
}

/// 2^x = 2^n * 2^f with n the nearest integer; on f in [-1/2, 1/2] the polynomial (interpolation of (2^f -
/// 1)/f at Chebyshev nodes) is off by less than 0.2 units in the last place before rounding.
void expandExp2(math::Exp2Op op, const CpuIsa &isa) {
  LikeBuilder b(op);
  const Value bounded = clampKeepingNan(b, op.getOperand(), -160.0f, 136.0f);
  const Value whole = nearestInteger(b, bounded);
  constexpr float kCoefficients[] = {1.545321284e-4f,
                                     1.339092036e-3f,
                                     9.618082084e-3f,
                                     5.550356954e-2f,
                                     2.402265072e-1f,
                                     6.931471825e-1f,
                                     1.0f};
  const Value sum = polynomial(b, b.make<arith::SubFOp>(bounded, whole), kCoefficients);
  op.replaceAllUsesWith(scaleByPowerOfTwo(b, isa, sum, whole));
  op.erase();
}

/// e^x = 2^n * e^r with n the integer nearest to x/ln 2 and r = x - n ln 2, taken off in two parts, the first
/// exact; on |r| <= ln 2 / 2 the polynomial (interpolation of (e^r - 1 - r)/r^2 at Chebyshev nodes) is off by
/// less than 0.2 units.
void expandExp(math::ExpOp op, const CpuIsa &isa) {
  LikeBuilder b(op);
  const Value x = op.getOperand();
  const bool scales = isa.avx512 && b.nativeLanes() > 0;
  const Value bounded = scales ? clampKeepingNan(b, x, -105.0f, 90.0f) : x;
  const Value magic = b.constant(12582912.0f);
  const Value shifted = b.make<math::FmaOp>(bounded, b.constant(1.44269504f), magic);
  const Value whole = b.make<arith::SubFOp>(shifted, magic);
  Value rest = b.make<math::FmaOp>(whole, b.constant(-0.693359375f), bounded);
  rest = b.make<math::FmaOp>(whole, b.constant(2.12194440e-4f), rest);
  constexpr float kCoefficients[] = {
      1.392621314e-3f, 8.363203146e-3f, 4.166655615e-2f, 1.666657627e-1f, 0.5f, 1.0f, 1.0f};
  const Value sum = polynomial(b, rest, kCoefficients);
  Value result;
  if (scales) {
    result = b.scalef(sum, whole);
  } else {
    // n stands in the low bits of `shifted`; added to the exponent bits of the sum it reaches every normal
    // result. Beyond those the bits are nonsense and replaced: by 0 below (no subnormal results), by infinity
    // or NaN above.
    result = b.addToExponent(sum, shifted);
    const Value beyond = b.make<arith::MulFOp>(x, b.constant(std::numeric_limits<float>::infinity()));
    result = b.select(b.compare(arith::CmpFPredicate::UGT, x, b.constant(88.7228317f)), beyond, result);
    result =
        b.select(b.compare(arith::CmpFPredicate::OLT, x, b.constant(-87.3365402f)), b.constant(0.0f), result);
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

/// maxnum and minnum return the number when one operand is NaN; x86's max and min return the second operand,
/// so each costs two instructions more. AVX-512DQ's range instruction has just the wanted rule.
template <class Op> void useRangeInstruction(Op op, bool isMax) {
  LikeBuilder b(op);
  if (const Value result = b.range(op.getLhs(), op.getRhs(), isMax)) {
    op.replaceAllUsesWith(result);
    op.erase();
  }
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

  explicit MathLoweringPass(const CpuIsa &isa) : isa_(isa) {}
  llvm::StringRef getName() const override { return "tilewright-cpu-math-lowering"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect, mlir::vector::VectorDialect,
                    mlir::LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    llvm::DenseSet<mlir::Operation *> wantedFused; // the kernel's own fma must round once, on every machine
    getOperation().walk([&](math::FmaOp op) { wantedFused.insert(op); });
    if (mlir::failed(computeShortFloatsInF32()))
      return signalPassFailure();
    expand();
    if (mlir::failed(approximate()))
      return signalPassFailure();
    if (!isa_.fma)
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
      if (mlir::isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op>(op) && isF32(op))
        found.push_back(op);
      else if (isa_.avx512 && mlir::isa<arith::MaxNumFOp, arith::MinNumFOp>(op) && isF32(op))
        found.push_back(op);
    });
    for (mlir::Operation *op : found) {
      if (auto exp = mlir::dyn_cast<math::ExpOp>(op))
        expandExp(exp, isa_);
      else if (auto exp2 = mlir::dyn_cast<math::Exp2Op>(op))
        expandExp2(exp2, isa_);
      else if (auto max = mlir::dyn_cast<arith::MaxNumFOp>(op))
        useRangeInstruction(max, true);
      else if (auto min = mlir::dyn_cast<arith::MinNumFOp>(op))
        useRangeInstruction(min, false);
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

  const CpuIsa isa_;
};

} // namespace

std::unique_ptr<mlir::Pass> makeMathLoweringPass(const CpuIsa &isa) {
  return std::make_unique<MathLoweringPass>(isa);
}

} // namespace tilewright::cpu

#pragma once
#include "LoweringContext.h"

#include "tilewright/lang/Ast.h"

namespace tilewright::lowering {

/// Makes typed operations by Triton's rules: which dtype an operation computes in, which casts and broadcasts
/// come first, what is refused. Operands are FrontValues, because a Python number takes part in promotion
/// differently from an SSA value (`x * 2.0` keeps an f16 tile f16, `x * y` with an f32 scalar y doesn't).
///
///     binary(Add, tile<B x ptr<f32>>, tile<B x i32>)   addptr
///     binary(Div, tile<B x i32>, 2)                    both cast to f32, then div
class Emitter {
public:
  explicit Emitter(LoweringContext &context) : c(context) {}

  // --- scalars and dtypes (EmitTypes.cpp)
  /// The dtype that a Python number gets on its own: i1, i32 (u32, i64, u64 when too large), f32 (f64 when
  /// too large).
  DType numberType(const FrontValue &number);
  /// A number as a scalar of the given dtype, refused where Triton refuses it (fractions and overflow for
  /// integers).
  ValueId constant(const FrontValue &number, DType dtype);
  ValueId integerConstant(int64_t value, DType dtype);
  ValueId floatConstant(double value, DType dtype);
  /// Triton's `to_tensor`: an SSA value as it is, a number as a scalar.
  ValueId toTensor(const FrontValue &value);
  ValueId cast(ValueId value, DType dtype, const std::string &rounding = {});
  /// To any scalar type: also pointer <-> integer and pointer <-> pointer.
  ValueId castTo(ValueId value, const Type &scalarType, const std::string &rounding = {});
  ValueId bitcast(ValueId value, const Type &scalarType);
  DType promoteIntegers(DType a, DType b);
  DType computationType(DType a, bool aIsNumber, DType b, bool bIsNumber, bool divideOrModulo);

  // --- shapes (EmitShape.cpp)
  using Shape = std::vector<SymInt>;
  /// Equal as expressions, or equal for the witness and then required (lower.shape).
  bool sameExtent(SymInt a, SymInt b);
  bool sameShape(const Shape &a, const Shape &b);
  std::string shapeText(const Shape &shape);
  /// The language's rules for a tile: extents are powers of two, at most 1048576 elements.
  void checkTileShape(const Shape &shape);
  SymInt elementCount(const Shape &shape);
  ValueId splat(ValueId scalar, const Shape &shape);
  ValueId expandDims(ValueId value, int64_t axis);
  ValueId broadcastTo(ValueId value, const Shape &shape);
  /// Both operands with one shape, by NumPy's rule.
  std::pair<ValueId, ValueId> broadcast(ValueId a, ValueId b);
  ValueId reshape(ValueId value, const Shape &shape, bool reorder = false);
  ValueId permute(ValueId value, const std::vector<int64_t> &order);
  /// A one-element tile as a scalar.
  ValueId unsplat(ValueId value);

  // --- operators (EmitArithmetic.cpp)
  ValueId binary(lang::BinaryOperator op, const FrontValue &a, const FrontValue &b);
  ValueId compare(lang::CompareOperator op, const FrontValue &a, const FrontValue &b);
  ValueId negate(ValueId value);
  ValueId invert(ValueId value);
  ValueId logicalNot(ValueId value);
  ValueId logical(lang::BoolOperator op, const FrontValue &a, const FrontValue &b);
  ValueId minMax(OpKind kind, const FrontValue &a, const FrontValue &b, bool propagateNan);
  ValueId select(const FrontValue &condition, const FrontValue &a, const FrontValue &b);
  ValueId unary(std::string_view function, ValueId value);
  ValueId libraryBinary(std::string_view function, ValueId a, ValueId b);
  struct Operands {
    ValueId a, b;
  };
  /// Triton's implicit conversions of two operands: common dtype, common shape.
  Operands convert(const FrontValue &a, const FrontValue &b, bool allowPointerA = false,
                   bool allowPointerB = false, bool arithmetic = true, bool divideOrModulo = false);
  std::vector<ValueId> convertAll(const std::vector<FrontValue> &operands);

  /// "int32", "pointer<fp32>", "int32[64, 64]": as Triton names types in its messages.
  std::string typeName(const Type &type);
  std::string typeName(const FrontValue &value);

private:
  /// An expression for a value of this dtype: numbers wrap around as the dtype does; nothing where the
  /// expression could be negative and the dtype can't.
  SymInt representable(SymInt sym, DType dtype);
  ValueId arithmetic(OpKind kind, ValueId a, ValueId b);
  ValueId addPointer(ValueId pointer, ValueId offset);
  ValueId bitwise(OpKind kind, const FrontValue &a, const FrontValue &b);
  /// The cast of a constant, or of a tile of one, as a constant of the other dtype; nothing when it isn't one
  /// or the conversion isn't exact here.
  std::optional<ValueId> castConstant(ValueId value, DType dtype);
  ValueId castNumberOrValue(const FrontValue &value, DType dtype);
  [[noreturn]] void failOperands(const FrontValue &a, const FrontValue &b);
  DType scalarType(const FrontValue &value);

  LoweringContext &c;
};

} // namespace tilewright::lowering

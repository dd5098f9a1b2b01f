#include "Builtins.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

/// The dtype of a product: what Triton's `dot` accumulates in.
DType dotResult(BuiltinCall &call, DType input, DType wanted) {
  if (isInteger(input)) {
    if (input != DType::Int8 && input != DType::UInt8)
      call.c.failType(call.where(0), fmt::format("unsupported lhs dtype {}", tritonName(input)));
    return DType::Int32;
  }
  if (wanted == DType::BFloat16)
    call.c.failType(
        call.range,
        "out_dtype=bfloat16 is unsupported; use out_dtype=float32/float16 and cast with `.to(tl.bfloat16)`");
  if (input == DType::Float32 || input == DType::BFloat16)
    return DType::Float32;
  return input == DType::Float64 ? DType::Float64 : wanted;
}

FrontValue dot(BuiltinCall &call) {
  enum { kA, kB, kAcc, kPrecision, kTf32, kImprecise, kOut, kTransA, kTransB };
  LoweringContext &c = call.c;
  ValueId a = call.tensor(kA), b = call.tensor(kB);
  // Before Triton 2 a product could transpose its operands itself.
  if (call.flag(kTransA, false))
    a = call.emit.permute(a, {1, 0});
  if (call.flag(kTransB, false))
    b = call.emit.permute(b, {1, 0});
  const Type ta = c.typeOf(a), tb = c.typeOf(b);
  const size_t rank = ta.rank();
  if (ta.kind != Type::Kind::Value || tb.kind != Type::Kind::Value || rank < 2 || rank != tb.rank())
    c.fail(call.range, "lower.shape",
           fmt::format("input and other must have equal ranks >= 2, not {} and {}", call.emit.typeName(ta),
                       call.emit.typeName(tb)));
  if (rank > 3)
    c.unsupported(call.range, "tl.dot of more than three axes");
  const auto narrow = [](DType d) { return isFloat(d) && bitWidth(d) == 8; };
  if (ta.dtype != tb.dtype && !(narrow(ta.dtype) && narrow(tb.dtype)))
    c.failType(call.range, fmt::format("both operands must be same dtype. Got {} and {}",
                                       tritonName(ta.dtype), tritonName(tb.dtype)));
  const auto equalExtents = [&](SymInt x, SymInt y, std::string_view what) {
    if (!call.emit.sameExtent(x, y))
      c.fail(call.range, "lower.shape",
             fmt::format("{}: {} and {}", what, call.emit.shapeText(ta.shape), call.emit.shapeText(tb.shape)),
             x.isConstant() && y.isConstant() ? SymInt() : c.syms.eq(x, y));
  };
  equalExtents(ta.shape[rank - 1], tb.shape[rank - 2],
               "input and other must have equal reduction dimensions");
  if (rank == 3)
    equalExtents(ta.shape[0], tb.shape[0], "input and other must have equal batch shapes");
  // Extents that are equal by requirement get the spelling of the first operand.
  Emitter::Shape right = tb.shape;
  right[rank - 2] = ta.shape[rank - 1];
  if (rank == 3)
    right[0] = ta.shape[0];
  if (right != tb.shape)
    b = c.create(OpKind::Reshape, {b}, tb.withShape(right));
  Emitter::Shape shape = ta.shape;
  shape[rank - 1] = right[rank - 1];

  std::optional<DType> wanted;
  if (call.has(kOut))
    wanted = call.dtype(kOut);
  ValueId accumulator;
  DType result;
  if (call.has(kAcc)) {
    accumulator = call.tensor(kAcc);
    const Type type = c.typeOf(accumulator);
    if (!wanted)
      wanted = type.dtype;
    result = dotResult(call, ta.dtype, *wanted);
    if (!call.emit.sameShape(type.shape, shape))
      c.fail(call.where(kAcc), "lower.shape",
             fmt::format("accumulator shape is incompatible: expected {}, got {}", call.emit.shapeText(shape),
                         call.emit.shapeText(type.shape)));
    if (type.dtype != *wanted || type.dtype != result)
      c.failType(call.where(kAcc),
                 fmt::format("expected accumulator dtype {}, got {}",
                             tritonName(type.dtype != *wanted ? *wanted : result), tritonName(type.dtype)));
    if (type.shape != shape)
      accumulator = c.create(OpKind::Reshape, {accumulator}, type.withShape(shape));
  } else {
    result = dotResult(call, ta.dtype, wanted.value_or(DType::Float32));
    accumulator = call.emit.splat(call.emit.constant(c.integer(0), result), shape);
  }
  Attributes attributes;
  if (call.has(kPrecision) && call.has(kTf32))
    c.fail(call.range, "lower.call", "only one of input_precision and allow_tf32 can be specified");
  std::string precision = call.text(kPrecision, call.has(kTf32) && !call.flag(kTf32, true) ? "ieee" : "tf32");
  std::transform(precision.begin(), precision.end(), precision.begin(),
                 [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
  attributes.set("input_precision", precision);
  attributes.set("max_imprecise", call.integer(kImprecise, 0));
  return FrontValue::runtime(
      c.create(OpKind::Dot, {a, b, accumulator}, Type::tile(result, shape), std::move(attributes)));
}

/// What an operand of dot_scaled holds: a float format, two e2m1 in a byte or one element of another width.
struct ScaledFormat {
  std::string_view name;
  DType dtype;   ///< what the elements are read as
  DType carrier; ///< the unsigned dtype that may hold them too
};
constexpr std::array<ScaledFormat, 5> kScaledFormats = {{{"e2m1", DType::UInt8, DType::UInt8},
                                                         {"e4m3", DType::Fp8E4M3, DType::UInt8},
                                                         {"e5m2", DType::Fp8E5M2, DType::UInt8},
                                                         {"bf16", DType::BFloat16, DType::UInt16},
                                                         {"fp16", DType::Float16, DType::UInt16}}};

/// One side of dot_scaled, with its extents counted in elements, not in bytes that hold two.
struct ScaledOperand {
  ValueId value = kNone;
  std::string format;
  std::optional<ValueId> scale;
  bool packedAlongK = true;
  SymInt outer, inner; ///< M or N, and K
};

ScaledOperand scaledOperand(BuiltinCall &call, size_t first, size_t packArgument, bool isLeft) {
  LoweringContext &c = call.c;
  ScaledOperand operand;
  operand.value = call.tensor(first);
  const Type type = c.typeOf(operand.value);
  const size_t rank = type.rank();
  if (type.kind != Type::Kind::Value || (rank != 2 && rank != 3))
    call.failArgument(first, "a tile of two or three axes");
  operand.format = call.text(first + 2, "");
  const auto known = std::find_if(kScaledFormats.begin(), kScaledFormats.end(),
                                  [&](const ScaledFormat &f) { return f.name == operand.format; });
  if (known == kScaledFormats.end())
    c.failType(call.where(first + 2),
               fmt::format("the format must be e2m1, e4m3, e5m2, bf16 or fp16, not '{}'", operand.format));
  if (type.dtype != known->dtype && type.dtype != known->carrier)
    c.failType(call.where(first),
               fmt::format("unexpected dtype for {}: {}", operand.format, tritonName(type.dtype)));
  operand.value = call.emit.bitcast(operand.value, Type::scalar(known->dtype));
  operand.packedAlongK = call.flag(packArgument, true);
  const bool isPacked = operand.format == "e2m1";
  if (!operand.packedAlongK && !isPacked)
    c.fail(call.where(packArgument), "lower.type",
           "only mxfp4 inputs can be packed along a dimension different than K");
  const SymInt two = c.syms.constant(2);
  operand.outer = type.shape[isLeft ? rank - 2 : rank - 1];
  operand.inner = type.shape[isLeft ? rank - 1 : rank - 2];
  if (isPacked)
    (operand.packedAlongK ? operand.inner : operand.outer) =
        c.syms.mul(operand.packedAlongK ? operand.inner : operand.outer, two);
  if (call.has(first + 1))
    operand.scale = call.tensor(first + 1);
  return operand;
}

/// A scale has a row for each row of its side and an element for each 16 or 32 elements along K.
void checkScale(BuiltinCall &call, const ScaledOperand &operand, size_t argument) {
  if (!operand.scale)
    return;
  LoweringContext &c = call.c;
  const Type type = c.typeOf(*operand.scale);
  if (type.dtype != DType::UInt8 && type.dtype != DType::Int8 && type.dtype != DType::Fp8E4M3)
    c.failType(call.where(argument),
               fmt::format("a scale must be uint8 or fp8e4nv, not {}", call.emit.typeName(type)));
  if (type.shape.empty() || call.emit.elementCount(type.shape).isConstant(1))
    return;
  const size_t rank = type.rank();
  const int64_t groups = c.valueOf(type.shape[rank - 1], c.here), inner = c.valueOf(operand.inner, c.here);
  const int64_t factor = groups > 0 ? inner / groups : 0;
  const auto fits = [&](int64_t wanted) {
    return factor == wanted && rank >= 2 && call.emit.sameExtent(type.shape[rank - 2], operand.outer) &&
           call.emit.sameExtent(c.syms.mul(type.shape[rank - 1], c.syms.constant(wanted)), operand.inner);
  };
  if (!fits(32) && !fits(16))
    c.fail(call.where(argument), "lower.shape",
           fmt::format("a scale must have shape [..., {}, {} / 32] or [..., {}, {} / 16], but got {}",
                       toString(operand.outer), toString(operand.inner), toString(operand.outer),
                       toString(operand.inner), call.emit.shapeText(type.shape)));
}

FrontValue dotScaled(BuiltinCall &call) {
  enum { kA, kAScale, kAFormat, kB, kBScale, kBFormat, kAcc, kFast, kAPack, kBPack, kOut };
  LoweringContext &c = call.c;
  const ScaledOperand a = scaledOperand(call, kA, kAPack, true), b = scaledOperand(call, kB, kBPack, false);
  const Type ta = c.typeOf(a.value), tb = c.typeOf(b.value);
  if (ta.rank() != tb.rank())
    c.fail(call.range, "lower.shape",
           fmt::format("both inputs must be either 2D or 3D; (lhs: {} vs rhs: {})",
                       call.emit.shapeText(ta.shape), call.emit.shapeText(tb.shape)));
  if (!call.emit.sameExtent(a.inner, b.inner))
    c.fail(call.range, "lower.shape",
           fmt::format("reduction dimension should pack the same number of elements; (lhs: {} vs rhs: {})",
                       call.emit.shapeText(ta.shape), call.emit.shapeText(tb.shape)));
  if (ta.rank() == 3 && !call.emit.sameExtent(ta.shape[0], tb.shape[0]))
    c.fail(call.range, "lower.shape", "lhs and rhs must have equal batch shapes");
  checkScale(call, a, kAScale);
  checkScale(call, b, kBScale);
  Emitter::Shape shape{a.outer, b.outer};
  if (ta.rank() == 3)
    shape.insert(shape.begin(), ta.shape[0]);
  const DType out = call.has(kOut) ? call.dtype(kOut) : DType::Float32;
  ValueId accumulator;
  if (call.has(kAcc)) {
    accumulator = call.tensor(kAcc);
    const Type type = c.typeOf(accumulator);
    if (!call.emit.sameShape(type.shape, shape) || type.dtype != out)
      c.failType(call.where(kAcc),
                 fmt::format("expected an accumulator of {}, got {}",
                             call.emit.typeName(Type::tile(out, shape)), call.emit.typeName(type)));
    if (type.shape != shape)
      accumulator = c.create(OpKind::Reshape, {accumulator}, type.withShape(shape));
  } else {
    accumulator = call.emit.splat(call.emit.constant(c.integer(0), out), shape);
  }
  std::vector<ValueId> operands{a.value, b.value, accumulator};
  Attributes attributes;
  const auto side = [&](const ScaledOperand &operand, const std::string &name) {
    attributes.set(name + "_format", operand.format);
    attributes.set(name + "_k_pack", operand.packedAlongK);
    attributes.set(name + "_scaled", operand.scale.has_value());
    if (operand.scale)
      operands.push_back(*operand.scale);
  };
  side(a, "a");
  side(b, "b");
  attributes.set("fast_math", call.flag(kFast, false));
  return FrontValue::runtime(
      c.create(OpKind::DotScaled, std::move(operands), Type::tile(out, shape), std::move(attributes)));
}

constexpr Builtin kRows[] = {
    {"dot",
     "input, other, acc=, input_precision=, allow_tf32=, max_num_imprecise_acc=, out_dtype=, trans_a=, "
     "trans_b=",
     dot},
    {"dot_scaled",
     "lhs, lhs_scale, lhs_format, rhs, rhs_scale, rhs_format, acc=, fast_math=, lhs_k_pack=, rhs_k_pack=, "
     "out_dtype=",
     dotScaled},
};

} // namespace

std::span<const Builtin> dotBuiltins() { return kRows; }

} // namespace tilewright::lowering

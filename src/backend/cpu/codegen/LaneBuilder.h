#pragma once
#include "Emission.h"
#include "Lane.h"

namespace tilewright::cpu {

/// Arithmetic and memory on Lanes: picks the cheapest form that holds the result and the outermost loop level
/// where it may be computed. Row-invariant values therefore come out as scalars before the inner loop, with
/// no hoisting pass.
class LaneBuilder {
public:
  explicit LaneBuilder(Emission &emission) : e_(emission) {}

  // --- making ---
  Lane uniform(mlir::Value scalar, DType dtype, int level = 0) const;
  Lane constantIndex(int64_t value) { return affine(e_.index(value), e_.index(0), DType::Int64, 0); }
  Lane affine(mlir::Value base, mlir::Value step, DType dtype, int level) const;
  Lane boolean(bool value, int level) { return uniform(e_.boolean(value), DType::Int1, level); }
  Lane vectorLane(mlir::Value vector, DType dtype, int level) const;

  // --- asking ---
  bool isUniform(const Lane &lane) const;
  std::optional<int64_t> constantOf(const Lane &lane) const; ///< uniform integers (and bools) only
  std::optional<int64_t> stepOf(const Lane &lane) const;     ///< affine lanes: the step when it is a constant

  // --- as MLIR values, at the lane's own level ---
  mlir::Value scalar(const Lane &lane);     ///< requires isUniform
  mlir::Value wideScalar(const Lane &lane); ///< requires isUniform; 64-bit integer
  mlir::Value vector(const Lane &lane);
  Lane wide(const Lane &lane); ///< 64-bit affine, or a vector of i64

  // --- integer arithmetic on 64-bit lanes (positions, offsets) ---
  Lane addWide(const Lane &a, const Lane &b);
  Lane mulWide(const Lane &a, const Lane &b);
  Lane addConstant(const Lane &a, int64_t constant);
  Lane mulConstant(const Lane &a, int64_t constant);
  Lane divConstant(const Lane &a, int64_t divisor); ///< non-negative values
  Lane modConstant(const Lane &a, int64_t divisor); ///< non-negative values
  Lane withDType(Lane lane, DType dtype);           ///< the same number in another integer type

  Lane less(const Lane &a, const Lane &b); ///< a < b, signed
  Lane logicalAnd(const Lane &a, const Lane &b);
  Lane select(const Lane &condition, const Lane &ifTrue, const Lane &ifFalse);
  /// An elementwise op of the Program. `resultType` gives kind and dtype.
  Lane apply(const Op &op, Type resultType, llvm::ArrayRef<Lane> operands);

  // --- memory (LaneMemory.cpp) ---
  /// `mask` and `other` may be null. Lanes whose mask is off read `other`, or 0, and touch no memory.
  Lane load(const Op *op, const Lane &pointer, const Lane *mask, const Lane *other);
  void store(const Op *op, const Lane &pointer, const Lane &value, const Lane *mask);
  Lane readBuffer(const TileBuffer &buffer, const Position &position);
  void writeBuffer(const TileBuffer &buffer, const Position &position, const Lane &value,
                   const Lane *mask = nullptr);

  /// The address in a uniform pointer lane, at the current place.
  mlir::Value addressOf(const Lane &pointer) { return startAddress(pointer); }
  /// A pointer as a byte address.
  Lane pointerAddress(const Lane &pointer);
  int maxLevel(llvm::ArrayRef<Lane> lanes) const;

private:
  template <class Function> Lane make(Lane like, int level, Function &&emit) {
    like.level = level;
    like.value = e_.atLevel(level, std::forward<Function>(emit));
    return like;
  }
  mlir::Value wideVector(const Lane &lane);
  Lane divideByInvariant(const Lane &x, const Lane &divisor, int level);

  Lane applyPointer(const Op &op, Type resultType, llvm::ArrayRef<Lane> operands);
  /// The uniform start address of a pointer lane: base plus the uniform part of its offset.
  mlir::Value startAddress(const Lane &pointer);
  mlir::Value laneAddresses(const Lane &pointer);
  Lane bufferPointer(const TileBuffer &buffer, const Position &position);

  Emission &e_;
};

} // namespace tilewright::cpu

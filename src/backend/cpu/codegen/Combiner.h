#pragma once
#include "LaneBuilder.h"
#include "TileEvaluator.h"

namespace tilewright::cpu {

/// How a reduction or scan combines two partial results: a recognised kind, argmax/argmin on (value, index)
/// pairs, or the op's own region. Works on scalars and on vectors alike; half floats are accumulated in f32
/// by the recognised kinds.
class Combiner {
public:
  Combiner(Emission &emission, LaneBuilder &lanes, TileEvaluator &evaluator, const Op &op);

  size_t width() const { return inputs_.size(); }
  DType inputType(size_t index) const { return inputs_[index]; }
  /// The dtype that partial results are kept in.
  DType accumulatorType(size_t index) const { return accumulators_[index]; }
  /// The value that changes nothing, where the kind has one.
  bool hasIdentity() const { return !identity_.empty(); }
  mlir::Value identity(size_t index, mlir::Type shapedLike) const;
  bool isIdentity(size_t index, mlir::Value value) const;

  using Values = llvm::SmallVector<mlir::Value, 2>;
  Values combine(const Values &left, const Values &right);
  /// Element to accumulator dtype and back.
  mlir::Value toAccumulator(size_t index, mlir::Value value);
  mlir::Value fromAccumulator(size_t index, mlir::Value value);
  /// All lanes of vectors combined into scalars, in a tree.
  Values acrossLanes(Values vectors, int64_t lanes);
  /// `count` copies (i64, at least 0) of `value` combined into `accumulator`; only for kinds where that has a
  /// closed form.
  bool hasClosedForm() const;
  mlir::Value combineCopies(size_t index, mlir::Value accumulator, mlir::Value value, mlir::Value count);

private:
  Values combineByRegion(const Values &left, const Values &right);

  Emission &e_;
  LaneBuilder &lanes_;
  TileEvaluator &evaluator_;
  const Op &op_;
  std::string kind_;
  bool propagateNan_;
  llvm::SmallVector<DType, 2> inputs_, accumulators_;
  llvm::SmallVector<double, 2> identity_;
};

} // namespace tilewright::cpu

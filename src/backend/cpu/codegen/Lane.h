#pragma once
#include "tilewright/program/Type.h"

#include <llvm/ADT/SmallVector.h>
#include <mlir/IR/Value.h>

namespace tilewright::cpu {

/// One tile value at one place of a loop nest: what the native vector (or the scalar) at this place holds, in
/// the cheapest form that describes it.
///
///     Uniform  all lanes hold `value`                       row statistics, scalars, broadcast operands
///     Affine   lane l holds  value + l*step  (64-bit)       indices, offsets, pointers into rows
///     Vector   lane l holds element l of `value`            everything else
///     Unknown  the lanes' values must not be asked for      the axis of a masked-off lane (see Clipping.h)
///
/// Keeping offsets affine is what makes contiguous loads visible without a separate analysis, and keeps index
/// vectors out of the generated code. Affine integers are computed in 64 bits: an index that would overflow
/// its 32 bits within a tile is outside of Triton's contract.
///
/// A pointer is `pointer` plus an offset in elements (the fields above); without `pointer` the fields hold
/// byte addresses.
///
/// `level` is how many loops of the nest are open where the value is defined, so that users know how far out
/// they may be placed.
struct Lane {
  enum class Form : uint8_t { Uniform, Affine, Vector, Unknown };
  Form form = Form::Uniform;
  Type::Kind kind = Type::Kind::Value;
  DType dtype = DType::Int32;
  mlir::Value value;
  mlir::Value step;
  mlir::Value pointer;
  int level = 0;

  bool isPointer() const { return kind == Type::Kind::Pointer; }
  bool unknown() const { return form == Form::Unknown; }
  static Lane makeUnknown(DType dtype) {
    Lane lane;
    lane.form = Form::Unknown;
    lane.dtype = dtype;
    return lane;
  }
};

/// Where in a tile: one integer Lane per axis.
using Position = llvm::SmallVector<Lane, 4>;

} // namespace tilewright::cpu

#pragma once
#include "tilewright/program/Type.h"

#include <algorithm>
#include <cstdint>
#include <llvm/ADT/SmallVector.h>

namespace tilewright::cpu {

/// A tile that was written to the thread's arena: where, and how its elements lie.
///
///     element (i, j) is at   offset + (i*strides[0] + j*strides[1]) * byteSize
///
/// Rows are padded to whole cache lines, so that a native vector may be read and written at the end of a row.
struct TileBuffer {
  int64_t offset = 0;                    ///< bytes into the arena
  Type::Kind kind = Type::Kind::Value;   ///< pointers are kept as 64-bit addresses
  DType dtype = DType::Float32;          ///< of the elements as the Program sees them
  llvm::SmallVector<int64_t, 4> strides; ///< in elements
};

/// Hands out arena space. Buffers live until the scope that made them ends (the body of a loop, a branch),
/// and a sibling scope reuses the space. The first cache line is a landing place for loads whose mask is off.
class ScratchPlan {
public:
  static constexpr int64_t kLine = 64;
  /// Rows that are a multiple of this apart would compete for a few sets of the first-level cache.
  static constexpr int64_t kConflictBytes = 512;

  /// Space for `bytes`, aligned to a cache line and followed by a line that nobody else uses.
  int64_t allocate(int64_t bytes) {
    const int64_t offset = next_;
    next_ += (bytes + kLine - 1) / kLine * kLine + kLine;
    peak_ = std::max(peak_, next_);
    return offset;
  }
  TileBuffer allocate(Type type, llvm::ArrayRef<int64_t> shape) {
    const int64_t element = type.isPointer() ? 8 : byteSize(type.dtype);
    TileBuffer buffer{0, type.kind, type.dtype, {}};
    int64_t stride = 1;
    buffer.strides.resize(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
      buffer.strides[axis] = stride;
      stride *= shape[axis];
      if (axis + 1 == shape.size() && shape.size() > 1) {
        int64_t bytes = (stride * element + kLine - 1) / kLine * kLine;
        if (bytes % kConflictBytes == 0)
          bytes += kLine;
        stride = bytes / element;
      }
    }
    buffer.offset = allocate(stride * element);
    return buffer;
  }

  int64_t mark() const { return next_; }
  void release(int64_t mark) { next_ = mark; }
  int64_t peakBytes() const { return peak_; }

private:
  int64_t next_ = kLine;
  int64_t peak_ = kLine;
};

} // namespace tilewright::cpu

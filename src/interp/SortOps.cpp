#include "Machine.h"

#include <bit>
#include <cmath>

namespace tilewright::interp {

namespace {

/// Triton sorts by a bitonic network of compare-and-swap steps. The interpreter runs the same network,
/// because with NaN (which compares false with everything) the result depends on the order of the
/// comparisons.
class Network {
public:
  Network(DType dtype, Cell *line, size_t length) : dtype_(dtype), line_(line), length_(length) {}

  /// Brings blocks of 2^stage elements, bitonic each, into order. `flipped(i)` says whether element i belongs
  /// to a block that goes down.
  template <class Flipped> void merge(size_t stage, Flipped flipped) {
    for (size_t bit = stage; bit-- > 0;) {
      const size_t distance = size_t(1) << bit;
      for (size_t i = 0; i < length_; ++i) {
        if (i & distance)
          continue;
        Cell &left = line_[i], &right = line_[i | distance];
        const bool flip = flipped(i);
        // Each side looks at the other one for itself, as lanes do.
        const bool leftTakes = greater(left, right) != flip, rightTakes = greater(right, left) != !flip;
        const Cell a = left, b = right;
        left = leftTakes ? b : a;
        right = rightTakes ? a : b;
      }
    }
  }
  /// Halves the line: the better one of each pair of elements that differ in bit `bit`.
  void halve(size_t bit, bool wantMax) {
    const size_t distance = size_t(1) << bit;
    size_t kept = 0;
    for (size_t i = 0; i < length_; ++i)
      if (!(i & distance))
        line_[kept++] = better(line_[i], line_[i | distance], wantMax);
    length_ = kept;
  }

private:
  bool greater(Cell a, Cell b) const { return isFloat(dtype_) ? a.f > b.f : lessInteger(dtype_, b.i, a.i); }
  Cell better(Cell a, Cell b, bool wantMax) const {
    if (!isFloat(dtype_))
      return greater(a, b) == wantMax ? a : b;
    Cell out;
    out.f = wantMax ? std::fmax(a.f, b.f) : std::fmin(a.f, b.f);
    return out;
  }

  DType dtype_;
  Cell *line_;
  size_t length_;
};

size_t log2Of(size_t n) { return static_cast<size_t>(std::bit_width(n)) - 1; }

} // namespace

Machine::Flow Machine::sort(const Op &op) {
  const int64_t axis = op.attributes.integer("axis");
  const AxisView from(extents(op.operands[0]), axis), to(extents(op.results[0]), axis);
  if (!std::has_single_bit(from.length) || !std::has_single_bit(to.length) || to.length > from.length)
    return unsupported(op, "along an axis whose extent is not a power of two");
  const bool descending = op.attributes.flag("descending");
  const size_t logN = log2Of(from.length), logK = log2Of(to.length);
  const Cell *in = operand(op, 0);
  Cell *out = result(op);
  Lanes line(from.length);
  const auto whole = [descending](size_t) { return descending; };
  for (size_t outer = 0; outer < from.outer; ++outer)
    for (size_t inner = 0; inner < from.inner; ++inner) {
      for (size_t k = 0; k < from.length; ++k)
        line[k] = in[(outer * from.length + k) * from.inner + inner];
      Network network(dtype(op.operands[0]), line.data(), from.length);
      // Blocks go up and down in turn until the last stage, which is one block of the whole line.
      const auto alternating = [](size_t stage) {
        return [stage](size_t i) { return (i >> stage & 1) != 0; };
      };
      if (op.attributes.flag("merge"))
        network.merge(logN, whole);
      else
        for (size_t stage = 1; stage <= logK; ++stage)
          stage < logN ? network.merge(stage, alternating(stage)) : network.merge(stage, whole);
      for (size_t stage = logK + 1; stage <= logN; ++stage) {
        network.halve(logK, descending);
        stage < logN ? network.merge(logK, alternating(logK)) : network.merge(logK, whole);
      }
      for (size_t k = 0; k < to.length; ++k)
        out[(outer * to.length + k) * to.inner + inner] = line[k];
    }
  return Flow::Next;
}

} // namespace tilewright::interp

#include "Machine.h"

#include <array>
#include <cmath>
#include <limits>

namespace tilewright::interp {

namespace {

/// One side of a scaled product, read element by element: unpacked from its bytes and multiplied by its
/// scale.
struct ScaledSide {
  const Cell *cells;
  const Cell *scales = nullptr;
  DType scaleType = DType::UInt8;
  bool packed = false;      ///< two e2m1 in a byte
  bool packedAlongK = true; ///< else along M or N
  bool kIsLast = true;      ///< a: [.., M, K]; b: [.., K, N]
  size_t outer, inner;      ///< M or N, and K, in elements
  size_t groups = 1;        ///< scales along K

  double element(size_t batch, size_t o, size_t k) const {
    const size_t rows = packed && !packedAlongK ? outer / 2 : outer;
    const size_t columns = packed && packedAlongK ? inner / 2 : inner;
    const size_t row = packed && !packedAlongK ? o / 2 : o, column = packed && packedAlongK ? k / 2 : k;
    const Cell cell =
        cells[batch * rows * columns + (kIsLast ? row * columns + column : column * rows + row)];
    if (!packed)
      return cell.f;
    const size_t half = (packedAlongK ? k : o) % 2; // the low half of the byte is the first element
    const auto bits = static_cast<size_t>(cell.i) >> (4 * half) & 15;
    static constexpr std::array<double, 8> kE2M1 = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return bits & 8 ? -kE2M1[bits & 7] : kE2M1[bits];
  }
  double scale(size_t batch, size_t o, size_t k) const {
    if (!scales)
      return 1;
    const Cell cell = scales[groups == 0 ? 0 : (batch * outer + o) * groups + k * groups / inner];
    if (isFloat(scaleType))
      return cell.f;
    const auto exponent = static_cast<int>(cell.i & 0xff); // e8m0: a power of two, or NaN
    return exponent == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, exponent - 127);
  }
};

} // namespace

/// Each product of two scaled elements is exact in double; the sum rounds once a step to the result's dtype.
Machine::Flow Machine::dotScaled(const Op &op) {
  const auto &c = extents(op.results[0]);
  const size_t rank = c.size();
  const auto m = static_cast<size_t>(c[rank - 2]), n = static_cast<size_t>(c[rank - 1]);
  size_t nextScale = 3;
  const auto side = [&](size_t i, const std::string &name, size_t outer) {
    ScaledSide s;
    s.cells = operand(op, i);
    s.packed = op.attributes.text(name + "_format") == "e2m1";
    s.packedAlongK = op.attributes.flag(name + "_k_pack");
    s.kIsLast = i == 0;
    s.outer = outer;
    const auto k = static_cast<size_t>(extents(op.operands[i])[i == 0 ? rank - 1 : rank - 2]);
    s.inner = s.packed && s.packedAlongK ? 2 * k : k;
    if (op.attributes.flag(name + "_scaled")) {
      const ValueId scale = op.operands[nextScale];
      s.scales = operand(op, nextScale++);
      s.scaleType = dtype(scale);
      s.groups = count(scale) == 1 ? 0 : static_cast<size_t>(extents(scale).back());
    }
    return s;
  };
  const ScaledSide a = side(0, "a", m), b = side(1, "b", n);
  const DType d = dtype(op.results[0]);
  const Cell *start = operand(op, 2);
  Cell *out = result(op);
  for (size_t batch = 0; batch < count(op.results[0]) / (m * n); ++batch)
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) {
        const size_t lane = (batch * m + i) * n + j;
        double sum = start[lane].f;
        for (size_t k = 0; k < a.inner; ++k) {
          const double x = a.element(batch, i, k) * a.scale(batch, i, k);
          const double y = b.element(batch, j, k) * b.scale(batch, j, k);
          sum = roundTo(d, sum + x * y);
        }
        out[lane].f = sum;
      }
  return Flow::Next;
}

} // namespace tilewright::interp

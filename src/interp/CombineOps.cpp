#include "Machine.h"
#include "MinMax.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace tilewright::interp {

namespace {

using Combine = std::function<Cell(Cell, Cell)>;

/// The combine function of a recognised kind; empty for others.
Combine combineOf(const std::string &kind, DType d, bool propagateNan) {
  const auto floats = [d](auto f) -> Combine {
    return [d, f](Cell a, Cell b) {
      Cell out;
      floatLanes(d, &out, 1, [&](auto t, size_t) {
        using T = decltype(t);
        return f(static_cast<T>(a.f), static_cast<T>(b.f));
      });
      return out;
    };
  };
  const auto integers = [d](auto f) -> Combine {
    return [d, f](Cell a, Cell b) {
      Cell out;
      out.i = wrap(d, static_cast<int64_t>(f(static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i))));
      return out;
    };
  };
  if (isFloat(d)) {
    if (kind == "sum")
      return floats([](auto a, auto b) { return a + b; });
    if (kind == "prod")
      return floats([](auto a, auto b) { return a * b; });
    if (kind == "max" || kind == "min")
      return floats([propagateNan, isMax = kind == "max"](auto a, auto b) {
        return isMax ? maximum(a, b, propagateNan) : minimum(a, b, propagateNan);
      });
    if (kind == "any")
      return floats([](auto a, auto b) { return decltype(a)(a != 0 || b != 0); });
    return {};
  }
  if (kind == "sum")
    return integers([](uint64_t a, uint64_t b) { return a + b; });
  if (kind == "prod")
    return integers([](uint64_t a, uint64_t b) { return a * b; });
  if (kind == "xor")
    return integers([](uint64_t a, uint64_t b) { return a ^ b; });
  if (kind == "and")
    return integers([](uint64_t a, uint64_t b) { return a & b; });
  if (kind == "or")
    return integers([](uint64_t a, uint64_t b) { return a | b; });
  if (kind == "any")
    return integers([](uint64_t a, uint64_t b) { return uint64_t(a != 0 || b != 0); });
  if (kind == "max")
    return [d](Cell a, Cell b) { return lessInteger(d, a.i, b.i) ? b : a; };
  if (kind == "min")
    return [d](Cell a, Cell b) { return lessInteger(d, b.i, a.i) ? b : a; };
  return {};
}

bool before(DType d, Cell a, Cell b) { return isFloat(d) ? a.f < b.f : lessInteger(d, a.i, b.i); }
bool equal(DType d, Cell a, Cell b) { return isFloat(d) ? a.f == b.f : a.i == b.i; }

/// Triton's own combine function of argmax and argmin: the later element wins unless the earlier one is
/// strictly better (or equal, with a smaller index, when ties go left).
bool keepsFirst(bool isMax, bool tieLeft, DType d, Cell value1, Cell index1, Cell value2, Cell index2) {
  if (isMax ? before(d, value2, value1) : before(d, value1, value2))
    return true;
  return tieLeft && equal(d, value1, value2) && index1.i < index2.i;
}

} // namespace

Machine::Flow Machine::dot(const Op &op) {
  const auto &a = extents(op.operands[0]), &c = extents(op.results[0]);
  const size_t rank = c.size();
  const auto m = static_cast<size_t>(c[rank - 2]), n = static_cast<size_t>(c[rank - 1]),
             k = static_cast<size_t>(a[rank - 1]);
  const size_t batches = count(op.results[0]) / (m * n);
  const DType d = dtype(op.results[0]);
  const bool integers = !isFloat(d);
  if (integers != !isFloat(dtype(op.operands[0])) || integers != !isFloat(dtype(op.operands[1])))
    return unsupported(op, "with integer and float operands");
  Cell *out = result(op);
  std::copy_n(operand(op, 2), count(op.results[0]), out);
  for (size_t batch = 0; batch < batches; ++batch) {
    const Cell *left = operand(op, 0) + batch * m * k, *right = operand(op, 1) + batch * k * n;
    Cell *sums = out + batch * m * n;
    for (size_t i = 0; i < m; ++i)
      for (size_t p = 0; p < k; ++p) {
        const Cell x = left[i * k + p];
        const Cell *row = right + p * n;
        Cell *sum = sums + i * n;
        // The product of two f32 is exact in double, so each step rounds once, as a fused multiply-add does.
        if (integers)
          for (size_t j = 0; j < n; ++j)
            sum[j].i = static_cast<int64_t>(static_cast<uint64_t>(sum[j].i) +
                                            static_cast<uint64_t>(x.i) * static_cast<uint64_t>(row[j].i));
        else if (d == DType::Float64)
          for (size_t j = 0; j < n; ++j)
            sum[j].f += x.f * row[j].f;
        else if (d == DType::Float32)
          for (size_t j = 0; j < n; ++j)
            sum[j].f = static_cast<float>(sum[j].f + x.f * row[j].f);
        else
          for (size_t j = 0; j < n; ++j)
            sum[j].f = roundTo(d, sum[j].f + x.f * row[j].f);
      }
  }
  if (integers)
    for (size_t i = 0; i < count(op.results[0]); ++i)
      out[i].i = wrap(d, out[i].i);
  return Flow::Next;
}

Machine::Flow Machine::reduce(const Op &op) {
  const AxisView view(extents(op.operands[0]), op.attributes.integer("axis"));
  const std::string kind = op.attributes.text("kind");
  const size_t width = op.operands.size();
  const auto lane = [&](size_t outer, size_t k, size_t inner) {
    return (outer * view.length + k) * view.inner + inner;
  };
  std::vector<const Cell *> in(width);
  for (size_t w = 0; w < width; ++w)
    in[w] = operand(op, w);

  if (kind == "argmax" || kind == "argmin") {
    if (width != 2 || op.results.size() != 2)
      return unsupported(op, "without value and index");
    const bool isMax = kind == "argmax", tieLeft = op.attributes.integerOr("tie_left", 1) != 0;
    const DType d = dtype(op.operands[0]);
    Cell *values = result(op, 0), *indices = result(op, 1);
    for (size_t outer = 0; outer < view.outer; ++outer)
      for (size_t inner = 0; inner < view.inner; ++inner) {
        size_t best = lane(outer, 0, inner);
        for (size_t k = 1; k < view.length; ++k) {
          const size_t next = lane(outer, k, inner);
          if (!keepsFirst(isMax, tieLeft, d, in[0][best], in[1][best], in[0][next], in[1][next]))
            best = next;
        }
        values[outer * view.inner + inner] = in[0][best];
        indices[outer * view.inner + inner] = in[1][best];
      }
    return Flow::Next;
  }
  if (!kind.empty()) {
    const bool pointers = type(op.operands[0]).isPointer();
    const DType from = pointers ? DType::UInt64 : dtype(op.operands[0]),
                d = pointers ? DType::UInt64 : dtype(op.results[0]);
    const Combine combine = combineOf(kind, d, op.attributes.flag("propagate_nan"));
    if (!combine || width != 1)
      return unsupported(op, kind);
    Cell *out = result(op);
    for (size_t outer = 0; outer < view.outer; ++outer)
      for (size_t inner = 0; inner < view.inner; ++inner) {
        Cell total = convert(from, d, in[0][lane(outer, 0, inner)]);
        for (size_t k = 1; k < view.length; ++k)
          total = combine(total, convert(from, d, in[0][lane(outer, k, inner)]));
        out[outer * view.inner + inner] = total;
      }
    return Flow::Next;
  }
  const auto &arguments = program_.region(op.regions[0]).arguments;
  std::vector<Cell *> out(width);
  for (size_t w = 0; w < width; ++w)
    out[w] = result(op, w);
  for (size_t outer = 0; outer < view.outer; ++outer)
    for (size_t inner = 0; inner < view.inner; ++inner) {
      const size_t target = outer * view.inner + inner;
      for (size_t w = 0; w < width; ++w)
        out[w][target] = in[w][lane(outer, 0, inner)];
      for (size_t k = 1; k < view.length; ++k) {
        for (size_t w = 0; w < width; ++w) {
          slots_[arguments[w]].assign(1, out[w][target]);
          slots_[arguments[width + w]].assign(1, in[w][lane(outer, k, inner)]);
        }
        if (const Flow flow = runRegion(op.regions[0]); flow != Flow::Next)
          return flow;
        for (size_t w = 0; w < width; ++w)
          out[w][target] = slots_[yielded_[w]][0];
      }
    }
  return Flow::Next;
}

Machine::Flow Machine::scan(const Op &op) {
  const AxisView view(extents(op.operands[0]), op.attributes.integer("axis"));
  const std::string kind = op.attributes.text("kind");
  const bool reverse = op.attributes.flag("reverse");
  const size_t width = op.operands.size();
  std::vector<const Cell *> in(width);
  std::vector<Cell *> out(width);
  for (size_t w = 0; w < width; ++w) {
    in[w] = operand(op, w);
    out[w] = result(op, w);
  }
  const DType from = dtype(op.operands[0]), d = dtype(op.results[0]);
  const Combine combine = kind.empty() ? Combine() : combineOf(kind, d, op.attributes.flag("propagate_nan"));
  if (!kind.empty() && (!combine || width != 1))
    return unsupported(op, kind);
  for (size_t outer = 0; outer < view.outer; ++outer)
    for (size_t inner = 0; inner < view.inner; ++inner) {
      const auto lane = [&](size_t k) {
        return (outer * view.length + (reverse ? view.length - 1 - k : k)) * view.inner + inner;
      };
      for (size_t k = 0; k < view.length; ++k) {
        if (!kind.empty()) {
          const Cell value = convert(from, d, in[0][lane(k)]);
          out[0][lane(k)] = k == 0 ? value : combine(out[0][lane(k - 1)], value);
          continue;
        }
        if (k == 0) {
          for (size_t w = 0; w < width; ++w)
            out[w][lane(0)] = in[w][lane(0)];
          continue;
        }
        const auto &arguments = program_.region(op.regions[0]).arguments;
        for (size_t w = 0; w < width; ++w) {
          slots_[arguments[w]].assign(1, out[w][lane(k - 1)]);
          slots_[arguments[width + w]].assign(1, in[w][lane(k)]);
        }
        if (const Flow flow = runRegion(op.regions[0]); flow != Flow::Next)
          return flow;
        for (size_t w = 0; w < width; ++w)
          out[w][lane(k)] = slots_[yielded_[w]][0];
      }
    }
  return Flow::Next;
}

Machine::Flow Machine::map(const Op &op) {
  const auto pack = static_cast<size_t>(op.attributes.integer("pack"));
  const size_t lanes = count(op.operands[0]);
  if (lanes % pack != 0)
    return unsupported(op, "over a tile that is no whole number of packs");
  const auto &arguments = program_.region(op.regions[0]).arguments;
  std::vector<Cell *> out(op.results.size());
  for (size_t r = 0; r < op.results.size(); ++r)
    out[r] = result(op, r);
  for (size_t first = 0; first < lanes; first += pack) {
    for (size_t i = 0; i < op.operands.size(); ++i)
      for (size_t lane = 0; lane < pack; ++lane) {
        slots_[arguments[i * pack + lane]].assign(1, operand(op, i)[first + lane]);
        noteSymbol(arguments[i * pack + lane]);
      }
    if (const Flow flow = runRegion(op.regions[0]); flow != Flow::Next)
      return flow;
    for (size_t r = 0; r < op.results.size(); ++r)
      for (size_t lane = 0; lane < pack; ++lane)
        out[r][first + lane] = slots_[yielded_[r * pack + lane]][0];
  }
  return Flow::Next;
}

Machine::Flow Machine::histogram(const Op &op) {
  const Cell *in = operand(op, 0);
  const Cell *mask = op.operands.size() > 1 ? operand(op, 1) : nullptr;
  Cell *out = result(op);
  const size_t bins = count(op.results[0]);
  std::fill(out, out + bins, Cell{});
  for (size_t i = 0; i < count(op.operands[0]); ++i)
    if ((!mask || mask[i].i) && in[i].i >= 0 && in[i].i < static_cast<int64_t>(bins))
      ++out[in[i].i].i;
  return Flow::Next;
}

} // namespace tilewright::interp

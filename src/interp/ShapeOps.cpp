#include "Machine.h"

#include <fmt/format.h>

namespace tilewright::interp {

Machine::Flow Machine::copy(const Op &op) {
  if (op.results[0] != op.operands[0])
    slots_[op.results[0]] = slots_[op.operands[0]];
  return Flow::Next;
}

Machine::Flow Machine::broadcast(const Op &op) {
  const Cell *in = operand(op, 0);
  Cell *out = result(op);
  const size_t n = count(op.results[0]);
  if (count(op.operands[0]) == 1) {
    std::fill(out, out + n, in[0]);
    return Flow::Next;
  }
  const auto &from = extents(op.operands[0]), &to = extents(op.results[0]);
  // Walks the result with a counter an axis; a grown axis has stride 0 in the operand.
  const size_t rank = to.size();
  std::vector<size_t> stride(rank), position(rank);
  size_t next = 1;
  for (size_t axis = rank; axis-- > 0;) {
    stride[axis] = from[axis] == 1 ? 0 : next;
    next *= static_cast<size_t>(from[axis]);
  }
  size_t source = 0;
  for (size_t i = 0; i < n; ++i) {
    out[i] = in[source];
    for (size_t axis = rank; axis-- > 0;) {
      source += stride[axis];
      if (++position[axis] < static_cast<size_t>(to[axis]))
        break;
      source -= stride[axis] * position[axis];
      position[axis] = 0;
    }
  }
  return Flow::Next;
}

Machine::Flow Machine::permute(const Op &op) {
  const Cell *in = operand(op, 0);
  Cell *out = result(op);
  const auto &order = op.attributes.integers("order");
  const auto &from = extents(op.operands[0]), &to = extents(op.results[0]);
  const size_t rank = to.size();
  std::vector<size_t> own(rank), stride(rank), position(rank);
  size_t next = 1;
  for (size_t axis = rank; axis-- > 0;) {
    own[axis] = next;
    next *= static_cast<size_t>(from[axis]);
  }
  for (size_t axis = 0; axis < rank; ++axis)
    stride[axis] = own[static_cast<size_t>(order[axis])];
  size_t source = 0;
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    out[i] = in[source];
    for (size_t axis = rank; axis-- > 0;) {
      source += stride[axis];
      if (++position[axis] < static_cast<size_t>(to[axis]))
        break;
      source -= stride[axis] * position[axis];
      position[axis] = 0;
    }
  }
  return Flow::Next;
}

Machine::Flow Machine::join(const Op &op) {
  const Cell *a = operand(op, 0), *b = operand(op, 1);
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.operands[0]); ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
  return Flow::Next;
}

Machine::Flow Machine::split(const Op &op) {
  const Cell *in = operand(op, 0);
  Cell *a = result(op, 0), *b = result(op, 1);
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    a[i] = in[2 * i];
    b[i] = in[2 * i + 1];
  }
  return Flow::Next;
}

Machine::Flow Machine::cat(const Op &op) {
  const Cell *a = operand(op, 0), *b = operand(op, 1);
  Cell *out = result(op);
  out = std::copy(a, a + count(op.operands[0]), out);
  std::copy(b, b + count(op.operands[1]), out);
  return Flow::Next;
}

Machine::Flow Machine::gather(const Op &op) {
  const Cell *in = operand(op, 0), *index = operand(op, 1);
  Cell *out = result(op);
  const int64_t axis = op.attributes.integer("axis");
  const AxisView from(extents(op.operands[0]), axis), to(extents(op.results[0]), axis);
  for (size_t outer = 0; outer < to.outer; ++outer)
    for (size_t k = 0; k < to.length; ++k)
      for (size_t inner = 0; inner < to.inner; ++inner) {
        const size_t lane = (outer * to.length + k) * to.inner + inner;
        const int64_t at = index[lane].i;
        if (at < 0 || at >= static_cast<int64_t>(from.length))
          return failed(op, ErrorKind::User, "run.out-of-bounds",
                        fmt::format("gather index {} is outside of an axis of {}", at, from.length));
        out[lane] = in[(outer * from.length + static_cast<size_t>(at)) * from.inner + inner];
      }
  return Flow::Next;
}

/// Visits the lanes of a slice and the lanes of the tile that they stand for. `firstOffset`: the operand that
/// is the offset along axis 0.
template <class Visit>
Machine::Flow Machine::walkSlice(const Op &op, ValueId part, ValueId whole, size_t firstOffset, Visit visit) {
  const auto &sizes = extents(part), &full = extents(whole), &strides = op.attributes.integers("strides");
  const size_t rank = sizes.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t offset = operand(op, firstOffset + axis)->i;
    int64_t last = 0;
    if (offset < 0 || __builtin_mul_overflow(sizes[axis] - 1, strides[axis], &last) ||
        __builtin_add_overflow(last, offset, &last) || last >= full[axis])
      return failed(op, ErrorKind::User, "run.out-of-bounds",
                    fmt::format("a slice of {} elements from {} in steps of {} leaves an axis of {}",
                                sizes[axis], offset, strides[axis], full[axis]));
  }
  std::vector<int64_t> position(rank);
  for (size_t i = 0; i < count(part); ++i) {
    int64_t lane = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      lane = lane * full[axis] + operand(op, firstOffset + axis)->i + position[axis] * strides[axis];
    visit(i, static_cast<size_t>(lane));
    for (size_t axis = rank; axis-- > 0;) {
      if (++position[axis] < sizes[axis])
        break;
      position[axis] = 0;
    }
  }
  return Flow::Next;
}

Machine::Flow Machine::extractSlice(const Op &op) {
  Lanes taken(count(op.results[0]));
  const auto visit = [&](size_t part, size_t whole) { taken[part] = operand(op, 0)[whole]; };
  if (const Flow flow = walkSlice(op, op.results[0], op.operands[0], 1, visit); flow != Flow::Next)
    return flow;
  slots_[op.results[0]] = std::move(taken);
  return Flow::Next;
}

Machine::Flow Machine::insertSlice(const Op &op) {
  Lanes changed = slots_[op.operands[0]];
  const auto visit = [&](size_t part, size_t whole) { changed[whole] = operand(op, 1)[part]; };
  if (const Flow flow = walkSlice(op, op.operands[1], op.operands[0], 2, visit); flow != Flow::Next)
    return flow;
  slots_[op.results[0]] = std::move(changed);
  return Flow::Next;
}

} // namespace tilewright::interp

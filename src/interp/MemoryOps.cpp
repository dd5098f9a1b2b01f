#include "Machine.h"
#include "MinMax.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tilewright::interp {

namespace {

/// What `make_block_ptr` and `make_descriptor` leave in a slot: base, then shape, strides and offsets, an
/// entry an axis each, then the padding.
struct BlockHandle {
  const Cell *cells;
  size_t rank;

  int64_t base() const { return cells[0].i; }
  int64_t extent(size_t axis) const { return cells[1 + axis].i; }
  int64_t stride(size_t axis) const { return cells[1 + rank + axis].i; }
  int64_t offset(size_t axis) const { return cells[1 + 2 * rank + axis].i; }
  bool padsWithNan() const { return cells[1 + 3 * rank].i != 0; }
};

Cell updated(const std::string &operation, DType dtype, Cell old, Cell value) {
  Cell out;
  if (operation == "xchg")
    return value;
  if (isFloat(dtype)) {
    if (operation == "add" || operation == "fadd")
      out.f = dtype == DType::Float64
                  ? old.f + value.f
                  : roundTo(dtype, static_cast<float>(old.f) + static_cast<float>(value.f));
    else
      out.f = operation == "max" ? maximum(old.f, value.f) : minimum(old.f, value.f);
    return out;
  }
  const bool isUnsigned = operation[0] == 'u';
  const DType order = isUnsigned ? DType::UInt64 : dtype;
  const auto less = [&](Cell a, Cell b) {
    if (!isUnsigned)
      return lessInteger(order, a.i, b.i);
    const uint64_t mask = bitWidth(dtype) >= 64 ? ~uint64_t(0) : (uint64_t(1) << bitWidth(dtype)) - 1;
    return (static_cast<uint64_t>(a.i) & mask) < (static_cast<uint64_t>(b.i) & mask);
  };
  if (operation == "add")
    out.i = wrap(dtype, static_cast<int64_t>(static_cast<uint64_t>(old.i) + static_cast<uint64_t>(value.i)));
  else if (operation == "and")
    out.i = old.i & value.i;
  else if (operation == "or")
    out.i = old.i | value.i;
  else if (operation == "xor")
    out.i = old.i ^ value.i;
  else if (operation == "max" || operation == "umax")
    out = less(old, value) ? value : old;
  else
    out = less(value, old) ? value : old;
  return out;
}

bool isRmwOperation(const std::string &operation, DType dtype) {
  for (const char *known : {"add", "fadd", "max", "min", "xchg"})
    if (operation == known)
      return operation != "fadd" || isFloat(dtype);
  for (const char *known : {"umax", "umin", "and", "or", "xor"})
    if (operation == known)
      return !isFloat(dtype);
  return false;
}

} // namespace

bool Machine::checkAccess(const Op &op, BufferId buffer, DType dtype, int64_t address, bool write) {
  if (memory_.contains(buffer, address, byteSize(dtype)))
    return true;
  outOfBounds(op, buffer, dtype, address, write);
  return false;
}

Machine::Flow Machine::outOfBounds(const Op &op, BufferId buffer, DType dtype, int64_t address, bool write) {
  const auto &buffers = memory_.buffers();
  if (buffer >= buffers.size()) { // name the buffer that the address is nearest to
    uint64_t nearest = UINT64_MAX;
    for (BufferId id = 0; id < buffers.size(); ++id) {
      const auto below = static_cast<uint64_t>(buffers[id].begin - address),
                 above = static_cast<uint64_t>(address - buffers[id].end);
      const uint64_t distance = address < buffers[id].begin ? below : address >= buffers[id].end ? above : 0;
      if (distance < nearest) {
        nearest = distance;
        buffer = id;
      }
    }
  }
  const char *verb = write ? "writes" : "reads";
  if (buffer >= buffers.size())
    return failed(op, ErrorKind::User, "run.out-of-bounds",
                  fmt::format("the kernel {} address {:#x}, but it was given no memory", verb, address));
  const Memory::Buffer &target = buffers[buffer];
  const int64_t size = byteSize(dtype), distance = static_cast<int64_t>(static_cast<uint64_t>(address) -
                                                                        static_cast<uint64_t>(target.begin));
  const int64_t element = distance >= 0 ? distance / size : -((-distance + size - 1) / size);
  const int64_t elements = (target.end - target.begin) / size;
  return failed(op, ErrorKind::User, "run.out-of-bounds",
                elements == 0 ? fmt::format("the kernel {} element {} of {}, which is empty or None", verb,
                                            element, target.name)
                              : fmt::format("the kernel {} element {} of {}, which has {} elements of {}",
                                            verb, element, target.name, elements, name(dtype)));
}

Machine::Flow Machine::load(const Op &op) {
  // A pointer to pointers would need 8-byte elements; the dtype is the pointee's.
  const DType d = dtype(op.results[0]);
  const BufferId buffer = origins_[op.operands[0]];
  const Cell *pointer = operand(op, 0);
  const Cell *mask = op.operands.size() > 1 ? operand(op, 1) : nullptr;
  const Cell *other = op.operands.size() > 2 ? operand(op, 2) : nullptr;
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    if (mask && !mask[i].i) {
      if (other)
        out[i] = other[i];
      else // undefined in Triton
        out[i] = isFloat(d) ? decode(d, 0) : Cell{};
      continue;
    }
    if (!checkAccess(op, buffer, d, pointer[i].i, false))
      return Flow::Failed;
    out[i] = Memory::read(d, pointer[i].i);
  }
  return Flow::Next;
}

Machine::Flow Machine::store(const Op &op) {
  const DType d = dtype(op.operands[1]);
  const BufferId buffer = origins_[op.operands[0]];
  const Cell *pointer = operand(op, 0), *value = operand(op, 1);
  const Cell *mask = op.operands.size() > 2 ? operand(op, 2) : nullptr;
  for (size_t i = 0; i < count(op.operands[1]); ++i) {
    if (mask && !mask[i].i)
      continue;
    if (!checkAccess(op, buffer, d, pointer[i].i, true))
      return Flow::Failed;
    Memory::write(d, pointer[i].i, value[i]);
  }
  return Flow::Next;
}

Machine::Flow Machine::makeBlockPtr(const Op &op) {
  if (op.attributes.flag("opaque"))
    return unsupported(op, "that the host made: its shape is not in the kernel");
  const auto rank = static_cast<size_t>(op.attributes.integer("rank"));
  Lanes handle(2 + 3 * rank);
  for (size_t i = 0; i < op.operands.size(); ++i)
    handle[i] = operand(op, i)[0];
  handle.back().i = op.attributes.text("padding") == "nan";
  slots_[op.results[0]] = std::move(handle);
  return Flow::Next;
}

Machine::Flow Machine::advance(const Op &op) {
  Lanes handle = slots_[op.operands[0]];
  const size_t rank = op.operands.size() - 1;
  for (size_t axis = 0; axis < rank; ++axis)
    handle[1 + 2 * rank + axis].i += operand(op, 1 + axis)->i;
  slots_[op.results[0]] = std::move(handle);
  return Flow::Next;
}

Machine::Flow Machine::blockAccess(const Op &op) {
  const bool isDescriptor = op.kind == OpKind::DescriptorLoad || op.kind == OpKind::DescriptorStore;
  const bool write = op.kind == OpKind::BlockStore || op.kind == OpKind::DescriptorStore;
  const ValueId handleValue = op.operands[0];
  const auto &block = extents(handleValue);
  const BlockHandle handle{lanes(handleValue), block.size()};
  const size_t rank = block.size();
  const DType d = dtype(handleValue);
  const BufferId buffer = origins_[handleValue];

  std::vector<int64_t> first(rank), position(rank);
  std::vector<bool> checked(rank, isDescriptor);
  for (size_t axis = 0; axis < rank; ++axis)
    first[axis] = isDescriptor ? operand(op, (write ? 2 : 1) + axis)->i : handle.offset(axis);
  for (int64_t axis : op.attributes.integers("boundary"))
    if (axis >= 0 && static_cast<size_t>(axis) < rank)
      checked[static_cast<size_t>(axis)] = true;
  Cell padding = isFloat(d) ? decode(d, 0) : Cell{};
  if (isFloat(d) && (op.attributes.text("padding") == "nan" || (isDescriptor && handle.padsWithNan())))
    padding.f = std::numeric_limits<double>::quiet_NaN();

  size_t total = 1;
  for (int64_t extent : block)
    total *= static_cast<size_t>(extent);
  const ValueId valueId = write ? op.operands[1] : op.results[0];
  if (count(valueId) != total)
    return unsupported(op, "of another size than its block");
  const Cell *source = write ? operand(op, 1) : nullptr;
  Cell *out = write ? nullptr : result(op);
  for (size_t i = 0; i < total; ++i) {
    int64_t element = 0;
    bool inside = true;
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t coordinate = first[axis] + position[axis];
      inside &= !checked[axis] || (coordinate >= 0 && coordinate < handle.extent(axis));
      element += coordinate * handle.stride(axis);
    }
    const int64_t address = handle.base() + element * static_cast<int64_t>(byteSize(d));
    if (!inside) {
      if (!write)
        out[i] = padding;
    } else {
      if (!checkAccess(op, buffer, d, address, write))
        return Flow::Failed;
      if (write)
        Memory::write(d, address, source[i]);
      else
        out[i] = Memory::read(d, address);
    }
    for (size_t axis = rank; axis-- > 0;) {
      if (++position[axis] < block[axis])
        break;
      position[axis] = 0;
    }
  }
  return Flow::Next;
}

/// desc.gather and desc.scatter: a row of the buffer for each row of the tile, bounds checked on both axes.
Machine::Flow Machine::rowAccess(const Op &op) {
  const bool write = op.kind == OpKind::DescriptorScatter;
  const ValueId handleValue = op.operands[0], rowsValue = op.operands[write ? 2 : 1];
  const BlockHandle handle{lanes(handleValue), 2};
  const DType d = dtype(handleValue);
  const BufferId buffer = origins_[handleValue];
  const Cell *rows = lanes(rowsValue);
  const int64_t column = operand(op, write ? 3 : 2)->i, columns = extents(handleValue)[1];
  Cell padding = isFloat(d) ? decode(d, 0) : Cell{};
  if (isFloat(d) && handle.padsWithNan())
    padding.f = std::numeric_limits<double>::quiet_NaN();
  const Cell *source = write ? operand(op, 1) : nullptr;
  Cell *out = write ? nullptr : result(op);
  for (size_t r = 0; r < count(rowsValue); ++r)
    for (int64_t j = 0; j < columns; ++j) {
      const size_t lane = r * static_cast<size_t>(columns) + static_cast<size_t>(j);
      const int64_t row = rows[r].i, at = column + j;
      if (row < 0 || row >= handle.extent(0) || at < 0 || at >= handle.extent(1)) {
        if (!write)
          out[lane] = padding;
        continue;
      }
      const int64_t address = handle.base() + (row * handle.stride(0) + at * handle.stride(1)) *
                                                  static_cast<int64_t>(byteSize(d));
      if (!checkAccess(op, buffer, d, address, write))
        return Flow::Failed;
      if (write)
        Memory::write(d, address, source[lane]);
      else
        out[lane] = Memory::read(d, address);
    }
  return Flow::Next;
}

Machine::Flow Machine::descriptorReduce(const Op &op) {
  const ValueId handleValue = op.operands[0];
  const auto &block = extents(handleValue);
  const size_t rank = block.size();
  const BlockHandle handle{lanes(handleValue), rank};
  const DType d = dtype(handleValue);
  const std::string operation = op.attributes.text("operation");
  if (!isRmwOperation(operation, d))
    return unsupported(op, fmt::format("{} on {}", operation, name(d)));
  const Cell *value = operand(op, 1);
  std::vector<int64_t> position(rank);
  for (size_t i = 0; i < count(op.operands[1]); ++i) {
    int64_t element = 0;
    bool inside = true;
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t coordinate = operand(op, 2 + axis)->i + position[axis];
      inside &= coordinate >= 0 && coordinate < handle.extent(axis);
      element += coordinate * handle.stride(axis);
    }
    const int64_t address = handle.base() + element * static_cast<int64_t>(byteSize(d));
    if (inside) {
      if (!checkAccess(op, origins_[handleValue], d, address, true))
        return Flow::Failed;
      Memory::write(d, address, updated(operation, d, Memory::read(d, address), value[i]));
    }
    for (size_t axis = rank; axis-- > 0;) {
      if (++position[axis] < block[axis])
        break;
      position[axis] = 0;
    }
  }
  return Flow::Next;
}

/// Programs run one after the other, so a value that is not there yet never comes: with a timeout that is
/// false, without one it is a deadlock.
Machine::Flow Machine::atomicPoll(const Op &op) {
  const DType d = dtype(op.operands[0]);
  const Cell *pointer = operand(op, 0), *expected = operand(op, 1);
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    if (!checkAccess(op, origins_[op.operands[0]], d, pointer[i].i, false))
      return Flow::Failed;
    out[i].i = Memory::read(d, pointer[i].i).i == expected[i].i;
    if (!out[i].i && op.operands.size() < 3)
      return failed(op, ErrorKind::Refusal, "run.timeout",
                    "waits for a value that no earlier program has written");
  }
  return Flow::Next;
}

Machine::Flow Machine::atomicRmw(const Op &op) {
  const DType d = dtype(op.results[0]);
  const std::string operation = op.attributes.text("operation");
  if (!isRmwOperation(operation, d))
    return unsupported(op, fmt::format("{} on {}", operation, name(d)));
  const BufferId buffer = origins_[op.operands[0]];
  const Cell *pointer = operand(op, 0), *value = operand(op, 1);
  const Cell *mask = op.operands.size() > 2 ? operand(op, 2) : nullptr;
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    out[i] = isFloat(d) ? decode(d, 0) : Cell{};
    if (mask && !mask[i].i)
      continue;
    if (!checkAccess(op, buffer, d, pointer[i].i, true))
      return Flow::Failed;
    out[i] = Memory::read(d, pointer[i].i);
    Memory::write(d, pointer[i].i, updated(operation, d, out[i], value[i]));
  }
  return Flow::Next;
}

Machine::Flow Machine::atomicCas(const Op &op) {
  const DType d = dtype(op.results[0]);
  const BufferId buffer = origins_[op.operands[0]];
  const Cell *pointer = operand(op, 0), *expected = operand(op, 1), *value = operand(op, 2);
  Cell *out = result(op);
  for (size_t i = 0; i < count(op.results[0]); ++i) {
    if (!checkAccess(op, buffer, d, pointer[i].i, true))
      return Flow::Failed;
    out[i] = Memory::read(d, pointer[i].i);
    if (encode(d, out[i]) == encode(d, expected[i])) // compares bits: -0 is not 0, and a NaN equals itself
      Memory::write(d, pointer[i].i, value[i]);
  }
  return Flow::Next;
}

Machine::Flow Machine::deviceAssert(const Op &op) {
  const Cell *condition = operand(op, 0);
  const Cell *mask = op.operands.size() > 1 ? operand(op, 1) : nullptr;
  for (size_t i = 0; i < count(op.operands[0]); ++i)
    if (!condition[i].i && (!mask || mask[i].i)) {
      const std::string message = op.attributes.text("message");
      return failed(
          op, ErrorKind::User, "run.device-assert",
          fmt::format("device_assert failed{}{} (element {})", message.empty() ? "" : ": ", message, i));
    }
  return Flow::Next;
}

} // namespace tilewright::interp

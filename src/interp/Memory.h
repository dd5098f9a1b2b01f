#pragma once
#include "Lanes.h"
#include "tilewright/interp/Interpreter.h"

#include <cstring>
#include <string>

namespace tilewright::interp {

/// Which buffer a pointer was derived from: an index among the launch's pointer arguments, or one of these.
using BufferId = uint32_t;
inline constexpr BufferId kAnyBuffer = UINT32_MAX;    ///< several, or loaded from memory
inline constexpr BufferId kNoBuffer = UINT32_MAX - 1; ///< nothing known yet

/// The memory that a launch may touch. Addresses are real ones; every access is checked against the buffer
/// that its pointer came from, so that running off the end of one buffer into another does not go unnoticed.
class Memory {
public:
  struct Buffer {
    std::string name;
    int64_t begin = 0;
    int64_t end = 0;
  };

  void add(const RuntimeArgument &argument) {
    const auto begin = reinterpret_cast<int64_t>(argument.memory.data());
    buffers_.push_back({argument.name, begin, begin + static_cast<int64_t>(argument.memory.size())});
  }
  const std::vector<Buffer> &buffers() const { return buffers_; }

  bool contains(BufferId id, int64_t address, uint32_t bytes) const {
    if (id < buffers_.size())
      return within(buffers_[id], address, bytes);
    for (const Buffer &buffer : buffers_)
      if (within(buffer, address, bytes))
        return true;
    return false;
  }

  static Cell read(DType dtype, int64_t address) {
    uint64_t bits = 0;
    std::memcpy(&bits, reinterpret_cast<const void *>(address), byteSize(dtype));
    return decode(dtype, bits);
  }
  static void write(DType dtype, int64_t address, Cell cell) {
    const uint64_t bits = encode(dtype, cell);
    std::memcpy(reinterpret_cast<void *>(address), &bits, byteSize(dtype));
  }

private:
  static bool within(const Buffer &buffer, int64_t address, uint32_t bytes) {
    return address >= buffer.begin && address < buffer.end &&
           buffer.end - address >= static_cast<int64_t>(bytes);
  }

  std::vector<Buffer> buffers_;
};

/// For every value that is a pointer (or a block pointer or descriptor): the buffer it can only point into.
/// Indices count the pointer parameters in body-argument order.
std::vector<BufferId> pointerOrigins(const Program &program);

} // namespace tilewright::interp

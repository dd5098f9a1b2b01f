#include "tilewright/tilewright.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tilewright {

namespace {

/// splitmix64: seeded, fast, and the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// In [-1, 1).
  float symmetric() {
    return static_cast<float>(static_cast<int64_t>(next()) >> 40) / static_cast<float>(1 << 23);
  }
  int64_t within(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % (static_cast<uint64_t>(high - low) + 1));
  }

private:
  uint64_t state_;
};

uint16_t halfBits(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }
uint16_t bfloatBits(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

void fill(std::byte *out, int64_t count, const TensorSpec &tensor, Random &random) {
  const auto store = [&](int64_t index, auto value) {
    std::memcpy(out + index * sizeof(value), &value, sizeof(value));
  };
  for (int64_t i = 0; i < count; ++i) {
    switch (tensor.dtype) {
    case DType::Float64:
      store(i, static_cast<double>(random.symmetric()));
      break;
    case DType::Float32:
      store(i, random.symmetric());
      break;
    case DType::Float16:
      store(i, halfBits(random.symmetric()));
      break;
    case DType::BFloat16:
      store(i, bfloatBits(random.symmetric()));
      break;
    case DType::Int1:
      store(i, static_cast<uint8_t>(random.next() & 1));
      break;
    default: {
      // Small by default, so that sums of products stay exact and indices are seldom wild.
      const auto [low, high] = tensor.valueRange.value_or(std::pair<int64_t, int64_t>{0, 15});
      const int64_t value = random.within(low, high);
      std::memcpy(out + i * byteSize(tensor.dtype), &value,
                  byteSize(tensor.dtype)); // little-endian, as every target here
      break;
    }
    }
  }
}

} // namespace

Expected<SampleBuffers> SampleBuffers::make(const Program &program, const LaunchArguments &arguments,
                                            uint64_t seed) {
  constexpr size_t kAlignment = 64;
  SampleBuffers out;
  Random random(seed);
  for (const ValueId id : program.body().arguments) {
    const Parameter *parameter = program.parameterOf(id);
    if (!parameter)
      return fail(ErrorKind::Internal, "internal", "a body argument without a parameter");
    const ArgumentValue *value = arguments.find(parameter->name);
    if (!value)
      return fail(ErrorKind::User, "arg.missing",
                  fmt::format("the argument '{}' was not given; add -a {}={}", parameter->name,
                              parameter->name, parameter->type.isPointer() ? "f32[SIZE]" : "VALUE"));
    RuntimeArgument argument;
    argument.name = parameter->name;
    if (const auto *tensor = std::get_if<TensorSpec>(value)) {
      const auto bytes = static_cast<size_t>(tensor->byteExtent());
      auto memory = std::make_unique<std::byte[]>(bytes + kAlignment);
      void *start = memory.get();
      size_t room = bytes + kAlignment;
      std::align(kAlignment, bytes, start, room);
      fill(static_cast<std::byte *>(start), static_cast<int64_t>(bytes / byteSize(tensor->dtype)), *tensor,
           random);
      argument.memory = {static_cast<std::byte *>(start), bytes};
      out.memory_.push_back(std::move(memory));
    } else if (const auto *integer = std::get_if<int64_t>(value)) {
      argument.integer = *integer;
      argument.number = static_cast<double>(*integer);
    } else if (const auto *flag = std::get_if<bool>(value)) {
      argument.integer = *flag;
    } else if (const auto *number = std::get_if<double>(value)) {
      argument.number = *number;
    }
    out.arguments_.push_back(std::move(argument));
  }
  return out;
}

} // namespace tilewright

#pragma once
#include "backend/cpu/runtime/Jit.h"
#include "tilewright/backend/cpu/EmitModule.h"
#include "tilewright/backend/cpu/Pipeline.h"
#include "tilewright/interp/Interpreter.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/program/Text.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <random>

namespace tilewright::cpu {

/// A Program in text form that is compiled for the CPU and also interpreted, on equal buffers; `check`
/// compares every element of every buffer. Bytes behind each buffer are checked too: generated code must not
/// write there.
///
///     GeneratedKernel kernel(text);
///     kernel.buffer("x", DType::Float32, 1000).scalar("n", 1000);
///     kernel.check("BLOCK=64", {16, 1, 1});
class GeneratedKernel {
public:
  explicit GeneratedKernel(std::string text) : text_(std::move(text)) {
    auto program = readProgram(std::make_shared<const SourceFile>("kernel.tw", text_));
    if (!program) {
      ADD_FAILURE() << render(program.error()) << text_;
      return;
    }
    program_ = *std::move(program);
    if (auto valid = verify(program_); !valid)
      ADD_FAILURE() << render(valid.error());
  }
  explicit GeneratedKernel(Program program) : program_(std::move(program)) {}
  /// From the source of a kernel called `kernel`; `arguments` as on the command line.
  static GeneratedKernel fromSource(std::string_view source, const std::vector<std::string> &arguments) {
    const auto file = std::make_shared<const SourceFile>(
        "kernel.py", "import triton\nimport triton.language as tl\n\n@triton.jit\n" + std::string(source));
    LaunchArguments launch;
    for (const std::string &argument : arguments)
      if (auto parsed = parseArgument(argument))
        launch.set(parsed->name, parsed->value);
    const auto module = lang::parse(file);
    if (!module) {
      ADD_FAILURE() << render(module.error());
      return GeneratedKernel(Program());
    }
    auto program = lower(*module, "kernel", launch);
    if (!program) {
      ADD_FAILURE() << render(program.error());
      return GeneratedKernel(Program());
    }
    GeneratedKernel kernel(*std::move(program));
    for (const Argument &argument : launch.values) {
      if (const auto *tensor = std::get_if<TensorSpec>(&argument.value))
        kernel.buffer(argument.name, tensor->dtype, tensor->elementCount());
      else if (const auto *integer = std::get_if<int64_t>(&argument.value))
        kernel.scalar(argument.name, *integer);
      else if (const auto *number = std::get_if<double>(&argument.value))
        kernel.number(argument.name, *number);
    }
    return kernel;
  }

  GeneratedKernel &buffer(const std::string &name, DType dtype, int64_t elements, double scale = 1) {
    Buffer &buffer = buffers_[name];
    buffer.dtype = dtype;
    buffer.bytes.assign(elements * byteSize(dtype) + kFence, std::byte{0x5a});
    for (int64_t index = 0; index < elements; ++index)
      write(buffer, index, normal_(random_) * scale);
    return *this;
  }
  GeneratedKernel &sameBuffer(const std::string &name, const std::string &as) {
    aliases_[name] = as;
    return *this;
  }
  GeneratedKernel &scalar(const std::string &name, int64_t value) {
    scalars_[name] = static_cast<double>(value);
    return *this;
  }
  GeneratedKernel &number(const std::string &name, double value) {
    scalars_[name] = value;
    return *this;
  }
  GeneratedKernel &tolerance(double value) {
    tolerance_ = value;
    return *this;
  }
  void set(const std::string &name, int64_t index, double value) { write(buffers_[name], index, value); }

  static Expected<EmittedModule> emit(mlir::MLIRContext &context, const Program &program,
                                      const std::string &config, const CpuIsa &isa) {
    TW_TRY(const Config parsed, Config::parse(config));
    return emitModule(context, program, parsed, {}, isa);
  }
  Expected<EmittedModule> emit(mlir::MLIRContext &context, const std::string &config) const {
    return emit(context, program_, config, hostIsa());
  }

  /// Runs both on copies of the buffers and compares.
  void check(const std::string &config, std::array<int64_t, 3> grid) {
    SCOPED_TRACE(fmt::format("{} grid {},{},{}", config, grid[0], grid[1], grid[2]));
    auto mine = buffers_, oracle = buffers_;
    const auto parsed = Config::parse(config);
    ASSERT_TRUE(parsed);
    std::vector<RuntimeArgument> arguments;
    for (const ValueId value : program_.body().arguments) {
      const std::string &name = program_.parameterOf(value)->name;
      RuntimeArgument argument;
      argument.name = name;
      if (Buffer *buffer = find(oracle, name)) {
        argument.memory = std::span(buffer->bytes.data(), buffer->bytes.size() - kFence);
      } else {
        argument.number = scalars_.at(name);
        argument.integer = static_cast<int64_t>(scalars_.at(name));
      }
      arguments.push_back(argument);
    }
    const auto interpreted = interpret(program_, *parsed, grid, arguments);
    ASSERT_TRUE(interpreted) << render(interpreted.error());

    const auto compiled = compile(config);
    ASSERT_TRUE(compiled) << render(compiled.error());
    std::vector<uint64_t> words;
    for (const ValueId value : program_.body().arguments) {
      const std::string &name = program_.parameterOf(value)->name;
      uint64_t word = 0;
      if (Buffer *buffer = find(mine, name))
        word = reinterpret_cast<uint64_t>(buffer->bytes.data());
      else if (isFloat(program_.value(value).type.dtype))
        std::memcpy(&word, &scalars_.at(name), 8);
      else
        word = static_cast<uint64_t>(static_cast<int64_t>(scalars_.at(name)));
      words.push_back(word);
    }
    const KernelFrame frame{words.data(), {grid[0], grid[1], grid[2]}};
    // A dirty arena: nothing may depend on what was there before.
    std::vector<std::byte> arena((*compiled)->scratchBytes + 64, std::byte{0xff});
    void *scratch = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(arena.data()) + 63) / 64 * 64);
    status_ = (*compiled)->code->entry()(&frame, 0, grid[0] * grid[1] * grid[2], scratch);
    for (auto &[name, buffer] : mine)
      compare(name, buffer, oracle[name]);
    last_ = std::move(mine);
  }
  int32_t status() const { return status_; }
  double result(const std::string &name, int64_t index) { return read(last_[name], index); }
  const Program &program() const { return program_; }

private:
  static constexpr size_t kFence = 64;
  struct Compiled {
    std::unique_ptr<LoadedCode> code;
    int64_t scratchBytes = 0;
  };
  /// Code does not depend on sizes, so each text is compiled once for a configuration.
  Expected<std::shared_ptr<Compiled>> compile(const std::string &config) const {
    static std::map<std::string, std::shared_ptr<Compiled>> known;
    std::shared_ptr<Compiled> &slot = known[print(program_) + "\n" + config + "\n" + hostIsa().features];
    if (!slot) {
      const auto context = makeContext();
      TW_TRY(EmittedModule emitted, emit(*context, config));
      auto fresh = std::make_shared<Compiled>();
      fresh->scratchBytes = emitted.scratchBytes;
      TW_TRY(const ObjectCode code, compileModule(std::move(emitted), hostIsa()));
      static const auto jit = Jit::create();
      if (!jit)
        return Unexpected(jit.error());
      TW_TRY(fresh->code, (*jit)->load(code));
      slot = std::move(fresh);
    }
    return slot;
  }
  struct Buffer {
    DType dtype = DType::Float32;
    std::vector<std::byte> bytes;
  };
  using Buffers = std::map<std::string, Buffer>;

  Buffer *find(Buffers &buffers, const std::string &name) const {
    const auto alias = aliases_.find(name);
    const auto found = buffers.find(alias == aliases_.end() ? name : alias->second);
    return found == buffers.end() ? nullptr : &found->second;
  }

  template <class T> static void put(Buffer &buffer, int64_t index, T value) {
    std::memcpy(buffer.bytes.data() + index * sizeof(T), &value, sizeof(T));
  }
  template <class T> static T take(const Buffer &buffer, int64_t index) {
    T value;
    std::memcpy(&value, buffer.bytes.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  static void write(Buffer &buffer, int64_t index, double value) {
    const auto whole = static_cast<int64_t>(std::llround(value * 20));
    switch (buffer.dtype) {
    case DType::Float64:
      return put(buffer, index, value);
    case DType::Float32:
      return put(buffer, index, static_cast<float>(value));
    case DType::Float16:
      return put(buffer, index, static_cast<_Float16>(value));
    case DType::BFloat16: {
      const auto narrow = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &narrow, 4);
      return put(buffer, index, static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16));
    }
    case DType::Int1:
      return put(buffer, index, static_cast<uint8_t>(value > 0));
    case DType::Int64:
    case DType::UInt64:
      return put(buffer, index, whole);
    case DType::Int32:
    case DType::UInt32:
      return put(buffer, index, static_cast<int32_t>(whole));
    case DType::Int16:
    case DType::UInt16:
      return put(buffer, index, static_cast<int16_t>(whole));
    default:
      return put(buffer, index, static_cast<int8_t>(whole));
    }
  }
  static double read(const Buffer &buffer, int64_t index) {
    switch (buffer.dtype) {
    case DType::Float64:
      return take<double>(buffer, index);
    case DType::Float32:
      return take<float>(buffer, index);
    case DType::Float16:
      return static_cast<float>(take<_Float16>(buffer, index));
    case DType::BFloat16: {
      const uint32_t bits = uint32_t{take<uint16_t>(buffer, index)} << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    case DType::Int64:
    case DType::UInt64:
      return static_cast<double>(take<int64_t>(buffer, index));
    case DType::Int32:
    case DType::UInt32:
      return take<int32_t>(buffer, index);
    case DType::Int16:
    case DType::UInt16:
      return take<int16_t>(buffer, index);
    default:
      return take<int8_t>(buffer, index);
    }
  }
  void compare(const std::string &name, const Buffer &mine, const Buffer &oracle) const {
    const auto elements = static_cast<int64_t>((mine.bytes.size() - kFence) / byteSize(mine.dtype));
    for (size_t byte = mine.bytes.size() - kFence; byte < mine.bytes.size(); ++byte)
      ASSERT_EQ(mine.bytes[byte], std::byte{0x5a}) << name << ": written past its end";
    double allowed = 0;
    switch (mine.dtype) {
    case DType::Float64:
      allowed = 1e-12;
      break;
    case DType::Float32:
      allowed = 2e-6;
      break;
    case DType::Float16:
      allowed = 1e-3;
      break;
    case DType::BFloat16:
      allowed = 8e-3;
      break;
    default:
      break;
    }
    allowed *= tolerance_;
    for (int64_t index = 0; index < elements; ++index) {
      const double x = read(mine, index), y = read(oracle, index);
      if (x == y || (std::isnan(x) && std::isnan(y)))
        continue;
      ASSERT_LE(std::abs(x - y), allowed * (1 + std::abs(y))) << name << "[" << index << "] of " << elements;
    }
  }

  std::string text_;
  Program program_;
  Buffers buffers_, last_;
  std::map<std::string, std::string> aliases_;
  std::map<std::string, double> scalars_;
  std::mt19937 random_{20240607};
  std::normal_distribution<double> normal_;
  double tolerance_ = 1;
  int32_t status_ = 0;
};

} // namespace tilewright::cpu

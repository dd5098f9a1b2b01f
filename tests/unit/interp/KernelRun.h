#pragma once
#include "tilewright/interp/Interpreter.h"
#include "tilewright/program/Text.h"

#include <gtest/gtest.h>

namespace tilewright::testing {

/// A kernel in text form together with its arguments; buffers are named vectors that the test keeps.
class KernelRun {
public:
  explicit KernelRun(const std::string &text) {
    auto program = readProgram(std::make_shared<SourceFile>("kernel.tw", text));
    EXPECT_TRUE(program) << (program ? "" : render(program.error()));
    if (!program)
      return;
    program_ = *std::move(program);
    const auto verified = verify(program_);
    EXPECT_TRUE(verified) << (verified ? "" : render(verified.error()));
    usable_ = verified.has_value();
  }

  template <class T> KernelRun &buffer(std::string name, std::vector<T> &values) {
    arguments_.push_back({std::move(name), std::as_writable_bytes(std::span(values)), 0, 0});
    return *this;
  }
  KernelRun &integer(std::string name, int64_t value) {
    arguments_.push_back({std::move(name), {}, value, 0});
    return *this;
  }
  KernelRun &number(std::string name, double value) {
    arguments_.push_back({std::move(name), {}, 0, value});
    return *this;
  }
  KernelRun &set(std::string name, int64_t value) {
    config_.set(std::move(name), value);
    return *this;
  }

  Expected<void> tryRun(std::array<int64_t, 3> grid = {1, 1, 1}, InterpreterLimits limits = {}) {
    if (!usable_)
      return fail(ErrorKind::Internal, "internal", "the test's program is malformed");
    return interpret(program_, config_, grid, arguments_, limits);
  }
  void run(std::array<int64_t, 3> grid = {1, 1, 1}) {
    const auto done = tryRun(grid);
    ASSERT_TRUE(done) << render(done.error());
  }

private:
  Program program_;
  Config config_;
  std::vector<RuntimeArgument> arguments_;
  bool usable_ = false;
};

} // namespace tilewright::testing

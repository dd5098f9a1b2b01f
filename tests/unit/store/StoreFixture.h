#pragma once
#include "tilewright/store/Store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace tilewright::store {

/// A directory of its own for each test, and keys and records to fill a store with.
class StoreTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "tilewright-store-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    path = directory / "store.db";
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  std::shared_ptr<Store> open(StoreOptions options = {}) {
    if (options.path.empty())
      options.path = path;
    auto store = Store::open(options);
    if (!store) {
      ADD_FAILURE() << render(store.error());
      return Store::inMemory();
    }
    return *store;
  }
  /// The error of an open that must fail.
  Error refusal(StoreOptions options = {}) {
    if (options.path.empty())
      options.path = path;
    auto store = Store::open(options);
    EXPECT_FALSE(store.has_value()) << "opened " << options.path;
    return store ? Error() : store.error();
  }

  static TuningKey key(std::string values = "n=781", std::string name = "softmax") {
    return {
        name + ":1f", "cpu:avx2:8", "llvm-22", "x:*fp32", std::move(values), name, "kernels/" + name + ".py",
        "cpu"};
  }
  static Config config(int64_t block) {
    Config config;
    config.set("BLOCK", block);
    return config;
  }
  static TrialRecord trial(int64_t block, double ns) {
    TrialRecord record;
    record.config = config(block);
    record.samplesNs = {ns, ns + 1.5, ns * 0.75};
    record.bestEstimateNs = ns;
    record.predictedNs = ns * 2;
    return record;
  }
  static ChoiceRecord choice(int64_t block, double ns) {
    ChoiceRecord record;
    record.config = config(block);
    record.timeNs = ns;
    record.rule = "fastest";
    record.why = "fastest of 3";
    record.wallSeconds = 0.25;
    return record;
  }
  void write(const std::filesystem::path &file, std::string_view bytes) const {
    std::ofstream(file, std::ios::binary) << bytes;
  }
  static std::string read(const std::filesystem::path &file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Runs `body` in a child process that ends with its result, without any of the parent's destructors.
  static pid_t inChild(const std::function<int()> &body) {
    pid_t child = fork();
    if (child == 0)
      _exit(body());
    return child;
  }
  /// For a child: shows the error and gives the exit code of a failure.
  static int complain(const Error &error) {
    std::fputs(render(error).c_str(), stderr);
    return 2;
  }
  /// The exit code, or -1 after a signal.
  static int exitCode(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::filesystem::path directory, path;
};

} // namespace tilewright::store

// What the store costs: a warm look-up of a choice (aim: 5 µs), appends, and opening. Beside each, in the
// same run, the bare SQLite statement that cannot be avoided.
#include "tilewright/store/Store.h"

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>

namespace tilewright::store {
namespace {

TuningKey keyOf(int64_t n) {
  return {"softmax:9f31c2d4a1b07e55",    "cpu:avx512:8:l2=2097152",
          "llvm-22.1.0;tilewright-0.1",  "x:*fp32:16,y:*fp32:16,n:i32",
          "n_cols=" + std::to_string(n), "softmax",
          "kernels/softmax.py",          "cpu"};
}

TrialRecord trialOf(int64_t block) {
  TrialRecord trial;
  for (const char *name : {"BLOCK_K", "BLOCK_M", "BLOCK_N", "num_stages", "num_warps"})
    trial.config.set(name, block);
  trial.samplesNs.assign(30, 812.25);
  trial.bestEstimateNs = 812.25;
  return trial;
}

/// A store in a file with a thousand keys, each with ten trials and a choice.
class FilledStore {
public:
  FilledStore() {
    std::string pattern = std::filesystem::temp_directory_path() / "tilewright-bench-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    store = *Store::open({.path = path()});
    for (int64_t n = 0; n < 1000; ++n) {
      std::vector<TrialRecord> trials(10, trialOf(n));
      (void)store->append(keyOf(n), trials);
      ChoiceRecord choice;
      choice.config = trials[0].config;
      choice.timeNs = 812.25;
      choice.rule = "fastest";
      choice.why = "fastest of 10 candidates";
      (void)store->appendChoice(keyOf(n), choice);
    }
  }
  ~FilledStore() {
    store.reset();
    std::filesystem::remove_all(directory_);
  }
  std::filesystem::path path() const { return directory_ / "store.db"; }

  std::shared_ptr<Store> store;

private:
  std::filesystem::path directory_;
};

FilledStore &filled() {
  static FilledStore store;
  return store;
}

void warmChoice(benchmark::State &state) {
  TuningKey key = keyOf(500);
  for (auto _ : state)
    benchmark::DoNotOptimize(filled().store->choice(key));
}
BENCHMARK(warmChoice);

void choiceOfChangingKeys(benchmark::State &state) {
  std::vector<TuningKey> keys;
  for (int64_t n = 0; n < 1000; ++n)
    keys.push_back(keyOf(n));
  size_t i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(filled().store->choice(keys[i++ % keys.size()]));
}
BENCHMARK(choiceOfChangingKeys);

void bareSqliteRead(benchmark::State &state) {
  sqlite3 *db = nullptr;
  sqlite3_stmt *statement = nullptr;
  sqlite3_open(filled().path().c_str(), &db);
  sqlite3_prepare_v2(db, "SELECT config FROM choice WHERE id = 500", -1, &statement, nullptr);
  for (auto _ : state) {
    sqlite3_step(statement);
    benchmark::DoNotOptimize(sqlite3_column_text(statement, 0));
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
}
BENCHMARK(bareSqliteRead);

void digestOfKey(benchmark::State &state) {
  TuningKey key = keyOf(500);
  for (auto _ : state)
    benchmark::DoNotOptimize(key.digest());
}
BENCHMARK(digestOfKey);

void latestTrial(benchmark::State &state) {
  TuningKey key = keyOf(500);
  Config config = trialOf(500).config;
  for (auto _ : state)
    benchmark::DoNotOptimize(filled().store->latestTrial(key, config));
}
BENCHMARK(latestTrial);

void appendOneTrial(benchmark::State &state) {
  TuningKey key = keyOf(-1);
  for (auto _ : state)
    benchmark::DoNotOptimize(filled().store->append(key, trialOf(state.iterations())));
}
BENCHMARK(appendOneTrial)->Iterations(5000);

void openExisting(benchmark::State &state) {
  filled();
  for (auto _ : state)
    benchmark::DoNotOptimize(Store::open({.path = filled().path()}));
}
BENCHMARK(openExisting);

} // namespace
} // namespace tilewright::store

BENCHMARK_MAIN();

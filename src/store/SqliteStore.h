#pragma once
#include "ForkGuard.h"
#include "Sqlite.h"
#include "tilewright/store/Store.h"

#include <mutex>

namespace tilewright::store {

/// The store in one SQLite file (or in memory): one connection behind one lock. A look-up takes microseconds,
/// so threads have no need of connections of their own; launch paths keep choices in their own tables anyway.
class SqliteStore final : public Store {
public:
  static Expected<std::shared_ptr<SqliteStore>> open(StoreOptions options);

  Expected<void> append(const TuningKey &key, const TrialRecord &trial) override;
  Expected<void> append(const TuningKey &key, std::span<const TrialRecord> trials) override;
  Expected<void> beginTrial(const TuningKey &key, const Config &config, Method method) override;
  Expected<std::vector<TrialRecord>> trials(const TuningKey &key) override;
  Expected<std::optional<TrialRecord>> latestTrial(const TuningKey &key, const Config &config,
                                                   Method method) override;
  Expected<void> appendChoice(const TuningKey &key, const ChoiceRecord &choice) override;
  Expected<std::optional<ChoiceRecord>> choice(const TuningKey &key) override;
  Expected<std::vector<ChoiceRecord>> choices(const TuningKey &key) override;
  Expected<void> putObject(std::string_view digest, std::string_view bytes) override;
  Expected<std::optional<std::string>> object(std::string_view digest) override;
  Expected<std::vector<KeySummary>> keys(const KeyFilter &filter) override;
  Expected<std::optional<TuningKey>> lastKey() override;
  Expected<GcReport> gc(const GcPolicy &policy) override;
  Expected<std::vector<std::string>> verify() override;
  std::string location() const override { return options_.path.string(); }
  bool readOnly() const override { return options_.readOnly; }

protected:
  Expected<void> importRecords(const TuningKey &key, std::span<const TrialRecord> trials,
                               std::span<const ChoiceRecord> choices, ImportReport &report) override;

private:
  explicit SqliteStore(StoreOptions options);

  /// The open connection; opens it again after a fork. The caller holds `mutex_`.
  Expected<sqlite::Connection *> connection();
  Expected<sqlite::Connection *> writableConnection();
  Expected<std::unique_ptr<sqlite::Connection>> connect() const;
  const Origin &self();
  bool inMemory() const { return options_.path == ":memory:"; }

  StoreOptions options_;
  std::mutex mutex_;
  std::unique_ptr<sqlite::Connection> connection_;
  Origin self_;
  ForkGuard forkGuard_; ///< last: gone before the rest is
};

/// Whether the write-ahead log of a store holds anything, so that the file alone is not the whole truth.
bool hasLog(const std::filesystem::path &file);

} // namespace tilewright::store

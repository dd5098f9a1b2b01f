#include "tilewright/store/Store.h"

#include "RecordRows.h"
#include "SqliteStore.h"

#include <fmt/format.h>

namespace tilewright::store {

Expected<std::shared_ptr<Store>> Store::open(const StoreOptions &options) {
  StoreOptions resolved = options;
  if (resolved.path.empty())
    resolved.path = defaultStorePath();
  if (resolved.path.string().find("://") != std::string::npos)
    return fail(ErrorKind::Refusal, "store.open",
                fmt::format("{} is the address of a server; a store is a file", resolved.path.string()));
  return SqliteStore::open(std::move(resolved));
}

std::shared_ptr<Store> Store::inMemory() {
  auto store = SqliteStore::open({.path = ":memory:"});
  // Only a machine without memory gets here, where nothing else would work either.
  return store ? std::shared_ptr<Store>(*store) : nullptr;
}

Store::Opened Store::openOrInMemory(const StoreOptions &options) {
  auto store = open(options);
  if (store)
    return {*store, std::nullopt};
  auto memory = inMemory();
  // What others have recorded can still be read: a read-only store on a shared disk is worth having.
  if (store.error().code == "store.readonly")
    (void)memory->merge(options.path.empty() ? defaultStorePath() : options.path);
  return {memory, std::move(store).error()};
}

template <class Record>
static std::vector<Record> onlySound(std::vector<Record> records, std::string_view digest,
                                     ImportReport &report) {
  std::erase_if(records, [&](const Record &record) {
    std::string problem = problemOf(record);
    if (!problem.empty())
      report.problems.push_back(fmt::format("key {}, record {}: {}", digest, record.id, problem));
    return !problem.empty();
  });
  return records;
}

Expected<ImportReport> Store::merge(const std::filesystem::path &otherStore) {
  TW_TRY(auto other, open({.path = otherStore, .readOnly = true}));
  ImportReport report;
  TW_TRY(auto keys, other->keys());
  for (const KeySummary &summary : keys) {
    auto trials = other->trials(summary.key);
    auto choices = other->choices(summary.key);
    std::string digest = summary.key.digest();
    if (!trials || !choices) {
      report.problems.push_back(
          fmt::format("key {}: {}", digest, (trials ? choices.error() : trials.error()).message));
      continue;
    }
    TW_CHECK(importRecords(summary.key, onlySound(std::move(*trials), digest, report),
                           onlySound(std::move(*choices), digest, report), report));
  }
  return report;
}

} // namespace tilewright::store

// Listings of keys, and the upkeep of the file: gc and verify.
#include "RecordRows.h"
#include "SqliteStore.h"
#include "tilewright/support/Hash.h"

#include <fmt/format.h>

namespace tilewright::store {

Expected<std::vector<KeySummary>> SqliteStore::keys(const KeyFilter &filter) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query,
         db->query("SELECT " TW_KEY_COLUMNS ", "
                   "(SELECT count(*) FROM trial t WHERE t.key_id = k.id AND t.status <> 'in-flight'), "
                   "(SELECT count(*) FROM trial t WHERE t.key_id = k.id AND t.status = 'ok'), "
                   "max(coalesce((SELECT max(t.created_unix_ms) FROM trial t WHERE t.key_id = k.id), 0), "
                   "    coalesce((SELECT max(h.created_unix_ms) FROM choice h WHERE h.key_id = k.id), 0)), "
                   "c.id, " TW_CHOICE_COLUMNS " FROM tuning_key k LEFT JOIN choice c ON c.id = ("
                   "SELECT h.id FROM choice h WHERE h.key_id = k.id ORDER BY h.created_unix_ms DESC, h.id "
                   "DESC LIMIT 1) "
                   "WHERE substr(k.digest, 1, length(?1)) = ?1 AND (?2 = '' OR k.kernel_name = ?2) "
                   "AND (?3 = '' OR k.target = ?3) AND (?4 = '' OR k.kernel_identity = ?4) "
                   "ORDER BY k.kernel_name, k.target, k.key_values, k.digest"));
  query.bind(filter.digestPrefix).bind(filter.kernelName).bind(filter.target).bind(filter.kernelIdentity);
  std::vector<KeySummary> found;
  while (true) {
    TW_TRY(bool row, query.step());
    if (!row)
      return found;
    KeySummary &summary = found.emplace_back();
    summary.key = readKey(query);
    summary.trials = query.integer(kKeyColumns);
    summary.okTrials = query.integer(kKeyColumns + 1);
    summary.lastUnixMs = query.integer(kKeyColumns + 2);
    // One bad record must not hide all others: `choice` and `verify` report it.
    if (!query.isNull(kKeyColumns + 3))
      if (auto choice = readChoice(query, location(), kKeyColumns + 4))
        summary.choice = std::move(*choice);
  }
}

static Expected<int64_t> fileBytes(sqlite::Connection &db) {
  TW_TRY(int64_t pages, db.integer("PRAGMA page_count"));
  TW_TRY(int64_t pageBytes, db.integer("PRAGMA page_size"));
  return pages * pageBytes;
}

static Expected<void> countRows(sqlite::Connection &db, GcReport &report, int64_t sign) {
  TW_TRY(int64_t keys, db.integer("SELECT count(*) FROM tuning_key"));
  TW_TRY(int64_t trials, db.integer("SELECT count(*) FROM trial"));
  TW_TRY(int64_t choices, db.integer("SELECT count(*) FROM choice"));
  TW_TRY(int64_t objects, db.integer("SELECT count(*) FROM object"));
  report.keys += sign * keys;
  report.trials += sign * trials;
  report.choices += sign * choices;
  report.objects += sign * objects;
  return {};
}

#define TW_LAST_USE                                                                                          \
  "max(coalesce((SELECT max(t.created_unix_ms) FROM trial t WHERE t.key_id = k.id), 0), "                    \
  "coalesce((SELECT max(c.created_unix_ms) FROM choice c WHERE c.key_id = k.id), 0))"

static Expected<void> collect(sqlite::Connection &db, const GcPolicy &policy) {
  TW_CHECK(
      db.execute("DELETE FROM trial AS t WHERE t.status = 'in-flight' AND EXISTS (SELECT 1 FROM trial e "
                 "WHERE e.key_id = t.key_id AND e.config = t.config AND e.method = t.method AND e.id > t.id "
                 "AND e.status <> 'in-flight')"));
  if (policy.keysUnusedSinceUnixMs) {
    TW_TRY(auto unused, db.query("DELETE FROM tuning_key AS k WHERE " TW_LAST_USE " < ?1"));
    TW_CHECK(unused.bind(*policy.keysUnusedSinceUnixMs).run());
  }
  if (policy.supersededKernels)
    TW_CHECK(db.execute(
        "WITH used AS MATERIALIZED (SELECT k.kernel_identity AS identity, k.kernel_name AS name, "
        "k.file AS file, k.target AS target, max(" TW_LAST_USE ") AS last FROM tuning_key k "
        "GROUP BY 1, 2, 3, 4) "
        "DELETE FROM tuning_key AS k WHERE k.kernel_name <> '' AND EXISTS (SELECT 1 FROM used o, used y "
        "WHERE o.identity = k.kernel_identity AND o.name = k.kernel_name AND o.file = k.file "
        "AND o.target = k.target AND y.name = o.name AND y.file = o.file AND y.target = o.target "
        "AND y.identity <> o.identity AND y.last > o.last)"));
  if (policy.objectsOlderThanUnixMs) {
    TW_TRY(auto old, db.query("DELETE FROM object WHERE created_unix_ms < ?1"));
    TW_CHECK(old.bind(*policy.objectsOlderThanUnixMs).run());
  }
  if (policy.maxObjectBytes) {
    TW_TRY(auto large,
           db.query("DELETE FROM object WHERE id IN (SELECT id FROM (SELECT id, sum(length(bytes)) OVER "
                    "(ORDER BY created_unix_ms DESC, id DESC) AS kept FROM object) WHERE kept > ?1)"));
    TW_CHECK(large.bind(*policy.maxObjectBytes).run());
  }
  return {};
}

Expected<GcReport> SqliteStore::gc(const GcPolicy &policy) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, writableConnection());
  GcReport report;
  TW_TRY(report.bytesBefore, fileBytes(*db));
  TW_CHECK(db->write([&]() -> Expected<void> {
    TW_CHECK(countRows(*db, report, 1));
    TW_CHECK(collect(*db, policy));
    return countRows(*db, report, -1);
  }));
  TW_CHECK(db->execute("VACUUM"));
  TW_CHECK(db->execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  TW_TRY(report.bytesAfter, fileBytes(*db));
  return report;
}

/// Every record of one table that this program cannot read, or that must not be there.
template <class Read>
static Expected<void> checkRows(sqlite::Connection &db, std::string_view sql, std::string_view table,
                                Read read, std::vector<std::string> &problems) {
  TW_TRY(auto query, db.query(sql));
  while (true) {
    TW_TRY(bool row, query.step());
    if (!row)
      return {};
    auto record = read(query);
    std::string problem = record ? problemOf(*record) : record.error().message;
    if (!problem.empty())
      problems.push_back(fmt::format("{} {}: {}", table, record ? record->id : "", problem));
  }
}

Expected<std::vector<std::string>> SqliteStore::verify() {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  std::vector<std::string> problems;
  {
    TW_TRY(auto check, db->query("PRAGMA integrity_check(100)"));
    while (true) {
      TW_TRY(bool row, check.step());
      if (!row)
        break;
      if (check.text(0) != "ok")
        problems.push_back(fmt::format("file: {}", check.text(0)));
    }
  }
  // SQLite reads what is missing of the last page as zeros, which no check of the structure notices. The log
  // is asked after the size, so that a checkpoint in between does not look like a loss.
  TW_TRY(int64_t bytes, fileBytes(*db));
  if (!inMemory() && !hasLog(options_.path)) {
    std::error_code ignored;
    if (auto onDisk = std::filesystem::file_size(options_.path, ignored); !ignored && int64_t(onDisk) < bytes)
      problems.push_back(fmt::format("file: cut off: {} of {} bytes", onDisk, bytes));
  }
  if (!problems.empty())
    return problems;
  TW_CHECK(checkRows(
      *db, "SELECT " TW_TRIAL_COLUMNS " FROM trial t ORDER BY t.id", "trial",
      [&](auto &row) { return readTrial(row, location()); }, problems));
  TW_CHECK(checkRows(
      *db, "SELECT " TW_CHOICE_COLUMNS " FROM choice c ORDER BY c.id", "choice",
      [&](auto &row) { return readChoice(row, location()); }, problems));
  TW_TRY(auto keys, db->query("SELECT k.digest, " TW_KEY_COLUMNS " FROM tuning_key k ORDER BY k.id"));
  while (true) {
    TW_TRY(bool row, keys.step());
    if (!row)
      break;
    if (readKey(keys, 1).digest() != keys.text(0))
      problems.push_back(fmt::format("key {}: its digest does not fit its fields", keys.text(0)));
  }
  TW_TRY(auto objects, db->query("SELECT digest, bytes, byte_hash FROM object ORDER BY id"));
  while (true) {
    TW_TRY(bool row, objects.step());
    if (!row)
      return problems;
    if (contentHash(objects.bytes(1)) != objects.text(2))
      problems.push_back(fmt::format("compiled code {}: its bytes have changed", objects.text(0)));
  }
}

} // namespace tilewright::store

#include "Schema.h"

#include <fmt/format.h>

namespace tilewright::store {

/// One step from version `from` to `from + 1`. A step is never edited once released: a new one follows it.
struct Migration {
  int64_t from;
  const char *sql;
};

// Key ids are never used again (AUTOINCREMENT), so that a process that still knows the id of a collected key
// cannot attach a record to another key. `uuid` identifies a record across files. Readable text throughout:
// any SQLite shell can look into a store.
static constexpr Migration kMigrations[] = {
    {0, R"sql(
CREATE TABLE tuning_key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  digest TEXT NOT NULL UNIQUE,
  kernel_identity TEXT NOT NULL,
  target_fingerprint TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  specialization TEXT NOT NULL,
  key_values TEXT NOT NULL,
  kernel_name TEXT NOT NULL,
  file TEXT NOT NULL,
  target TEXT NOT NULL
) STRICT;
CREATE INDEX tuning_key_by_identity ON tuning_key (kernel_identity);

CREATE TABLE trial (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  key_id INTEGER NOT NULL REFERENCES tuning_key (id) ON DELETE CASCADE,
  config TEXT NOT NULL,
  method TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT NOT NULL,
  text TEXT NOT NULL,
  predicted_ns REAL,
  best_ns REAL,
  samples_ns TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  host TEXT NOT NULL,
  user TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_start INTEGER NOT NULL
) STRICT;
CREATE INDEX trial_by_candidate ON trial (key_id, config, method, created_unix_ms);

CREATE TABLE choice (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  key_id INTEGER NOT NULL REFERENCES tuning_key (id) ON DELETE CASCADE,
  config TEXT NOT NULL,
  method TEXT NOT NULL,
  time_ns REAL,
  rule TEXT NOT NULL,
  why TEXT NOT NULL,
  wall_seconds REAL,
  created_unix_ms INTEGER NOT NULL,
  host TEXT NOT NULL,
  user TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_start INTEGER NOT NULL
) STRICT;
CREATE INDEX choice_by_key ON choice (key_id, created_unix_ms);

CREATE TABLE object (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL,
  byte_hash TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL
) STRICT;
)sql"},
};
static_assert(std::size(kMigrations) == kSchemaVersion, "one migration for each version");

/// The version of a database that is a store or is empty (then 0). To be called inside a transaction: another
/// process may be creating the tables right now, and a look before joined with a look after is neither.
static Expected<int64_t> versionOf(sqlite::Connection &db, std::string_view location) {
  TW_TRY(int64_t application, db.integer("PRAGMA application_id"));
  TW_TRY(int64_t version, db.integer("PRAGMA user_version"));
  if (application == kApplicationId && version > 0)
    return version;
  TW_TRY(int64_t tables, db.integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0 && application == 0 && version == 0)
    return 0;
  return fail(
      ErrorKind::User, "store.open",
      fmt::format("{} is a database of another program, not a store of Tilewright; it was not touched. Set "
                  "TILEWRIGHT_STORE to another file",
                  location));
}

static Error newer(std::string_view location, int64_t version) {
  return {
      ErrorKind::User, "store.version",
      fmt::format("the store {} was written by a newer Tilewright (format {}; this one knows {}). It was not "
                  "touched. Upgrade Tilewright, or set TILEWRIGHT_STORE to another file",
                  location, version, kSchemaVersion)};
}

static Expected<void> migrate(sqlite::Connection &db, std::string_view location) {
  // Another process may have migrated while this one waited for the lock.
  TW_TRY(int64_t version, versionOf(db, location));
  if (version > kSchemaVersion)
    return Unexpected(newer(location, version));
  for (const Migration &step : kMigrations)
    if (step.from >= version)
      TW_CHECK(db.execute(step.sql));
  TW_CHECK(db.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str()));
  return db.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion).c_str());
}

static Expected<int64_t> knownVersionOf(sqlite::Connection &db, std::string_view location) {
  int64_t version = 0;
  TW_CHECK(db.read([&]() -> Expected<void> {
    TW_TRY(version, versionOf(db, location));
    return {};
  }));
  if (version > kSchemaVersion)
    return Unexpected(newer(location, version));
  return version;
}

Expected<void> checkSchema(sqlite::Connection &db, std::string_view location) {
  TW_CHECK(knownVersionOf(db, location));
  return {};
}

Expected<void> prepareSchema(sqlite::Connection &db, std::string_view location, bool readOnly) {
  TW_TRY(int64_t version, knownVersionOf(db, location));
  if (version == kSchemaVersion)
    return {};
  if (readOnly && version == 0)
    return fail(ErrorKind::User, "store.open",
                fmt::format("{} is empty: nothing has been recorded yet", location));
  if (readOnly)
    return fail(
        ErrorKind::User, "store.version",
        fmt::format(
            "the store {} was written by an older Tilewright (format {}); open it once for writing to "
            "bring it up to format {}",
            location, version, kSchemaVersion));
  return db.write([&] { return migrate(db, location); });
}

} // namespace tilewright::store

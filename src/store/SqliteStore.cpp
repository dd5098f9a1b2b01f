#include "SqliteStore.h"

#include "RecordRows.h"
#include "tilewright/support/Hash.h"

#include <fmt/format.h>

#include <array>
#include <sys/random.h>
#include <unistd.h>

namespace tilewright::store {

static int64_t nowUnixMs() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// Fresh from the system, so that two processes of one fork do not draw the same.
static std::string freshId() {
  std::array<unsigned char, 16> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0)
    return contentHash(
        fmt::format("{} {}", getpid(), std::chrono::steady_clock::now().time_since_epoch().count()));
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

namespace {
/// Writes records of one key inside one transaction.
class KeyWriter {
public:
  /// Finds the key's row or makes it. `relabel` brings the readable fields up to date.
  static Expected<KeyWriter> forKey(sqlite::Connection &db, const Origin &self, const TuningKey &key,
                                    bool relabel);
  /// False when the record is here already.
  Expected<bool> add(const TrialRecord &trial);
  Expected<bool> add(const ChoiceRecord &choice);
  bool isNewKey() const { return isNew_; }

private:
  KeyWriter(sqlite::Connection &db, const Origin &self) : db_(db), self_(self) {}
  /// Now, but never before the key's youngest record: a clock that was set back must not hide the latest
  /// choice.
  Expected<int64_t> nextTime(std::string_view youngest, const Config &config, Method method);

  void bindOrigin(sqlite::Query &query, const Origin &given);

  sqlite::Connection &db_;
  const Origin &self_;
  int64_t keyId_ = 0;
  bool isNew_ = false;
};
} // namespace

Expected<KeyWriter> KeyWriter::forKey(sqlite::Connection &db, const Origin &self, const TuningKey &key,
                                      bool relabel) {
  KeyWriter writer(db, self);
  std::string digest = key.digest();
  {
    TW_TRY(auto find, db.query("SELECT id, kernel_name, file, target FROM tuning_key WHERE digest = ?1"));
    TW_TRY(bool found, find.bind(digest).step());
    if (found) {
      writer.keyId_ = find.integer(0);
      if (find.text(1) == key.kernelName && find.text(2) == key.file && find.text(3) == key.target)
        return writer;
    }
  }
  if (writer.keyId_ != 0) {
    if (!relabel || key.kernelName.empty())
      return writer;
    TW_TRY(auto update,
           db.query("UPDATE tuning_key SET kernel_name = ?1, file = ?2, target = ?3 WHERE id = ?4"));
    TW_CHECK(update.bind(key.kernelName).bind(key.file).bind(key.target).bind(writer.keyId_).run());
    return writer;
  }
  TW_TRY(auto insert,
         db.query("INSERT INTO tuning_key (digest, kernel_identity, target_fingerprint, toolchain, "
                  "specialization, key_values, kernel_name, file, target) "
                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id"));
  insert.bind(digest).bind(key.kernelIdentity).bind(key.targetFingerprint).bind(key.toolchain);
  insert.bind(key.specialization).bind(key.keyValues).bind(key.kernelName).bind(key.file).bind(key.target);
  TW_CHECK(insert.step());
  writer.keyId_ = insert.integer(0);
  writer.isNew_ = true;
  return writer;
}

Expected<int64_t> KeyWriter::nextTime(std::string_view youngest, const Config &config, Method method) {
  TW_TRY(auto query, db_.query(youngest));
  TW_TRY(bool row, query.bind(keyId_).bind(configToJson(config)).bind(toString(method)).step());
  return std::max(nowUnixMs(), row ? query.integer(0) : 0);
}

void KeyWriter::bindOrigin(sqlite::Query &query, const Origin &given) {
  const Origin &origin = given == Origin() ? self_ : given;
  query.bind(origin.host).bind(origin.user).bind(origin.pid).bind(origin.processStart);
}

Expected<bool> KeyWriter::add(const TrialRecord &trial) {
  int64_t created = trial.createdUnixMs;
  if (created == 0) {
    TW_TRY(
        created,
        nextTime("SELECT max(created_unix_ms) FROM trial WHERE key_id = ?1 AND config = ?2 AND method = ?3",
                 trial.config, trial.method));
  }
  TW_TRY(
      auto insert,
      db_.query(
          "INSERT INTO trial (uuid, key_id, config, method, status, code, text, predicted_ns, best_ns, "
          "samples_ns, created_unix_ms, host, user, pid, process_start) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
          "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT (uuid) DO NOTHING"));
  insert.bind(trial.id.empty() ? freshId() : trial.id).bind(keyId_).bind(configToJson(trial.config));
  insert.bind(toString(trial.method)).bind(toString(trial.status)).bind(trial.code).bind(trial.text);
  insert.bind(trial.predictedNs)
      .bind(trial.bestEstimateNs)
      .bind(samplesToJson(trial.samplesNs))
      .bind(created);
  bindOrigin(insert, trial.origin);
  TW_CHECK(insert.run());
  return db_.changes() > 0;
}

Expected<bool> KeyWriter::add(const ChoiceRecord &choice) {
  int64_t created = choice.createdUnixMs;
  if (created == 0) {
    TW_TRY(created,
           nextTime("SELECT max(created_unix_ms) FROM choice WHERE key_id = ?1 AND ?2 IS NOT NULL AND ?3 IS "
                    "NOT NULL",
                    choice.config, choice.method));
  }
  TW_TRY(auto insert,
         db_.query(
             "INSERT INTO choice (uuid, key_id, config, method, time_ns, rule, why, wall_seconds, "
             "created_unix_ms, host, user, pid, process_start) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
             "?10, ?11, ?12, ?13) ON CONFLICT (uuid) DO NOTHING"));
  insert.bind(choice.id.empty() ? freshId() : choice.id).bind(keyId_).bind(configToJson(choice.config));
  insert.bind(toString(choice.method)).bind(choice.timeNs).bind(choice.rule).bind(choice.why);
  insert.bind(choice.wallSeconds).bind(created);
  bindOrigin(insert, choice.origin);
  TW_CHECK(insert.run());
  return db_.changes() > 0;
}

/// A record that an import would refuse must not get in by the front door either.
template <class Record> static Expected<void> requireSound(const Record &record) {
  std::string problem = problemOfValues(record);
  if (problem.empty())
    return {};
  return fail(ErrorKind::Internal, "internal", fmt::format("a record that must not be stored: {}", problem));
}

const Origin &SqliteStore::self() {
  if (self_.pid != getpid()) // the first time, and in a forked child
    self_ = Origin::current();
  return self_;
}

Expected<void> SqliteStore::append(const TuningKey &key, const TrialRecord &trial) {
  return append(key, std::span(&trial, 1));
}

Expected<void> SqliteStore::append(const TuningKey &key, std::span<const TrialRecord> trials) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, writableConnection());
  return db->write([&]() -> Expected<void> {
    TW_TRY(auto writer, KeyWriter::forKey(*db, self(), key, true));
    for (const TrialRecord &trial : trials) {
      TW_CHECK(requireSound(trial));
      TW_CHECK(writer.add(trial));
    }
    return {};
  });
}

Expected<void> SqliteStore::beginTrial(const TuningKey &key, const Config &config, Method method) {
  TrialRecord mark;
  mark.config = config;
  mark.status = TrialStatus::InFlight;
  mark.method = method;
  return append(key, mark);
}

Expected<void> SqliteStore::appendChoice(const TuningKey &key, const ChoiceRecord &choice) {
  TW_CHECK(requireSound(choice));
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, writableConnection());
  return db->write([&]() -> Expected<void> {
    TW_TRY(auto writer, KeyWriter::forKey(*db, self(), key, true));
    TW_CHECK(writer.add(choice));
    return {};
  });
}

Expected<void> SqliteStore::importRecords(const TuningKey &key, std::span<const TrialRecord> trials,
                                          std::span<const ChoiceRecord> choices, ImportReport &report) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, writableConnection());
  ImportReport added = report;
  TW_CHECK(db->write([&]() -> Expected<void> {
    TW_TRY(auto writer, KeyWriter::forKey(*db, self(), key, false));
    added.keys += writer.isNewKey();
    for (const TrialRecord &trial : trials) {
      TW_TRY(bool isNew, writer.add(trial));
      ++(isNew ? added.trials : added.known);
    }
    for (const ChoiceRecord &choice : choices) {
      TW_TRY(bool isNew, writer.add(choice));
      ++(isNew ? added.choices : added.known);
    }
    return {};
  }));
  report = std::move(added);
  return {};
}

/// An in-flight mark counts until a record that ended follows it. Row ids, not times, say what follows what.
#define TW_NOT_REPLACED                                                                                      \
  "(t.status <> 'in-flight' OR NOT EXISTS (SELECT 1 FROM trial e WHERE e.key_id = t.key_id AND e.config = "  \
  "t.config "                                                                                                \
  "AND e.method = t.method AND e.id > t.id AND e.status <> 'in-flight'))"

static void explainMark(TrialRecord &trial) {
  if (trial.status != TrialStatus::InFlight || trial.origin.mayBeAlive())
    return;
  trial.code = "interrupted";
  trial.text =
      fmt::format("process {} on {} ended while this trial was running", trial.origin.pid, trial.origin.host);
}

Expected<std::vector<TrialRecord>> SqliteStore::trials(const TuningKey &key) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query,
         db->query("SELECT " TW_TRIAL_COLUMNS " FROM trial t JOIN tuning_key k ON k.id = t.key_id "
                   "WHERE k.digest = ?1 AND " TW_NOT_REPLACED " ORDER BY t.created_unix_ms, t.id"));
  query.bind(key.digest());
  std::vector<TrialRecord> found;
  while (true) {
    TW_TRY(bool row, query.step());
    if (!row)
      break;
    TW_TRY(TrialRecord trial, readTrial(query, location()));
    explainMark(trial);
    found.push_back(std::move(trial));
  }
  return found;
}

Expected<std::optional<TrialRecord>> SqliteStore::latestTrial(const TuningKey &key, const Config &config,
                                                              Method method) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query,
         db->query("SELECT " TW_TRIAL_COLUMNS " FROM trial t JOIN tuning_key k ON k.id = t.key_id "
                   "WHERE k.digest = ?1 AND t.config = ?2 AND t.method = ?3 AND " TW_NOT_REPLACED
                   " ORDER BY t.created_unix_ms DESC, t.id DESC LIMIT 1"));
  TW_TRY(bool row, query.bind(key.digest()).bind(configToJson(config)).bind(toString(method)).step());
  if (!row)
    return std::nullopt;
  TW_TRY(TrialRecord trial, readTrial(query, location()));
  explainMark(trial);
  return trial;
}

Expected<std::optional<ChoiceRecord>> SqliteStore::choice(const TuningKey &key) {
  std::string digest = key.digest();
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query,
         db->query("SELECT " TW_CHOICE_COLUMNS " FROM choice c JOIN tuning_key k ON k.id = c.key_id "
                   "WHERE k.digest = ?1 ORDER BY c.created_unix_ms DESC, c.id DESC LIMIT 1"));
  TW_TRY(bool row, query.bind(digest).step());
  if (!row)
    return std::nullopt;
  return readChoice(query, location());
}

Expected<std::vector<ChoiceRecord>> SqliteStore::choices(const TuningKey &key) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query,
         db->query("SELECT " TW_CHOICE_COLUMNS " FROM choice c JOIN tuning_key k ON k.id = c.key_id "
                   "WHERE k.digest = ?1 ORDER BY c.created_unix_ms, c.id"));
  query.bind(key.digest());
  std::vector<ChoiceRecord> found;
  while (true) {
    TW_TRY(bool row, query.step());
    if (!row)
      return found;
    TW_TRY(found.emplace_back(), readChoice(query, location()));
  }
}

Expected<void> SqliteStore::putObject(std::string_view digest, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, writableConnection());
  return db->write([&]() -> Expected<void> {
    TW_TRY(auto insert, db->query("INSERT INTO object (digest, bytes, byte_hash, created_unix_ms) "
                                  "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (digest) DO NOTHING"));
    return insert.bind(digest).bindBlob(bytes).bind(contentHash(bytes)).bind(nowUnixMs()).run();
  });
}

Expected<std::optional<std::string>> SqliteStore::object(std::string_view digest) {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query, db->query("SELECT bytes, byte_hash FROM object WHERE digest = ?1"));
  TW_TRY(bool row, query.bind(digest).step());
  if (!row)
    return std::nullopt;
  std::string bytes(query.bytes(0));
  if (contentHash(bytes) != query.text(1))
    return fail(ErrorKind::Unavailable, "store.corrupt",
                fmt::format("the compiled code {} in the store {} is damaged", digest, location()));
  return bytes;
}

Expected<std::optional<TuningKey>> SqliteStore::lastKey() {
  std::lock_guard lock(mutex_);
  TW_TRY(auto *db, connection());
  TW_TRY(auto query, db->query("SELECT " TW_KEY_COLUMNS " FROM tuning_key k JOIN ("
                               "SELECT key_id, created_unix_ms, id FROM trial UNION ALL "
                               "SELECT key_id, created_unix_ms, id FROM choice) r ON r.key_id = k.id "
                               "ORDER BY r.created_unix_ms DESC, r.id DESC LIMIT 1"));
  TW_TRY(bool row, query.step());
  if (!row)
    return std::nullopt;
  return readKey(query);
}

} // namespace tilewright::store

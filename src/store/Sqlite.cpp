#include "Sqlite.h"

#include <fmt/format.h>

#include <limits>
#include <random>
#include <thread>

namespace tilewright::store::sqlite {

Query::~Query() {
  if (!statement_)
    return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

static void keepFirst(int &kept, int result) {
  if (kept == SQLITE_OK)
    kept = result;
}

Query &Query::bind(std::string_view text) {
  const char *start = text.data() ? text.data() : "";
  keepFirst(bindResult_,
            sqlite3_bind_text64(statement_, next_++, start, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Query &Query::bind(int64_t value) {
  keepFirst(bindResult_, sqlite3_bind_int64(statement_, next_++, value));
  return *this;
}

Query &Query::bind(double value) {
  keepFirst(bindResult_, sqlite3_bind_double(statement_, next_++, value));
  return *this;
}

Query &Query::bindBlob(std::string_view bytes) {
  const char *start = bytes.data() ? bytes.data() : "";
  keepFirst(bindResult_, sqlite3_bind_blob64(statement_, next_++, start, bytes.size(), SQLITE_STATIC));
  return *this;
}

Expected<bool> Query::step() {
  int result = bindResult_ == SQLITE_OK ? sqlite3_step(statement_) : bindResult_;
  if (result == SQLITE_ROW)
    return true;
  if (result == SQLITE_DONE)
    return false;
  return Unexpected(describe(sqlite3_db_handle(statement_), result, location_));
}

Expected<void> Query::run() {
  while (true) {
    TW_TRY(bool more, step());
    if (!more)
      return {};
  }
}

double Query::real(int column) const {
  return isNull(column) ? std::numeric_limits<double>::quiet_NaN()
                        : sqlite3_column_double(statement_, column);
}

std::string_view Query::text(int column) const {
  auto *start = reinterpret_cast<const char *>(sqlite3_column_text(statement_, column));
  return start ? std::string_view(start, sqlite3_column_bytes(statement_, column)) : std::string_view();
}

std::string_view Query::bytes(int column) const {
  auto *start = static_cast<const char *>(sqlite3_column_blob(statement_, column));
  return start ? std::string_view(start, sqlite3_column_bytes(statement_, column)) : std::string_view();
}

/// A path as a URI of SQLite, for the `immutable` switch, which has no flag.
static std::string immutableUri(std::string_view path) {
  std::string uri = "file:";
  for (unsigned char c : path) {
    bool plain = std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", c);
  }
  return uri + "?immutable=1";
}

Expected<std::unique_ptr<Connection>> Connection::open(const Options &options) {
  std::unique_ptr<Connection> connection(new Connection(options));
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= options.readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  std::string path = options.path;
  if (options.immutable) {
    path = immutableUri(path);
    flags |= SQLITE_OPEN_URI;
  } else if (!path.starts_with('/') && path != ":memory:") {
    path = "./" + path; // "file:..." must not be read as a URI, nor "" as a temporary database
  }
  int result = sqlite3_open_v2(path.c_str(), &connection->handle_, flags, nullptr);
  if (result != SQLITE_OK)
    return Unexpected(describe(connection->handle_, result, options.path));

  sqlite3 *handle = connection->handle_;
  sqlite3_busy_handler(handle, waitForOthers, connection.get());
  // The file may come from anywhere: nothing in its schema may call functions or overwrite the schema itself.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  TW_CHECK(connection->execute("PRAGMA cell_size_check = ON"));
  return connection;
}

Connection::~Connection() {
  for (auto &[sql, statement] : statements_)
    sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

/// Called by SQLite while another process holds a lock. Short waits with some randomness serve many writers
/// of short transactions better than SQLite's own schedule, whose waits of 100 ms starve the unlucky.
int Connection::waitForOthers(void *self, int attempt) {
  auto *connection = static_cast<Connection *>(self);
  auto now = std::chrono::steady_clock::now();
  if (attempt == 0)
    connection->waitingSince_ = now;
  if (now - connection->waitingSince_ >= connection->options_.busyTimeout)
    return 0;
  thread_local std::minstd_rand random{std::random_device{}()};
  int64_t longestUs = std::min(10'000, 200 << std::min(attempt, 6));
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<int64_t>(longestUs / 4, longestUs)(random)));
  return 1;
}

Expected<Query> Connection::query(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt *statement = nullptr;
    int result = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (result != SQLITE_OK)
      return Unexpected(describe(handle_, result, options_.path));
    found = statements_.emplace(sql, statement).first;
  }
  return Query(found->second, options_.path);
}

Expected<void> Connection::execute(const char *sql) {
  int result = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK)
    return Unexpected(describe(handle_, result, options_.path));
  return {};
}

Expected<int64_t> Connection::integer(std::string_view sql) {
  TW_TRY(Query one, query(sql));
  TW_TRY(bool row, one.step());
  return row ? one.integer(0) : 0;
}

Expected<std::string> Connection::text(std::string_view sql) {
  TW_TRY(Query one, query(sql));
  TW_TRY(bool row, one.step());
  return row ? std::string(one.text(0)) : std::string();
}

void Connection::rollback() {
  if (!sqlite3_get_autocommit(handle_)) // a full disk has rolled back already
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Connection::closeWithoutCheckpoint() {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

} // namespace tilewright::store::sqlite

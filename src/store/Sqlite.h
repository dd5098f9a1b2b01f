#pragma once
#include "tilewright/support/Expected.h"

#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tilewright::store::sqlite {

/// A prepared statement lent by a Connection for one use; handed back, reset and unbound, when it dies.
///
///     TW_TRY(auto query, db.query("SELECT id FROM tuning_key WHERE digest = ?1"));
///     query.bind(digest);
///     TW_TRY(bool found, query.step());
///
/// A failed bind is reported by the step that follows.
class Query {
public:
  Query(sqlite3_stmt *statement, std::string_view location) : statement_(statement), location_(location) {}
  Query(Query &&other) noexcept
      : statement_(std::exchange(other.statement_, nullptr)), location_(other.location_), next_(other.next_),
        bindResult_(other.bindResult_) {}
  Query &operator=(Query &&) = delete;
  ~Query();

  /// Bind the next parameter. Text is copied; a blob must outlive the query.
  Query &bind(std::string_view text);
  Query &bind(const char *text) { return bind(std::string_view(text)); }
  Query &bind(int64_t value);
  Query &bind(double value);
  Query &bindBlob(std::string_view bytes);

  /// True when there is a row to read, false at the end.
  Expected<bool> step();
  /// Steps to the end of a statement that has no rows.
  Expected<void> run();

  int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const; ///< NaN for NULL
  bool isNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string_view text(int column) const;  ///< valid until the next step
  std::string_view bytes(int column) const; ///< the same for a blob

private:
  sqlite3_stmt *statement_;
  std::string_view location_;
  int next_ = 1;
  int bindResult_ = SQLITE_OK;
};

/// One open database. Not for several threads at once. Statements are prepared once and kept.
class Connection {
public:
  struct Options {
    std::string path; ///< ":memory:" for none
    bool readOnly = false;
    bool immutable = false; ///< read without any lock: for a file in a place where nobody can write
    std::chrono::milliseconds busyTimeout{0};
  };
  static Expected<std::unique_ptr<Connection>> open(const Options &options);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// The statement for this text, which must be a literal or otherwise outlive the connection.
  Expected<Query> query(std::string_view sql);
  /// Runs statements that need no parameters and whose rows do not matter.
  Expected<void> execute(const char *sql);
  /// The first column of the first row.
  Expected<int64_t> integer(std::string_view sql);
  Expected<std::string> text(std::string_view sql);

  /// Runs `body` (returning Expected<void>) as one write: all of it or nothing. Waits for other writers.
  template <class Body> Expected<void> write(Body body) { return transaction("BEGIN IMMEDIATE", body); }
  /// Runs `body` so that everything it reads is of one moment.
  template <class Body> Expected<void> read(Body body) { return transaction("BEGIN", body); }

  /// True also when writing was asked for and the file system only let SQLite read.
  bool isReadOnly() const { return sqlite3_db_readonly(handle_, "main") == 1; }
  int64_t changes() const { return sqlite3_changes64(handle_); }
  /// Makes closing cheap: what the log holds stays there for the next process that opens the file.
  void closeWithoutCheckpoint();

private:
  explicit Connection(Options options) : options_(std::move(options)) {}
  template <class Body> Expected<void> transaction(const char *begin, Body &body) {
    TW_CHECK(execute(begin));
    Expected<void> result = body();
    if (result)
      result = execute("COMMIT");
    if (!result)
      rollback();
    return result;
  }
  void rollback();
  static int waitForOthers(void *self, int attempt);

  Options options_;
  sqlite3 *handle_ = nullptr;
  std::chrono::steady_clock::time_point waitingSince_;
  std::unordered_map<std::string_view, sqlite3_stmt *> statements_;
};

/// What a failure means for the user, and what to do about it. `handle` may be null.
Error describe(sqlite3 *handle, int result, std::string_view location);

} // namespace tilewright::store::sqlite

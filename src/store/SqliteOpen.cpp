// How a store file is opened: directories, journal, schema, and what to do where nobody can write.
#include "Schema.h"
#include "SqliteStore.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace tilewright::store {

namespace fs = std::filesystem;

static Expected<void> makeDirectory(const fs::path &file) {
  std::error_code problem;
  if (!file.parent_path().empty())
    fs::create_directories(file.parent_path(), problem);
  if (problem)
    return fail(
        ErrorKind::Unavailable, "store.readonly",
        fmt::format("the directory of the store {} cannot be made ({}). Set TILEWRIGHT_STORE to a file in a "
                    "directory that can be written",
                    file.string(), problem.message()));
  return {};
}

/// Switching an empty file to write-ahead logging takes an exclusive lock for which SQLite does not wait by
/// itself, so processes that create the same store at the same moment have to retry.
static Expected<void> chooseJournal(sqlite::Connection &db, std::chrono::milliseconds patience) {
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    auto mode = db.text("PRAGMA journal_mode = WAL");
    if (mode) // a file system without shared memory keeps the rollback journal, which needs every fsync
      return db.execute(*mode == "wal" ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
    if (mode.error().code != "store.busy" || std::chrono::steady_clock::now() >= deadline)
      return Unexpected(mode.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

static Expected<std::unique_ptr<sqlite::Connection>> openForReading(const StoreOptions &options,
                                                                    bool immutable) {
  std::string path = options.path.string();
  TW_TRY(auto db, sqlite::Connection::open({path, true, immutable, options.busyTimeout}));
  TW_CHECK(prepareSchema(*db, path, true));
  return db;
}

static Unexpected notWritable(const fs::path &file, int systemError) {
  return fail(ErrorKind::Unavailable, "store.readonly",
              fmt::format("the store {} cannot be written ({}). Make it and its directory writable, or set "
                          "TILEWRIGHT_STORE to a file in a directory that is",
                          file.string(), std::strerror(systemError)));
}

static Expected<std::unique_ptr<sqlite::Connection>> openForWriting(const StoreOptions &options) {
  std::string path = options.path.string();
  auto opened = sqlite::Connection::open({path, false, false, options.busyTimeout});
  if (!opened) {
    // SQLite tries again for reading and reports that failure; the directory knows the real one.
    fs::path directory = options.path.parent_path().empty() ? "." : options.path.parent_path();
    if (opened.error().code == "store.open" && access(directory.c_str(), W_OK) != 0)
      return notWritable(options.path, errno);
    return Unexpected(opened.error());
  }
  std::unique_ptr<sqlite::Connection> db = std::move(*opened);
  if (db->isReadOnly())
    return notWritable(options.path, access(path.c_str(), W_OK) != 0 ? errno : EROFS);
  // Look before anything is changed: another program's database must stay as it is.
  TW_CHECK(checkSchema(*db, path));
  TW_CHECK(chooseJournal(*db, options.busyTimeout));
  TW_CHECK(prepareSchema(*db, path, false));
  if (options.maxPages > 0)
    TW_CHECK(db->execute(fmt::format("PRAGMA max_page_count = {}", options.maxPages).c_str()));
  return db;
}

bool hasLog(const fs::path &file) {
  std::error_code ignored;
  auto bytes = fs::file_size(file.string() + "-wal", ignored);
  return !ignored && bytes > 0;
}

Expected<std::unique_ptr<sqlite::Connection>> SqliteStore::connect() const {
  if (inMemory())
    return openForWriting(options_);
  std::error_code ignored;
  bool exists = fs::exists(options_.path, ignored);
  if (exists && !fs::is_regular_file(options_.path, ignored))
    return fail(
        ErrorKind::User, "store.open",
        fmt::format("{} is not a file, so it cannot be a store. Set TILEWRIGHT_STORE to a file", location()));
  if (!options_.readOnly) {
    TW_CHECK(makeDirectory(options_.path));
    return openForWriting(options_);
  }
  if (!exists)
    return fail(
        ErrorKind::User, "store.open",
        fmt::format("there is no store at {}: nothing has been recorded yet, or TILEWRIGHT_STORE points "
                    "elsewhere",
                    location()));
  auto db = openForReading(options_, false);
  // Reading with a write-ahead log needs a shared-memory file next to the store. Where none can be made, and
  // the log is empty, the file alone is the whole truth.
  bool noSharedMemory = !db && (db.error().code == "store.open" || db.error().code == "store.readonly");
  if (noSharedMemory && !hasLog(options_.path))
    if (auto alone = openForReading(options_, true))
      return alone;
  return db;
}

SqliteStore::SqliteStore(StoreOptions options)
    : options_(std::move(options)), forkGuard_(
                                        [this] {
                                          mutex_.lock();
                                          if (connection_ && !inMemory()) {
                                            connection_->closeWithoutCheckpoint();
                                            connection_.reset();
                                          }
                                        },
                                        [this] { mutex_.unlock(); }) {}

Expected<std::shared_ptr<SqliteStore>> SqliteStore::open(StoreOptions options) {
  std::shared_ptr<SqliteStore> store(new SqliteStore(std::move(options)));
  std::lock_guard lock(store->mutex_);
  TW_CHECK(store->connection());
  return store;
}

Expected<sqlite::Connection *> SqliteStore::connection() {
  if (!connection_) {
    TW_TRY(connection_, connect());
  }
  return connection_.get();
}

Expected<sqlite::Connection *> SqliteStore::writableConnection() {
  if (options_.readOnly)
    return fail(ErrorKind::User, "store.readonly",
                fmt::format("the store {} was opened for reading only", location()));
  return connection();
}

} // namespace tilewright::store

#include "Sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace tilewright::store::sqlite {

static Error full(std::string_view location, std::string_view detail) {
  return {ErrorKind::Unavailable, "store.full",
          fmt::format(
              "no space left for the store {} ({}). What was recorded before is safe. Free some space, run "
              "`tilewright store gc`, or point TILEWRIGHT_STORE to another disk",
              location, detail)};
}

static Error notWritable(std::string_view location, std::string_view detail) {
  return {ErrorKind::Unavailable, "store.readonly",
          fmt::format(
              "the store {} cannot be written ({}). Make its directory writable or point TILEWRIGHT_STORE to "
              "a file in one that is",
              location, detail)};
}

static Error damaged(std::string_view location, std::string_view detail) {
  return {ErrorKind::Unavailable, "store.corrupt",
          fmt::format(
              "the store {0} is damaged ({1}). It only holds tuning results, so it can be made anew: move it "
              "away with `mv {0} {0}.damaged` (and {0}-wal, {0}-shm if they are there), and the next run "
              "starts an empty one",
              location, detail)};
}

/// SQLite forgets the system's error number when it rolls back; each file keeps its own last one.
static int systemErrorOf(sqlite3 *handle) {
  if (!handle)
    return 0;
  int number = sqlite3_system_errno(handle);
  for (int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file *file = nullptr;
    if (number == 0 && sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK && file &&
        file->pMethods)
      file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
  }
  return number;
}

Error describe(sqlite3 *handle, int result, std::string_view location) {
  int systemError = systemErrorOf(handle);
  int primary = result & 0xff;
  bool onFile = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  std::string detail = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(result);
  if (onFile && systemError != 0)
    detail += fmt::format(": {}", std::strerror(systemError));

  if (primary == SQLITE_FULL)
    return full(location, detail);
  if (onFile && (systemError == ENOSPC || systemError == EDQUOT || systemError == EFBIG))
    return full(location, detail);
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || result == SQLITE_IOERR_CORRUPTFS)
    return damaged(location, detail);
  if (primary == SQLITE_READONLY || primary == SQLITE_PERM)
    return notWritable(location, detail);
  if (onFile && (systemError == EACCES || systemError == EPERM || systemError == EROFS))
    return notWritable(location, detail);
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
    return {ErrorKind::Unavailable, "store.busy",
            fmt::format("another process holds the store {} for too long ({}). See who has it open "
                        "(`fuser {}`), or use another file through TILEWRIGHT_STORE",
                        location, detail, location)};
  if (primary == SQLITE_CANTOPEN)
    return {
        ErrorKind::Unavailable, "store.open",
        fmt::format(
            "the store {} cannot be opened ({}). Check the path, or set another one with TILEWRIGHT_STORE",
            location, detail)};
  return {ErrorKind::Unavailable, "store.io",
          fmt::format("the store {} cannot be read or written ({}; SQLite {})", location, detail, result)};
}

} // namespace tilewright::store::sqlite

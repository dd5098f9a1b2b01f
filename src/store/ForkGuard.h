#pragma once
#include <functional>

namespace tilewright::store {

/// Keeps an open SQLite file correct across fork().
///
/// SQLite's file locks belong to the process that took them. A forked child inherits the open connection but
/// not the locks; once the parent closes the file, SQLite there sees nobody else, deletes the log, and what
/// the child writes afterwards is lost without an error. So nothing may be open at the moment of a fork:
/// while a guard lives, `before` runs in the parent just before each fork (lock and close) and `after` in
/// both processes just after it (unlock; the file is opened again when it is next needed).
///
/// fork() is a matter of the whole process, hence the one registry of guards of the whole process behind this
/// class. posix_spawn and vfork do not come here and need not: their child shares nothing with SQLite.
class ForkGuard {
public:
  ForkGuard(std::function<void()> before, std::function<void()> after);
  ~ForkGuard();
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;

private:
  friend struct ForkRegistry;
  std::function<void()> before_, after_;
};

} // namespace tilewright::store

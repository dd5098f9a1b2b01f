#pragma once
#include "tilewright/backend/Backend.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tilewright {

/// What a launch needs once everything is decided.
struct DispatchEntry {
  std::shared_ptr<const CompiledKernel> kernel;
  std::shared_ptr<const Program> program; ///< keeps symbols alive
  Config config;
  double timeNs = 0;
  std::string method; ///< "measured", ...
};

/// From a launch's key words to its entry. A hit takes no lock: readers follow one atomic pointer to an
/// immutable open-addressing table. An insert builds a new table under a mutex; old tables live as long as
/// this object, so that a reader never meets freed memory (they are few: one for each doubling and insert
/// batch of a kernel's life).
///
/// Key words are whatever tells launches apart: dtypes, alignment, integer classes, values of the tuning key.
class DispatchTable {
public:
  DispatchTable();
  ~DispatchTable();
  DispatchTable(const DispatchTable &) = delete;
  DispatchTable &operator=(const DispatchTable &) = delete;

  /// Null when unknown. Valid as long as the table.
  const DispatchEntry *find(std::span<const uint64_t> key) const noexcept;
  /// Adds or replaces. Returns the stored entry.
  const DispatchEntry *insert(std::span<const uint64_t> key, DispatchEntry entry);
  /// Forgets all entries (their code stays loaded while a launch may hold it).
  void clear();
  size_t size() const;

private:
  struct Slot;
  struct Table;
  std::atomic<const Table *> current_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const Table>> tables_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

} // namespace tilewright

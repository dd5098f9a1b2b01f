#pragma once
#include "tilewright/store/Records.h"

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>

namespace tilewright::store {

/// TILEWRIGHT_STORE; else $XDG_CACHE_HOME/tilewright/store.db; else ~/.cache/tilewright/store.db.
std::filesystem::path defaultStorePath();

struct StoreOptions {
  std::filesystem::path path; ///< empty: defaultStorePath()
  bool readOnly = false;      ///< never writes; the file must exist
  /// How long a write waits for other processes before it gives up with `store.busy`.
  std::chrono::milliseconds busyTimeout{60'000};
  int64_t maxPages = 0; ///< limit of the file in pages of 4 KiB, then `store.full`; 0: none
};

/// Restricts a listing; empty fields restrict nothing.
struct KeyFilter {
  std::string digestPrefix;
  std::string kernelName;
  std::string target;
  std::string kernelIdentity;
};

/// One line of `tilewright store list`.
struct KeySummary {
  TuningKey key;
  int64_t trials = 0;   ///< records of trials that ended
  int64_t okTrials = 0; ///< of these, with a time
  std::optional<ChoiceRecord> choice;
  int64_t lastUnixMs = 0; ///< the youngest record's time
};

struct ImportReport {
  int64_t keys = 0;   ///< keys that were new
  int64_t trials = 0; ///< records added
  int64_t choices = 0;
  int64_t known = 0; ///< records that were here already
  /// One line for each record that was refused, saying which and why: "keys[3].trials[0].samplesNs[2]: not a
  /// number".
  std::vector<std::string> problems;
};

/// What to forget. Without any field set nothing but the traces of ended in-flight trials goes.
struct GcPolicy {
  std::optional<int64_t> keysUnusedSinceUnixMs;  ///< keys whose youngest record is older
  std::optional<int64_t> objectsOlderThanUnixMs; ///< compiled code written before
  std::optional<int64_t> maxObjectBytes;         ///< oldest compiled code first, until the rest fits
  bool supersededKernels =
      false; ///< keys of a kernel (same name, file and target) that has a younger identity
};
struct GcReport {
  int64_t keys = 0, trials = 0, choices = 0, objects = 0;
  int64_t bytesBefore = 0, bytesAfter = 0;
};

/// What tuning remembers: append-only records of trials and choices, and compiled code.
///
/// Promise: once `append` has returned success, the record survives the death of this process at any instant,
/// and every other process that has the file open sees it. A failing call returns an error and changes
/// nothing; it never throws and never aborts, so that tuning can go on without a store. Nothing that is read
/// is executed or trusted.
///
/// One object may be used from any number of threads, and one file from any number of processes; a forked
/// child may go on using its parent's object. An abstract class, so that a server can take the place of the
/// file.
class Store {
public:
  virtual ~Store() = default;

  /// Opens or creates. Fails with store.open, store.corrupt, store.readonly, store.full, store.version,
  /// store.busy.
  static Expected<std::shared_ptr<Store>> open(const StoreOptions &options = {});
  /// Forgets everything at the end of the process.
  static std::shared_ptr<Store> inMemory();
  /// `open`, or else an in-memory store and the problem, to be shown once: a bad file never stops tuning. Of
  /// a file that can only be read, the records are taken along.
  struct Opened;
  static Opened openOrInMemory(const StoreOptions &options = {});

  virtual Expected<void> append(const TuningKey &key, const TrialRecord &trial) = 0;
  /// Several records at once: all or none, at the price of one.
  virtual Expected<void> append(const TuningKey &key, std::span<const TrialRecord> trials) = 0;
  /// Leaves a mark that a trial is running, so that a death in it is seen later. The next append for the same
  /// candidate and method takes its place.
  virtual Expected<void> beginTrial(const TuningKey &key, const Config &config,
                                    Method method = Method::Measured) = 0;
  /// Every record of the key, oldest first. An in-flight mark appears only while no later record of its
  /// candidate replaces it; its code is "interrupted" when the process that left it is known to be gone.
  virtual Expected<std::vector<TrialRecord>> trials(const TuningKey &key) = 0;
  /// The youngest record of one candidate; like `trials`, an in-flight mark that nothing replaced is one.
  virtual Expected<std::optional<TrialRecord>> latestTrial(const TuningKey &key, const Config &config,
                                                           Method method = Method::Measured) = 0;

  virtual Expected<void> appendChoice(const TuningKey &key, const ChoiceRecord &choice) = 0;
  /// The latest choice. The warm path: about as long as one SQLite look-up.
  virtual Expected<std::optional<ChoiceRecord>> choice(const TuningKey &key) = 0;
  /// Every choice ever made, oldest first.
  virtual Expected<std::vector<ChoiceRecord>> choices(const TuningKey &key) = 0;

  /// Compiled code by content or input digest; kept on this machine only (neither exported nor imported).
  /// Putting the same digest again keeps the first bytes.
  virtual Expected<void> putObject(std::string_view digest, std::string_view bytes) = 0;
  virtual Expected<std::optional<std::string>> object(std::string_view digest) = 0;

  /// Sorted by kernel name, target and key values.
  virtual Expected<std::vector<KeySummary>> keys(const KeyFilter &filter = {}) = 0;
  /// The key with the youngest record.
  virtual Expected<std::optional<TuningKey>> lastKey() = 0;

  virtual Expected<GcReport> gc(const GcPolicy &policy) = 0;
  /// Reads everything. Empty when all is well, otherwise one line for each problem.
  virtual Expected<std::vector<std::string>> verify() = 0;

  /// Where it is kept, for messages: a path, or ":memory:".
  virtual std::string location() const = 0;
  virtual bool readOnly() const = 0;

  /// JSON for people and other machines: keys, trials and choices in a stable order, so that two exports can
  /// be compared line by line. A file is replaced only once it is complete.
  Expected<void> exportJson(std::ostream &out, const KeyFilter &filter = {});
  Expected<void> exportJson(const std::filesystem::path &path, const KeyFilter &filter = {});
  /// Adds what an export holds. Text that is no export fails (`store.import`); a bad record in a good export
  /// is skipped and reported. Importing twice adds nothing twice.
  Expected<ImportReport> importJson(const std::filesystem::path &path);
  Expected<ImportReport> importJsonText(std::string_view text);
  /// Adds the records of another store file, which is not changed.
  Expected<ImportReport> merge(const std::filesystem::path &otherStore);

protected:
  /// Adds records that carry their own ids; the ones already here are counted as known.
  virtual Expected<void> importRecords(const TuningKey &key, std::span<const TrialRecord> trials,
                                       std::span<const ChoiceRecord> choices, ImportReport &report) = 0;
};

struct Store::Opened {
  std::shared_ptr<Store> store; ///< never null
  std::optional<Error> problem; ///< why it is not the file
};

} // namespace tilewright::store

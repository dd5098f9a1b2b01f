#pragma once
#include "tilewright/store/TuningKey.h"
#include "tilewright/support/Config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::store {

/// How one trial of one candidate ended.
enum class TrialStatus : uint8_t {
  Ok,            ///< has a time
  Rejected,      ///< refused before compilation; `code` says why
  CompileFailed, ///< the compiler refused, crashed or hung
  RunFailed,     ///< crashed, hung or asserted on the device
  WrongResult,   ///< ran, but its result differs from the reference
  Dropped,       ///< left the race early: significantly slower than the leader
  Skipped,       ///< its turn never came (model rank, budget, duplicate)
  InFlight,      ///< begun and not ended: running right now, or interrupted (then `code` is "interrupted")
};

/// Where a time comes from. Times of different methods are never compared with each other.
enum class Method : uint8_t {
  Measured,  ///< a clock around the real thing
  Simulated, ///< the schedule replayed on a timing model
  Predicted, ///< the cost model alone
};

/// "ok", "compile-failed", ... and back; the spelling of the database and of exports.
std::string_view toString(TrialStatus status);
std::string_view toString(Method method);
std::optional<TrialStatus> parseTrialStatus(std::string_view text);
std::optional<Method> parseMethod(std::string_view text);

/// Who wrote a record. Left empty by callers: the store fills it in.
struct Origin {
  std::string host;
  std::string user;
  int64_t pid = 0;
  int64_t processStart =
      0; ///< the kernel's start time of the process, so that a reused pid is not mistaken for it

  static Origin current();
  /// False only when the process is known to be gone: same host, and no process with this pid and start.
  bool mayBeAlive() const;
  friend bool operator==(const Origin &, const Origin &) = default;
};

/// One trial of one candidate. Records are never changed; a later one of the same candidate and method wins.
///
///     store->append(key, {.config = config, .status = TrialStatus::Ok, .samplesNs = {812, 805, 809},
///                         .bestEstimateNs = 809});
struct TrialRecord {
  Config config;
  TrialStatus status = TrialStatus::Ok;
  std::string code; ///< a reason code (ReasonCodes.def); empty when `status` is Ok
  std::string text; ///< the reason in words: the compiler's message, the signal, the two differing values
  double predictedNs = 0; ///< by the cost model; 0 when it made no prediction
  std::vector<double> samplesNs;
  double bestEstimateNs = 0; ///< robust centre of the samples (the median); 0 when there is none
  Method method = Method::Measured;
  int64_t createdUnixMs = 0; ///< 0: now
  Origin origin;             ///< empty: this process
  std::string id;            ///< empty: a fresh one. Makes import and merge idempotent

  friend bool operator==(const TrialRecord &, const TrialRecord &) = default;
};

/// The configuration that a key's launches use, and why. A later record of the same key wins.
struct ChoiceRecord {
  Config config;
  double timeNs = 0;
  Method method = Method::Measured;
  std::string rule; ///< the policy that decided: "fastest", "tie:fewer-programs", "nearest:n_cols=768", ...
  std::string why;  ///< one sentence for people
  double wallSeconds = 0; ///< what finding it took
  int64_t createdUnixMs = 0;
  Origin origin;
  std::string id;

  friend bool operator==(const ChoiceRecord &, const ChoiceRecord &) = default;
};

/// A configuration as typed JSON text, `{"BLOCK":64,"fast":true,"mode":"1"}`: unlike Config::toString it
/// keeps the kinds of values apart (the text "1" is not the number 1). Sorted by name, so equal
/// configurations give equal text.
std::string configToJson(const Config &config);
Expected<Config> configFromJson(std::string_view json);

} // namespace tilewright::store

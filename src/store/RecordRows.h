#pragma once
#include "Sqlite.h"
#include "tilewright/store/Records.h"

namespace tilewright::store {

/// The column lists that the readers below expect, in their order.
#define TW_TRIAL_COLUMNS                                                                                     \
  "t.config, t.status, t.code, t.text, t.predicted_ns, t.samples_ns, t.best_ns, t.method, "                  \
  "t.created_unix_ms, "                                                                                      \
  "t.host, t.user, t.pid, t.process_start, t.uuid"
#define TW_CHOICE_COLUMNS                                                                                    \
  "c.config, c.time_ns, c.method, c.rule, c.why, c.wall_seconds, c.created_unix_ms, "                        \
  "c.host, c.user, c.pid, c.process_start, c.uuid"
#define TW_KEY_COLUMNS                                                                                       \
  "k.kernel_identity, k.target_fingerprint, k.toolchain, k.specialization, k.key_values, k.kernel_name, "    \
  "k.file, "                                                                                                 \
  "k.target"

/// Read the current row, from `first` on. A row that this program cannot have written is `store.corrupt`.
Expected<TrialRecord> readTrial(const sqlite::Query &row, std::string_view location, int first = 0);
Expected<ChoiceRecord> readChoice(const sqlite::Query &row, std::string_view location, int first = 0);
TuningKey readKey(const sqlite::Query &row, int first = 0);
inline constexpr int kKeyColumns = 8;

/// Samples as a JSON array, exact to the last bit; `null` stands for a value that is no number.
std::string samplesToJson(const std::vector<double> &samples);
std::optional<std::vector<double>> samplesFromJson(std::string_view json);

/// What makes a record one that must not enter the store, in words; empty when it is fine. `problemOf` is for
/// records that come from elsewhere, `problemOfValues` for new ones, whose time and id the store fills in.
std::string problemOf(const TrialRecord &trial);
std::string problemOf(const ChoiceRecord &choice);
std::string problemOfValues(const TrialRecord &trial);
std::string problemOfValues(const ChoiceRecord &choice);

} // namespace tilewright::store

#include "RecordRows.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace tilewright::store {

std::string samplesToJson(const std::vector<double> &samples) {
  std::string text = "[";
  for (double sample : samples) {
    if (text.size() > 1)
      text += ',';
    if (std::isfinite(sample))
      fmt::format_to(std::back_inserter(text), "{}", sample);
    else
      text += "null";
  }
  return text + "]";
}

std::optional<std::vector<double>> samplesFromJson(std::string_view json) {
  if (json.size() < 2 || json.front() != '[' || json.back() != ']')
    return std::nullopt;
  std::vector<double> samples;
  const char *at = json.data() + 1, *end = json.data() + json.size() - 1;
  while (at < end) {
    if (!samples.empty() && *at++ != ',')
      return std::nullopt;
    if (std::string_view(at, end).starts_with("null")) {
      samples.push_back(std::numeric_limits<double>::quiet_NaN());
      at += 4;
      continue;
    }
    auto [stop, problem] = std::from_chars(at, end, samples.emplace_back());
    if (problem != std::errc())
      return std::nullopt;
    at = stop;
  }
  return samples;
}

static Unexpected strangeRow(std::string_view location, std::string_view uuid, std::string_view what) {
  return fail(
      ErrorKind::Unavailable, "store.corrupt",
      fmt::format(
          "the store {} is damaged: record {} has {}. `tilewright store verify` lists all damage. To keep "
          "the rest, move the file away and `tilewright store merge` it into a new one",
          location, uuid, what));
}

static Origin readOrigin(const sqlite::Query &row, int first) {
  return {std::string(row.text(first)), std::string(row.text(first + 1)), row.integer(first + 2),
          row.integer(first + 3)};
}

Expected<TrialRecord> readTrial(const sqlite::Query &row, std::string_view location, int first) {
  TrialRecord trial;
  trial.id = row.text(first + 13);
  auto config = configFromJson(row.text(first));
  auto status = parseTrialStatus(row.text(first + 1));
  auto method = parseMethod(row.text(first + 7));
  auto samples = samplesFromJson(row.text(first + 5));
  if (!config || !status || !method || !samples)
    return strangeRow(location, trial.id,
                      !config   ? "no readable configuration"
                      : !status ? "an unknown status"
                      : !method ? "an unknown method"
                                : "no readable samples");
  trial.config = std::move(*config);
  trial.status = *status;
  trial.code = row.text(first + 2);
  trial.text = row.text(first + 3);
  trial.predictedNs = row.real(first + 4);
  trial.samplesNs = std::move(*samples);
  trial.bestEstimateNs = row.real(first + 6);
  trial.method = *method;
  trial.createdUnixMs = row.integer(first + 8);
  trial.origin = readOrigin(row, first + 9);
  return trial;
}

Expected<ChoiceRecord> readChoice(const sqlite::Query &row, std::string_view location, int first) {
  ChoiceRecord choice;
  choice.id = row.text(first + 11);
  auto config = configFromJson(row.text(first));
  auto method = parseMethod(row.text(first + 2));
  if (!config || !method)
    return strangeRow(location, choice.id, !config ? "no readable configuration" : "an unknown method");
  choice.config = std::move(*config);
  choice.timeNs = row.real(first + 1);
  choice.method = *method;
  choice.rule = row.text(first + 3);
  choice.why = row.text(first + 4);
  choice.wallSeconds = row.real(first + 5);
  choice.createdUnixMs = row.integer(first + 6);
  choice.origin = readOrigin(row, first + 7);
  return choice;
}

TuningKey readKey(const sqlite::Query &row, int first) {
  auto column = [&](int i) { return std::string(row.text(first + i)); };
  return {column(0), column(1), column(2), column(3), column(4), column(5), column(6), column(7)};
}

static std::string problemOfTime(std::string_view field, double value) {
  return value < 0 ? fmt::format("{}: a negative time", field) : "";
}

/// After the year 9999 only a mistake or an attempt to always be the latest.
static constexpr int64_t kLatestUnixMs = 253'402'300'800'000;
static std::string problemOfOrigin(int64_t createdUnixMs, std::string_view id) {
  if (createdUnixMs <= 0 || createdUnixMs >= kLatestUnixMs)
    return "createdUnixMs: not a time between 1970 and 9999";
  bool plain = !id.empty() && id.size() <= 64 && id.find_first_not_of("0123456789abcdef-") == id.npos;
  return plain ? "" : "id: not up to 64 hexadecimal digits";
}

std::string problemOfValues(const TrialRecord &trial) {
  if (trial.code.size() > 64 ||
      trial.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") != trial.code.npos)
    return "code: not a reason code";
  for (size_t i = 0; i < trial.samplesNs.size(); ++i)
    if (trial.samplesNs[i] < 0)
      return problemOfTime(fmt::format("samplesNs[{}]", i), trial.samplesNs[i]);
  if (auto problem = problemOfTime("predictedNs", trial.predictedNs); !problem.empty())
    return problem;
  return problemOfTime("bestEstimateNs", trial.bestEstimateNs);
}

std::string problemOfValues(const ChoiceRecord &choice) { return problemOfTime("timeNs", choice.timeNs); }

std::string problemOf(const TrialRecord &trial) {
  std::string problem = problemOfOrigin(trial.createdUnixMs, trial.id);
  return problem.empty() ? problemOfValues(trial) : problem;
}

std::string problemOf(const ChoiceRecord &choice) {
  std::string problem = problemOfOrigin(choice.createdUnixMs, choice.id);
  return problem.empty() ? problemOfValues(choice) : problem;
}

} // namespace tilewright::store

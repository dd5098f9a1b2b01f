#include "tilewright/store/Store.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace tilewright::store {

using Json = nlohmann::ordered_json;

static Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

static Json config(const Config &config) { return Json::parse(configToJson(config)); }

static Json origin(const Origin &origin) {
  return {{"host", origin.host},
          {"user", origin.user},
          {"pid", origin.pid},
          {"processStart", origin.processStart}};
}

static Json trialToJson(const TrialRecord &trial) {
  Json samples = Json::array();
  for (double sample : trial.samplesNs)
    samples.push_back(number(sample));
  return {{"id", trial.id},
          {"config", config(trial.config)},
          {"status", toString(trial.status)},
          {"code", trial.code},
          {"text", trial.text},
          {"method", toString(trial.method)},
          {"predictedNs", number(trial.predictedNs)},
          {"bestEstimateNs", number(trial.bestEstimateNs)},
          {"samplesNs", std::move(samples)},
          {"createdUnixMs", trial.createdUnixMs},
          {"origin", origin(trial.origin)}};
}

static Json choiceToJson(const ChoiceRecord &choice) {
  return {{"id", choice.id},
          {"config", config(choice.config)},
          {"timeNs", number(choice.timeNs)},
          {"method", toString(choice.method)},
          {"rule", choice.rule},
          {"why", choice.why},
          {"wallSeconds", number(choice.wallSeconds)},
          {"createdUnixMs", choice.createdUnixMs},
          {"origin", origin(choice.origin)}};
}

static Json keyToJson(const TuningKey &key) {
  return {{"digest", key.digest()},
          {"kernelName", key.kernelName},
          {"file", key.file},
          {"target", key.target},
          {"kernelIdentity", key.kernelIdentity},
          {"targetFingerprint", key.targetFingerprint},
          {"toolchain", key.toolchain},
          {"specialization", key.specialization},
          {"keyValues", key.keyValues}};
}

/// One record a line, so that a line-by-line comparison of two exports shows records.
static void writeRecords(std::ostream &out, const char *name, const std::vector<Json> &records) {
  out << ",\n    \"" << name << "\": [";
  for (size_t i = 0; i < records.size(); ++i)
    out << (i ? ",\n      " : "\n      ") << records[i].dump(-1, ' ', false, Json::error_handler_t::replace);
  out << (records.empty() ? "]" : "\n    ]");
}

Expected<void> Store::exportJson(std::ostream &out, const KeyFilter &filter) {
  TW_TRY(auto keys, this->keys(filter));
  out << "{\n  \"format\": \"tilewright-store\",\n  \"version\": 1,\n  \"keys\": [";
  for (size_t i = 0; i < keys.size(); ++i) {
    const TuningKey &key = keys[i].key;
    std::vector<Json> trials, choices;
    TW_TRY(auto trialRecords, this->trials(key));
    for (const TrialRecord &trial : trialRecords)
      trials.push_back(trialToJson(trial));
    TW_TRY(auto choiceRecords, this->choices(key));
    for (const ChoiceRecord &choice : choiceRecords)
      choices.push_back(choiceToJson(choice));
    out << (i ? ",\n   {" : "\n   {")
        << "\n    \"key\": " << keyToJson(key).dump(-1, ' ', false, Json::error_handler_t::replace);
    writeRecords(out, "trials", trials);
    writeRecords(out, "choices", choices);
    out << "\n   }";
  }
  out << (keys.empty() ? "]\n}\n" : "\n  ]\n}\n");
  out.flush();
  if (!out)
    return fail(ErrorKind::Unavailable, "io.write", "the export could not be written to the end");
  return {};
}

Expected<void> Store::exportJson(const std::filesystem::path &path, const KeyFilter &filter) {
  auto unwritable = [&](int systemError) {
    return fail(
        ErrorKind::Unavailable, "io.write",
        fmt::format("the export {} cannot be written: {}", path.string(), std::strerror(systemError)));
  };
  // Written next to it and renamed: a reader never sees half an export.
  std::filesystem::path partial = path.string() + fmt::format(".{}.partial", getpid());
  std::error_code ignored;
  {
    errno = 0;
    std::ofstream out(partial, std::ios::binary);
    if (!out)
      return unwritable(errno);
    if (auto written = exportJson(out, filter); !written) {
      std::filesystem::remove(partial, ignored);
      return written;
    }
  }
  std::error_code problem;
  std::filesystem::rename(partial, path, problem);
  if (problem) {
    std::filesystem::remove(partial, ignored);
    return unwritable(problem.value());
  }
  return {};
}

} // namespace tilewright::store

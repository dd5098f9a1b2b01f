#include "RecordRows.h"
#include "tilewright/store/Store.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

namespace tilewright::store {

using Json = nlohmann::json;

namespace {

/// Reads the fields of one JSON object. The first problem is kept, with its field, and everything after it is
/// ignored, so that a reader is a plain list of fields.
class Fields {
public:
  explicit Fields(const Json &object) : object_(object) {
    if (!object.is_object())
      problem_ = "not an object";
  }

  std::string text(const char *name) {
    const Json *value = find(name);
    if (value && !value->is_string())
      refuse(name, "not text");
    return problem_.empty() && value ? value->get<std::string>() : "";
  }
  /// `null` is how JSON writes a value that is no number.
  double number(const char *name) { return asNumber(find(name), name); }
  int64_t integer(const char *name) {
    const Json *value = find(name);
    bool fits = value && value->is_number_integer() &&
                !(value->is_number_unsigned() &&
                  value->get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()));
    if (value && !fits)
      refuse(name, "not a whole number of 64 bits");
    return problem_.empty() && fits ? value->get<int64_t>() : 0;
  }
  std::vector<double> numbers(const char *name) {
    const Json *value = find(name);
    std::vector<double> found;
    if (value && !value->is_array())
      refuse(name, "not a list");
    for (size_t i = 0; problem_.empty() && value && i < value->size(); ++i)
      found.push_back(asNumber(&(*value)[i], fmt::format("{}[{}]", name, i)));
    return found;
  }
  Config config(const char *name) {
    const Json *value = find(name);
    if (!value)
      return {};
    auto config = configFromJson(value->dump(-1, ' ', false, Json::error_handler_t::replace));
    if (!config)
      refuse(name, config.error().message);
    return config.value_or(Config());
  }
  template <class Enum> Enum word(const char *name, std::optional<Enum> (*parse)(std::string_view)) {
    std::string spelling = text(name);
    auto value = parse(spelling);
    if (problem_.empty() && !value)
      refuse(name, fmt::format("\"{:.40}\" is not one of the known words", spelling));
    return value.value_or(Enum());
  }
  Origin origin(const char *name) {
    const Json *value = find(name);
    if (!value)
      return {};
    Fields fields(*value);
    Origin origin{fields.text("host"), fields.text("user"), fields.integer("pid"),
                  fields.integer("processStart")};
    if (!fields.problem_.empty())
      refuse(name, fields.problem_);
    return origin;
  }

  const std::string &problem() const { return problem_; }

private:
  const Json *find(const char *name) {
    if (!problem_.empty())
      return nullptr;
    auto found = object_.find(name);
    if (found == object_.end())
      refuse(name, "missing");
    return found == object_.end() ? nullptr : &*found;
  }
  double asNumber(const Json *value, std::string_view name) {
    if (!value || value->is_null())
      return std::numeric_limits<double>::quiet_NaN();
    if (!value->is_number())
      refuse(name, "not a number");
    return problem_.empty() ? value->get<double>() : 0;
  }
  void refuse(std::string_view name, std::string_view why) {
    if (problem_.empty())
      problem_ = fmt::format("{}: {}", name, why);
  }

  const Json &object_;
  std::string problem_;
};

/// Problems with their places; a hostile file must not fill the memory with them.
class ProblemList {
public:
  explicit ProblemList(std::vector<std::string> &lines) : lines_(lines) {}
  ~ProblemList() {
    if (count_ > kMostShown)
      lines_.push_back(fmt::format("and {} more", count_ - kMostShown));
  }
  void add(std::string_view place, std::string_view problem) {
    if (++count_ <= kMostShown)
      lines_.push_back(fmt::format("{}: {}", place, problem));
  }

private:
  static constexpr size_t kMostShown = 100;
  std::vector<std::string> &lines_;
  size_t count_ = 0;
};

} // namespace

static Expected<TrialRecord> trialFromJson(const Json &json) {
  Fields fields(json);
  TrialRecord trial;
  trial.id = fields.text("id");
  trial.config = fields.config("config");
  trial.status = fields.word("status", parseTrialStatus);
  trial.code = fields.text("code");
  trial.text = fields.text("text");
  trial.method = fields.word("method", parseMethod);
  trial.predictedNs = fields.number("predictedNs");
  trial.bestEstimateNs = fields.number("bestEstimateNs");
  trial.samplesNs = fields.numbers("samplesNs");
  trial.createdUnixMs = fields.integer("createdUnixMs");
  trial.origin = fields.origin("origin");
  std::string problem = fields.problem().empty() ? problemOf(trial) : fields.problem();
  if (!problem.empty())
    return fail(ErrorKind::User, "store.import", problem);
  return trial;
}

static Expected<ChoiceRecord> choiceFromJson(const Json &json) {
  Fields fields(json);
  ChoiceRecord choice;
  choice.id = fields.text("id");
  choice.config = fields.config("config");
  choice.timeNs = fields.number("timeNs");
  choice.method = fields.word("method", parseMethod);
  choice.rule = fields.text("rule");
  choice.why = fields.text("why");
  choice.wallSeconds = fields.number("wallSeconds");
  choice.createdUnixMs = fields.integer("createdUnixMs");
  choice.origin = fields.origin("origin");
  std::string problem = fields.problem().empty() ? problemOf(choice) : fields.problem();
  if (!problem.empty())
    return fail(ErrorKind::User, "store.import", problem);
  return choice;
}

static Expected<TuningKey> keyFromJson(const Json &json) {
  Fields fields(json);
  TuningKey key{fields.text("kernelIdentity"), fields.text("targetFingerprint"),
                fields.text("toolchain"),      fields.text("specialization"),
                fields.text("keyValues"),      fields.text("kernelName"),
                fields.text("file"),           fields.text("target")};
  std::string digest = fields.text("digest");
  std::string problem = fields.problem();
  if (problem.empty() && digest != key.digest())
    problem = "digest: does not fit the key's fields; one of them was changed";
  if (!problem.empty())
    return fail(ErrorKind::User, "store.import", problem);
  return key;
}

template <class Record>
static std::vector<Record> recordsFromJson(const Json &entry, const char *name, const std::string &place,
                                           Expected<Record> (*read)(const Json &), ProblemList &problems) {
  std::vector<Record> records;
  auto list = entry.find(name);
  if (list == entry.end() || !list->is_array()) {
    problems.add(place, fmt::format("{}: not a list", name));
    return records;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    if (auto record = read((*list)[i]))
      records.push_back(std::move(*record));
    else
      problems.add(fmt::format("{}.{}[{}]", place, name, i), record.error().message);
  }
  return records;
}

static Expected<Json> parseExport(std::string_view text) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::exception &problem) {
    return fail(ErrorKind::User, "store.import", fmt::format("not JSON: {}", problem.what()));
  }
  if (!document.is_object() || document.value("format", Json()) != "tilewright-store")
    return fail(ErrorKind::User, "store.import",
                "not an export of a store: it does not begin with {\"format\": \"tilewright-store\", ...}");
  if (document.value("version", Json()) != 1)
    return fail(
        ErrorKind::User, "store.import",
        "an export of another version; this Tilewright reads version 1. Export it again with the Tilewright "
        "that wrote it, or upgrade this one");
  if (auto keys = document.find("keys"); keys == document.end() || !keys->is_array())
    return fail(ErrorKind::User, "store.import", "the export has no list of keys");
  return document;
}

Expected<ImportReport> Store::importJsonText(std::string_view text) {
  TW_TRY(Json document, parseExport(text));
  ImportReport report;
  std::vector<std::string> lines;
  {
    ProblemList problems(lines);
    const Json &keys = document["keys"];
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string place = fmt::format("keys[{}]", i);
      if (!keys[i].is_object() || !keys[i].contains("key")) {
        problems.add(place, "not an object with a key");
        continue;
      }
      auto key = keyFromJson(keys[i]["key"]);
      if (!key) {
        problems.add(place + ".key", key.error().message);
        continue;
      }
      auto trials = recordsFromJson(keys[i], "trials", place, trialFromJson, problems);
      auto choices = recordsFromJson(keys[i], "choices", place, choiceFromJson, problems);
      TW_CHECK(importRecords(*key, trials, choices, report));
    }
  }
  report.problems = std::move(lines);
  return report;
}

Expected<ImportReport> Store::importJson(const std::filesystem::path &path) {
  auto unreadable = [&](int systemError) {
    return fail(ErrorKind::User, "store.import",
                fmt::format("{} cannot be read: {}", path.string(), std::strerror(systemError)));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return unreadable(EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return unreadable(errno);
  std::ostringstream text;
  text << in.rdbuf();
  auto report = importJsonText(text.view());
  if (!report && report.error().code == "store.import")
    report.error().message = fmt::format("{}: {}", path.string(), report.error().message);
  return report;
}

} // namespace tilewright::store

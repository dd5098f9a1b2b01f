#include "tilewright/store/Records.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

namespace tilewright::store {

using Json = nlohmann::json;

/// Text that stands in JSON as it is.
static bool isPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; });
}

static void append(std::string &json, std::string_view text) {
  if (isPlain(text))
    json.append(1, '"').append(text).append(1, '"');
  else
    json += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}
static void append(std::string &json, bool value) { json += value ? "true" : "false"; }
static void append(std::string &json, int64_t value) {
  fmt::format_to(std::back_inserter(json), "{}", value);
}
static void append(std::string &json, double value) { json += Json(value).dump(); }

std::string configToJson(const Config &config) {
  std::string json = "{";
  for (const auto &[name, value] : config.values()) {
    if (json.size() > 1)
      json += ',';
    append(json, std::string_view(name));
    json += ':';
    std::visit([&](const auto &v) { append(json, v); }, value);
  }
  return json + "}";
}

namespace {

/// Reads what `configToJson` writes in nearly every case: plain names with whole numbers, true, false or
/// plain text. Gives up on anything else, which is then left to the real parser. Six times as fast as that
/// one, and reading the configuration is the largest part of a look-up (benchmarks/store: warmChoice).
class PlainReader {
public:
  explicit PlainReader(std::string_view json) : rest_(json) {}

  std::optional<Config> read() {
    if (!take("{"))
      return std::nullopt;
    if (take("}"))
      return rest_.empty() ? std::optional(Config()) : std::nullopt;
    Config config;
    do {
      auto name = text();
      if (!name || !take(":"))
        return std::nullopt;
      auto value = this->value();
      if (!value)
        return std::nullopt;
      config.set(std::move(*name), std::move(*value));
    } while (take(","));
    return take("}") && rest_.empty() ? std::optional(std::move(config)) : std::nullopt;
  }

private:
  bool take(std::string_view word) {
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> text() {
    size_t end = rest_.find('"', 1);
    if (!rest_.starts_with('"') || end == rest_.npos || !isPlain(rest_.substr(1, end - 1)))
      return std::nullopt;
    std::string found(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return found;
  }
  std::optional<ConfigValue> value() {
    if (take("true"))
      return true;
    if (take("false"))
      return false;
    if (rest_.starts_with('"'))
      return text();
    int64_t number = 0;
    auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    size_t length = end - rest_.data();
    size_t digits = rest_.starts_with('-') ? 1 : 0;
    bool leadingZero = length > digits + 1 && rest_[digits] == '0';
    if (problem != std::errc() || leadingZero)
      return std::nullopt;
    rest_.remove_prefix(length);
    return number; // "1.5" leaves ".5", which is no separator
  }

  std::string_view rest_;
};

} // namespace

static Expected<ConfigValue> valueFromJson(const std::string &name, const Json &value) {
  auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::User, "store.import", fmt::format("configuration: \"{}\" {}", name, why));
  };
  if (value.is_boolean())
    return value.get<bool>();
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    return refuse("is a whole number of more than 64 bits");
  if (value.is_number_integer())
    return value.get<int64_t>();
  if (value.is_number_float())
    return value.get<double>();
  if (value.is_null()) // how JSON writes a value that is not a number
    return std::numeric_limits<double>::quiet_NaN();
  if (value.is_string())
    return value.get<std::string>();
  return refuse("is neither a number, nor true or false, nor text");
}

Expected<Config> configFromJson(std::string_view json) {
  if (auto plain = PlainReader(json).read())
    return *std::move(plain);
  Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return fail(ErrorKind::User, "store.import", "configuration: not a JSON object");
  Config config;
  for (const auto &[name, value] : object.items()) {
    TW_TRY(ConfigValue read, valueFromJson(name, value));
    config.set(name, std::move(read));
  }
  return config;
}

} // namespace tilewright::store

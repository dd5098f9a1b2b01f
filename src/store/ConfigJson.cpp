#include "tilewright/store/Records.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace tilewright::store {

using Json = nlohmann::json;

std::string configToJson(const Config &config) {
  Json object = Json::object();
  for (const auto &[name, value] : config.values())
    std::visit([&, &name = name](const auto &v) { object[name] = v; }, value);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

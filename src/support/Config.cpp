#include "tilewright/support/Config.h"

#include <charconv>
#include <fmt/format.h>

namespace tilewright {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

ConfigValue readValue(std::string_view text) {
  if (text == "true" || text == "True")
    return true;
  if (text == "false" || text == "False")
    return false;
  const char *end = text.data() + text.size();
  int64_t integer = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, integer); error == std::errc() && stop == end)
    return integer;
  double number = 0;
  if (auto [stop, error] = std::from_chars(text.data(), end, number); error == std::errc() && stop == end)
    return number;
  return std::string(text);
}

} // namespace

std::string toString(const ConfigValue &value) {
  if (const bool *flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return fmt::format("{}", *integer);
  if (const double *number = std::get_if<double>(&value)) {
    auto text = fmt::format("{}", *number);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  return std::get<std::string>(value);
}

const ConfigValue *Config::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<int64_t> Config::integer(std::string_view name) const {
  const ConfigValue *value = find(name);
  if (!value)
    return std::nullopt;
  if (const int64_t *integer = std::get_if<int64_t>(value))
    return *integer;
  if (const bool *flag = std::get_if<bool>(value))
    return *flag ? 1 : 0;
  return std::nullopt;
}

std::string Config::toString() const {
  std::string out;
  for (const auto &[name, value] : values_)
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, tilewright::toString(value));
  return out;
}

Expected<Config> Config::parse(std::string_view text) {
  Config out;
  if (trimmed(text).empty())
    return out;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view item = trimmed(text.substr(0, comma));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size())
      return fail(
          ErrorKind::User, "arg.syntax",
          fmt::format("'{}' is not NAME=VALUE (a configuration looks like BLOCK=128,num_warps=4)", item));
    const std::string name(trimmed(item.substr(0, equals)));
    if (out.contains(name))
      return fail(ErrorKind::User, "arg.syntax",
                  fmt::format("'{}' is given twice in one configuration", name));
    out.set(name, readValue(trimmed(item.substr(equals + 1))));
    if (comma == std::string_view::npos)
      return out;
    text.remove_prefix(comma + 1);
  }
}

} // namespace tilewright

#include "DescriptionReader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

const nlohmann::json *DescriptionReader::find(const char *field) const {
  const auto found = object_.find(field);
  return found == object_.end() ? nullptr : &*found;
}

uint32_t DescriptionReader::lineOf(const std::string &field) const {
  // The name is enough when it occurs once as a key; otherwise no line is better than a wrong one.
  const std::string key = fmt::format("\"{}\"", field);
  const size_t at = text_.find(key);
  if (at == std::string_view::npos || text_.find(key, at + 1) != std::string_view::npos)
    return 0;
  return static_cast<uint32_t>(1 +
                               std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

void DescriptionReader::fail(const std::string &field, const std::string &what) {
  if (error_)
    return;
  auto diagnostic =
      makeDiagnostic(Severity::Error, "target.description", fmt::format("field '{}' {}", path(field), what));
  ResolvedLocation location;
  location.path = std::string(origin_);
  if ((location.line = lineOf(field))) {
    size_t begin = 0;
    for (uint32_t line = 1; line < location.line; ++line)
      begin = text_.find('\n', begin) + 1;
    location.lineText = std::string(text_.substr(begin, text_.find('\n', begin) - begin));
    location.column = static_cast<uint32_t>(location.lineText.find('"' + field + '"'));
    location.caretWidth = static_cast<uint32_t>(field.size() + 2);
  }
  const std::string place =
      location.line ? fmt::format("{}:{}", origin_, location.line) : std::string(origin_);
  diagnostic.location = std::move(location);
  error_ = Error(ErrorKind::User, std::move(diagnostic));
  error_->message = fmt::format("{}: field '{}' {}", place, path(field), what);
}

void DescriptionReader::read(const char *field, std::string &into) {
  if (const auto *value = find(field)) {
    if (value->is_string())
      into = value->get<std::string>();
    else
      fail(field, fmt::format("must be text, not {}", value->type_name()));
  }
}

void DescriptionReader::read(const char *field, bool &into) {
  if (const auto *value = find(field)) {
    if (value->is_boolean())
      into = value->get<bool>();
    else
      fail(field, fmt::format("must be true or false, not {}", value->dump()));
  }
}

void DescriptionReader::read(const char *field, int64_t &into, int64_t least) {
  if (const auto *value = find(field)) {
    if (!value->is_number_integer() || value->get<int64_t>() < least)
      fail(field, fmt::format("must be an integer of at least {}, not {}", least, value->dump()));
    else
      into = value->get<int64_t>();
  }
}

void DescriptionReader::read(const char *field, double &into) {
  if (const auto *value = find(field)) {
    if (!value->is_number() || !std::isfinite(value->get<double>()) || value->get<double>() < 0)
      fail(field, fmt::format("must be a number of at least 0, not {}", value->dump()));
    else
      into = value->get<double>();
  }
}

void DescriptionReader::read(const char *field, std::array<int64_t, 3> &into) {
  const auto *value = find(field);
  if (!value)
    return;
  const auto isLimit = [](const nlohmann::json &each) {
    return each.is_number_integer() && each.get<int64_t>() > 0;
  };
  if (!value->is_array() || value->size() != into.size() ||
      !std::all_of(value->begin(), value->end(), isLimit))
    return fail(field, fmt::format("must be three positive integers, not {}", value->dump()));
  for (size_t axis = 0; axis < into.size(); ++axis)
    into[axis] = (*value)[axis].get<int64_t>();
}

void DescriptionReader::readCurve(const char *field, std::map<int64_t, double> &into) {
  const auto *value = find(field);
  if (!value)
    return;
  if (!value->is_object())
    return fail(field, "must be an object of core counts and numbers, as in {\"1\": 100.9, \"48\": 33.7}");
  into.clear();
  for (const auto &[text, number] : value->items()) {
    int64_t cores = 0;
    const auto [stop, bad] = std::from_chars(text.data(), text.data() + text.size(), cores);
    if (bad != std::errc() || stop != text.data() + text.size() || cores < 1 || !number.is_number() ||
        number.get<double>() <= 0)
      return fail(field, fmt::format("holds '{}': {}, which is not a core count with a positive number", text,
                                     number.dump()));
    into[cores] = number.get<double>();
  }
}

void DescriptionReader::allowOnly(std::initializer_list<std::string_view> fields) {
  for (const auto &[name, value] : object_.items())
    if (std::find(fields.begin(), fields.end(), name) == fields.end())
      fail(name, fmt::format("is unknown; known here are {}", fmt::join(fields, ", ")));
}

} // namespace tilewright

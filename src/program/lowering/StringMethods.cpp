#include "StringMethods.h"

#include "ConstexprArithmetic.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tilewright::lowering {

namespace {

constexpr std::array<std::string_view, 10> kMethods = {"format", "join",  "split",      "replace",  "strip",
                                                       "lower",  "upper", "startswith", "endswith", "count"};

std::string replaced(const std::string &text, const std::string &from, const std::string &to) {
  std::string result;
  size_t at = 0;
  for (size_t found; !from.empty() && (found = text.find(from, at)) != std::string::npos;
       at = found + from.size())
    result.append(text, at, found - at).append(to);
  return result.append(text, at, std::string::npos);
}

/// `{}`, `{0}` and `{name}`, without format specifications.
std::optional<std::string> formatted(const std::string &text, const std::vector<FrontValue> &arguments,
                                     const std::vector<std::pair<std::string, FrontValue>> &keywords) {
  std::string result;
  size_t automatic = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] == '{' || text[i] == '}') && i + 1 < text.size() && text[i + 1] == text[i]) {
      result += text[i++];
      continue;
    }
    if (text[i] != '{') {
      result += text[i];
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string::npos)
      return std::nullopt;
    const std::string name = text.substr(i + 1, end - i - 1);
    const FrontValue *value = nullptr;
    size_t index = automatic;
    if (!name.empty() &&
        std::from_chars(name.data(), name.data() + name.size(), index).ptr != name.data() + name.size()) {
      for (const auto &[keyword, given] : keywords)
        if (keyword == name)
          value = &given;
    } else if (index < arguments.size()) {
      value = &arguments[index];
      automatic += name.empty();
    }
    if (!value || value->isRuntime())
      return std::nullopt;
    result += pythonText(*value);
    i = end;
  }
  return result;
}

} // namespace

bool isStringMethod(std::string_view name) {
  return std::find(kMethods.begin(), kMethods.end(), name) != kMethods.end();
}

std::optional<FrontValue> callStringMethod(LoweringContext &c, const FrontValue &self, std::string_view name,
                                           const std::vector<FrontValue> &arguments,
                                           const std::vector<std::pair<std::string, FrontValue>> &keywords) {
  const std::string &text = self.text;
  const auto textAt = [&](size_t i) { return i < arguments.size() && arguments[i].is(FrontKind::String); };
  const auto mapped = [&](int (*change)(int)) {
    std::string result = text;
    std::transform(result.begin(), result.end(), result.begin(),
                   [&](unsigned char ch) { return static_cast<char>(change(ch)); });
    return FrontValue::string(std::move(result));
  };
  if (name == "format") {
    auto result = formatted(text, arguments, keywords);
    return result ? std::optional(FrontValue::string(*std::move(result))) : std::nullopt;
  }
  if (name == "join" && arguments.size() == 1 && arguments[0].is(FrontKind::Tuple)) {
    std::string result;
    for (const FrontValue &item : *arguments[0].items) {
      if (!item.is(FrontKind::String))
        return std::nullopt;
      result += (&item == arguments[0].items->data() ? "" : text) + item.text;
    }
    return FrontValue::string(std::move(result));
  }
  if (name == "split" && textAt(0) && !arguments[0].text.empty()) {
    std::vector<FrontValue> items;
    size_t at = 0;
    for (size_t found; (found = text.find(arguments[0].text, at)) != std::string::npos;
         at = found + arguments[0].text.size())
      items.push_back(FrontValue::string(text.substr(at, found - at)));
    items.push_back(FrontValue::string(text.substr(at)));
    return FrontValue::tuple(std::move(items));
  }
  if (name == "replace" && textAt(0) && textAt(1))
    return FrontValue::string(replaced(text, arguments[0].text, arguments[1].text));
  if (name == "strip" && arguments.empty()) {
    const size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
    return FrontValue::string(begin == std::string::npos ? "" : text.substr(begin, end - begin + 1));
  }
  if (name == "lower" && arguments.empty())
    return mapped(std::tolower);
  if (name == "upper" && arguments.empty())
    return mapped(std::toupper);
  if (name == "startswith" && textAt(0))
    return c.boolean(text.starts_with(arguments[0].text));
  if (name == "endswith" && textAt(0))
    return c.boolean(text.ends_with(arguments[0].text));
  if (name == "count" && textAt(0) && !arguments[0].text.empty()) {
    int64_t count = 0;
    for (size_t at = 0; (at = text.find(arguments[0].text, at)) != std::string::npos;
         at += arguments[0].text.size())
      ++count;
    return c.integer(count);
  }
  return std::nullopt;
}

} // namespace tilewright::lowering

#include "tilewright/program/Signature.h"

#include <algorithm>
#include <charconv>
#include <cmath>
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

template <class Number> std::optional<Number> readNumber(std::string_view text) {
  Number value{};
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stop != text.data() + text.size())
    return std::nullopt;
  return value;
}

Unexpected syntaxError(std::string_view argument, std::string_view why) {
  return fail(
      ErrorKind::User, "arg.syntax",
      fmt::format(
          "cannot read the argument \"{}\": {}; examples: x=f32[98432], idx=i64[1000]:0..4095, n=98432, "
          "eps=1e-6, y=None, FLAG=true, ACT=\"relu\", OUT=dtype:bf16",
          argument, why));
}

std::optional<DType> anyDType(std::string_view text) {
  const auto dtype = parseDType(text);
  return dtype ? dtype : parseTritonDType(text);
}

Expected<std::vector<int64_t>> readIntegers(std::string_view text, std::string_view argument) {
  std::vector<int64_t> values;
  while (!trimmed(text).empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto value = readNumber<int64_t>(trimmed(text.substr(0, comma)));
    if (!value)
      return syntaxError(argument, fmt::format("\"{}\" is not an integer", trimmed(text.substr(0, comma))));
    values.push_back(*value);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return values;
}

/// "f32[4,8]", "f32[4,8]{16,1}", "i64[10]:0..99"
Expected<TensorSpec> readTensor(std::string_view value, std::string_view argument) {
  const size_t open = value.find('['), close = value.find(']');
  TensorSpec spec;
  const auto dtype = anyDType(trimmed(value.substr(0, open)));
  if (!dtype || *dtype == DType::Void)
    return syntaxError(argument,
                       fmt::format("\"{}\" is not an element type", trimmed(value.substr(0, open))));
  spec.dtype = *dtype;
  if (close == std::string_view::npos || close < open)
    return syntaxError(argument, "the shape has no closing ']'");
  TW_TRY(spec.shape, readIntegers(value.substr(open + 1, close - open - 1), argument));
  if (std::any_of(spec.shape.begin(), spec.shape.end(), [](int64_t extent) { return extent < 0; }))
    return syntaxError(argument, "an extent is negative");
  std::string_view rest = trimmed(value.substr(close + 1));
  if (rest.starts_with('{')) {
    const size_t end = rest.find('}');
    if (end == std::string_view::npos)
      return syntaxError(argument, "the strides have no closing '}'");
    TW_TRY(spec.strides, readIntegers(rest.substr(1, end - 1), argument));
    if (spec.strides.size() != spec.shape.size())
      return syntaxError(argument, "there must be one stride for each extent");
    rest = trimmed(rest.substr(end + 1));
  }
  if (rest.starts_with(':')) {
    const size_t dots = rest.find("..");
    const auto low = dots == std::string_view::npos ? std::nullopt
                                                    : readNumber<int64_t>(trimmed(rest.substr(1, dots - 1)));
    const auto high =
        dots == std::string_view::npos ? std::nullopt : readNumber<int64_t>(trimmed(rest.substr(dots + 2)));
    if (!low || !high || *low > *high)
      return syntaxError(argument, "a value range is written low..high");
    spec.valueRange = {*low, *high};
    rest = {};
  }
  if (!rest.empty())
    return syntaxError(argument, fmt::format("\"{}\" after the tensor is not understood", rest));
  return spec;
}

} // namespace

int64_t TensorSpec::elementCount() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      return INT64_MAX;
  return count;
}

int64_t TensorSpec::byteExtent() const {
  if (elementCount() == 0)
    return 0;
  int64_t last = 0;
  if (strides.empty())
    last = elementCount() - 1;
  else
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      int64_t span = 0;
      if (__builtin_mul_overflow(shape[axis] - 1, std::max<int64_t>(strides[axis], 0), &span) ||
          __builtin_add_overflow(last, span, &last))
        return INT64_MAX;
    }
  int64_t bytes = 0;
  if (last == INT64_MAX || __builtin_mul_overflow(last + 1, static_cast<int64_t>(byteSize(dtype)), &bytes))
    return INT64_MAX;
  return bytes;
}

std::string toString(const ArgumentValue &value) {
  struct Writer {
    std::string operator()(NoneValue) const { return "None"; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(int64_t integer) const { return fmt::format("{}", integer); }
    std::string operator()(double number) const {
      auto text = fmt::format("{}", number);
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    }
    std::string operator()(const std::string &text) const {
      std::string out = "\"";
      for (char c : text) {
        if (c == '"' || c == '\\')
          out += '\\';
        if (c == '\n')
          out += "\\n";
        else
          out += c;
      }
      return out + '"';
    }
    std::string operator()(DType dtype) const { return "dtype:" + std::string(name(dtype)); }
    std::string operator()(const TensorSpec &spec) const {
      std::string out = fmt::format("{}[{}]", name(spec.dtype), fmt::join(spec.shape, ","));
      if (!spec.strides.empty())
        out += fmt::format("{{{}}}", fmt::join(spec.strides, ","));
      if (spec.valueRange)
        out += fmt::format(":{}..{}", spec.valueRange->first, spec.valueRange->second);
      return out;
    }
  };
  return std::visit(Writer{}, value);
}

Expected<Argument> parseArgument(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return syntaxError(text, "it has no '='");
  Argument argument{std::string(trimmed(text.substr(0, equals))), NoneValue{}};
  if (argument.name.empty())
    return syntaxError(text, "the name is missing");
  const std::string_view value = trimmed(text.substr(equals + 1));
  if (value.empty())
    return syntaxError(text, "the value is missing");
  if (value == "None" || value == "none")
    return argument;
  if (value == "true" || value == "True" || value == "false" || value == "False") {
    argument.value = value == "true" || value == "True";
    return argument;
  }
  if (value.front() == '"' || value.front() == '\'') {
    if (value.size() < 2 || value.back() != value.front())
      return syntaxError(text, "the text has no closing quote");
    std::string content;
    for (size_t i = 1; i + 1 < value.size(); ++i) {
      if (value[i] == '\\' && i + 2 < value.size()) {
        ++i;
        content += value[i] == 'n' ? '\n' : value[i];
      } else
        content += value[i];
    }
    argument.value = std::move(content);
    return argument;
  }
  for (const std::string_view prefix : {"dtype:", "tl.", "torch."})
    if (value.starts_with(prefix)) {
      const auto dtype = anyDType(value.substr(prefix.size()));
      if (!dtype)
        return syntaxError(text, fmt::format("\"{}\" is not an element type", value.substr(prefix.size())));
      argument.value = *dtype;
      return argument;
    }
  if (value.find('[') != std::string_view::npos) {
    TW_TRY(argument.value, readTensor(value, text));
    return argument;
  }
  if (const auto integer = readNumber<int64_t>(value)) {
    argument.value = *integer;
    return argument;
  }
  if (const auto number = readNumber<double>(value)) {
    argument.value = *number;
    return argument;
  }
  argument.value = std::string(value);
  return argument;
}

const ArgumentValue *LaunchArguments::find(std::string_view name) const {
  for (const Argument &argument : values)
    if (argument.name == name)
      return &argument.value;
  return nullptr;
}

void LaunchArguments::set(std::string name, ArgumentValue value) {
  for (Argument &argument : values)
    if (argument.name == name) {
      argument.value = std::move(value);
      return;
    }
  values.push_back({std::move(name), std::move(value)});
}

} // namespace tilewright

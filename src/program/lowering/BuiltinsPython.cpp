#include "Builtins.h"
#include "ConstexprArithmetic.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

FrontValue extreme(BuiltinCall &call, bool wantMax) {
  std::vector<FrontValue> values = call.sequence(0);
  if (values.empty())
    call.c.fail(call.range, "lower.call", fmt::format("{} of nothing", call.nameRange.text()));
  if (std::none_of(values.begin(), values.end(), [](const FrontValue &v) { return v.isRuntime(); }))
    return constexprExtreme(call.c, wantMax, values, call.range);
  if (values.size() < 2)
    call.c.fail(call.range, "lower.call",
                fmt::format("{} requires at least 2 values; tl.{} reduces a tile", call.nameRange.text(),
                            call.nameRange.text()));
  FrontValue best = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    best = FrontValue::runtime(call.emit.minMax(wantMax ? OpKind::Max : OpKind::Min, best, values[i], false));
  return best;
}
FrontValue minimum(BuiltinCall &call) { return extreme(call, false); }
FrontValue maximum(BuiltinCall &call) { return extreme(call, true); }

FrontValue length(BuiltinCall &call) {
  if (call.at(0).is(FrontKind::Tuple))
    return call.c.integer(static_cast<int64_t>(call.at(0).items->size()));
  if (call.at(0).is(FrontKind::String))
    return call.c.integer(static_cast<int64_t>(call.at(0).text.size()));
  call.failArgument(0, "a tuple or a string");
}

FrontValue toInteger(BuiltinCall &call) {
  const FrontValue &value = call.at(0);
  if (value.isIntegral())
    return value.wide ? value : FrontValue::integer(value.sym, value.witness);
  if (value.is(FrontKind::Float) && std::isfinite(value.number) && std::fabs(value.number) < 9e18)
    return call.c.integer(static_cast<int64_t>(std::trunc(value.number)));
  call.failArgument(0, "a constexpr number");
}

FrontValue toFloat(BuiltinCall &call) {
  const FrontValue &value = call.at(0);
  if (value.is(FrontKind::Float))
    return value;
  if (value.isIntegral())
    return FrontValue::floating(value.wide ? value.asDouble()
                                           : static_cast<double>(call.c.concrete(value, call.where(0))));
  if (value.is(FrontKind::String)) {
    std::string text = value.text;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
    const bool negative = !text.empty() && text[0] == '-';
    const std::string magnitude = !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
    if (magnitude == "inf" || magnitude == "infinity")
      return FrontValue::floating(negative ? -HUGE_VAL : HUGE_VAL);
    if (magnitude == "nan")
      return FrontValue::floating(std::nan(""));
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end && *end == '\0' && !text.empty())
      return FrontValue::floating(number);
  }
  call.failArgument(0, "a constexpr number or the text of one");
}

FrontValue toBool(BuiltinCall &call) {
  const FrontValue &value = call.at(0);
  if (value.isRuntime())
    return FrontValue::runtime(call.emit.cast(value.value, DType::Int1));
  return value.is(FrontKind::Bool) ? value : call.c.boolean(call.c.truth(value, call.where(0)));
}

FrontValue toTuple(BuiltinCall &call) {
  if (!call.has(0))
    return FrontValue::tuple({});
  if (!call.at(0).is(FrontKind::Tuple))
    call.failArgument(0, "a tuple");
  return call.at(0);
}

bool isInstanceOf(BuiltinCall &call, const FrontValue &value, const FrontValue &type) {
  if (type.is(FrontKind::Tuple))
    return std::any_of(type.items->begin(), type.items->end(),
                       [&](const FrontValue &t) { return isInstanceOf(call, value, t); });
  const std::string &name = type.text;
  const bool handle = value.isRuntime() && call.c.typeOf(value.value).kind == Type::Kind::Descriptor;
  if (name == "tensor")
    return value.isRuntime() && !handle;
  if (name == "tensor_descriptor" || name == "tensor_descriptor_base")
    return handle;
  if (name == "constexpr")
    return !value.isRuntime() && !value.is(FrontKind::Tuple);
  if (name == "tuple" || name == "python.tuple" || name == "python.list")
    return value.is(FrontKind::Tuple);
  if (name == "dtype")
    return value.is(FrontKind::TypeObject);
  if (name == "pointer_type")
    return value.is(FrontKind::TypeObject) && value.type.isPointer();
  if (name == "block_type")
    return value.is(FrontKind::TypeObject) && !value.type.shape.empty();
  if (name == "python.int")
    return value.isIntegral();
  if (name == "python.bool")
    return value.is(FrontKind::Bool);
  if (name == "python.float")
    return value.is(FrontKind::Float);
  if (name == "str")
    return value.is(FrontKind::String);
  call.c.unsupported(call.where(1), fmt::format("isinstance with '{}'", call.where(1).text()));
}
FrontValue isInstance(BuiltinCall &call) {
  return call.c.boolean(isInstanceOf(call, call.at(0), call.at(1)));
}

FrontValue getAttribute(BuiltinCall &call) {
  if (!call.at(1).is(FrontKind::String))
    call.failArgument(1, "a string");
  return call.function.attribute(call.at(0), call.at(1).text, call.range);
}

FrontValue hasAttribute(BuiltinCall &call) {
  if (!call.at(1).is(FrontKind::String))
    call.failArgument(1, "a string");
  try {
    call.function.attribute(call.at(0), call.at(1).text, call.range);
    return call.c.boolean(true);
  } catch (const LoweringFailure &) {
    return call.c.boolean(false);
  }
}

/// A constexpr is its value here.
FrontValue unwrapped(BuiltinCall &call) { return call.at(0); }

constexpr Builtin kRows[] = {
    {"_unwrap_if_constexpr", "value", unwrapped},
    {"python.min", "values, *rest", minimum},
    {"python.max", "values, *rest", maximum},
    {"python.len", "sequence", length},
    {"python.int", "value", toInteger},
    {"python.float", "value", toFloat},
    {"python.bool", "value", toBool},
    {"python.tuple", "items=", toTuple},
    {"python.list", "items=", toTuple},
    {"tuple", "items=", toTuple},
    {"python.isinstance", "object, type", isInstance},
    {"python.getattr", "object, name", getAttribute},
    {"python.hasattr", "object, name", hasAttribute},
};

} // namespace

std::span<const Builtin> pythonBuiltins() { return kRows; }

} // namespace tilewright::lowering

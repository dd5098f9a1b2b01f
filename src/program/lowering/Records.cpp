// Records of a kernel's source: named tuples, dataclasses, triton's aggregates. A record is a tuple whose
// items have names, and whose class says which functions can be called on it.
#include "FunctionLowerer.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

using namespace lang;

FrontValue FunctionLowerer::makeRecord(const ModuleScope &type, const CallArguments &arguments) {
  const std::vector<std::string> &fields = type.fields();
  std::map<std::string, FrontValue, std::less<>> values;
  const Meaning initializer = type.own("__init__");
  if (initializer.kind == Meaning::Kind::Bound && initializer.binding->function) {
    // `self.x = ...` in it are what the record holds.
    std::map<std::string, FrontValue, std::less<>> made;
    CallArguments all = arguments;
    FrontValue self = FrontValue::named(FrontKind::Module, std::string(arguments.nameRange.text()));
    self.record = &made;
    all.positional.insert(all.positional.begin(), self);
    all.positionalRanges.insert(all.positionalRanges.begin(), arguments.nameRange);
    callFunction(*initializer.binding->function, all);
    values = std::move(made);
  } else {
    if (arguments.positional.size() > fields.size())
      c.fail(arguments.range, "lower.call",
             fmt::format("{} takes {} arguments, but {} were given", arguments.nameRange.text(),
                         fields.size(), arguments.positional.size()));
    for (size_t i = 0; i < arguments.positional.size(); ++i)
      values[fields[i]] = arguments.positional[i];
    for (size_t i = 0; i < arguments.keywords.size(); ++i) {
      if (std::find(fields.begin(), fields.end(), arguments.keywords[i].first) == fields.end())
        c.fail(arguments.keywordRanges[i], "lower.call",
               fmt::format("{} has no field '{}'", arguments.nameRange.text(), arguments.keywords[i].first));
      values[arguments.keywords[i].first] = arguments.keywords[i].second;
    }
  }
  std::vector<FrontValue> items;
  for (const std::string &field : fields) {
    auto value = values.find(field);
    if (value == values.end()) {
      const Meaning otherwise = type.own(field);
      if (otherwise.kind == Meaning::Kind::Unknown)
        c.fail(arguments.range, "lower.call",
               fmt::format("the call of {} gives no value for '{}'", arguments.nameRange.text(), field));
      value = values.emplace(field, valueOfMeaning(otherwise, field, arguments.range, true)).first;
    }
    items.push_back(value->second);
  }
  FrontValue record = FrontValue::tuple(std::move(items));
  record.fields = std::make_shared<const std::vector<std::string>>(fields);
  record.scope = &type;
  return record;
}

/// A function of the record's class, with the record as its first argument unless it is static.
std::optional<FrontValue> FunctionLowerer::recordMethod(const FrontValue &object, std::string_view name) {
  if (!object.scope)
    return std::nullopt;
  const Meaning member = object.scope->own(name);
  if (member.kind != Meaning::Kind::Bound || !member.binding->function)
    return std::nullopt;
  const JitFunction &function = *member.binding->function;
  FrontValue callee = FrontValue::named(FrontKind::Function, std::string(name));
  callee.function = &function;
  const auto &decorators = function.decorators;
  if (std::find(decorators.begin(), decorators.end(), "staticmethod") != decorators.end())
    return callee;
  FrontValue method = FrontValue::method(object, std::string(name));
  method.function = &function;
  return method;
}

} // namespace tilewright::lowering

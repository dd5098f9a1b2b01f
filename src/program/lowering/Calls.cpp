#include "Builtins.h"
#include "FunctionLowerer.h"
#include "HostFunctions.h"
#include "StringMethods.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lowering {

using namespace lang;

namespace {

/// The parameters of a function in Python's order, with their defaults.
struct FormalParameter {
  std::string_view name;
  const Expr *defaultValue = nullptr;
  bool keywordOnly = false;
};

std::vector<FormalParameter> formalParameters(const Arguments &arguments) {
  std::vector<FormalParameter> formals;
  for (const Arg *arg : arguments.posonlyargs)
    formals.push_back({arg->arg});
  for (const Arg *arg : arguments.args)
    formals.push_back({arg->arg});
  for (size_t i = 0; i < arguments.defaults.size(); ++i)
    formals[formals.size() - arguments.defaults.size() + i].defaultValue = arguments.defaults[i];
  for (size_t i = 0; i < arguments.kwonlyargs.size(); ++i)
    formals.push_back({arguments.kwonlyargs[i]->arg, arguments.kwDefaults[i], true});
  return formals;
}

} // namespace

FunctionLowerer::CallArguments FunctionLowerer::callArguments(const Call *expr) {
  CallArguments arguments;
  arguments.range = expr->range;
  arguments.nameRange = expr->func->range;
  for (const Expr *e : expr->args) {
    if (const auto *starred = dynCast<Starred>(e)) {
      const FrontValue tuple = eval(starred->value);
      if (!tuple.is(FrontKind::Tuple))
        c.failType(e->range, fmt::format("cannot unpack {}", describe(tuple)));
      for (const FrontValue &item : *tuple.items) {
        arguments.positional.push_back(item);
        arguments.positionalRanges.push_back(e->range);
      }
      continue;
    }
    arguments.positional.push_back(eval(e));
    arguments.positionalRanges.push_back(e->range);
  }
  for (const Keyword *keyword : expr->keywords) {
    if (keyword->arg.empty())
      c.unsupported(keyword->range, "** in a call is not supported inside a kernel");
    arguments.keywords.emplace_back(std::string(keyword->arg), eval(keyword->value));
    arguments.keywordRanges.push_back(keyword->range);
  }
  return arguments;
}

FrontValue FunctionLowerer::call(const Call *expr) {
  const FrontValue callee = eval(expr->func);
  // Assertions look at their condition themselves: it may be an expression, and the message is only for
  // failures.
  if (callee.is(FrontKind::Builtin) && callee.text == "static_assert") {
    staticAssert(expr);
    return FrontValue::none();
  }
  if (callee.is(FrontKind::Builtin) && callee.text == "static_print")
    return FrontValue::none();
  CallArguments arguments = callArguments(expr);
  c.here = expr->range;
  return callValue(callee, std::move(arguments));
}

FrontValue FunctionLowerer::callValue(const FrontValue &callee, CallArguments arguments) {
  switch (callee.kind) {
  case FrontKind::Function:
    return callFunction(*callee.function, arguments);
  case FrontKind::Module:
    if (callee.scope && callee.scope->isClass())
      return makeRecord(*callee.scope, arguments);
    break;
  case FrontKind::Builtin: {
    if (callee.text == "python.range" && (constexprOnly_ || evaluatingGlobal_))
      return rangeItems(arguments);
    if (const Builtin *row = findBuiltin(callee.text))
      return callBuiltin(*this, *row, arguments);
    const std::string_view reason = unsupportedReason(callee.text);
    c.unsupported(
        arguments.nameRange,
        reason.empty()
            ? fmt::format("'{}' is not a function that Tilewright knows", arguments.nameRange.text())
            : fmt::format("'{}' is not supported: {}", arguments.nameRange.text(), reason));
  }
  case FrontKind::Method: {
    const FrontValue &self = (*callee.items)[0];
    if (callee.function) {
      arguments.positional.insert(arguments.positional.begin(), self);
      arguments.positionalRanges.insert(arguments.positionalRanges.begin(), arguments.nameRange);
      return callFunction(*callee.function, arguments);
    }
    if (self.is(FrontKind::String))
      if (auto text = callStringMethod(c, self, callee.text, arguments.positional, arguments.keywords))
        return *std::move(text);
    if (self.is(FrontKind::TypeObject))
      if (auto answer = callTypeMethod(c, self, callee.text))
        return *std::move(answer);
    if (const Builtin *row = findMethod(self.isRuntime() ? c.typeOf(self.value) : Type{}, callee.text)) {
      arguments.positional.insert(arguments.positional.begin(), self);
      arguments.positionalRanges.insert(arguments.positionalRanges.begin(), arguments.nameRange);
      return callBuiltin(*this, *row, arguments);
    }
    c.unsupported(arguments.nameRange,
                  fmt::format("the method '{}' of {} is not supported", callee.text, describe(self)));
  }
  case FrontKind::TypeObject:
    if (arguments.positional.size() == 1 && arguments.keywords.empty() && callee.type.isScalar() &&
        !callee.type.isPointer())
      return FrontValue::runtime(emit.cast(emit.toTensor(arguments.positional[0]), callee.type.dtype));
    break;
  case FrontKind::Foreign:
    if (auto known = callForeign(c, callee.text, arguments.positional, arguments.range))
      return *std::move(known);
    // A package that cannot be read wraps these two at most: no other function could have their names.
    for (const std::string_view geometry : {"program_id", "num_programs"})
      if (callee.text.ends_with(fmt::format(".{}", geometry))) {
        c.remark("lower.assumed",
                 fmt::format("{} is taken for tl.{}: its module cannot be read", arguments.nameRange.text(),
                             geometry),
                 arguments.range);
        return callBuiltin(*this, *findBuiltin(geometry), arguments);
      }
    c.unsupported(
        arguments.nameRange,
        fmt::format("'{}' is not a @triton.jit function that can be read", arguments.nameRange.text()),
        "a kernel can call triton.language and the @triton.jit functions of its package");
  default:
    break;
  }
  c.failType(arguments.nameRange, fmt::format("{} cannot be called", describe(callee)));
}

FrontValue FunctionLowerer::callFunction(const JitFunction &function, const CallArguments &arguments) {
  const FunctionDef &def = *function.def;
  if (c.calls.size() >= c.options.maxInlineDepth)
    c.fail(arguments.range, "lower.limit",
           fmt::format("helpers call each other more than {} deep", c.options.maxInlineDepth), {},
           "recursion is not possible in a kernel");
  if (def.args->kwarg)
    c.unsupported(arguments.range, fmt::format("{} takes **keywords, which a helper cannot", def.name));

  const auto formals = formalParameters(*def.args);
  std::vector<std::optional<FrontValue>> bound(formals.size());
  size_t positional = 0;
  std::vector<FrontValue> surplus;
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    if (positional < formals.size() && !formals[positional].keywordOnly)
      bound[positional++] = arguments.positional[i];
    else if (def.args->vararg)
      surplus.push_back(arguments.positional[i]);
    else
      c.fail(arguments.positionalRanges[i], "lower.call",
             fmt::format("{} takes {} arguments, but {} were given", def.name, formals.size(),
                         arguments.positional.size()));
  }
  for (size_t i = 0; i < arguments.keywords.size(); ++i) {
    const auto &[name, value] = arguments.keywords[i];
    const auto formal = std::find_if(formals.begin(), formals.end(),
                                     [&n = name](const FormalParameter &f) { return f.name == n; });
    if (formal == formals.end())
      c.fail(arguments.keywordRanges[i], "lower.call",
             fmt::format("{} has no parameter '{}'", def.name, name));
    auto &slot = bound[formal - formals.begin()];
    if (slot)
      c.fail(arguments.keywordRanges[i], "lower.call",
             fmt::format("{} got several values for '{}'", def.name, name));
    slot = value;
  }

  FunctionLowerer callee(session_, function, false);
  callee.loopDepth_ = 0;
  for (size_t i = 0; i < formals.size(); ++i) {
    if (!bound[i] && formals[i].defaultValue) {
      FunctionLowerer defaults(session_, *function.scope);
      defaults.evaluatingGlobal_ = true;
      bound[i] = defaults.eval(formals[i].defaultValue);
    }
    if (!bound[i])
      c.fail(arguments.range, "lower.call",
             fmt::format("the call of {} gives no value for '{}'", def.name, formals[i].name));
    callee.define(formals[i].name, *std::move(bound[i]));
  }
  if (def.args->vararg)
    callee.define(def.args->vararg->arg, FrontValue::tuple(std::move(surplus)));

  c.calls.push_back({std::string(def.name), arguments.range});
  const SourceRange here = c.here;
  FrontValue result = callee.run(def.body);
  c.here = here;
  c.calls.pop_back();
  return result;
}

} // namespace tilewright::lowering

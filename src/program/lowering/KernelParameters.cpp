#include "KernelParameters.h"

#include "AstWalk.h"
#include "ConstexprArithmetic.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::lowering {

using namespace lang;

namespace {

/// What Triton's kernel call makes of a value that it is given.
struct Given {
  FrontValue value;
  const TensorSpec *tensor = nullptr;
};

FrontValue frontOf(SymContext &syms, const ArgumentValue &value) {
  struct Reader {
    SymContext &syms;
    FrontValue operator()(tilewright::NoneValue) const { return FrontValue::none(); }
    FrontValue operator()(bool flag) const { return FrontValue::boolean(syms.constant(flag), flag); }
    FrontValue operator()(int64_t integer) const {
      return FrontValue::integer(syms.constant(integer), integer);
    }
    FrontValue operator()(double number) const { return FrontValue::floating(number); }
    FrontValue operator()(const std::string &text) const { return FrontValue::string(text); }
    FrontValue operator()(DType dtype) const { return FrontValue::typeObject(Type::scalar(dtype)); }
    FrontValue operator()(const TensorSpec &) const { return FrontValue::none(); }
  };
  return std::visit(Reader{syms}, value);
}

ArgumentValue argumentOf(const FrontValue &value) {
  switch (value.kind) {
  case FrontKind::None:
    return tilewright::NoneValue{};
  case FrontKind::Bool:
    return value.witness != 0;
  case FrontKind::Int:
    return value.witness;
  case FrontKind::Float:
    return value.number;
  case FrontKind::TypeObject:
    return value.type.dtype;
  default:
    return pythonText(value);
  }
}

std::optional<int64_t> integerOf(const Config &config, std::string_view name) { return config.integer(name); }

/// `tl.int64`, "i64", "fp32": the dtype that an annotation forces on a scalar.
std::optional<DType> annotatedDType(const ModuleScope &module, const Expr *annotation) {
  if (!annotation)
    return std::nullopt;
  if (const auto *constant = dynCast<Constant>(annotation); constant && constant->asStr()) {
    if (const auto dtype = parseTritonDType(*constant->asStr()))
      return dtype;
    return parseDType(*constant->asStr());
  }
  const std::string path = module.resolve(annotation);
  constexpr std::string_view kLanguage = "triton.language.";
  if (path.substr(0, kLanguage.size()) != kLanguage)
    return std::nullopt;
  return parseTritonDType(std::string_view(path).substr(kLanguage.size()));
}

/// Names and positions in `@triton.jit(do_not_specialize=[...])`.
ParameterUse::Names notSpecialized(const FunctionDef &def, const std::vector<std::string_view> &order) {
  ParameterUse::Names names;
  for (const Expr *decorator : def.decoratorList) {
    const auto *call = dynCast<Call>(decorator);
    if (!call)
      continue;
    for (const Keyword *keyword : call->keywords) {
      if (keyword->arg != "do_not_specialize")
        continue;
      walkExpr(keyword->value, [&](const Expr &e) {
        const auto *constant = dynCast<Constant>(&e);
        if (!constant)
          return;
        if (const auto *text = constant->asStr())
          names.emplace(*text);
        else if (const auto *index = constant->asInt();
                 index && *index >= 0 && *index < static_cast<int64_t>(order.size()))
          names.emplace(order[*index]);
      });
    }
  }
  return names;
}

using Choice = KernelParameters::Choice;

Choice pointerTo(DType dtype) {
  return {Parameter::Kind::Pointer,
          Type::pointer(dtype),
          {},
          {},
          0,
          {},
          false,
          false,
          fmt::format("a pointer to {}", tritonName(dtype))};
}
Choice scalarOf(DType dtype) {
  return {Parameter::Kind::Scalar,
          Type::scalar(dtype),
          {},
          {},
          0,
          {},
          false,
          false,
          fmt::format("an argument of type {}", tritonName(dtype))};
}
Choice fixedTo(FrontValue value, std::string text) {
  return {Parameter::Kind::Fixed, {}, std::move(value), {}, 0, {}, false, false, std::move(text)};
}
Choice openFrom(int64_t witness) {
  return {Parameter::Kind::Open,
          {},
          {},
          witness,
          0,
          {},
          false,
          false,
          fmt::format("an integer such as {}", witness)};
}

Choice tupleOf(uint32_t size) {
  Choice choice = scalarOf(DType::Int32);
  choice.tupleSize = size;
  choice.text = fmt::format("a tuple of {} integers", size);
  return choice;
}
Choice constexprTuple(SymContext &symbols, size_t size) {
  const FrontValue item = FrontValue::integer(symbols.constant(16), 16);
  return fixedTo(FrontValue::tuple(std::vector<FrontValue>(size, item)),
                 fmt::format("a tuple of {} integers", size));
}
/// Of a descriptor that the caller made: its block is the caller's choice too. A tile of two axes, the last
/// one and `other`; of one where there is no other.
Choice descriptorOf(size_t rank, size_t other, DType dtype) {
  Choice choice = pointerTo(dtype);
  for (size_t axis = 0; axis < rank; ++axis)
    choice.block.push_back(axis == other || axis + 1 == rank ? 16 : 1);
  choice.text = fmt::format("a tensor descriptor of {} with blocks of {}", tritonName(dtype),
                            fmt::join(choice.block, " x "));
  return choice;
}
constexpr std::array<size_t, 5> kTupleSizes = {2, 3, 1, 4, 5};

/// The dtypes that kernels read and write, those first that most of them do.
constexpr std::array kDTypes = {DType::Float32, DType::Int32, DType::BFloat16, DType::Float16, DType::Int64,
                                DType::UInt8,   DType::Int8,  DType::UInt32,   DType::Fp8E4M3, DType::Float64,
                                DType::UInt64,  DType::Int1,  DType::Int16};

std::vector<Choice> pointerChoices(bool toIntegers) {
  std::vector<Choice> choices;
  if (toIntegers)
    choices.push_back(pointerTo(DType::Int32));
  for (const DType dtype : kDTypes)
    if (!toIntegers || dtype != DType::Int32)
      choices.push_back(pointerTo(dtype));
  choices.push_back(scalarOf(DType::Int32));
  choices.push_back(scalarOf(DType::Float32));
  choices.push_back(fixedTo(FrontValue::none(), "None"));
  return choices;
}

std::vector<Choice> scalarChoices(const std::string &name, const ParameterUse &use, SymContext &symbols) {
  std::vector<Choice> choices;
  if (const auto rank = use.descriptors.find(name); rank != use.descriptors.end())
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int32})
      for (size_t back = 2; back <= std::max<size_t>(2, rank->second); ++back)
        choices.push_back(descriptorOf(rank->second, rank->second - back, dtype));
  else if (const auto items = use.sequences.find(name); items != use.sequences.end())
    for (const size_t size : kTupleSizes)
      if (size >= items->second)
        choices.push_back(tupleOf(static_cast<uint32_t>(size)));
  choices.push_back(scalarOf(DType::Int32));
  choices.push_back(scalarOf(DType::Float32));
  choices.push_back(pointerTo(DType::Float32));
  choices.push_back(fixedTo(FrontValue::integer(symbols.constant(1), 1), "1"));
  choices.back().onlyConstant =
      true; // an integer that is 1 is a constant, but few parameters are meant to be
  choices.push_back(scalarOf(DType::Int64));
  choices.push_back(fixedTo(FrontValue::none(), "None"));
  choices.push_back(pointerTo(DType::Int32));
  choices.push_back(scalarOf(DType::Int1));
  return choices;
}

std::vector<Choice> constexprChoices(const std::string &name, const ParameterUse &use, SymContext &symbols) {
  std::vector<Choice> choices;
  const auto texts = use.texts.find(name);
  if (texts != use.texts.end())
    for (const std::string &text : texts->second)
      choices.push_back(fixedTo(FrontValue::string(text), fmt::format("the text '{}'", text)));
  if (const auto items = use.sequences.find(name); items != use.sequences.end())
    for (const size_t size : kTupleSizes)
      if (size >= items->second)
        choices.push_back(constexprTuple(symbols, size));
  const bool isSize = use.sizes.count(name), isFlag = use.flags.count(name) && !isSize;
  if (use.dtypes.count(name) && !isSize)
    choices.push_back(fixedTo(FrontValue::typeObject(Type::scalar(DType::Float32)), "the dtype fp32"));
  else if (use.options.count(name) && choices.empty())
    choices.push_back(fixedTo(FrontValue::none(), "None"));
  // A loop that is unrolled without being a tile's extent is short.
  choices.push_back(openFrom(isFlag ? 1 : use.unrolled.count(name) && !isSize ? 4 : 16));
  if (isFlag)
    choices.push_back(fixedTo(FrontValue::boolean(symbols.constant(1), true), "True"));
  const auto openTo = [&](int64_t witness) {
    if (std::none_of(choices.begin(), choices.end(), [&](const Choice &c) { return c.witness == witness; }))
      choices.push_back(openFrom(witness));
  };
  if (const auto numbers = use.numbers.find(name); numbers != use.numbers.end())
    for (const int64_t number : numbers->second)
      openTo(number);
  choices.push_back(fixedTo(FrontValue::typeObject(Type::scalar(DType::Float32)), "the dtype fp32"));
  choices.push_back(fixedTo(FrontValue::none(), "None"));
  openTo(1);
  openTo(0);
  for (Choice &choice : choices)
    choice.decides = choice.fixed.isNone() || choice.fixed.is(FrontKind::String) || choice.fixed.isNumber();
  openTo(2);
  openTo(8);
  openTo(32);
  openTo(64);
  openTo(128);
  for (size_t i = 1; i < kDTypes.size(); ++i)
    choices.push_back(fixedTo(FrontValue::typeObject(Type::scalar(kDTypes[i])),
                              fmt::format("the dtype {}", tritonName(kDTypes[i]))));
  choices.push_back(fixedTo(FrontValue::floating(0.5), "a float such as 0.5"));
  choices.push_back(fixedTo(FrontValue::string(""), "an empty text"));
  return choices;
}

} // namespace

void KernelParameters::choose(size_t index, size_t choice) {
  Entry &entry = entries[index];
  const Choice &chosen = entry.choices[choice];
  Parameter &p = entry.parameter;
  entry.chosen = choice;
  p.kind = chosen.kind;
  p.type = chosen.type;
  p.fixed = tilewright::NoneValue{};
  switch (chosen.kind) {
  case Parameter::Kind::Fixed:
    entry.fixed = chosen.fixed;
    entry.fixed.assumption = static_cast<uint32_t>(index);
    p.fixed = argumentOf(chosen.fixed);
    break;
  case Parameter::Kind::Scalar:
    while (entry.elements.size() < chosen.tupleSize)
      entry.elements.push_back(symbols->newSymbol(
          SymbolKind::RuntimeScalar, fmt::format("{}_{}", p.name, entry.elements.size()), SymRange{}));
    if (isInteger(chosen.type.dtype) && (!p.symbol.valid() || p.isConstexpr))
      p.symbol = symbols->newSymbol(SymbolKind::RuntimeScalar, p.name, SymRange{});
    break;
  case Parameter::Kind::Open:
    entry.givenWitness = chosen.witness;
    break;
  default:
    break;
  }
}

Expected<KernelParameters> kernelParameters(const JitFunction &function, const LaunchArguments &arguments,
                                            const LoweringOptions &options,
                                            const std::shared_ptr<SymContext> &symbols,
                                            const SourceFilePtr &source) {
  const FunctionDef &def = *function.def;
  const ModuleScope &module = *function.scope;
  KernelParameters result;
  result.symbols = symbols;
  const ParameterUse use = parameterUse(function);

  std::vector<const Arg *> formals;
  std::vector<const Expr *> defaults;
  for (const auto list : {def.args->posonlyargs, def.args->args})
    for (const Arg *arg : list) {
      formals.push_back(arg);
      defaults.push_back(nullptr);
    }
  for (size_t i = 0; i < def.args->defaults.size(); ++i)
    defaults[defaults.size() - def.args->defaults.size() + i] = def.args->defaults[i];
  for (size_t i = 0; i < def.args->kwonlyargs.size(); ++i) {
    formals.push_back(def.args->kwonlyargs[i]);
    defaults.push_back(def.args->kwDefaults[i]);
  }
  std::vector<std::string_view> order;
  for (const Arg *arg : formals)
    order.push_back(arg->arg);
  const ParameterUse::Names unspecialized = notSpecialized(def, order);

  for (const Argument &argument : arguments.values)
    if (std::find(order.begin(), order.end(), argument.name) == order.end())
      return fail(ErrorKind::User, "arg.unknown",
                  fmt::format("kernel {} has no parameter '{}'; its parameters are: {}", def.name,
                              argument.name, fmt::join(order, ", ")));

  // Decorators that change what the kernel is given, or might.
  for (const std::string &decorator : function.decorators)
    if (decorator != "triton.jit" && decorator != "triton.runtime.jit")
      result.remarks.push_back(makeDiagnostic(
          Severity::Remark, "lower.decorator",
          decorator == "triton.autotune" || decorator == "triton.heuristics"
              ? fmt::format(
                    "@{} is not evaluated: the parameters that it sets are open unless they are given",
                    decorator)
              : fmt::format("the decorator @{} is not looked into", decorator),
          def.decoratorList.empty() ? def.range : def.decoratorList[0]->range));

  for (size_t i = 0; i < formals.size(); ++i) {
    const std::string name(formals[i]->arg);
    KernelParameters::Entry entry;
    Parameter &p = entry.parameter;
    p.name = name;
    p.location = formals[i]->range;
    p.isConstexpr = isConstexprAnnotation(module, formals[i]->annotation);
    p.hasDefault = defaults[i] != nullptr;
    entry.isFlag = use.flags.count(name) && !use.sizes.count(name);

    const ArgumentValue *given = arguments.find(name);
    std::optional<Given> value;
    if (given)
      value = Given{frontOf(*symbols, *given), std::get_if<TensorSpec>(given)};
    else if (defaults[i] && !(p.isConstexpr && options.witness.contains(name))) {
      // A default is an expression of the module.
      Program scratch;
      scratch.symbols = symbols;
      scratch.sources = {source};
      scratch.regions.push_back({});
      LoweringContext context(scratch, options, {});
      Emitter emitter(context);
      KnownNames names;
      Session session{context, emitter, names, {}, {}};
      FunctionLowerer evaluator(session, module);
      try {
        value = Given{evaluator.defaultValue(defaults[i]), nullptr};
      } catch (const LoweringFailure &failure) {
        result.remarks.push_back(
            makeDiagnostic(Severity::Remark, "lower.assumed",
                           fmt::format("the default of {} cannot be read ({}); it counts as absent", name,
                                       failure.error.message),
                           defaults[i]->range));
      }
    }

    const auto fix = [&](const FrontValue &front) {
      p.kind = Parameter::Kind::Fixed;
      p.fixed = argumentOf(front);
      entry.fixed = front;
    };
    if (p.isConstexpr) {
      if (value && value->tensor)
        return fail(ErrorKind::User,
                    makeDiagnostic(Severity::Error, "arg.type",
                                   fmt::format("{} is a tl.constexpr; a tensor cannot be its value", name),
                                   p.location));
      if (value) {
        fix(value->value);
      } else if (const ConfigValue *chosen = options.witness.find(name);
                 chosen && !integerOf(options.witness, name)) {
        // A choice that is no integer cannot be an expression: the Program is for this choice only.
        fix(std::holds_alternative<double>(*chosen) ? FrontValue::floating(std::get<double>(*chosen))
                                                    : FrontValue::string(toString(*chosen)));
      } else {
        p.kind = Parameter::Kind::Open;
        const SymRange range = use.sizes.count(name) ? SymRange{1, INT32_MAX}
                               : entry.isFlag        ? SymRange{0, INT32_MAX}
                                                     : SymRange{INT32_MIN, INT32_MAX};
        p.symbol = symbols->newSymbol(SymbolKind::OpenParameter, name, range);
        entry.givenWitness = integerOf(options.witness, name);
        if (!entry.givenWitness)
          entry.choices = constexprChoices(name, use, *symbols);
      }
      result.entries.push_back(std::move(entry));
      continue;
    }

    const auto scalar = [&](DType dtype, bool nonNegative) {
      p.kind = Parameter::Kind::Scalar;
      p.type = Type::scalar(dtype);
      if (!isInteger(dtype))
        return;
      // Analyses need to know that extents aren't negative; a launch that says so is evidence enough.
      const int64_t largest = bitWidth(dtype) > 32 ? INT64_MAX : dtype == DType::Int1 ? 1 : INT32_MAX;
      p.symbol = symbols->newSymbol(SymbolKind::RuntimeScalar, name,
                                    nonNegative ? SymRange{0, largest} : SymRange{});
    };
    const auto annotated = annotatedDType(module, formals[i]->annotation);
    if (value && value->tensor) {
      p.kind = Parameter::Kind::Pointer;
      p.type = Type::pointer(value->tensor->dtype);
    } else if (value && value->value.is(FrontKind::Int)) {
      const int64_t integer = value->value.witness;
      if (annotated)
        scalar(*annotated, integer >= 0);
      else if (integer == 1 && !unspecialized.count(name))
        fix(value->value);
      else
        scalar(integer >= INT32_MIN && integer <= INT32_MAX ? DType::Int32 : DType::Int64, integer >= 0);
    } else if (value && value->value.is(FrontKind::Bool)) {
      scalar(annotated.value_or(DType::Int1), true);
    } else if (value && value->value.is(FrontKind::Float)) {
      scalar(annotated.value_or(DType::Float32), false);
    } else if (value) {
      fix(value->value);
    } else if (!use.read.count(name)) {
      p.kind = Parameter::Kind::Unused;
    } else if (use.pointers.count(name) && !use.descriptors.count(name) && !use.sequences.count(name)) {
      entry.choices = pointerChoices(use.integers.count(name) > 0);
    } else if (annotated) {
      scalar(*annotated, false);
    } else {
      entry.choices = scalarChoices(name, use, *symbols);
    }
    result.entries.push_back(std::move(entry));
  }
  for (size_t i = 0; i < result.entries.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (result.entries[i].parameter.name == result.entries[j].parameter.name)
        return fail(ErrorKind::User,
                    makeDiagnostic(Severity::Error, "lower.name",
                                   fmt::format("duplicate argument '{}' in function definition",
                                               result.entries[i].parameter.name),
                                   result.entries[i].parameter.location));
  for (size_t i = 0; i < result.entries.size(); ++i)
    if (!result.entries[i].choices.empty())
      result.choose(i, 0);
  if (def.args->vararg || def.args->kwarg)
    return fail(ErrorKind::Refusal,
                makeDiagnostic(Severity::Error, "lower.unsupported",
                               fmt::format("kernel {} takes * or ** parameters", def.name),
                               (def.args->vararg ? def.args->vararg : def.args->kwarg)->range));
  return result;
}

} // namespace tilewright::lowering

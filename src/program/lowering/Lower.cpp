#include "tilewright/program/Lowering.h"

#include "Assumptions.h"
#include "AstWalk.h"
#include "DeadCode.h"
#include "FunctionLowerer.h"
#include "ImportedFiles.h"
#include "KernelParameters.h"
#include "WitnessSearch.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

using namespace lowering;

namespace {

constexpr int kMaxAttempts = 400;
constexpr uint32_t kMaxSteps = 16'000; ///< statements over all attempts: some 20 ms

/// A parameter that is a tuple: one argument each for its items.
void defineTuple(LoweringContext &context, FunctionLowerer &lowerer, RegionId body,
                 const KernelParameters::Entry &entry, uint32_t size) {
  std::vector<FrontValue> items;
  for (uint32_t i = 0; i < size; ++i) {
    Parameter item = entry.parameter;
    item.name = fmt::format("{}_{}", item.name, i);
    item.symbol = entry.elements[i];
    item.value = context.builder.addArgument(body, item.type, item.name);
    context.program.values[item.value].sym = item.symbol;
    items.push_back(FrontValue::runtime(item.value));
    context.program.parameters.push_back(std::move(item));
  }
  lowerer.define(entry.parameter.name, FrontValue::tuple(std::move(items)));
}

/// A parameter that is a tensor descriptor which the caller made: its address, and a block that was assumed.
ValueId callersDescriptor(LoweringContext &context, const Parameter &p, const std::vector<int64_t> &block) {
  Attributes attributes;
  attributes.set("rank", static_cast<int64_t>(block.size()));
  attributes.set("opaque", true);
  Type type{Type::Kind::Descriptor, p.type.dtype, {}};
  for (const int64_t extent : block)
    type.shape.push_back(context.syms.constant(extent));
  return context.create(OpKind::MakeDescriptor, {p.value}, std::move(type), std::move(attributes));
}

/// One attempt: the whole kernel with one witness.
struct Attempt {
  std::optional<Program> program;
  std::optional<LoweringFailure> failure;
  Progress progress;
};

Attempt attemptOnce(const lang::Module &module, const JitFunction &function,
                    const KernelParameters &parameters, const WitnessSearch &witness,
                    const LoweringOptions &options, const std::shared_ptr<SymContext> &symbols,
                    KnownNames &names) {
  Program program;
  program.kernel = std::string(function.def->name);
  program.symbols = symbols;
  program.sources = {module.source};
  program.remarks = parameters.remarks;
  LoweringContext context(program, options, witness.values());
  Emitter emitter(context);
  Session session{context, emitter, names, {}, {}};
  FunctionLowerer lowerer(session, function, true);

  const RegionId body = context.builder.newRegion();
  context.builder.enter(body);
  for (const auto &entry : parameters.entries) {
    Parameter p = entry.parameter;
    switch (p.kind) {
    case Parameter::Kind::Pointer:
    case Parameter::Kind::Scalar:
      if (const auto *choice = entry.choice(); choice && choice->tupleSize > 0) {
        defineTuple(context, lowerer, body, entry, choice->tupleSize);
        continue;
      }
      p.value = context.builder.addArgument(body, p.type, p.name);
      program.values[p.value].sym = p.symbol;
      lowerer.define(p.name, FrontValue::runtime(p.value));
      if (const auto *choice = entry.choice(); choice && !choice->block.empty())
        lowerer.define(p.name, FrontValue::runtime(callersDescriptor(context, p, choice->block)));
      break;
    case Parameter::Kind::Open:
      p.witness = witness.valueOf(p);
      lowerer.define(p.name, FrontValue::integer(p.symbol, p.witness));
      break;
    case Parameter::Kind::Fixed:
      lowerer.define(p.name, entry.fixed);
      break;
    case Parameter::Kind::Unused:
      break;
    }
    program.parameters.push_back(std::move(p));
  }
  Attempt result;
  try {
    lowerer.run(function.def->body);
    removeDeadCode(program);
    result.program = std::move(program);
  } catch (LoweringFailure &failure) {
    result.failure = std::move(failure);
  }
  result.progress = {context.furthest, context.steps};
  return result;
}

} // namespace

std::vector<KernelDeclaration> kernelsOf(const lang::Module &module) {
  const ModuleScope scope(module, nullptr);
  std::vector<KernelDeclaration> kernels;
  std::set<std::string, std::less<>> called;
  for (const auto &function : scope.functions()) {
    if (function->constexprOnly)
      continue;
    const lang::FunctionDef &def = *function->def;
    lowering::walkBody(
        def.body, [](const lang::Stmt &) {},
        [&](const lang::Expr &e) {
          if (const auto *name = lang::dynCast<lang::Name>(&e);
              name && name->id != def.name && scope.function(name->id))
            called.emplace(name->id);
        });
    KernelDeclaration kernel;
    kernel.name = function->qualifiedName;
    kernel.decorators = function->decorators;
    kernel.location = def.range;
    const auto add = [&](const lang::Arg *arg, const lang::Expr *defaultValue) {
      KernelDeclaration::Parameter p;
      p.name = std::string(arg->arg);
      p.isConstexpr =
          arg->annotation && (scope.resolve(arg->annotation) == "triton.language.constexpr" ||
                              arg->annotation->range.text().find("constexpr") != std::string_view::npos);
      p.hasDefault = defaultValue != nullptr;
      if (defaultValue)
        p.defaultText = std::string(defaultValue->range.text());
      p.location = arg->range;
      kernel.parameters.push_back(std::move(p));
    };
    std::vector<const lang::Arg *> positional(def.args->posonlyargs.begin(), def.args->posonlyargs.end());
    positional.insert(positional.end(), def.args->args.begin(), def.args->args.end());
    const size_t required = positional.size() - def.args->defaults.size();
    for (size_t i = 0; i < positional.size(); ++i)
      add(positional[i], i < required ? nullptr : def.args->defaults[i - required]);
    for (size_t i = 0; i < def.args->kwonlyargs.size(); ++i)
      add(def.args->kwonlyargs[i], def.args->kwDefaults[i]);
    kernels.push_back(std::move(kernel));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelDeclaration &a, const KernelDeclaration &b) {
                     return a.location.begin < b.location.begin;
                   });
  for (KernelDeclaration &kernel : kernels)
    kernel.calledByAnother = called.count(kernel.name) > 0;
  return kernels;
}

Expected<Program> lower(const lang::Module &module, std::string_view kernel, const LaunchArguments &arguments,
                        const LoweringOptions &options) {
  const std::shared_ptr<ImportedFiles> files = options.imports ? options.imports : makeImportedFiles();
  const ModuleScope scope(module, files.get());
  const JitFunction *function = scope.function(kernel);
  if (!function) {
    std::vector<std::string> names;
    for (const auto &known : scope.functions())
      names.push_back(known->qualifiedName);
    return fail(ErrorKind::User, "lower.no-kernel",
                names.empty() ? fmt::format("{} has no @triton.jit function", module.source->path())
                              : fmt::format("{} has no kernel '{}'; it has: {}", module.source->path(),
                                            kernel, fmt::join(names, ", ")));
  }
  const auto symbols = std::make_shared<SymContext>();
  TW_TRY(KernelParameters parameters,
         kernelParameters(*function, arguments, options, symbols, module.source));
  WitnessSearch witness(parameters);
  Assumptions assumptions(parameters);
  std::optional<Error> first, furthest; // the error to report is the one that nothing got past
  Progress reached;
  uint32_t steps = 0;
  KnownNames names;
  for (int attempt = 0; attempt < kMaxAttempts && steps < kMaxSteps; ++attempt) {
    Attempt result = attemptOnce(module, *function, parameters, witness, options, symbols, names);
    steps += result.progress.steps;
    if (result.program) {
      for (Diagnostic &remark : assumptions.remarks(first.value_or(Error())))
        result.program->remarks.push_back(std::move(remark));
      return *std::move(result.program);
    }
    const LoweringFailure &failure = *result.failure;
    if (!first)
      first = failure.error;
    if (!furthest || reached < result.progress) {
      furthest = failure.error;
      reached = result.progress;
    }
    if (failure.needed.valid() && witness.learn(failure.needed))
      continue;
    if (!assumptions.learn(failure, result.progress))
      break;
    witness.restart(parameters);
  }
  return Unexpected(*furthest);
}

} // namespace tilewright

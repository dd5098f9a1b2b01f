#include "KernelImpl.h"

#include "tilewright/backend/LoadBackend.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

std::string kindOf(const ArgumentValue &value) {
  if (const auto *tensor = std::get_if<TensorSpec>(&value))
    return fmt::format("*{}", tilewright::name(tensor->dtype));
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    if (*integer == 1)
      return "1";
    return *integer >= INT32_MIN && *integer <= INT32_MAX ? "i32" : "i64";
  }
  if (std::holds_alternative<double>(value))
    return "f32";
  if (std::holds_alternative<bool>(value))
    return "i1";
  return toString(value);
}

/// Runtime arguments by their place in the Program's body.
Expected<std::vector<const RuntimeArgument *>> matched(const Program &program, LaunchBuffers buffers) {
  std::vector<const RuntimeArgument *> out;
  for (const ValueId id : program.body().arguments) {
    const Parameter *parameter = program.parameterOf(id);
    const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const RuntimeArgument &each) {
      return parameter && each.name == parameter->name;
    });
    if (found == buffers.end())
      return fail(ErrorKind::User, "arg.missing",
                  fmt::format("no memory or value was given for the argument '{}'",
                              parameter ? parameter->name : "?"));
    out.push_back(&*found);
  }
  return out;
}

} // namespace

std::string specializationOf(const Problem &problem) {
  std::vector<std::string> parts;
  for (const auto &argument : problem.arguments.values)
    parts.push_back(fmt::format("{}:{}", argument.name, kindOf(argument.value)));
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string keyValuesOf(const Problem &problem) {
  std::vector<std::string> parts;
  for (const auto &argument : problem.arguments.values) {
    const bool named = std::find(problem.key.begin(), problem.key.end(), argument.name) != problem.key.end();
    const bool isSize =
        std::holds_alternative<int64_t>(argument.value) || std::holds_alternative<TensorSpec>(argument.value);
    const bool isConstant =
        std::holds_alternative<bool>(argument.value) || std::holds_alternative<std::string>(argument.value) ||
        std::holds_alternative<DType>(argument.value) || std::holds_alternative<NoneValue>(argument.value);
    if (named || (problem.key.empty() && isSize) || isConstant)
      parts.push_back(fmt::format("{}={}", argument.name, toString(argument.value)));
  }
  std::sort(parts.begin(), parts.end());
  std::string out = fmt::format("{}", fmt::join(parts, ","));
  for (const auto &[name, text] : problem.hints.companions)
    out += fmt::format(";{}:={}", name, text);
  if (problem.fixedGrid)
    out += fmt::format(";grid={}", fmt::join(*problem.fixedGrid, "x"));
  else if (!problem.gridCallback && !problem.grid.empty())
    out += ";grid=" + problem.grid;
  return out;
}

Expected<Grid> gridOf(const Problem &problem, const Program &program, const KernelFacts *facts) {
  if (problem.fixedGrid)
    return Grid::fixed(*problem.fixedGrid);
  if (problem.gridCallback)
    return Grid::callback(problem.gridCallback);
  if (!problem.grid.empty()) {
    TW_TRY(Grid grid, parseGrid(problem.grid, program, problem.arguments));
    if (problem.hints.companions.empty() || !grid.isSymbolic())
      return grid;
    // A grid over a companion follows the candidate too.
    std::vector<SymInt> dims;
    for (const SymInt dim : grid.dims())
      dims.push_back(program.symbols->substitute(dim, [&](uint32_t id) {
        for (const Parameter &parameter : program.parameters)
          if (parameter.companion.valid() && parameter.symbol.symbolId() == id)
            return parameter.companion;
        return SymInt();
      }));
    return Grid::symbolic(std::move(dims), problem.grid);
  }
  const bool inferred = facts && !facts->inferredGrid.empty() &&
                        std::all_of(facts->inferredGrid.begin(), facts->inferredGrid.end(),
                                    [](SymInt dim) { return dim.valid(); });
  if (inferred) {
    std::vector<std::string> texts;
    for (const SymInt dim : facts->inferredGrid)
      texts.push_back(toString(dim));
    return Grid::symbolic(facts->inferredGrid, fmt::format("({},)", fmt::join(texts, ", ")));
  }
  auto diagnostic = makeDiagnostic(
      Severity::Error, "grid.missing",
      fmt::format("no grid was given for '{}' and the kernel alone does not tell it", program.kernel));
  diagnostic.help("give the launch grid as a Python expression over arguments and open parameters, for "
                  "example -g \"(cdiv(n, BLOCK),)\"");
  return Unexpected(Error(ErrorKind::User, std::move(diagnostic)));
}

Expected<void> declareCompanions(Program &program, const Problem &problem) {
  for (const auto &[name, text] : problem.hints.companions) {
    const auto found = std::find_if(program.parameters.begin(), program.parameters.end(),
                                    [&, &name = name](const Parameter &each) { return each.name == name; });
    if (found == program.parameters.end())
      return fail(ErrorKind::User, "hint.unknown",
                  fmt::format("companions name '{}', which is no argument of {}", name, program.kernel));
    if (found->kind != Parameter::Kind::Scalar || !found->symbol.valid())
      return fail(
          ErrorKind::User, "hint.value",
          fmt::format("companions name '{}', which is not a runtime integer of {}", name, program.kernel));
    TW_TRY(const Grid expression, parseGrid(text, program, problem.arguments));
    if (expression.isFixed()) {
      TW_TRY(const auto number, expression.evaluate({}, {}));
      found->companion = program.symbols->constant(number[0]);
    } else if (expression.dims().size() == 1) {
      found->companion = expression.dims()[0];
    } else {
      return fail(ErrorKind::User, "hint.value",
                  fmt::format("the companion {} = {} must be one integer", name, text));
    }
    if (mentions(found->companion, found->symbol.symbolId()))
      return fail(ErrorKind::User, "hint.value",
                  fmt::format("the companion {} = {} is computed from itself", name, text));
  }
  return {};
}

namespace {

int64_t integerOf(const Program &program, size_t index, const RuntimeArgument &argument,
                  const SymValues &values) {
  const Parameter *parameter = program.parameterOf(program.body().arguments[index]);
  if (!parameter || !parameter->companion.valid())
    return argument.integer;
  return values.get(parameter->symbol.symbolId()).value_or(argument.integer);
}

} // namespace

Expected<std::vector<uint64_t>> launchWords(const Program &program, LaunchBuffers buffers,
                                            const SymValues &values) {
  TW_TRY(const auto arguments, matched(program, buffers));
  std::vector<uint64_t> words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type &type = program.value(program.body().arguments[i]).type;
    if (type.isPointer())
      words.push_back(reinterpret_cast<uint64_t>(arguments[i]->memory.data()));
    else if (isFloat(type.dtype))
      words.push_back(std::bit_cast<uint64_t>(arguments[i]->number));
    else
      words.push_back(static_cast<uint64_t>(integerOf(program, i, *arguments[i], values)));
  }
  return words;
}

Expected<std::vector<RuntimeArgument>> inProgramOrder(const Program &program, LaunchBuffers buffers,
                                                      const SymValues &values) {
  TW_TRY(const auto arguments, matched(program, buffers));
  std::vector<RuntimeArgument> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    out.push_back(*arguments[i]);
    out.back().integer = integerOf(program, i, *arguments[i], values);
  }
  return out;
}

Expected<std::shared_ptr<Backend>> backendFor(const Target &target) {
  if (target.kind == TargetKind::Cpu)
    return loadBackend("cpu");
  return fail(ErrorKind::Unavailable, "target.unavailable",
              fmt::format("nothing here can run or simulate code for {}; 'candidates' and 'explain' work for "
                          "it without a device",
                          target.name));
}

} // namespace tilewright

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
  if (!problem.grid.empty())
    return parseGrid(problem.grid, program, problem.arguments);
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

Expected<std::vector<uint64_t>> launchWords(const Program &program, LaunchBuffers buffers) {
  TW_TRY(const auto arguments, matched(program, buffers));
  std::vector<uint64_t> words;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type &type = program.value(program.body().arguments[i]).type;
    if (type.isPointer())
      words.push_back(reinterpret_cast<uint64_t>(arguments[i]->memory.data()));
    else if (isFloat(type.dtype))
      words.push_back(std::bit_cast<uint64_t>(arguments[i]->number));
    else
      words.push_back(static_cast<uint64_t>(arguments[i]->integer));
  }
  return words;
}

Expected<std::vector<RuntimeArgument>> inProgramOrder(const Program &program, LaunchBuffers buffers) {
  TW_TRY(const auto arguments, matched(program, buffers));
  std::vector<RuntimeArgument> out;
  for (const RuntimeArgument *argument : arguments)
    out.push_back(*argument);
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

#include "CompileOptions.h"
#include "Domains.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr const char *kGiveValue =
    "give it a value: pass it at launch, name it in hints, or write configurations by hand";

Unexpected noDomain(const ParameterUse &use, const char *code, std::string message, const std::string &help) {
  auto diagnostic = makeDiagnostic(Severity::Error, code, std::move(message), use.parameter->location);
  if (use.facts)
    for (const Evidence &evidence : use.facts->evidence)
      diagnostic.note(evidence.line ? fmt::format("line {}: {}", evidence.line, evidence.text)
                                    : evidence.text);
  diagnostic.help(help);
  return Unexpected(Error(ErrorKind::Refusal, std::move(diagnostic)));
}

/// How to declare what the caller computes; only runtime integers can be declared.
std::string companionHelp(const Program &program, const HostCoupling &coupling) {
  const Parameter *argument = program.findParameter(coupling.argument);
  if (!argument || argument->kind != Parameter::Kind::Scalar || !argument->symbol.valid())
    return {};
  return fmt::format("declare how it is computed with the hint \"companions.{}={}\"; or ", coupling.argument,
                     coupling.companion.empty() ? "..." : coupling.companion);
}

Expected<Domain> generatedDomain(const SpaceRequest &request, const ParameterUse &use, bool usesCube) {
  const std::string &name = use.parameter->name;
  for (const HostCoupling &coupling : request.facts.hostCoupled)
    if (coupling.parameter == name)
      return noDomain(use, "host.coupled",
                      fmt::format("the caller derives the argument {} from {}{}: {}", coupling.argument, name,
                                  coupling.line ? fmt::format(" (line {})", coupling.line) : "",
                                  coupling.text),
                      fmt::format("tuning {} alone would make {} wrong; {}{}", name, coupling.argument,
                                  companionHelp(request.program, coupling), kGiveValue));
  if (use.hasRole(Role::HostCoupled))
    return noDomain(use, "host.coupled", fmt::format("the caller derives another argument from {}", name),
                    kGiveValue);
  if (use.hasRole(Role::Chunk))
    return noDomain(use, "space.no-domain",
                    fmt::format("{} belongs to the algorithm: another value computes something else", name),
                    kGiveValue);
  if (use.hasRole(Role::OneShot)) {
    if (!use.extent)
      return noDomain(use, "space.no-domain",
                      fmt::format("{} must cover an extent that is not known before the launch", name),
                      kGiveValue);
    return oneShotDomain(use, request.target);
  }
  if (use.hasRole(Role::Split) || use.hasRole(Role::Tile))
    switch (request.target.kind) {
    case TargetKind::Cpu:
      return cpuDomain(use, request.target);
    case TargetKind::Cuda:
      return cudaDomain(use, request.target);
    case TargetKind::Ascend:
      return ascendDomain(use, request.target, usesCube);
    }
  if (use.hasRole(Role::Schedule))
    return Domain{name,
                  {int64_t{1}, int64_t{4}, int64_t{8}},
                  request.target.kind == TargetKind::Ascend
                      ? "order of programs only; not a tiling parameter, so a small set (hints replace it)"
                      : "order of programs only"};
  if (use.hasRole(Role::Flag))
    return Domain{name, {false, true}, "selects between code paths"};
  if (use.hasRole(Role::Unused))
    return Domain{name, {int64_t{1}}, "has no effect in this kernel"};
  return noDomain(use, "space.no-domain", fmt::format("the analysis could not find out what {} means", name),
                  kGiveValue);
}

Expected<void> checkHint(const SpaceRequest &request, const std::string &name,
                         const std::vector<ConfigValue> &values, const LaunchSymbols &symbols) {
  const auto refuse = [&](const char *code, std::string message, std::string help = {}) {
    const Parameter *parameter = request.program.findParameter(name);
    auto diagnostic = makeDiagnostic(Severity::Error, code, std::move(message),
                                     parameter ? std::optional(parameter->location) : std::nullopt);
    if (!help.empty())
      diagnostic.help(std::move(help));
    return Unexpected(Error(ErrorKind::User, std::move(diagnostic)));
  };
  const auto open = symbols.openIndex(name);
  if (!open && !findCompileOption(name)) {
    const Parameter *parameter = request.program.findParameter(name);
    std::string openNames;
    for (const Parameter *each : symbols.open())
      openNames += (openNames.empty() ? "" : ", ") + each->name;
    const std::string help = fmt::format("hints may name open parameters ({}) and options of {} ({})",
                                         openNames.empty() ? "none here" : openNames, request.target.name,
                                         optionNames(request.target.kind));
    if (parameter && parameter->kind == Parameter::Kind::Fixed)
      return refuse("hint.unknown",
                    fmt::format("hints name '{}', which is fixed at {} for this launch", name,
                                toString(parameter->fixed)),
                    help);
    if (parameter)
      return refuse(
          "hint.unknown",
          fmt::format("hints name '{}', which is a runtime argument, not a parameter to tune", name), help);
    return refuse(
        "hint.unknown",
        fmt::format("hints name '{}', which is neither an open parameter of {} nor a compile option", name,
                    request.program.kernel),
        help);
  }
  if (values.empty())
    return refuse("hint.value", fmt::format("the hint for '{}' has no values", name),
                  "give a non-empty list");
  for (const ConfigValue &value : values) {
    const bool isInteger = std::holds_alternative<int64_t>(value) || std::holds_alternative<bool>(value);
    if (open && !isInteger)
      return refuse("hint.value",
                    fmt::format("the hint for '{}' holds '{}', which is neither an integer nor a bool", name,
                                toString(value)));
  }
  return {};
}

std::vector<ConfigValue> distinct(const std::vector<ConfigValue> &values) {
  std::vector<ConfigValue> out;
  for (const ConfigValue &value : values)
    if (std::find(out.begin(), out.end(), value) == out.end())
      out.push_back(value);
  return out;
}

} // namespace

void thinDomain(std::vector<ConfigValue> &values, size_t count) {
  if (count >= values.size() || count == 0)
    return;
  std::vector<ConfigValue> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(values[count == 1 ? values.size() / 2 : i * (values.size() - 1) / (count - 1)]);
  values = std::move(out);
}

std::vector<Dimension> generatedOptions(const SpaceRequest &request) {
  std::vector<Dimension> out;
  if (request.target.kind != TargetKind::Cuda)
    return out;
  bool hasDot = false, dotInLoop = false;
  for (const WorkItem &item : request.facts.work)
    if (item.kind == WorkItem::Kind::Dot) {
      hasDot = true;
      dotInLoop |= !item.loops.empty();
    }
  const auto integers = [](std::initializer_list<int64_t> values) {
    return std::vector<ConfigValue>(values.begin(), values.end());
  };
  out.push_back(
      {{"num_warps", hasDot ? integers({4, 8}) : integers({1, 2, 4, 8, 16}), "warps of one program"},
       std::nullopt,
       false});
  // Without a dot in a loop nothing is pipelined, and every value gives the same binary.
  if (dotInLoop)
    out.push_back({{"num_stages", integers({2, 3, 4}), "stages of the pipeline that feeds tl.dot"},
                   std::nullopt,
                   false});
  return out;
}

Expected<std::vector<Dimension>> dimensions(const SpaceRequest &request, const LaunchSymbols &symbols) {
  for (const auto &[name, values] : request.hints.values)
    TW_CHECK(checkHint(request, name, values, symbols));

  const bool usesCube = std::any_of(request.facts.work.begin(), request.facts.work.end(),
                                    [](const WorkItem &item) { return item.kind == WorkItem::Kind::Dot; });
  std::vector<Dimension> out;
  const auto uses = parameterUses(request, symbols);
  for (size_t i = 0; i < uses.size(); ++i) {
    const std::string &name = uses[i].parameter->name;
    if (const auto hint = request.hints.values.find(name); hint != request.hints.values.end()) {
      out.push_back({{name, distinct(hint->second), "values from hints"}, i, true});
      continue;
    }
    TW_TRY(Domain domain, generatedDomain(request, uses[i], usesCube));
    out.push_back({std::move(domain), i, false});
  }
  std::vector<Dimension> options = generatedOptions(request);
  for (const auto &[name, values] : request.hints.values) {
    if (symbols.openIndex(name))
      continue;
    const CompileOption *option = findCompileOption(name);
    Dimension dimension{{name, distinct(values), "values from hints"}, std::nullopt, true};
    if (!option->worksOn(request.target.kind))
      dimension.domain = {name, {}, fmt::format("has no effect on {}: not multiplied", request.target.name)};
    std::erase_if(options,
                  [&, &name = name](const Dimension &each) { return each.domain.parameter == name; });
    options.push_back(std::move(dimension));
  }
  out.insert(out.end(), options.begin(), options.end());
  return out;
}

} // namespace tilewright

#include "Call.h"

#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/support/Files.h"

#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::cli {

namespace {

std::string_view statusName(KernelFacts::Status status) {
  switch (status) {
  case KernelFacts::Status::Ok:
    return "ok";
  case KernelFacts::Status::Partial:
    return "partial";
  case KernelFacts::Status::Refused:
    return "refused";
  }
  return "refused";
}

nlohmann::json evidenceJson(const std::vector<Evidence> &evidence) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto &each : evidence)
    out.push_back({{"line", each.line}, {"text", each.text}});
  return out;
}

std::string extentText(const Axis &axis) { return axis.extent.valid() ? toString(axis.extent) : "?"; }

nlohmann::json factsJson(const std::string &file, const Program &program, const KernelFacts &facts) {
  nlohmann::json out{{"file", file}, {"kernel", facts.kernel}, {"status", statusName(facts.status)}};
  auto &parameters = out["parameters"] = nlohmann::json::array();
  for (const auto &parameter : program.parameters) {
    nlohmann::json entry{{"name", parameter.name},
                         {"open", parameter.kind == Parameter::Kind::Open},
                         {"roles", nlohmann::json::array()},
                         {"axes", nlohmann::json::array()},
                         {"evidence", nlohmann::json::array()}};
    if (const ParameterFacts *known = facts.find(parameter.name)) {
      for (const Role role : known->roles)
        entry["roles"].push_back(name(role));
      for (const uint32_t axis : known->axes)
        entry["axes"].push_back(facts.axes[axis].name);
      entry["evidence"] = evidenceJson(known->evidence);
    }
    parameters.push_back(std::move(entry));
  }
  auto &axes = out["axes"] = nlohmann::json::array();
  for (const auto &axis : facts.axes)
    axes.push_back({{"name", axis.name},
                    {"extent", extentText(axis)},
                    {"reduction", axis.reduction},
                    {"contiguous", axis.contiguous}});
  auto &constraints = out["constraints"] = nlohmann::json::array();
  for (const auto &constraint : facts.constraints)
    constraints.push_back({{"code", constraint.code}, {"text", constraint.text}, {"line", constraint.line}});
  out["effects"] = {{"reads", facts.effects.reads},
                    {"writes", facts.effects.writes},
                    {"accumulates", facts.effects.accumulates},
                    {"atomics", facts.effects.atomics}};
  auto &coupled = out["hostCoupled"] = nlohmann::json::array();
  for (const auto &each : facts.hostCoupled)
    coupled.push_back({{"parameter", each.parameter},
                       {"argument", each.argument},
                       {"text", each.text},
                       {"line", each.line},
                       {"companion", each.companion}});
  auto &diagnostics = out["diagnostics"] = nlohmann::json::array();
  for (const auto *list : {&facts.diagnostics, &program.remarks})
    for (const auto &diagnostic : *list)
      diagnostics.push_back(toJson(diagnostic));
  return out;
}

nlohmann::json errorJson(const std::string &file, const std::string &kernel, const Error &error) {
  nlohmann::json out{{"file", file},
                     {"kernel", kernel},
                     {"status", error.kind == ErrorKind::Refusal ? "refused" : "error"},
                     {"parameters", nlohmann::json::array()},
                     {"axes", nlohmann::json::array()},
                     {"constraints", nlohmann::json::array()},
                     {"effects",
                      {{"reads", nlohmann::json::array()},
                       {"writes", nlohmann::json::array()},
                       {"accumulates", nlohmann::json::array()},
                       {"atomics", nlohmann::json::array()}}},
                     {"hostCoupled", nlohmann::json::array()}};
  out["diagnostics"] = toJson(error)["diagnostics"];
  if (out["diagnostics"].empty())
    out["diagnostics"].push_back({{"severity", "error"}, {"code", error.code}, {"text", error.message}});
  return out;
}

void printFacts(const Program &program, const KernelFacts &facts, uint32_t line) {
  fmt::print("kernel {} (line {}): {}\n", facts.kernel, line, statusName(facts.status));
  if (!facts.axes.empty()) {
    fmt::print(" axes\n");
    std::vector<std::vector<std::string>> rows{{"axis", "extent", "", "tiled by"}};
    for (const auto &axis : facts.axes)
      rows.push_back(
          {axis.name, extentText(axis),
           fmt::format("{}{}", axis.reduction ? "reduction " : "", axis.contiguous ? "contiguous" : ""),
           fmt::format("{}", fmt::join(axis.parameters, ", "))});
    fmt::print("{}", table(rows));
  }
  if (!facts.parameters.empty()) {
    fmt::print(" open parameters\n");
    for (const auto &parameter : facts.parameters) {
      std::vector<std::string> roles, axes;
      for (const Role role : parameter.roles)
        roles.emplace_back(name(role));
      for (const uint32_t axis : parameter.axes)
        axes.push_back(facts.axes[axis].name);
      fmt::print("  {}: {}{}{}\n", parameter.name, fmt::join(roles, ", "), axes.empty() ? "" : " of ",
                 fmt::join(axes, ", "));
      for (const auto &evidence : parameter.evidence)
        fmt::print("      line {}: {}\n", evidence.line, evidence.text);
    }
  }
  if (!facts.constraints.empty()) {
    fmt::print(" constraints\n");
    for (const auto &constraint : facts.constraints)
      fmt::print("  {} [{}]{}\n", constraint.text, constraint.code,
                 constraint.line ? fmt::format(" line {}", constraint.line) : "");
  }
  const auto listed = [](const char *label, const std::vector<std::string> &names) {
    if (!names.empty())
      fmt::print("  {}: {}\n", label, fmt::join(names, ", "));
  };
  fmt::print(" effects\n");
  listed("reads", facts.effects.reads);
  listed("writes", facts.effects.writes);
  listed("accumulates into", facts.effects.accumulates);
  listed("updates atomically", facts.effects.atomics);
  for (const auto &coupled : facts.hostCoupled)
    fmt::print(" host-coupled: {} <- {} ({}, line {})\n", coupled.argument, coupled.parameter, coupled.text,
               coupled.line);
  for (const auto *list : {&facts.diagnostics, &program.remarks})
    for (const auto &diagnostic : *list)
      fmt::print(stderr, "{}", render(diagnostic));
}

} // namespace

int analyzeCommand(const Call &call) {
  auto source = readSourceFile(call.file());
  if (!source)
    return report(source.error(), call.json);
  const auto [module, broken] = lang::parseTolerant(*source);
  auto problem = call.problem();
  if (!problem)
    return report(problem.error(), call.json);
  std::vector<KernelDeclaration> kernels = kernelsOf(module);
  if (!call.kernelName().empty())
    std::erase_if(kernels, [&](const KernelDeclaration &kernel) { return kernel.name != call.kernelName(); });
  else
    std::erase_if(kernels, [](const KernelDeclaration &kernel) { return kernel.calledByAnother; });
  if (kernels.empty()) {
    auto missing = Kernel::fromSource(*source, call.kernelName());
    return report(missing ? Error(ErrorKind::User, "lower.no-kernel", "no kernel to analyse")
                          : missing.error(),
                  call.json);
  }
  int status = broken.empty() || !call.kernelName().empty() ? kDone : kWorkFailed;
  if (status != kDone)
    for (const auto &diagnostic : broken)
      std::fputs(render(diagnostic).c_str(), stderr);
  nlohmann::json list = nlohmann::json::array();
  for (const auto &declaration : kernels) {
    auto kernel = Kernel::fromSource(*source, declaration.name);
    auto path = kernel ? kernel->analyze(*problem) : Expected<Path>(Unexpected(kernel.error()));
    if (!path) {
      status = report(path.error(), false);
      list.push_back(errorJson(call.file(), declaration.name, path.error()));
      list.back()["line"] = declaration.location.line();
      continue;
    }
    if (call.json) {
      list.push_back(factsJson(call.file(), *path->program, *path->facts));
      list.back()["line"] = declaration.location.line();
    } else {
      printFacts(*path->program, *path->facts, declaration.location.line());
    }
  }
  if (call.json && !call.kernelName().empty())
    fmt::print("{}\n", list.front().dump());
  else if (call.json)
    fmt::print("{}\n", nlohmann::json{{"kernels", list}}.dump());
  return status;
}

} // namespace tilewright::cli

#include "tilewright/analysis/KernelFacts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

namespace {

std::string text(SymInt expression) { return expression.valid() ? toString(expression) : "?"; }

std::string termText(const AccessTerm &term) {
  const char *kind = term.kind == AccessTerm::Kind::ProgramId ? "pid"
                     : term.kind == AccessTerm::Kind::Loop    ? "loop"
                                                              : "lane";
  return fmt::format("{}*{}{}[{}]", text(term.coefficient), kind, term.index, text(term.trip));
}

std::string lines(const std::vector<Evidence> &evidence) {
  std::string out;
  for (const Evidence &item : evidence)
    out += fmt::format("    line {}: {}\n", item.line, item.text);
  return out;
}

} // namespace

std::string_view name(Confidence confidence) {
  return confidence == Confidence::Proved ? "proved" : confidence == Confidence::Likely ? "likely" : "guess";
}

std::string print(const KernelFacts &facts) {
  const char *status = facts.status == KernelFacts::Status::Ok        ? "ok"
                       : facts.status == KernelFacts::Status::Partial ? "partial"
                                                                      : "refused";
  std::string out = fmt::format("facts @{} {}\n", facts.kernel, status);
  for (const Axis &axis : facts.axes) {
    out += fmt::format("  axis {} extent {}{}{} tiled by [{}]\n", axis.name, text(axis.extent),
                       axis.reduction ? " reduction" : "", axis.contiguous ? " contiguous" : "",
                       fmt::join(axis.parameters, ", "));
    out += lines(axis.evidence);
  }
  for (const ParameterFacts &parameter : facts.parameters) {
    std::vector<std::string_view> roles;
    for (Role role : parameter.roles)
      roles.push_back(name(role));
    std::vector<std::string> axes;
    for (uint32_t axis : parameter.axes)
      axes.push_back(facts.axes[axis].name);
    out += fmt::format("  parameter {} {} of [{}] {}\n", parameter.name, fmt::join(roles, "+"),
                       fmt::join(axes, ", "), name(parameter.confidence));
    out += lines(parameter.evidence);
  }
  for (const Constraint &constraint : facts.constraints)
    out += fmt::format("  constraint {}: {} (line {})\n", constraint.code, constraint.text, constraint.line);
  for (const AccessMap &access : facts.accesses) {
    std::vector<std::string> terms, masks;
    for (const AccessTerm &term : access.terms)
      terms.push_back(termText(term));
    for (SymInt extent : access.maskExtent)
      masks.push_back(text(extent));
    out += fmt::format("  {} {}: {} + {}{}{}{} mask [{}]\n",
                       access.atomic  ? "atomic"
                       : access.write ? "store"
                                      : "load",
                       access.buffer.empty() ? "?" : access.buffer, text(access.constant),
                       fmt::join(terms, " + "), access.indirect ? " indirect" : "",
                       access.modular ? " modular" : "",
                       access.contiguousAxis >= 0 ? fmt::format(" contiguous {}", access.contiguousAxis) : "",
                       fmt::join(masks, ", "));
  }
  for (const LoopFacts &loop : facts.loops)
    out += fmt::format("  loop {} trip {} axis {}\n", loop.op, text(loop.trip),
                       loop.axis < 0 ? "?" : facts.axes[static_cast<size_t>(loop.axis)].name);
  out += fmt::format("  effects reads [{}] writes [{}] accumulates [{}] atomics [{}]\n",
                     fmt::join(facts.effects.reads, ", "), fmt::join(facts.effects.writes, ", "),
                     fmt::join(facts.effects.accumulates, ", "), fmt::join(facts.effects.atomics, ", "));
  for (const HostCoupling &coupling : facts.hostCoupled)
    out += fmt::format("  host-coupled {} with {}: {} (line {})\n", coupling.parameter, coupling.argument,
                       coupling.text, coupling.line);
  if (!facts.inferredGrid.empty()) {
    std::vector<std::string> dims;
    for (SymInt dim : facts.inferredGrid)
      dims.push_back(text(dim));
    out += fmt::format("  grid ({})\n", fmt::join(dims, ", "));
  }
  for (const Diagnostic &diagnostic : facts.diagnostics)
    out += fmt::format("  {}: {} [{}]\n", severityName(diagnostic.severity), diagnostic.message,
                       diagnostic.code);
  return out;
}

} // namespace tilewright

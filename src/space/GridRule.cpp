#include "GridRule.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {

GridRule::GridRule(const SpaceRequest &request, const LaunchSymbols &symbols)
    : request_(request), symbols_(symbols) {
  for (const SymInt dim : request.grid.dims()) {
    dims_.emplace_back(dim, symbols);
    openMask_ |= dims_.back().openMask();
  }
  if (request.grid.isCallback())
    openMask_ = ~uint64_t{0};
  if (request.grid.isFixed())
    if (const auto fixed = request.grid.evaluate({}, {}))
      constant_ = *fixed;
  for (const SymInt dim : request.facts.inferredGrid)
    needed_.emplace_back(dim, symbols);
  strided_ = std::any_of(request.program.ops.begin(), request.program.ops.end(),
                         [](const Op &op) { return op.kind == OpKind::ProgramCount; });
}

tl::expected<std::array<int64_t, 3>, GridRule::Refusal> GridRule::dims(std::span<const int64_t> values,
                                                                       const Config &config) const {
  std::array<int64_t, 3> out{1, 1, 1};
  if (!dims_.empty()) {
    for (size_t axis = 0; axis < dims_.size() && axis < out.size(); ++axis) {
      const auto size = dims_[axis](values);
      if (!size)
        return tl::unexpected(
            Refusal{"grid.empty",
                    fmt::format("axis {} of the grid has no value (a division by zero, or too large): {}",
                                axis, request_.grid.text())});
      out[axis] = *size;
    }
  } else if (constant_) {
    out = *constant_;
  } else {
    SymValues bound;
    for (uint32_t id = 0; id < values.size(); ++id)
      bound.set(id, values[id]);
    auto size = request_.grid.evaluate(config, bound);
    if (!size)
      return tl::unexpected(
          Refusal{size.error().code.empty() ? "grid.syntax" : size.error().code, size.error().message});
    out = *size;
  }

  for (size_t axis = 0; axis < out.size(); ++axis) {
    if (out[axis] <= 0)
      return tl::unexpected(Refusal{"grid.empty", fmt::format("the grid {} has no program along axis {}",
                                                              fmt::join(out, " x "), axis)});
    if (out[axis] > request_.target.maxGrid[axis])
      return tl::unexpected(
          Refusal{"grid.limit", fmt::format("{} programs along axis {}, {} can launch {}", out[axis], axis,
                                            request_.target.name, request_.target.maxGrid[axis])});
  }
  const double product =
      static_cast<double>(out[0]) * static_cast<double>(out[1]) * static_cast<double>(out[2]);
  if (product > static_cast<double>(request_.target.maxPrograms))
    return tl::unexpected(
        Refusal{"grid.limit", fmt::format("{} = {:.0f} programs, {} can launch {}", fmt::join(out, " x "),
                                          product, request_.target.name, request_.target.maxPrograms)});
  return out;
}

std::string GridRule::shortage(std::span<const int64_t> values, const std::array<int64_t, 3> &grid) const {
  if (!constant_ || strided_)
    return {};
  for (size_t axis = 0; axis < needed_.size() && axis < grid.size(); ++axis) {
    const auto wanted = needed_[axis].decidable() ? needed_[axis](values) : std::nullopt;
    if (wanted && *wanted > grid[axis])
      return fmt::format("the work needs {} programs along axis {}, the grid has {}", *wanted, axis,
                         grid[axis]);
  }
  return {};
}

bool GridRule::followsParameter(size_t openIndex, const std::vector<int64_t> &least,
                                const std::vector<int64_t> &most) const {
  const std::string &name = symbols_.open()[openIndex]->name;
  if (request_.grid.isSymbolic())
    return (openMask_ & (uint64_t{1} << openIndex)) != 0;
  if (!request_.grid.isCallback() || least[openIndex] == most[openIndex])
    return request_.grid.isCallback();
  // A callable whose source nobody can read: ask it with this parameter at both ends and the others at
  // theirs.
  for (const auto &others : {least, most}) {
    Config low, high;
    for (size_t i = 0; i < symbols_.open().size(); ++i) {
      low.set(symbols_.open()[i]->name, others[i]);
      high.set(symbols_.open()[i]->name, others[i]);
    }
    low.set(name, least[openIndex]);
    high.set(name, most[openIndex]);
    const auto few = request_.grid.evaluate(high, {}), many = request_.grid.evaluate(low, {});
    if (!few || !many || *few != *many)
      return true;
  }
  return false;
}

std::optional<Error> GridRule::fixedGrid(const std::vector<int64_t> &least,
                                         const std::vector<int64_t> &most) const {
  if (strided_)
    return std::nullopt;
  for (size_t i = 0; i < symbols_.open().size(); ++i) {
    const Parameter *parameter = symbols_.open()[i];
    const ParameterFacts *facts = request_.facts.find(parameter->name);
    if (!facts || !facts->hasRole(Role::Split) || followsParameter(i, least, most))
      continue;

    std::vector<int64_t> smallest = symbols_.launchValues();
    Config config;
    for (size_t k = 0; k < least.size(); ++k) {
      symbols_.assign(smallest, k, least[k]);
      config.set(symbols_.open()[k]->name, least[k]);
    }
    const auto given = dims(smallest, config);
    bool enough = given.has_value() && !needed_.empty();
    std::string shortage;
    for (size_t axis = 0; given && axis < needed_.size() && axis < 3; ++axis) {
      const auto wanted = needed_[axis].decidable() ? needed_[axis](smallest) : std::nullopt;
      enough &= wanted && *wanted <= (*given)[axis];
      if (wanted && *wanted > (*given)[axis] && least[i] > 0)
        shortage = fmt::format("with {} = {} the work needs {} programs along axis {}, the grid has {}",
                               parameter->name, least[i], *wanted, axis, (*given)[axis]);
    }
    if (enough)
      continue;

    auto diagnostic =
        makeDiagnostic(Severity::Error, "grid.fixed",
                       fmt::format("{} splits the work between programs, but the grid does not depend on it",
                                   parameter->name),
                       parameter->location);
    if (!facts->evidence.empty())
      diagnostic.note(fmt::format("line {}: {}", facts->evidence.front().line, facts->evidence.front().text));
    if (!shortage.empty())
      diagnostic.note(shortage);
    diagnostic.help(fmt::format(
        "make the grid a function of it, as in lambda meta: (triton.cdiv(n, meta[\"{0}\"]),), or pass {0} "
        "at launch",
        parameter->name));
    return Error(ErrorKind::User, std::move(diagnostic));
  }
  return std::nullopt;
}

} // namespace tilewright

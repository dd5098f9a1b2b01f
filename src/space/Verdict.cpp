#include "Verdict.h"

#include "CompileOptions.h"
#include "ViolationText.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace tilewright {

namespace {

/// Smallest contraction depth of tl.dot that Triton's CUDA back end accepts (min_dot_size): 32 for 8-bit
/// operands.
constexpr int64_t kLeastCudaDepth = 16, kLeastCudaDepth8Bit = 32;

bool sameValue(const ArgumentValue &fixed, const ConfigValue &given) {
  if (const auto *flag = std::get_if<bool>(&fixed))
    return (std::holds_alternative<bool>(given) && std::get<bool>(given) == *flag) ||
           (std::holds_alternative<int64_t>(given) && std::get<int64_t>(given) == (*flag ? 1 : 0));
  if (const auto *integer = std::get_if<int64_t>(&fixed))
    return (std::holds_alternative<int64_t>(given) && std::get<int64_t>(given) == *integer) ||
           (std::holds_alternative<bool>(given) && (std::get<bool>(given) ? 1 : 0) == *integer);
  if (const auto *number = std::get_if<double>(&fixed))
    return std::holds_alternative<double>(given) && std::get<double>(given) == *number;
  if (const auto *text = std::get_if<std::string>(&fixed))
    return std::holds_alternative<std::string>(given) && std::get<std::string>(given) == *text;
  return false;
}

} // namespace

Verdict::Verdict(const SpaceRequest &request)
    : request_(request), symbols_(request.program, request.arguments), grid_(request, symbols_),
      capacity_(request, symbols_) {
  for (const Constraint &constraint : request.facts.constraints) {
    if (!constraint.condition.valid())
      continue;
    // Triton's language wants powers of two; targets whose front end does not are freer.
    if (constraint.code == "shape.pow2" && !request.target.powerOfTwoTiles)
      continue;
    Formula formula(constraint.condition, symbols_);
    if (formula.decidable())
      rules_.push_back({&constraint, std::move(formula)});
  }
  for (const Op &op : request.program.ops)
    if (op.kind == OpKind::Iota)
      for (const char *bound : {"start", "end"})
        if (const SymInt length = op.attributes.sym(bound); length.valid() && length.isSymbol())
          tileMask_ |= symbols_.openBit(length.symbolId());
  for (const AccessMap &access : request.facts.accesses)
    for (const SymInt length : access.tileShape)
      if (length.valid() && length.isSymbol())
        tileMask_ |= symbols_.openBit(length.symbolId());
  if (request.target.kind == TargetKind::Cuda)
    for (const WorkItem &item : request.facts.work)
      if (item.kind == WorkItem::Kind::Dot && item.shape.size() >= 3)
        dotDepths_.push_back({Formula(item.shape.back(), symbols_),
                              byteSize(item.dtype) == 1 ? kLeastCudaDepth8Bit : kLeastCudaDepth});
}

std::optional<Rejection> Verdict::violation(const Rule &rule, std::span<const int64_t> values) const {
  const auto holds = rule.formula(values);
  if (holds && *holds != 0)
    return std::nullopt;
  return Rejection{
      {}, rule.constraint->code, violationText(*rule.constraint, symbols_, values), Origin::Generated};
}

std::optional<Rejection> Verdict::earlyViolation(uint64_t assigned, size_t last,
                                                 std::span<const int64_t> values) const {
  const uint64_t lastBit = uint64_t{1} << last;
  for (const Rule &rule : rules_)
    if ((rule.formula.openMask() & lastBit) && (rule.formula.openMask() & ~assigned) == 0 &&
        rule.constraint->code != "path.condition")
      if (auto rejection = violation(rule, values))
        return rejection;
  return std::nullopt;
}

std::optional<Rejection> Verdict::invalidName(const Config &config) const {
  for (const Parameter *parameter : symbols_.open()) {
    const ConfigValue *value = config.find(parameter->name);
    if (!value)
      return Rejection{config, "space.missing",
                       fmt::format("{} has no value in this configuration", parameter->name), Origin::User};
    if (!config.integer(parameter->name))
      return Rejection{
          config, "hint.value",
          fmt::format("{} must be an integer or a bool, not '{}'", parameter->name, toString(*value)),
          Origin::User};
  }
  for (const auto &[name, value] : config.values()) {
    const Parameter *parameter = request_.program.findParameter(name);
    if (parameter && parameter->kind == Parameter::Kind::Open)
      continue;
    if (parameter && parameter->kind == Parameter::Kind::Fixed && parameter->isConstexpr) {
      if (!sameValue(parameter->fixed, value))
        return Rejection{config, "hint.value",
                         fmt::format("{} is fixed at {} for this launch; the configuration says {}", name,
                                     toString(parameter->fixed), toString(value)),
                         Origin::User};
      continue;
    }
    if (!findCompileOption(name))
      return Rejection{
          config, "hint.unknown",
          fmt::format("'{}' is neither a parameter of {} nor a compile option; options of {} are {}", name,
                      request_.program.kernel, request_.target.name, optionNames(request_.target.kind)),
          Origin::User};
  }
  return std::nullopt;
}

std::optional<Rejection> Verdict::targetRule(const Config &config, std::span<const int64_t> values) const {
  for (const DotDepth &depth : dotDepths_)
    if (const auto k = depth.k(values); k && *k < depth.least)
      return Rejection{
          config, "align.unit",
          fmt::format("tl.dot needs a depth of at least {} on {}: {}", depth.least, request_.target.name, *k),
          Origin::Generated};
  if (request_.target.kind == TargetKind::Cuda)
    if (const auto warps = config.integer("num_warps");
        warps && (*warps < 1 || *warps > 32 || !std::has_single_bit(static_cast<uint64_t>(*warps))))
      return Rejection{config, "hint.value",
                       fmt::format("num_warps must be a power of two from 1 to 32: {}", *warps),
                       Origin::Generated};
  return std::nullopt;
}

tl::expected<Candidate, Rejection> Verdict::judgeValues(const Config &config,
                                                        std::span<const int64_t> values) const {
  const auto refuse = [&](std::string code, std::string text) {
    return tl::unexpected(Rejection{config, std::move(code), std::move(text), Origin::Generated});
  };
  for (size_t i = 0; i < symbols_.open().size() && i < 64; ++i)
    if (const int64_t value = values[symbols_.open()[i]->symbol.symbolId()];
        (tileMask_ >> i & 1) && value < 1)
      return refuse("hint.value", fmt::format("{} is the length of a tile and must be at least 1: {}",
                                              symbols_.open()[i]->name, value));
  const Rule *otherPath = nullptr;
  for (const Rule &rule : rules_) {
    if (rule.constraint->code == "path.condition") {
      const auto holds = rule.formula(values);
      if ((!holds || *holds == 0) && !otherPath)
        otherPath = &rule;
      continue;
    }
    if (auto rejection = violation(rule, values))
      return refuse(std::move(rejection->code), std::move(rejection->text));
  }
  if (otherPath)
    return refuse("path.condition", violationText(*otherPath->constraint, symbols_, values));
  if (auto rejection = targetRule(config, values))
    return tl::unexpected(*std::move(rejection));

  Candidate out;
  auto demand = capacity_.demand(values, config);
  if (!demand.code.empty())
    return refuse(std::move(demand.code), std::move(demand.text));
  auto grid = grid_.dims(values, config);
  if (!grid)
    return refuse(std::move(grid.error().code), std::move(grid.error().text));
  if (auto shortage = grid_.shortage(values, *grid); !shortage.empty())
    return refuse("grid.fixed", std::move(shortage));
  out.config = config;
  out.grid = *grid;
  out.bytes = std::move(demand.bytes);
  return out;
}

tl::expected<Candidate, Rejection> Verdict::judge(const Config &config) const {
  if (auto rejection = invalidName(config))
    return tl::unexpected(*std::move(rejection));
  return judgeValues(config, symbols_.valuesOf(config));
}

} // namespace tilewright

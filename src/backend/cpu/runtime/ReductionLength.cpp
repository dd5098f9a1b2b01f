#include "ReductionLength.h"

#include <algorithm>

namespace tilewright::cpu {

namespace {

class Sizes {
public:
  Sizes(const LaunchArguments &arguments, const Config &config) : arguments_(arguments), config_(config) {}

  /// By symbol names, so that the facts need not come from the Program that is compiled.
  double of(SymInt expression) const {
    if (!expression.valid())
      return 1;
    SymValues values;
    for (const uint32_t id : symbolsOf(expression)) {
      if (const auto value = named(expression.context().symbol(id).name))
        values.set(id, *value);
    }
    return static_cast<double>(std::max<int64_t>(1, evaluate(expression, values).value_or(1)));
  }

private:
  std::optional<int64_t> named(const std::string &name) const {
    if (const auto value = config_.integer(name))
      return value;
    const ArgumentValue *argument = arguments_.find(name);
    const int64_t *integer = argument ? std::get_if<int64_t>(argument) : nullptr;
    return integer ? std::optional(*integer) : std::nullopt;
  }

  const LaunchArguments &arguments_;
  const Config &config_;
};

} // namespace

Accumulation accumulationOf(const KernelFacts &facts, const LaunchArguments &arguments,
                            const Config &config) {
  const Sizes sizes(arguments, config);
  Accumulation out;
  for (const auto &axis : facts.axes) {
    if (axis.reduction)
      out.terms = std::max(out.terms, sizes.of(axis.extent));
  }
  bool onlyDouble = true, any = false;
  for (const auto &work : facts.work) {
    const bool isDot = work.kind == WorkItem::Kind::Dot;
    if (!isDot && work.kind != WorkItem::Kind::Reduce && work.kind != WorkItem::Kind::Scan)
      continue;
    any = true;
    double longest = 1;
    for (const SymInt extent : work.shape)
      longest = std::max(longest, sizes.of(extent));
    double terms = isDot && !work.shape.empty() ? sizes.of(work.shape.back()) : longest;
    for (const OpId loop : work.loops) {
      const auto found = std::find_if(facts.loops.begin(), facts.loops.end(),
                                      [&](const LoopFacts &each) { return each.op == loop; });
      if (found != facts.loops.end())
        terms *= sizes.of(found->trip);
    }
    out.terms = std::max(out.terms, terms);
    onlyDouble = onlyDouble && work.dtype == DType::Float64;
    // Dots accumulate short floats in f32; reductions stay in their own type.
    if (!isDot && isFloat(work.dtype) && bitWidth(work.dtype) < bitWidth(out.dtype))
      out.dtype = work.dtype;
  }
  if (any && onlyDouble)
    out.dtype = DType::Float64;
  return out;
}

} // namespace tilewright::cpu

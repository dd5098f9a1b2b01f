#include "ParameterUse.h"

#include <algorithm>

namespace tilewright {

namespace {

/// The extent that a one-shot parameter must cover: x of `x <= P`.
SymInt coveredBy(const Constraint &constraint, SymInt parameter) {
  const SymInt condition = constraint.condition;
  if (constraint.code == "oneshot.short" && condition.valid() &&
      (condition.op() == SymOp::Le || condition.op() == SymOp::Lt) && condition.operands()[1] == parameter)
    return condition.operands()[0];
  return {};
}

class UseCollector {
public:
  UseCollector(const SpaceRequest &request, const LaunchSymbols &symbols)
      : request_(request), symbols_(symbols) {}

  std::vector<ParameterUse> run() {
    std::vector<ParameterUse> out;
    for (const Parameter *parameter : symbols_.open()) {
      ParameterUse use;
      use.parameter = parameter;
      use.facts = request_.facts.find(parameter->name);
      shape(use);
      out.push_back(std::move(use));
    }
    // An extent may itself depend on an open parameter (an inner tile walks over the outer one): take it at
    // the outer parameter's own extent, the largest useful value.
    std::vector<int64_t> values = symbols_.launchValues();
    for (int pass = 0; pass < 2; ++pass)
      for (size_t i = 0; i < out.size(); ++i) {
        if (!out[i].extent)
          extent(out[i], values, pass == 1);
        symbols_.assign(values, i, out[i].extent.value_or(0));
      }
    return out;
  }

private:
  const SpaceRequest &request_;
  const LaunchSymbols &symbols_;

  void shape(ParameterUse &use) const {
    const SymInt symbol = use.parameter->symbol;
    bool sized = false;
    const auto elementSize = [&](DType dtype) {
      const auto bytes = std::max<int64_t>(1, byteSize(dtype));
      use.leastBytes = sized ? std::min(use.leastBytes, bytes) : bytes;
      use.mostBytes = sized ? std::max(use.mostBytes, bytes) : bytes;
      sized = true;
    };
    for (const Op &op : request_.program.ops)
      use.isTileLength |= op.kind == OpKind::Iota && op.attributes.sym("end") == symbol;
    for (const AccessMap &access : request_.facts.accesses)
      for (size_t axis = 0; axis < access.tileShape.size(); ++axis)
        if (access.tileShape[axis] == symbol) {
          use.isTileLength = true;
          elementSize(access.dtype);
          use.isContiguous |= static_cast<int32_t>(axis) == access.contiguousAxis;
          for (size_t other = 0; other < access.tileShape.size(); ++other)
            use.sharesTile |= other != axis && !access.tileShape[other].isConstant();
        }
    for (const WorkItem &item : request_.facts.work) {
      if (item.kind != WorkItem::Kind::Dot || item.shape.size() < 3)
        continue;
      const size_t last = item.shape.size();
      use.dotRows |= item.shape[last - 3] == symbol;
      use.dotColumns |= item.shape[last - 2] == symbol;
      use.dotDepth |= item.shape[last - 1] == symbol;
    }
    for (const Constraint &constraint : request_.facts.constraints)
      use.powerOfTwo |= constraint.code == "shape.pow2" && request_.target.powerOfTwoTiles &&
                        constraint.condition.valid() && mentions(constraint.condition, symbol.symbolId());
    // An outer block that is walked in inner tiles has no tile of its own; whether it lies along the
    // contiguous axis shows in its axes.
    if (!use.isTileLength && use.facts)
      for (const uint32_t axis : use.facts->axes)
        use.isContiguous |= axis < request_.facts.axes.size() && request_.facts.axes[axis].contiguous;
    if (!sized)
      for (const AccessMap &access : request_.facts.accesses)
        elementSize(access.dtype);
  }

  void consider(ParameterUse &use, SymInt expression, std::span<const int64_t> values, bool withOpen) const {
    if (!expression.valid())
      return;
    const Formula formula(expression, symbols_);
    if (!formula.decidable() || (formula.openMask() && !withOpen))
      return;
    const auto value = formula(values);
    if (!value || *value < 0 || (use.extent && *use.extent >= *value))
      return;
    use.extent = value;
    use.extentText = toString(expression);
  }

  void extent(ParameterUse &use, std::span<const int64_t> values, bool withOpen) const {
    if (use.facts)
      for (const uint32_t axis : use.facts->axes)
        if (axis < request_.facts.axes.size())
          consider(use, request_.facts.axes[axis].extent, values, withOpen);
    const SymInt symbol = use.parameter->symbol;
    if (use.hasRole(Role::OneShot))
      for (const Constraint &constraint : request_.facts.constraints)
        consider(use, coveredBy(constraint, symbol), values, withOpen);
    if (use.extent)
      return;
    for (const AccessMap &access : request_.facts.accesses)
      for (size_t axis = 0; axis < access.tileShape.size() && axis < access.maskExtent.size(); ++axis)
        if (access.tileShape[axis] == symbol)
          consider(use, access.maskExtent[axis], values, withOpen);
  }
};

} // namespace

std::vector<ParameterUse> parameterUses(const SpaceRequest &request, const LaunchSymbols &symbols) {
  return UseCollector(request, symbols).run();
}

} // namespace tilewright

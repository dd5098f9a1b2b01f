#include "Analysis.h"

#include <algorithm>
#include <numeric>

namespace tilewright::analysis {

namespace {

/// Which axes of data tiles are one direction: joined through elementwise arithmetic, reductions, dots and
/// loops, so that the axis of a tl.sum leads back to the loads whose values it adds up.
class DataAxes {
public:
  explicit DataAxes(Analysis &analysis) : analysis_(analysis), program_(analysis.program) {
    first_.resize(program_.values.size() + 1);
    for (size_t i = 0; i < program_.values.size(); ++i)
      first_[i + 1] = first_[i] + static_cast<uint32_t>(program_.values[i].type.shape.size());
    parent_.resize(first_.back());
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (OpId id = 0; id < program_.ops.size(); ++id)
      join(id);
  }

  uint32_t root(ValueId value, size_t axis) { return find(first_[value] + static_cast<uint32_t>(axis)); }
  size_t rank(ValueId value) const { return program_.value(value).type.shape.size(); }

private:
  uint32_t find(uint32_t node) {
    while (parent_[node] != node)
      node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  /// Uniform tiles (constants, splats) have no direction of their own; positions belong to no one access.
  bool takesPart(ValueId value) {
    if (rank(value) == 0 || !analysis_.trace.isData(value))
      return false;
    const Op *definition = program_.definingOp(value);
    for (int depth = 0; definition && depth < 8; ++depth) {
      if (definition->kind == OpKind::Constant || definition->kind == OpKind::Splat)
        return false;
      if (definition->kind != OpKind::Broadcast && definition->kind != OpKind::Cast)
        break;
      definition = program_.definingOp(definition->operands[0]);
    }
    return true;
  }
  void unite(ValueId a, size_t axisA, ValueId b, size_t axisB) {
    if (axisA >= rank(a) || axisB >= rank(b) || !takesPart(a) || !takesPart(b))
      return;
    if (program_.value(a).type.shape[axisA].isConstant(1) ||
        program_.value(b).type.shape[axisB].isConstant(1))
      return;
    parent_[root(a, axisA)] = root(b, axisB);
  }
  void uniteAll(ValueId a, ValueId b) {
    for (size_t d = 0; d < std::min(rank(a), rank(b)); ++d)
      unite(a, d, b, d);
  }

  void join(OpId id) {
    const Op &op = program_.op(id);
    switch (op.kind) {
    case OpKind::ExpandDims: {
      int64_t axis = op.attributes.integerOr("axis", 0);
      if (axis < 0)
        axis += static_cast<int64_t>(rank(op.results[0]));
      for (size_t d = 0; d < rank(op.operands[0]); ++d)
        unite(op.operands[0], d, op.results[0], d >= static_cast<size_t>(axis) ? d + 1 : d);
      return;
    }
    case OpKind::Permute: {
      const auto &order = op.attributes.integers("order");
      for (size_t d = 0; d < order.size(); ++d)
        unite(op.operands[0], static_cast<size_t>(order[d]), op.results[0], d);
      return;
    }
    case OpKind::Reduce: {
      const size_t reduced = static_cast<size_t>(op.attributes.integerOr("axis", 0));
      for (ValueId operand : op.operands)
        for (ValueId result : op.results)
          for (size_t d = 0; d < rank(operand); ++d)
            if (d != reduced)
              unite(operand, d, result, d > reduced ? d - 1 : d);
      return;
    }
    case OpKind::Dot: {
      const size_t r = rank(op.results[0]);
      if (r < 2)
        return;
      unite(op.operands[0], r - 2, op.results[0], r - 2);
      unite(op.operands[1], r - 1, op.results[0], r - 1);
      unite(op.operands[0], r - 1, op.operands[1], r - 2);
      uniteAll(op.operands[2], op.results[0]);
      return;
    }
    case OpKind::For:
    case OpKind::While: {
      const bool isFor = op.kind == OpKind::For;
      for (const LoopRecord &loop : analysis_.trace.loops) {
        if (loop.op != id)
          continue;
        for (size_t i = 0; i < loop.carriedArguments.size() && i < op.results.size(); ++i) {
          const size_t init = isFor ? i + 3 : i;
          if (init < op.operands.size())
            uniteAll(op.operands[init], loop.carriedArguments[i]);
          if (i < loop.carriedYields.size())
            uniteAll(loop.carriedYields[i], loop.carriedArguments[i]);
          uniteAll(loop.carriedArguments[i], op.results[i]);
        }
      }
      return;
    }
    case OpKind::If:
      for (RegionId region : op.regions) {
        const auto &ops = program_.region(region).ops;
        if (ops.empty() || program_.op(ops.back()).kind != OpKind::Yield)
          continue;
        const auto &yielded = program_.op(ops.back()).operands;
        for (size_t i = 0; i < std::min(yielded.size(), op.results.size()); ++i)
          uniteAll(yielded[i], op.results[i]);
      }
      return;
    case OpKind::Splat:
    case OpKind::Reshape:
    case OpKind::Join:
    case OpKind::Split:
    case OpKind::Cat:
    case OpKind::Gather:
    case OpKind::Histogram:
    case OpKind::TopK:
    case OpKind::DotScaled:
    case OpKind::ExtractSlice:
    case OpKind::InsertSlice:
    case OpKind::DescriptorGather:
    case OpKind::Yield:
      return;
    case OpKind::Load:
    case OpKind::BlockLoad:
    case OpKind::DescriptorLoad:
      return;
    default: // elementwise, scans, sorts: shapes agree
      for (ValueId operand : op.operands)
        for (ValueId result : op.results)
          uniteAll(operand, result);
      for (size_t i = 1; i < op.operands.size(); ++i)
        uniteAll(op.operands[0], op.operands[i]);
      return;
    }
  }

  Analysis &analysis_;
  const Program &program_;
  std::vector<uint32_t> first_, parent_;
};

/// The value that an access brings or takes, whose axes are the access's tile axes.
ValueId dataOf(const Op &op) {
  switch (op.kind) {
  case OpKind::Load:
  case OpKind::BlockLoad:
  case OpKind::DescriptorLoad:
  case OpKind::DescriptorGather:
    return op.results[0];
  case OpKind::Store:
  case OpKind::BlockStore:
  case OpKind::DescriptorStore:
  case OpKind::DescriptorScatter:
  case OpKind::DescriptorReduce:
  case OpKind::AtomicRmw:
    return op.operands[1];
  default:
    return kNone;
  }
}

/// Does the value at the end of the body depend on the one at its start?
bool dependsOn(const Program &program, ValueId value, ValueId source) {
  std::vector<bool> seen(program.values.size());
  std::vector<ValueId> pending{value};
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    if (next == source)
      return true;
    if (seen[next])
      continue;
    seen[next] = true;
    const Op *op = program.definingOp(next);
    if (!op)
      continue;
    pending.insert(pending.end(), op->operands.begin(), op->operands.end());
    for (RegionId region : op->regions)
      for (OpId inner : program.region(region).ops)
        if (program.op(inner).kind == OpKind::Yield)
          pending.insert(pending.end(), program.op(inner).operands.begin(), program.op(inner).operands.end());
  }
  return false;
}

} // namespace

void findReductions(Analysis &analysis) {
  const Program &program = analysis.program;
  DataAxes data(analysis);
  const auto mark = [&](ValueId value, size_t axis, OpId why, const std::string &note) {
    if (axis >= data.rank(value))
      return;
    const uint32_t root = data.root(value, axis);
    for (const Walk &walk : analysis.walks) {
      if (!walk.hasLanes() || walk.axis < 0)
        continue;
      const ValueId accessed = dataOf(program.op(analysis.trace.accesses[walk.access].op));
      if (accessed == kNone || static_cast<size_t>(walk.tileAxis) >= data.rank(accessed) ||
          data.root(accessed, static_cast<size_t>(walk.tileAxis)) != root)
        continue;
      Axis &reduced = analysis.axisOf(walk);
      reduced.reduction = true;
      addEvidence(reduced.evidence, analysis.evidenceAt(why, note));
    }
  };
  for (OpId id = 0; id < program.ops.size(); ++id) {
    const Op &op = program.op(id);
    if (op.kind == OpKind::Reduce || op.kind == OpKind::Scan)
      mark(op.operands[0], static_cast<size_t>(op.attributes.integerOr("axis", 0)), id,
           op.kind == OpKind::Scan ? "scanned along this axis" : "combined along this axis");
    else if (op.kind == OpKind::Dot && data.rank(op.operands[0]) >= 2) {
      const size_t rank = data.rank(op.operands[0]);
      mark(op.operands[0], rank - 1, id, "contraction");
      mark(op.operands[1], rank - 2, id, "contraction");
    }
  }
  for (uint32_t number = 0; number < analysis.trace.loops.size(); ++number) {
    const LoopRecord &loop = analysis.trace.loops[number];
    for (size_t i = 0; i < loop.carriedArguments.size() && i < loop.carriedYields.size(); ++i) {
      const ValueId argument = loop.carriedArguments[i], yield = loop.carriedYields[i];
      if (argument == yield || !analysis.trace.isData(argument) || !dependsOn(program, yield, argument))
        continue;
      for (const Walk &walk : analysis.walks)
        for (const Walk::Step &step : walk.loops)
          if (step.index == number && walk.axis >= 0 && !analysis.axisOf(walk).reduction) {
            analysis.axisOf(walk).reduction = true;
            addEvidence(analysis.axisOf(walk).evidence,
                        analysis.evidenceAt(loop.op, "a value is carried from one iteration to the next"));
          }
    }
  }
}

} // namespace tilewright::analysis

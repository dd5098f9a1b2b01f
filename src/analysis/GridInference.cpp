#include "Analysis.h"
#include "Bounds.h"
#include "Monomials.h"

#include <algorithm>

namespace tilewright::analysis {

namespace {

class GridReader {
public:
  explicit GridReader(Analysis &analysis)
      : analysis_(analysis), indices_(analysis.indices()), context_(analysis.context()) {}

  /// Programs along one axis, or invalid.
  SymInt programsAlong(uint32_t axis) {
    SymInt fallback;
    for (const Walk &walk : analysis_.walks)
      for (const Walk::Step &step : walk.programs) {
        if (step.index != axis)
          continue;
        const SymInt turns = turnsOf(walk, step);
        if (turns.valid() && !indices_.mentions(turns, IndexKind::ProgramCount)) {
          if (analysis_.isLaunchTime(turns))
            return turns; // the kernel says how many programs take turns
          continue;
        }
        if (!walk.extent.valid() || !analysis_.isLaunchTime(walk.extent))
          continue;
        if (startsPastItsLoop(analysis_.trace, walk, step))
          return context_.constant(1);
        if (indices_.mentions(step.amount, IndexKind::ProgramCount))
          return context_.constant(
              1); // the next digit of a linear program number: the first axis can do it all
        const SymInt count = context_.cdiv(walk.extent, step.amount);
        if (walk.hasLanes() || walk.source == Walk::Source::Guard)
          return count;
        if (!fallback.valid())
          fallback = count;
      }
    if (fallback.valid())
      return fallback;
    if (const SymInt guarded = countedByGuard(axis); guarded.valid())
      return guarded;
    return decodedFrom(axis);
  }

private:
  /// A grouped grid is one number for several tile counts: as many programs as there are combinations.
  SymInt decodedFrom(uint32_t axis) {
    // for task in range(pid, tasks, P): P programs take turns over the combinations.
    for (const LoopRecord &loop : analysis_.trace.loops)
      if (loop.lower.valid() && loop.step.valid() && loop.lower == indices_.programIds()[axis] &&
          analysis_.isLaunchTime(loop.step))
        return loop.step;
    std::vector<SymInt> numbers;
    SymInt product;
    std::vector<std::pair<SymInt, SymInt>> counts;
    for (const Walk &walk : analysis_.walks) {
      if (!walk.decodedStep.valid() || walk.decodedProgram != axis)
        continue;
      const bool known = walk.extent.valid() && analysis_.isLaunchTime(walk.extent);
      const SymInt count = known ? context_.cdiv(walk.extent, walk.decodedStep) : SymInt();
      const auto found = std::find_if(counts.begin(), counts.end(),
                                      [&](const auto &entry) { return entry.first == walk.decoded; });
      if (found == counts.end())
        counts.emplace_back(walk.decoded, count);
      else if (!found->second.valid())
        found->second = count;
    }
    for (const auto &[number, count] : counts) {
      if (!count.valid())
        return {};
      product = product.valid() ? context_.mul(product, count) : count;
    }
    return product;
  }

  SymInt countedByGuard(uint32_t axis) {
    const SymInt program = indices_.programIds()[axis];
    for (const AccessRecord &access : analysis_.trace.accesses)
      for (const Bound &bound : boundsOf(indices_, access.guard))
        if (bound.position == program && analysis_.isLaunchTime(bound.extent))
          return bound.extent;
    return {};
  }

  Analysis &analysis_;
  Indices &indices_;
  SymContext &context_;
};

} // namespace

void takeGridExtents(Analysis &analysis) {
  if (!analysis.grid || !analysis.grid->isSymbolic())
    return;
  const auto &dims = analysis.grid->dims();
  for (Walk &walk : analysis.walks) {
    if (walk.extent.valid() || walk.programs.size() != 1 || walk.programs[0].index >= dims.size())
      continue;
    const SymInt programs = dims[walk.programs[0].index], amount = walk.programs[0].amount;
    Division blocks;
    if (asDivision(programs, blocks) && blocks.step == amount)
      walk.extent = blocks.total;
    else if (walk.loops.empty() && !analysis.mentionsOpen(programs))
      walk.extent = analysis.context().mul(programs, amount);
    if (walk.extent.valid())
      walk.source = Walk::Source::Grid;
  }
}

void inferGrid(Analysis &analysis) {
  GridReader reader(analysis);
  const auto ids = analysis.indices().programIds();
  size_t axes = 0;
  for (size_t axis = 0; axis < ids.size(); ++axis)
    if (ids[axis].valid())
      axes = axis + 1;
  for (size_t axis = 0; axis < axes; ++axis)
    analysis.facts.inferredGrid.push_back(ids[axis].valid()
                                              ? reader.programsAlong(static_cast<uint32_t>(axis))
                                              : analysis.context().constant(1));
}

} // namespace tilewright::analysis

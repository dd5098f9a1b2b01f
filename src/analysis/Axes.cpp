#include "Analysis.h"
#include "Monomials.h"

#include <algorithm>
#include <numeric>

namespace tilewright::analysis {

namespace {

class AxisFinder {
public:
  explicit AxisFinder(Analysis &analysis) : analysis_(analysis), indices_(analysis.indices()) {}

  void run() {
    for (Walk &walk : analysis_.walks)
      if (walk.hasLanes() && !walk.extent.valid() && walk.size.isConstant() && walk.programs.empty() &&
          walk.loops.empty() && !walk.decodedStep.valid())
        walk.extent = walk.size; // a fixed tile is its own extent
    for (Walk *walk : inOrder()) {
      if (!walk->hasLanes() && !walk->extent.valid())
        continue;
      walk->axis = choose(*walk);
      Axis &axis = analysis_.axisOf(*walk);
      if (walk->hasLanes() && (walk->stride.isConstant(1) || walk->stride.isConstant(-1)))
        axis.contiguous = true;
      addEvidence(axis.evidence, analysis_.evidenceAt(analysis_.trace.accesses[walk->access].op));
    }
    nameAxes();
    addLoops();
  }

private:
  /// Accesses with most lanes first: they tell which directions differ although their extents are equal.
  std::vector<Walk *> inOrder() {
    std::vector<int> lanes(analysis_.trace.accesses.size());
    for (const Walk &walk : analysis_.walks)
      lanes[walk.access] += walk.hasLanes();
    std::vector<Walk *> order;
    for (Walk &walk : analysis_.walks)
      order.push_back(&walk);
    std::stable_sort(order.begin(), order.end(), [&](const Walk *a, const Walk *b) {
      return std::pair(lanes[b->access], b->hasLanes()) < std::pair(lanes[a->access], a->hasLanes());
    });
    return order;
  }

  std::vector<uint32_t> openSymbols(const Walk &walk) {
    // How a program id is taken apart mentions the sizes of other directions; the tile's own size does not.
    const SymInt decisive = analysis_.mentionsOpen(walk.size) ? walk.size : walk.position;
    std::vector<uint32_t> open;
    for (const Parameter &parameter : analysis_.program.parameters)
      if (parameter.kind == Parameter::Kind::Open && parameter.symbol.valid() &&
          indices_.mentions(decisive, parameter.symbol))
        open.push_back(parameter.symbol.symbolId());
    return open;
  }

  int32_t choose(const Walk &walk) {
    if (walk.access != access_) {
      access_ = walk.access;
      taken_.clear();
    }
    const auto open = openSymbols(walk);
    int32_t best = -1;
    int bestScore = 0;
    for (size_t i = 0; i < members_.size(); ++i) {
      // Two lanes of one access are two directions.
      if (walk.hasLanes() && std::find(taken_.begin(), taken_.end(), i) != taken_.end())
        continue;
      for (const Member &other : members_[i]) {
        const int score = likeness(walk, open, other);
        if (score > bestScore) {
          best = static_cast<int32_t>(i);
          bestScore = score;
        }
      }
    }
    if (best < 0) {
      best = static_cast<int32_t>(members_.size());
      members_.emplace_back();
      analysis_.facts.axes.emplace_back().extent = walk.extent;
    }
    if (walk.hasLanes())
      taken_.push_back(static_cast<size_t>(best));
    if (bestScore < 3)
      members_[static_cast<size_t>(best)].push_back({walk.position, walk.extent, open});
    return best;
  }

  static bool shareOne(const std::vector<uint32_t> &a, const std::vector<uint32_t> &b) {
    return std::any_of(a.begin(), a.end(),
                       [&](uint32_t id) { return std::find(b.begin(), b.end(), id) != b.end(); });
  }

  struct Member {
    SymInt position, extent;
    std::vector<uint32_t> open;
  };

  int likeness(const Walk &walk, const std::vector<uint32_t> &open, const Member &other) {
    if (other.position == walk.position && other.extent == walk.extent)
      return 3;
    if (!walk.extent.valid() || !other.extent.valid())
      return 0;
    if (other.extent == walk.extent) {
      if (!open.empty() && other.open == open)
        return 2;
      // Two numbers may be equal by accident, unless one argument has that value.
      const bool accidental =
          walk.extent.isConstant() && analysis_.fixedCandidates(walk.extent, {}).size() != 1;
      return accidental && !open.empty() && !other.open.empty() && !shareOne(open, other.open) ? 0 : 1;
    }
    // offs + 1 < n beside offs < n: the same steps, seen from a neighbour.
    const bool moves = !walk.programs.empty() || !walk.loops.empty() || walk.decodedStep.valid();
    const bool close = moves || indices_.context().sub(walk.extent, other.extent).isConstant();
    return other.position == walk.position && close ? 2 : 0;
  }

  /// Ops whose source may say what an axis's extent is called: comparisons of its lanes, its loops, and what
  /// made its block pointers.
  std::vector<std::vector<OpId>> usesOfExtents() {
    std::vector<std::vector<OpId>> uses(analysis_.facts.axes.size());
    const Program &program = analysis_.program;
    for (const Walk &walk : analysis_.walks) {
      if (walk.axis < 0 || !walk.extent.valid() || !walk.extent.isConstant())
        continue;
      auto &ofAxis = uses[static_cast<size_t>(walk.axis)];
      for (const Walk::Step &step : walk.loops)
        ofAxis.push_back(analysis_.trace.loops[step.index].op);
      const Op &access = program.op(analysis_.trace.accesses[walk.access].op);
      if (walk.source == Walk::Source::Declared && !access.operands.empty()) {
        ValueId block = access.operands[0];
        while (program.value(block).definingOp != kNone &&
               program.op(program.value(block).definingOp).kind == OpKind::Advance)
          block = program.op(program.value(block).definingOp).operands[0];
        const OpId made = program.value(block).definingOp;
        const size_t shape = 1 + static_cast<size_t>(walk.tileAxis);
        if (made != kNone && shape < program.op(made).operands.size() &&
            program.value(program.op(made).operands[shape]).definingOp != kNone)
          ofAxis.push_back(program.value(program.op(made).operands[shape]).definingOp);
      }
    }
    for (OpId id = 0; id < program.ops.size(); ++id) {
      if (program.op(id).kind != OpKind::Compare)
        continue;
      std::vector<SymInt> sizes;
      for (ValueId operand : program.op(id).operands)
        if (const SymInt index = analysis_.trace.values[operand].expr; index.valid())
          for (uint32_t symbol : indices_.symbolsIn(index))
            if (indices_.of(symbol).kind == IndexKind::Lane)
              sizes.push_back(indices_.of(symbol).size);
      for (const Walk &walk : analysis_.walks)
        if (walk.axis >= 0 && walk.extent.valid() && walk.extent.isConstant() && walk.hasLanes() &&
            std::find(sizes.begin(), sizes.end(), walk.size) != sizes.end())
          uses[static_cast<size_t>(walk.axis)].push_back(id);
    }
    return uses;
  }

  /// n of n - start and n + 1: the one argument that an extent grows with; else the extent itself.
  SymInt leadingScalar(SymInt extent) {
    SymInt leading;
    if (!extent.valid())
      return extent;
    for (const Monomial &monomial : monomialsOf(extent)) {
      if (monomial.coefficient < 0 || monomial.factors.empty())
        continue;
      if (leading.valid() || monomial.coefficient != 1 || monomial.factors.size() != 1 ||
          !analysis_.scalarNamed(monomial.factors[0]))
        return extent;
      leading = monomial.factors[0];
    }
    return leading.valid() ? leading : extent;
  }

  void nameAxes() {
    const auto uses = usesOfExtents();
    std::vector<const Parameter *> taken;
    std::vector<std::string> used;
    for (size_t i = 0; i < analysis_.facts.axes.size(); ++i) {
      Axis &axis = analysis_.facts.axes[i];
      const Parameter *parameter = analysis_.countNamed(leadingScalar(axis.extent), uses[i], taken);
      axis.name = parameter ? parameter->name : "axis" + std::to_string(i);
      taken.push_back(parameter);
      if (std::find(used.begin(), used.end(), axis.name) != used.end())
        axis.name += "_" + std::to_string(i);
      used.push_back(axis.name);
    }
  }

  void addLoops() {
    for (uint32_t number = 0; number < analysis_.trace.loops.size(); ++number) {
      const LoopRecord &record = analysis_.trace.loops[number];
      LoopFacts loop;
      loop.op = record.op;
      loop.lower = record.lower;
      loop.upper = record.upper;
      loop.step = record.step;
      loop.trip = record.trip.valid() && indices_.mentionsUnknown(record.trip) ? SymInt() : record.trip;
      loop.iteration = record.iteration;
      for (const Walk &walk : analysis_.walks)
        for (const Walk::Step &step : walk.loops)
          if (step.index == number && walk.axis >= 0 && (loop.axis < 0 || walk.hasLanes()))
            loop.axis = walk.axis;
      analysis_.facts.loops.push_back(loop);
    }
  }

  Analysis &analysis_;
  Indices &indices_;
  std::vector<std::vector<Member>> members_; ///< by axis: the distinct ways in which it is walked
  uint32_t access_ = kNone;
  std::vector<size_t> taken_; ///< axes of the lanes of `access_` so far
};

} // namespace

void findAxes(Analysis &analysis) { AxisFinder(analysis).run(); }

} // namespace tilewright::analysis

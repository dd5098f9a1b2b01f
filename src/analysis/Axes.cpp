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
    std::vector<uint32_t> open;
    for (const Parameter &parameter : analysis_.program.parameters)
      if (parameter.kind == Parameter::Kind::Open && parameter.symbol.valid() &&
          (indices_.mentions(walk.position, parameter.symbol) ||
           indices_.mentions(walk.size, parameter.symbol)))
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

  struct Member {
    SymInt position, extent;
    std::vector<uint32_t> open;
  };

  int likeness(const Walk &walk, const std::vector<uint32_t> &open, const Member &other) {
    if (other.position == walk.position && other.extent == walk.extent)
      return 3;
    if (!walk.extent.valid() || !other.extent.valid())
      return 0;
    if (other.extent == walk.extent)
      return !open.empty() && other.open == open ? 2 : 1;
    // offs + 1 < n beside offs < n: the same steps, seen from a neighbour.
    const bool moves = !walk.programs.empty() || !walk.loops.empty() || walk.decodedStep.valid();
    const bool close = moves || indices_.context().sub(walk.extent, other.extent).isConstant();
    return other.position == walk.position && close ? 2 : 0;
  }

  void nameAxes() {
    std::vector<std::string> used;
    for (size_t i = 0; i < analysis_.facts.axes.size(); ++i) {
      Axis &axis = analysis_.facts.axes[i];
      const Parameter *parameter = analysis_.scalarNamed(axis.extent);
      axis.name = parameter ? parameter->name : "axis" + std::to_string(i);
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

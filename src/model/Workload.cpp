#include "Workload.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

constexpr double kUnknownTrips = 8; ///< for a loop whose trip count only the running kernel knows

/// The same memory within one program: equal buffer, tile and address pattern.
bool sameMemory(const AccessMap &a, const AccessMap &b) {
  if (a.buffer.empty() || a.buffer != b.buffer || a.tileShape != b.tileShape ||
      a.terms.size() != b.terms.size() || a.indirect || b.indirect)
    return false;
  for (size_t i = 0; i < a.terms.size(); ++i)
    if (a.terms[i].kind != b.terms[i].kind || a.terms[i].coefficient != b.terms[i].coefficient)
      return false;
  return true;
}

} // namespace

WorkloadModel::WorkloadModel(const SpaceRequest &request) : symbols_(request.program, request.arguments) {
  const KernelFacts &facts = request.facts;
  for (const LoopFacts &loop : facts.loops)
    loopTrips_.emplace(loop.op, Formula(loop.trip, symbols_));

  std::vector<std::pair<SymInt, SymInt>> bounded; ///< tile length -> extent that masks it somewhere
  for (const AccessMap &map : facts.accesses)
    for (size_t axis = 0; axis < map.tileShape.size() && axis < map.maskExtent.size(); ++axis)
      if (map.maskExtent[axis].valid())
        bounded.emplace_back(map.tileShape[axis], map.maskExtent[axis]);
  const auto axisOf = [&](SymInt length, SymInt extent) {
    if (!extent.valid())
      for (const auto &[tile, limit] : bounded)
        if (tile == length) {
          extent = limit;
          break;
        }
    return Axis{Formula(length, symbols_), Formula(extent, symbols_)};
  };

  for (const AccessMap &map : facts.accesses) {
    Access access{&map, {}, tripsOf(map.loops), {}, {}};
    for (size_t axis = 0; axis < map.tileShape.size(); ++axis)
      access.axes.push_back(
          axisOf(map.tileShape[axis], axis < map.maskExtent.size() ? map.maskExtent[axis] : SymInt()));
    for (size_t i = map.loops.size(); i-- > 0;) {
      if (!loopTrips_.contains(map.loops[i]))
        continue;
      access.movesWithLoop.push_back(
          map.indirect || std::any_of(map.terms.begin(), map.terms.end(), [&](const AccessTerm &term) {
            return term.kind == AccessTerm::Kind::Loop && term.index == map.loops[i];
          }));
    }
    for (const AccessTerm &term : map.terms)
      if (term.kind == AccessTerm::Kind::ProgramId)
        access.programTerms.push_back({term.index, Formula(term.trip, symbols_)});
    access.group = static_cast<uint32_t>(accesses_.size());
    for (size_t other = 0; other < accesses_.size(); ++other)
      if (sameMemory(*accesses_[other].map, map)) {
        access.group = accesses_[other].group;
        access.firstOfGroup = false;
        break;
      }
    accesses_.push_back(std::move(access));
  }
  for (const WorkItem &item : facts.work) {
    Work work{&item, {}, tripsOf(item.loops)};
    for (const SymInt length : item.shape)
      work.axes.push_back(axisOf(length, {}));
    work_.push_back(std::move(work));
  }
  for (const LoopFacts &loop : facts.loops)
    loopChain_[loop.op] = {};
  const auto learn = [&](const std::vector<OpId> &loops) {
    for (size_t i = 0; i < loops.size(); ++i)
      if (auto found = loopChain_.find(loops[i]); found != loopChain_.end() && found->second.empty())
        found->second.assign(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(i) + 1);
  };
  for (const AccessMap &map : facts.accesses)
    learn(map.loops);
  for (const WorkItem &item : facts.work)
    learn(item.loops);
}

std::vector<Formula> WorkloadModel::tripsOf(const std::vector<OpId> &loops) const {
  std::vector<Formula> out;
  for (size_t i = loops.size(); i-- > 0;)
    if (const auto found = loopTrips_.find(loops[i]); found != loopTrips_.end())
      out.push_back(found->second);
  return out;
}

/// Lanes that do something, on average over the tiles that cover the extent.
double WorkloadModel::lanes(const Axis &axis, std::span<const int64_t> values) const {
  const auto length = static_cast<double>(std::max<int64_t>(1, axis.length(values).value_or(1)));
  const auto extent = axis.extent.valid() ? axis.extent(values) : std::nullopt;
  if (!extent || *extent <= 0)
    return length;
  const auto whole = static_cast<double>(*extent);
  return whole / std::ceil(whole / length);
}

Workload WorkloadModel::of(const Candidate &candidate) const {
  const std::vector<int64_t> values = symbols_.valuesOf(candidate.config);
  const auto tripCount = [&](const Formula &trip) {
    const auto count = trip.valid() ? trip(values) : std::nullopt;
    return count ? static_cast<double>(std::max<int64_t>(0, *count)) : kUnknownTrips;
  };
  Workload out;
  for (size_t axis = 0; axis < 3; ++axis)
    out.grid[axis] = static_cast<double>(candidate.grid[axis]);
  out.programs = out.grid[0] * out.grid[1] * out.grid[2];

  for (const Access &access : accesses_) {
    AccessLoad load;
    load.elementBytes = static_cast<double>(std::max<uint32_t>(1, byteSize(access.map->dtype)));
    load.write = access.map->write;
    load.atomic = access.map->atomic;
    load.group = access.group;
    load.firstOfGroup = access.firstOfGroup;
    double full = 1, average = 1;
    for (size_t axis = 0; axis < access.axes.size(); ++axis) {
      const double some = lanes(access.axes[axis], values);
      average *= some;
      const double length =
          static_cast<double>(std::max<int64_t>(1, access.axes[axis].length(values).value_or(1)));
      const auto extent = access.axes[axis].extent.valid() ? access.axes[axis].extent(values) : std::nullopt;
      full *= extent && *extent > 0 ? std::min(length, static_cast<double>(*extent)) : length;
      (static_cast<int32_t>(axis) == access.map->contiguousAxis ? load.runElements : load.rows) *= some;
    }
    if (access.trips.empty() && average > 0)
      out.fullShare = std::max(out.fullShare, full / average);
    load.scattered = !access.axes.empty() && (access.map->contiguousAxis < 0 || access.map->indirect);
    load.movesWithLoop = access.movesWithLoop;
    load.programBytes = load.bytes();
    for (size_t i = 0; i < access.trips.size(); ++i) {
      const double count = tripCount(access.trips[i]);
      load.loopTrips.push_back(count);
      load.executions *= count;
      if (access.movesWithLoop[i])
        load.programBytes *= std::max(1.0, count);
      out.inLoop = true;
    }
    for (const Access::ProgramTerm &term : access.programTerms) {
      if (term.axis >= 3)
        continue;
      const auto count = term.trip.valid() ? term.trip(values) : std::nullopt;
      load.distinctAlong[term.axis] *=
          count ? static_cast<double>(std::max<int64_t>(1, *count)) : out.grid[term.axis];
    }
    for (size_t axis = 0; axis < 3; ++axis) {
      load.distinctAlong[axis] = std::min(load.distinctAlong[axis], out.grid[axis]);
      load.distinct *= load.distinctAlong[axis];
    }
    if (access.map->indirect)
      load.distinct = out.programs;
    out.accesses.push_back(std::move(load));
  }

  for (const Work &work : work_) {
    WorkLoad load;
    load.kind = work.item->kind;
    load.dtype = work.item->dtype;
    for (const Formula &trip : work.trips)
      load.executions *= tripCount(trip);
    out.inLoop |= !work.trips.empty();
    const size_t rank = work.axes.size();
    if (load.kind == WorkItem::Kind::Dot && rank >= 3) {
      load.m = lanes(work.axes[rank - 3], values);
      load.n = lanes(work.axes[rank - 2], values);
      load.k = lanes(work.axes[rank - 1], values);
      for (size_t axis = 0; axis + 3 < rank; ++axis)
        load.executions *= lanes(work.axes[axis], values);
      out.hasDot = true;
    } else {
      for (size_t axis = 0; axis < rank; ++axis)
        (axis + 1 == rank ? load.runElements : load.rows) *= lanes(work.axes[axis], values);
      out.hasVectorWork = true;
    }
    out.work.push_back(load);
  }
  for (const auto &[loop, chain] : loopChain_) {
    double trips = 1;
    for (const OpId each : chain)
      trips *= tripCount(loopTrips_.at(each));
    out.trips += chain.empty() ? tripCount(loopTrips_.at(loop)) : trips;
  }
  return out;
}

} // namespace tilewright::model

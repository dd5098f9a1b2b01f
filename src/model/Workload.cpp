#include "Workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tilewright::model {

namespace {

constexpr int64_t kCacheLineBytes = 128;
constexpr int64_t kProgramSamples = 16; ///< programs whose trip counts stand for all
constexpr double kUnknownTrips = 8;     ///< for a loop whose trip count only the running kernel knows

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

/// Whether neighbours along a tile axis are at places that were loaded.
bool isIndirectAlong(const AccessMap &map, int32_t axis) {
  return map.indirectAxes.empty() ? false
                                  : std::find(map.indirectAxes.begin(), map.indirectAxes.end(),
                                              static_cast<uint32_t>(axis)) != map.indirectAxes.end();
}

/// Whether a value is what a load brought, perhaps converted or transposed.
bool isLoaded(const Program &program, ValueId value) {
  while (true) {
    const OpId op = program.value(value).definingOp;
    if (op == kNone)
      return false;
    switch (program.op(op).kind) {
    case OpKind::Load:
    case OpKind::BlockLoad:
    case OpKind::DescriptorLoad:
      return true;
    case OpKind::Cast:
      // Widening integers takes them through registers; a change of float type is often folded into the load.
      if (isInteger(program.value(program.op(op).operands[0]).type.dtype) !=
          isInteger(program.value(value).type.dtype))
        return false;
      [[fallthrough]];
    case OpKind::Permute:
    case OpKind::Reshape:
      value = program.op(op).operands[0];
      break;
    default:
      return false;
    }
  }
}

/// Open parameters that appear as a loop's `num_stages` and nowhere else that the facts see.
std::vector<std::string> stageParametersOf(const SpaceRequest &request, const LaunchSymbols &symbols) {
  std::vector<std::string> out;
  for (const Parameter *parameter : symbols.open()) {
    const uint32_t id = parameter->symbol.symbolId();
    const auto mentions = [&](SymInt expression) {
      if (!expression.valid())
        return false;
      const auto ids = symbolsOf(expression);
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    bool stages = false, elsewhere = false;
    for (const Op &op : request.program.ops)
      for (const auto &[name, attribute] : op.attributes.values())
        if (const auto *symbol = std::get_if<SymInt>(&attribute); symbol && mentions(*symbol))
          (op.kind == OpKind::For && name == "num_stages" ? stages : elsewhere) = true;
    for (const AccessMap &map : request.facts.accesses)
      for (const SymInt length : map.tileShape)
        elsewhere |= mentions(length);
    for (const Value &value : request.program.values)
      elsewhere |= mentions(value.sym);
    if (stages && !elsewhere)
      out.push_back(parameter->name);
  }
  return out;
}

} // namespace

WorkloadModel::WorkloadModel(const SpaceRequest &request) : symbols_(request.program, request.arguments) {
  const KernelFacts &facts = request.facts;
  describeLoops(request);
  for (size_t axis = 0; axis < 3; ++axis)
    if (const SymInt count = facts.programCounts[axis]; count.valid() && count.isSymbol())
      programCounts_[axis] = count.symbolId();
  stageParameters_ = stageParametersOf(request, symbols_);
  seen_ = AccessAlignment::seenValues(symbols_);

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
    Access access{&map, {}, loopsOf(map.loops), {}, {}, AccessAlignment(map, symbols_), {}};
    if (map.tileShape.size() == 2 && map.contiguousAxis >= 0)
      for (const AccessTerm &term : map.terms)
        if (term.kind == AccessTerm::Kind::Lane && static_cast<int32_t>(term.index) != map.contiguousAxis)
          access.pitch = Formula(term.coefficient, symbols_);
    for (size_t axis = 0; axis < map.tileShape.size(); ++axis)
      access.axes.push_back(
          axisOf(map.tileShape[axis], axis < map.maskExtent.size() ? map.maskExtent[axis] : SymInt()));
    for (size_t i = map.loops.size(); i-- > 0;) {
      if (!loopIndex_.contains(map.loops[i]))
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
    Work work{&item, {}, loopsOf(item.loops)};
    for (const SymInt length : item.shape)
      work.axes.push_back(axisOf(length, {}));
    if (item.op < request.program.ops.size() &&
        (item.kind == WorkItem::Kind::Reduce || item.kind == WorkItem::Kind::Scan))
      work.reducedAxis = static_cast<int32_t>(request.program.op(item.op).attributes.integerOr("axis", -1));
    if (item.kind == WorkItem::Kind::Dot && item.op < request.program.ops.size()) {
      const Op &dot = request.program.op(item.op);
      work.leftComputed = !isLoaded(request.program, dot.operands[0]);
      work.rightComputed = !isLoaded(request.program, dot.operands[1]);
    }
    work_.push_back(std::move(work));
  }
}

void WorkloadModel::describeLoops(const SpaceRequest &request) {
  const KernelFacts &facts = request.facts;
  for (const LoopFacts &facts : facts.loops) {
    Loop loop{Formula(facts.trip, symbols_)};
    if (facts.trip.valid())
      for (const uint32_t id : symbolsOf(facts.trip))
        for (uint32_t axis = 0; axis < 3; ++axis)
          if (const SymInt program = request.facts.programIds[axis];
              program.valid() && program.isSymbol() && program.symbolId() == id) {
            loop.programSymbols.push_back(id);
            loop.programAxes.push_back(axis);
          }
    const Op &op = request.program.op(facts.op);
    if (const Attribute *stages = op.attributes.find("num_stages")) {
      if (const auto *number = std::get_if<int64_t>(stages))
        loop.stages = Formula(request.program.symbols->constant(*number), symbols_);
      else if (const auto *symbol = std::get_if<SymInt>(stages))
        loop.stages = Formula(*symbol, symbols_);
    }
    for (const ValueId result : op.results) {
      const Type &type = request.program.value(result).type;
      loop.carriesPointers |= type.isPointer() && !type.shape.empty();
      if (type.shape.empty() || type.isPointer())
        continue;
      std::vector<Formula> shape;
      for (const SymInt length : type.shape)
        shape.emplace_back(length, symbols_);
      loop.carried.emplace_back(std::move(shape), std::max<uint32_t>(1, byteSize(type.dtype)));
    }
    loopIndex_.emplace(facts.op, loops_.size());
    loops_.push_back(std::move(loop));
  }
  const auto learn = [&](const std::vector<OpId> &chain) {
    for (size_t i = 1; i < chain.size(); ++i)
      if (loopIndex_.contains(chain[i]) && loopIndex_.contains(chain[i - 1]))
        loops_[loopIndex_.at(chain[i])].parent = static_cast<int32_t>(loopIndex_.at(chain[i - 1]));
  };
  for (const AccessMap &map : facts.accesses)
    learn(map.loops);
  for (const WorkItem &item : facts.work)
    learn(item.loops);
}

std::vector<size_t> WorkloadModel::loopsOf(const std::vector<OpId> &loops) const {
  std::vector<size_t> out;
  for (size_t i = loops.size(); i-- > 0;)
    if (const auto found = loopIndex_.find(loops[i]); found != loopIndex_.end())
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

/// Iterations of a loop, averaged over some programs spread evenly over the grid where they differ.
WorkloadModel::Trips WorkloadModel::tripsOf(const Loop &loop, std::vector<int64_t> &values,
                                            const std::array<double, 3> &grid) const {
  const auto once = [&] {
    const auto count = loop.trip.valid() ? loop.trip(values) : std::nullopt;
    return count ? static_cast<double>(std::max<int64_t>(0, *count)) : kUnknownTrips;
  };
  if (loop.programSymbols.empty()) {
    const double count = once();
    return {count, count};
  }
  const int64_t samples = kProgramSamples;
  Trips out{0, 0};
  for (int64_t i = 0; i < samples; ++i) {
    for (size_t id = 0; id < loop.programSymbols.size(); ++id) {
      const auto programs = static_cast<int64_t>(grid[loop.programAxes[id]]);
      values[loop.programSymbols[id]] =
          programs <= samples ? i % programs : i * (programs - 1) / (samples - 1);
    }
    const double count = once();
    out.average += count / static_cast<double>(samples);
    out.most = std::max(out.most, count);
  }
  for (const uint32_t id : loop.programSymbols)
    values[id] = 0;
  return out;
}

Workload WorkloadModel::of(const Candidate &candidate) const {
  Workload out;
  std::vector<int64_t> values, seen;
  fill(candidate, values, seen, out);
  return out;
}

void WorkloadModel::fill(const Candidate &candidate, Workload &out) {
  fill(candidate, values_, seenOfCandidate_, out);
}

void WorkloadModel::fill(const Candidate &candidate, std::vector<int64_t> &values, std::vector<int64_t> &seen,
                         Workload &out) const {
  values = symbols_.launchValues();
  seen = seen_;
  for (size_t i = 0; i < symbols_.open().size(); ++i)
    if (const auto value = candidate.config.integer(symbols_.open()[i]->name)) {
      symbols_.assign(values, i, *value);
      symbols_.assign(seen, i, *value);
    }
  out.loops.clear();
  out.work.clear();
  out.accesses.resize(accesses_.size());
  out.fullShare = out.longestShare = 1;
  out.hasDot = out.hasVectorWork = out.inLoop = false;
  for (size_t axis = 0; axis < 3; ++axis)
    out.grid[axis] = static_cast<double>(candidate.grid[axis]);
  out.programs = out.grid[0] * out.grid[1] * out.grid[2];
  for (size_t axis = 0; axis < 3; ++axis)
    if (programCounts_[axis])
      values[*programCounts_[axis]] = candidate.grid[axis];

  std::vector<double> trips;
  double iterations = 0, mostIterations = 0;
  for (const Loop &loop : loops_) { // outer loops come first
    const Trips count = tripsOf(loop, values, out.grid);
    trips.push_back(count.average);
    LoopLoad load;
    load.trips = count.average;
    load.parent = loop.parent;
    const bool nested = loop.parent >= 0 && static_cast<size_t>(loop.parent) < out.loops.size();
    load.iterations = count.average * (nested ? out.loops[static_cast<size_t>(loop.parent)].iterations : 1);
    load.mostIterations =
        count.most * (nested ? out.loops[static_cast<size_t>(loop.parent)].mostIterations : 1);
    load.carriesPointers = loop.carriesPointers;
    if (loop.stages.valid())
      if (const auto stages = loop.stages(values))
        load.stages = static_cast<double>(*stages);
    for (const auto &[shape, bytes] : loop.carried) {
      double tile = bytes;
      for (const Formula &length : shape)
        tile *= static_cast<double>(std::max<int64_t>(1, length(values).value_or(1)));
      load.carriedBytes += tile;
    }
    iterations += load.iterations;
    mostIterations += load.mostIterations;
    out.loops.push_back(load);
  }
  out.trips = iterations;
  if (iterations > 0)
    out.longestShare = std::max(1.0, mostIterations / iterations);

  for (size_t number = 0; number < accesses_.size(); ++number) {
    const Access &access = accesses_[number];
    AccessLoad &load = out.accesses[number];
    std::vector<double> loopTrips = std::move(load.loopTrips);
    std::vector<bool> moves = std::move(load.movesWithLoop);
    loopTrips.clear();
    moves.assign(access.movesWithLoop.begin(), access.movesWithLoop.end());
    load = AccessLoad{};
    load.loopTrips = std::move(loopTrips);
    load.movesWithLoop = std::move(moves);
    load.elementBytes = static_cast<double>(std::max<uint32_t>(1, byteSize(access.map->dtype)));
    load.write = access.map->write;
    load.atomic = access.map->atomic;
    load.indirect = access.map->indirect;
    load.contiguousAxis = access.map->contiguousAxis;
    load.rank = static_cast<uint32_t>(access.axes.size());
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
      const bool contiguous = static_cast<int32_t>(axis) == access.map->contiguousAxis;
      (contiguous ? load.runElements : load.rows) *= some;
      (contiguous ? load.fullRun : load.fullRows) *= length;
    }
    if (access.loops.empty() && average > 0)
      out.fullShare = std::max(out.fullShare, full / average);
    load.scattered = !access.axes.empty() &&
                     (access.map->contiguousAxis < 0 ||
                      (access.map->indirect && isIndirectAlong(*access.map, access.map->contiguousAxis)));
    load.knownAlignment = static_cast<double>(access.alignment.knownStart(seen));
    load.knownLength = static_cast<double>(access.alignment.knownLength(seen));
    load.alignmentBytes = static_cast<double>(std::gcd(
        access.alignment.realStart(values) * static_cast<int64_t>(load.elementBytes), kCacheLineBytes));
    if (access.pitch.valid() && !access.map->indirect)
      load.dense = static_cast<double>(access.pitch(values).value_or(0)) == load.runElements;
    load.programBytes = load.bytes();
    if (!access.loops.empty())
      load.loop = static_cast<int32_t>(access.loops[0]);
    for (size_t i = 0; i < access.loops.size(); ++i) {
      const double count = trips[access.loops[i]];
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
  }

  for (const Work &work : work_) {
    WorkLoad load;
    load.kind = work.item->kind;
    load.dtype = work.item->dtype;
    for (const size_t loop : work.loops)
      load.executions *= trips[loop];
    if (!work.loops.empty())
      load.loop = static_cast<int32_t>(work.loops[0]);
    out.inLoop |= !work.loops.empty();
    const size_t rank = work.axes.size();
    const auto whole = [&](size_t axis) {
      return static_cast<double>(std::max<int64_t>(1, work.axes[axis].length(values).value_or(1)));
    };
    if (load.kind == WorkItem::Kind::Dot && rank >= 3) {
      load.m = lanes(work.axes[rank - 3], values);
      load.n = lanes(work.axes[rank - 2], values);
      load.k = lanes(work.axes[rank - 1], values);
      load.leftComputed = work.leftComputed;
      load.rightComputed = work.rightComputed;
      load.fullM = whole(rank - 3);
      load.fullN = whole(rank - 2);
      load.fullK = whole(rank - 1);
      for (size_t axis = 0; axis + 3 < rank; ++axis)
        load.executions *= lanes(work.axes[axis], values);
      out.hasDot = true;
    } else {
      for (size_t axis = 0; axis < rank; ++axis) {
        (axis + 1 == rank ? load.runElements : load.rows) *= lanes(work.axes[axis], values);
        (axis + 1 == rank ? load.fullRun : load.fullRows) *= whole(axis);
      }
      load.reducedAxis = work.reducedAxis;
      if (work.reducedAxis >= 0 && static_cast<size_t>(work.reducedAxis) < rank)
        load.reduced = whole(static_cast<size_t>(work.reducedAxis));
      out.hasVectorWork = true;
    }
    out.work.push_back(load);
  }
}

} // namespace tilewright::model

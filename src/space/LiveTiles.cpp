#include "LiveTiles.h"

#include "tilewright/program/OpTraits.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tilewright {

namespace {

constexpr size_t kMostPoints = 400; ///< places kept per memory; beyond that only exact repeats are dropped

/// How far the plan may be off per kind of operation that needs temporaries which only the compiler knows.
/// From plans of the Ascend compiler: elementwise kernels are exact; last-axis reductions within 15 %; scans,
/// sorts and gathers not understood.
constexpr double kErrorOfReduction = 0.15;
constexpr double kErrorOfBroadcast = 0.10;
constexpr double kErrorOfCast = 0.10;
constexpr double kErrorOfCube = 0.25;
constexpr double kErrorOfOther = 0.50;
constexpr double kLargestError = 1.5;

bool isLoad(OpKind kind) {
  return kind == OpKind::Load || kind == OpKind::BlockLoad || kind == OpKind::DescriptorLoad ||
         kind == OpKind::DescriptorGather;
}

/// The operand that a store writes, or -1.
int storedOperand(OpKind kind) {
  return kind == OpKind::Store || kind == OpKind::BlockStore || kind == OpKind::DescriptorStore ||
                 kind == OpKind::DescriptorScatter || kind == OpKind::DescriptorReduce ||
                 kind == OpKind::AtomicRmw
             ? 1
             : -1;
}

} // namespace

class LiveTiles::Builder {
public:
  Builder(LiveTiles &plan, const Program &program, const LaunchSymbols &symbols, bool doubled)
      : plan_(plan), program_(program), symbols_(symbols), doubled_(doubled), values_(program.values.size()),
        opPosition_(program.ops.size()), opEnd_(program.ops.size()), opLoop_(program.ops.size(), kNone),
        parent_(program.values.size()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    if (!program.regions.empty())
      number(program.body(), kNone);
  }

  void run() {
    markData();
    placeCubeTiles();
    for (OpId id = 0; id < program_.ops.size(); ++id)
      recordUses(id);
    for (const ValueState &state : values_)
      rangeEnd_.push_back(state.end);
    uniteCarried();
    uniteViews();
    uniteInPlace();
    collect();
    estimateError();
  }

private:
  struct ValueState {
    bool carriesData = false;
    bool free = false; ///< a splat: no buffer of its own
    uint32_t begin = 0, end = 0;
    bool used = false;
    bool streamed = false; ///< filled by a load or emptied by a store inside a loop
    bool loaded = false;
    Place place = Place::Vector;
    bool alsoVector = false; ///< a cube result that vector units then work on
    bool carried = false;
    bool reduced = false;
    uint32_t useCount = 0;
  };

  LiveTiles &plan_;
  const Program &program_;
  const LaunchSymbols &symbols_;
  const bool doubled_;
  std::vector<ValueState> values_;
  std::vector<uint32_t> opPosition_, opEnd_;
  std::vector<OpId> opLoop_; ///< innermost enclosing loop of an op
  std::vector<ValueId> parent_;
  std::vector<uint32_t> rangeEnd_; ///< per root, once uses are recorded
  uint32_t nextPosition_ = 0;

  ValueId root(ValueId id) {
    while (parent_[id] != id)
      id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  void unite(ValueId a, ValueId b) {
    a = root(a), b = root(b);
    if (a == b)
      return;
    parent_[std::max(a, b)] = std::min(a, b);
    rangeEnd_[std::min(a, b)] = std::max(rangeEnd_[a], rangeEnd_[b]);
  }

  bool isTile(ValueId id) const {
    const Type &type = program_.value(id).type;
    return type.kind == Type::Kind::Value && !type.shape.empty();
  }

  void number(const Region &region, OpId loop) {
    for (const OpId id : region.ops) {
      const Op &op = program_.op(id);
      opPosition_[id] = nextPosition_++;
      opLoop_[id] = loop;
      const bool isLoop = op.kind == OpKind::For || op.kind == OpKind::While;
      if (op.kind != OpKind::Reduce && op.kind != OpKind::Scan && op.kind != OpKind::Map)
        for (const RegionId inner : op.regions)
          number(program_.region(inner), isLoop ? id : loop);
      opEnd_[id] = isLoop || op.kind == OpKind::If ? nextPosition_++ : opPosition_[id];
    }
  }

  const Op *yieldOf(RegionId region) const {
    const auto &ops = program_.region(region).ops;
    return ops.empty() || program_.op(ops.back()).kind != OpKind::Yield ? nullptr : &program_.op(ops.back());
  }

  // --- which tiles carry data ---

  void markData() {
    std::vector<ValueId> work;
    const auto need = [&](ValueId id) {
      if (id < values_.size() && !values_[id].carriesData) {
        values_[id].carriesData = true;
        work.push_back(id);
      }
    };
    for (const Op &op : program_.ops) {
      if (const int stored = storedOperand(op.kind);
          stored >= 0 && static_cast<size_t>(stored) < op.operands.size())
        need(op.operands[static_cast<size_t>(stored)]);
      if (op.kind == OpKind::AtomicCas && op.operands.size() == 3)
        need(op.operands[1]), need(op.operands[2]);
    }
    while (!work.empty()) {
      const ValueId id = work.back();
      work.pop_back();
      const Value &value = program_.value(id);
      if (value.definingOp == kNone) {
        if (value.owner != kNone)
          followArgument(value, need);
        continue;
      }
      const Op &op = program_.op(value.definingOp);
      if (isLoad(op.kind) || op.kind == OpKind::Iota || op.kind == OpKind::Constant)
        continue;
      if (op.kind == OpKind::For) {
        if (value.index + 3 < op.operands.size())
          need(op.operands[value.index + 3]);
        if (const Op *yield = op.regions.empty() ? nullptr : yieldOf(op.regions[0]);
            yield && value.index < yield->operands.size())
          need(yield->operands[value.index]);
        continue;
      }
      if (op.kind == OpKind::While || op.kind == OpKind::If) {
        for (const RegionId region : op.regions)
          if (const Op *yield = yieldOf(region); yield && value.index < yield->operands.size())
            need(yield->operands[value.index]);
        if (op.kind == OpKind::While && value.index < op.operands.size())
          need(op.operands[value.index]);
        continue;
      }
      for (const ValueId operand : op.operands)
        need(operand);
    }
  }

  template <class Need> void followArgument(const Value &value, const Need &need) {
    const OpId owner = program_.region(value.owner).parent;
    if (owner == kNone)
      return;
    const Op &op = program_.op(owner);
    const bool isFor = op.kind == OpKind::For;
    if ((!isFor && op.kind != OpKind::While) || (isFor && value.index == 0))
      return;
    const uint32_t carried = value.index - (isFor ? 1 : 0);
    if (carried + (isFor ? 3 : 0) < op.operands.size())
      need(op.operands[carried + (isFor ? 3 : 0)]);
    if (const Op *yield = yieldOf(op.regions.back()); yield && carried < yield->operands.size())
      need(yield->operands[carried]);
  }

  // --- cube units ---

  void placeCubeTiles() {
    std::vector<std::vector<OpId>> users(values_.size());
    for (OpId id = 0; id < program_.ops.size(); ++id)
      for (const ValueId operand : program_.op(id).operands)
        users[operand].push_back(id);

    const std::function<bool(ValueId)> feedsOnlyDots = [&](ValueId id) {
      return !users[id].empty() && std::all_of(users[id].begin(), users[id].end(), [&](OpId user) {
        const Op &op = program_.op(user);
        if (op.kind == OpKind::Dot)
          return op.operands[0] == id || op.operands[1] == id;
        return op.kind == OpKind::Permute && feedsOnlyDots(op.results[0]);
      });
    };
    for (OpId id = 0; id < program_.ops.size(); ++id) {
      const Op &op = program_.op(id);
      if (isLoad(op.kind) && isTile(op.results[0]) && feedsOnlyDots(op.results[0]))
        values_[op.results[0]].place = Place::CubeOperand;
      if (op.kind == OpKind::Permute && feedsOnlyDots(op.results[0]))
        values_[op.results[0]].free = true;
      if (op.kind != OpKind::Dot)
        continue;
      plan_.usesCube_ = true;
      values_[op.results[0]].place = Place::CubeResult;
    }
    if (!plan_.usesCube_)
      return;
    // An accumulator is a cube result all along; what comes out of the loop is one too.
    for (bool changed = true; changed;) {
      changed = false;
      const auto spread = [&](ValueId from, ValueId to) {
        if (values_[from].place == Place::CubeResult && values_[to].place != Place::CubeResult &&
            isTile(to)) {
          values_[to].place = Place::CubeResult;
          changed = true;
        }
      };
      for (const Op &op : program_.ops) {
        if (op.kind == OpKind::Dot && op.operands.size() > 2)
          spread(op.results[0], op.operands[2]);
        if (op.kind != OpKind::For || op.regions.empty())
          continue;
        const Op *yield = yieldOf(op.regions[0]);
        const auto &arguments = program_.region(op.regions[0]).arguments;
        for (size_t i = 0;
             yield && i < op.results.size() && i < yield->operands.size() && i + 1 < arguments.size(); ++i) {
          if (!isTile(op.results[i]))
            continue;
          spread(yield->operands[i], op.results[i]);
          spread(op.results[i], arguments[i + 1]);
          spread(arguments[i + 1], op.results[i]);
        }
      }
    }
    // The cube's output stage casts and stores; any other use needs the tile in vector memory.
    for (ValueId id = 0; id < values_.size(); ++id)
      if (values_[id].place == Place::CubeResult)
        for (const OpId user : users[id])
          values_[id].alsoVector |= !isCubeOutput(user, id, users);
  }

  bool isCubeOutput(OpId user, ValueId id, const std::vector<std::vector<OpId>> &users) const {
    const Op &op = program_.op(user);
    if (op.kind == OpKind::Cast)
      return std::all_of(users[op.results[0]].begin(), users[op.results[0]].end(),
                         [&](OpId next) { return storedOperand(program_.op(next).kind) >= 0; });
    return storedOperand(op.kind) >= 0 || op.kind == OpKind::Yield || op.kind == OpKind::For ||
           (op.kind == OpKind::Dot && op.operands.size() > 2 && op.operands[2] == id);
  }

  // --- live ranges ---

  void recordUses(OpId id) {
    const Op &op = program_.op(id);
    for (const ValueId result : op.results) {
      ValueState &state = values_[result];
      state.begin = state.end = op.kind == OpKind::For || op.kind == OpKind::While || op.kind == OpKind::If
                                    ? opEnd_[id]
                                    : opPosition_[id];
      state.free |= op.kind == OpKind::Splat || op.kind == OpKind::Constant;
      if (op.kind == OpKind::Broadcast || op.kind == OpKind::ExpandDims)
        state.free |= values_[op.operands[0]].free;
      if (isLoad(op.kind)) {
        state.loaded = true;
        state.streamed |= opLoop_[id] != kNone;
      }
    }
    for (const RegionId region : op.regions)
      for (const ValueId argument : program_.region(region).arguments)
        if (op.kind == OpKind::For || op.kind == OpKind::While)
          values_[argument].begin = values_[argument].end = opPosition_[id];
    const int stored = storedOperand(op.kind);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      ValueState &state = values_[op.operands[i]];
      ++state.useCount;
      state.used = true;
      state.reduced |= op.kind == OpKind::Reduce || op.kind == OpKind::Scan || op.kind == OpKind::Dot;
      state.streamed |= static_cast<int>(i) == stored && opLoop_[id] != kNone;
      // A value from outside a loop is needed in each iteration: it lives to the loop's end.
      uint32_t end = opPosition_[id];
      const Value &value = program_.value(op.operands[i]);
      OpId definedIn = kNone;
      if (value.definingOp != kNone)
        definedIn = opLoop_[value.definingOp];
      else if (value.owner != kNone && program_.region(value.owner).parent != kNone)
        definedIn = program_.region(value.owner).parent;
      for (OpId loop = opLoop_[id]; loop != kNone && loop != definedIn; loop = opLoop_[loop])
        end = opEnd_[loop];
      state.end = std::max(state.end, end);
    }
  }

  void uniteCarried() {
    for (const Op &op : program_.ops) {
      const bool isFor = op.kind == OpKind::For;
      if ((!isFor && op.kind != OpKind::While) || op.regions.empty())
        continue;
      for (size_t i = 0; i < op.results.size(); ++i) {
        if (!isTile(op.results[i]) || !values_[op.results[i]].carriesData)
          continue;
        values_[op.results[i]].carried = true;
        const size_t init = i + (isFor ? 3 : 0);
        if (init < op.operands.size() &&
            values_[op.operands[init]].end <= opPosition_[static_cast<size_t>(&op - program_.ops.data())])
          unite(op.results[i], op.operands[init]);
        for (const RegionId region : op.regions) {
          const auto &arguments = program_.region(region).arguments;
          if (const size_t argument = i + (isFor ? 1 : 0); argument < arguments.size())
            unite(op.results[i], arguments[argument]);
        }
        if (const Op *yield = yieldOf(op.regions.back()); yield && i < yield->operands.size())
          if (const ValueId next = yield->operands[i]; values_[next].place == Place::CubeResult)
            unite(op.results[i], next);
      }
    }
  }

  void uniteViews() {
    for (const Op &op : program_.ops)
      if (traitsOf(op.kind).view && isTile(op.results[0]) && isTile(op.operands[0]))
        unite(op.results[0], op.operands[0]);
  }

  /// Last use of any value of a united set.
  uint32_t endOf(ValueId id) { return rangeEnd_[root(id)]; }

  int64_t elementBytes(ValueId id) const { return byteSize(program_.value(id).type.dtype); }

  void uniteInPlace() {
    for (OpId id = 0; id < program_.ops.size(); ++id) {
      const Op &op = program_.op(id);
      if (!traitsOf(op.kind).elementwise || op.results.size() != 1 || !isTile(op.results[0]) ||
          traitsOf(op.kind).view)
        continue;
      const ValueId result = op.results[0];
      if (!values_[result].carriesData || values_[result].place != Place::Vector)
        continue;
      for (const ValueId operand : op.operands) {
        const ValueState &state = values_[operand];
        if (!isTile(operand) || state.free || !state.carriesData || state.place != Place::Vector)
          continue;
        const bool bothStream = doubled_ && state.streamed && values_[result].streamed;
        if (bothStream || program_.value(operand).type.shape != program_.value(result).type.shape ||
            elementBytes(operand) != elementBytes(result))
          continue;
        // The carried tile's next value is written over it when nothing else needs the old one.
        if (endOf(operand) <= opPosition_[id] ||
            (isYieldedInto(operand, result) && state.end <= opPosition_[id])) {
          unite(result, operand);
          break;
        }
      }
    }
  }

  bool isYieldedInto(ValueId argument, ValueId next) const {
    const Value &value = program_.value(argument);
    if (value.definingOp != kNone || value.owner == kNone || program_.region(value.owner).parent == kNone)
      return false;
    const Op *yield = yieldOf(value.owner);
    const bool isFor = program_.op(program_.region(value.owner).parent).kind == OpKind::For;
    const size_t index = value.index - (isFor ? 1 : 0);
    return yield && index < yield->operands.size() && yield->operands[index] == next;
  }

  // --- points ---

  uint32_t sizeIndex(const std::vector<SymInt> &shape, int64_t elementBytes) {
    for (uint32_t i = 0; i < plan_.sizes_.size(); ++i) {
      const TileSize &size = plan_.sizes_[i];
      if (size.elementBytes == elementBytes && size.dims.size() == shape.size() &&
          std::equal(shape.begin(), shape.end(), size.dims.begin(),
                     [](SymInt a, const Formula &b) { return a == b.expression(); }))
        return i;
    }
    TileSize size;
    size.elementBytes = elementBytes;
    for (const SymInt dim : shape)
      size.dims.emplace_back(dim, symbols_);
    plan_.sizes_.push_back(std::move(size));
    return static_cast<uint32_t>(plan_.sizes_.size() - 1);
  }

  struct Buffer {
    uint32_t begin = UINT32_MAX, end = 0;
    uint32_t size = 0;
    bool streamed = false, free = true, alsoVector = false, mustExist = false;
    Place place = Place::Vector;
  };

  void collect() {
    std::map<ValueId, Buffer> buffers;
    for (ValueId id = 0; id < values_.size(); ++id) {
      const ValueState &state = values_[id];
      if (!state.carriesData || !isTile(id) || (!state.used && program_.value(id).definingOp == kNone))
        continue;
      Buffer &buffer = buffers[root(id)];
      buffer.begin = std::min(buffer.begin, state.begin);
      buffer.end = std::max(buffer.end, state.end);
      buffer.streamed |= state.streamed;
      buffer.alsoVector |= state.alsoVector;
      buffer.mustExist |= state.carried || (state.reduced && state.useCount > 1);
      if (!state.free || state.carried) {
        buffer.free = false;
        buffer.size = sizeIndex(program_.value(id).type.shape, elementBytes(id));
      }
      if (state.place != Place::Vector)
        buffer.place = state.place;
    }

    std::vector<std::map<uint32_t, double>> vector(nextPosition_), operand(nextPosition_),
        result(nextPosition_), must(nextPosition_);
    const auto add = [&](std::vector<std::map<uint32_t, double>> &points, const Buffer &buffer,
                         double copies) {
      for (uint32_t at = buffer.begin; at <= buffer.end && at < points.size(); ++at)
        points[at][buffer.size] += copies;
    };
    for (const auto &[id, buffer] : buffers) {
      if (buffer.free)
        continue;
      const double copies = doubled_ && buffer.streamed ? 2 : 1;
      if (buffer.mustExist)
        add(must, buffer, 1);
      if (buffer.place == Place::CubeOperand) {
        add(operand, buffer, copies);
        continue;
      }
      if (buffer.place == Place::CubeResult) {
        add(result, buffer, 1);
        if (buffer.alsoVector)
          add(vector, buffer, 0.5); // each of a cube's two vector cores takes half
        continue;
      }
      add(vector, buffer, plan_.usesCube_ ? copies / 2 : copies);
    }
    addTemporaries(vector);
    plan_.vector_ = simplified(vector);
    plan_.cubeOperand_ = simplified(operand);
    plan_.cubeResult_ = simplified(result);
    plan_.materialised_ = simplified(must);
  }

  /// Temporaries of single operations: half the source for a reduction along the last axis, the source
  /// otherwise and for scans; bf16 arithmetic widens its operands to f32.
  void addTemporaries(std::vector<std::map<uint32_t, double>> &points) {
    for (OpId id = 0; id < program_.ops.size(); ++id) {
      const Op &op = program_.op(id);
      if (op.results.empty() || op.operands.empty() || !values_[op.results[0]].carriesData ||
          !isTile(op.operands[0]))
        continue;
      const Type &source = program_.value(op.operands[0]).type;
      if (op.kind == OpKind::Reduce || op.kind == OpKind::Scan) {
        const auto axis = static_cast<size_t>(op.attributes.integerOr("axis", 0));
        const bool last = axis + 1 == source.rank();
        points[opPosition_[id]][sizeIndex(source.shape, byteSize(source.dtype))] +=
            op.kind == OpKind::Reduce && last ? 0.5 : 1;
      } else if (traitsOf(op.kind).elementwise && op.kind != OpKind::Cast &&
                 source.dtype == DType::BFloat16) {
        for (const ValueId operand : op.operands)
          if (isTile(operand) && !values_[operand].free)
            points[opPosition_[id]][sizeIndex(program_.value(operand).type.shape, 4)] += 1;
      }
    }
  }

  static std::vector<Point> simplified(const std::vector<std::map<uint32_t, double>> &points) {
    std::vector<std::map<uint32_t, double>> kept;
    for (const auto &point : points)
      if (!point.empty() && std::find(kept.begin(), kept.end(), point) == kept.end())
        kept.push_back(point);
    // A point within another one can never be the peak.
    const auto within = [](const std::map<uint32_t, double> &a, const std::map<uint32_t, double> &b) {
      return std::all_of(a.begin(), a.end(), [&](const auto &share) {
        const auto found = b.find(share.first);
        return found != b.end() && found->second >= share.second;
      });
    };
    std::vector<Point> out;
    for (size_t i = 0; i < kept.size(); ++i) {
      bool covered = false;
      for (size_t j = 0; j < kept.size() && !covered && kept.size() <= kMostPoints; ++j)
        covered = j != i && within(kept[i], kept[j]) && (kept[i] != kept[j] || j < i);
      if (covered)
        continue;
      Point point;
      for (const auto &[size, copies] : kept[i])
        point.push_back({size, copies});
      out.push_back(std::move(point));
    }
    return out;
  }

  void estimateError() {
    double error = 0;
    const auto atLeast = [&](double value) { error = std::max(error, value); };
    double sum = 0;
    bool reduction = false, broadcast = false, cast = false;
    for (const Op &op : program_.ops) {
      if (op.results.empty() || !isTile(op.results[0]) || !values_[op.results[0]].carriesData) {
        reduction |= op.kind == OpKind::Reduce;
        continue;
      }
      reduction |= op.kind == OpKind::Reduce;
      broadcast |= op.kind == OpKind::Broadcast;
      cast |= op.kind == OpKind::Cast;
      if (op.kind == OpKind::Scan || op.kind == OpKind::Sort || op.kind == OpKind::TopK ||
          op.kind == OpKind::DotScaled || op.kind == OpKind::ExtractSlice || op.kind == OpKind::InsertSlice ||
          op.kind == OpKind::Gather || op.kind == OpKind::Histogram || op.kind == OpKind::Permute ||
          op.kind == OpKind::Join || op.kind == OpKind::Split || op.kind == OpKind::Cat)
        atLeast(kErrorOfOther);
    }
    sum = (reduction ? kErrorOfReduction : 0) + (broadcast ? kErrorOfBroadcast : 0) +
          (cast ? kErrorOfCast : 0) + (plan_.usesCube_ ? kErrorOfCube : 0);
    atLeast(sum);
    plan_.errorFactor_ = std::min(kLargestError, 1 + error);
  }
};

LiveTiles::LiveTiles(const Program &program, const LaunchSymbols &symbols, bool doubled,
                     int64_t alignmentBytes)
    : alignmentBytes_(std::max<int64_t>(1, alignmentBytes)) {
  Builder(*this, program, symbols, doubled).run();
}

LiveTiles::Peak LiveTiles::peak(std::span<const int64_t> values) const {
  std::vector<double> bytes;
  bytes.reserve(sizes_.size());
  for (const TileSize &size : sizes_) {
    double total = 1;
    for (size_t axis = 0; axis < size.dims.size(); ++axis) {
      const double extent = static_cast<double>(size.dims[axis](values).value_or(1));
      if (axis + 1 < size.dims.size()) {
        total *= extent;
        continue;
      }
      const double row = extent * static_cast<double>(size.elementBytes);
      const auto units = static_cast<int64_t>((row + static_cast<double>(alignmentBytes_) - 1) /
                                              static_cast<double>(alignmentBytes_));
      total *= static_cast<double>(units * alignmentBytes_);
    }
    bytes.push_back(total);
  }
  const auto largest = [&](const std::vector<Point> &points) {
    double most = 0;
    for (const Point &point : points) {
      double sum = 0;
      for (const Share &share : point)
        sum += share.copies * bytes[share.size];
      most = std::max(most, sum);
    }
    return static_cast<int64_t>(std::min(most, 9e18));
  };
  return {largest(vector_), largest(cubeOperand_), largest(cubeResult_), largest(materialised_)};
}

} // namespace tilewright

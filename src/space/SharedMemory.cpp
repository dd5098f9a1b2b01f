#include "SharedMemory.h"

#include <algorithm>

namespace tilewright {

namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kLeastCopyBytes = 4, kMostCopyBytes = 16; ///< of one thread's asynchronous copy
constexpr int64_t kDefaultStages = 3, kDefaultWarps = 4;    ///< Triton's launch options
constexpr int64_t kWarpGroup = 4, kWarpGroupRows = 64;

} // namespace

SharedMemory::SharedMemory(const SpaceRequest &request, const LaunchSymbols &symbols)
    : symbols_(symbols), seen_(AccessAlignment::seenValues(symbols)),
      hasWarpGroups_(request.target.rate("warp_group_dot", 0) != 0) {
  const auto loadOf = [&](const AccessMap &map) {
    Load load{
        {}, std::max<int64_t>(1, byteSize(map.dtype)), AccessAlignment(map, symbols), map.contiguousAxis};
    for (const SymInt length : map.tileShape)
      load.shape.emplace_back(length, symbols);
    return load;
  };
  for (const LoopFacts &facts : request.facts.loops) {
    Loop loop;
    if (const Attribute *stages = request.program.op(facts.op).attributes.find("num_stages")) {
      if (const auto *number = std::get_if<int64_t>(stages))
        loop.stages = Formula(request.program.symbols->constant(*number), symbols);
      else if (const auto *symbol = std::get_if<SymInt>(stages))
        loop.stages = Formula(*symbol, symbols);
    }
    for (const AccessMap &map : request.facts.accesses)
      if (!map.write && !map.atomic && !map.loops.empty() && map.loops.back() == facts.op)
        loop.loads.push_back(loadOf(map));
    for (const WorkItem &item : request.facts.work)
      if (item.kind == WorkItem::Kind::Dot && item.shape.size() >= 3 && !item.loops.empty() &&
          item.loops.back() == facts.op) {
        const size_t rank = item.shape.size();
        loop.dots.push_back({Formula(item.shape[rank - 3], symbols), Formula(item.shape[rank - 2], symbols),
                             Formula(item.shape[rank - 1], symbols),
                             std::max<int64_t>(1, byteSize(item.dtype))});
      }
    if (!loop.loads.empty() && (!loop.dots.empty() || loop.stages.valid()))
      loops_.push_back(std::move(loop));
  }
  for (const AccessMap &map : request.facts.accesses)
    if (!map.write && !map.atomic && map.loops.empty())
      outside_.push_back(loadOf(map));
}

int64_t SharedMemory::copyBytes(const Load &load, int64_t elements, std::span<const int64_t> seen,
                                int64_t threads) {
  if (load.contiguousAxis < 0)
    return 0;
  const int64_t run = load.shape[static_cast<size_t>(load.contiguousAxis)](seen).value_or(1);
  const int64_t vector =
      std::min({load.alignment.knownStart(seen), load.alignment.knownLength(seen), run,
                std::max<int64_t>(1, elements / threads), kMostCopyBytes / load.elementBytes});
  return vector * load.elementBytes;
}

int64_t SharedMemory::bytes(std::span<const int64_t> values, const Config &config) const {
  std::vector<int64_t> seen = seen_;
  for (size_t i = 0; i < symbols_.open().size(); ++i)
    symbols_.assign(seen, i, values[symbols_.open()[i]->symbol.symbolId()]);
  const int64_t warps = config.integer("num_warps").value_or(kDefaultWarps);
  const auto elementsOf = [&](const Load &load) {
    int64_t elements = 1;
    for (const Formula &length : load.shape)
      elements *= std::max<int64_t>(1, length(values).value_or(1));
    return elements;
  };
  int64_t most = 0;
  for (const Loop &loop : loops_) {
    bool warpGroups = false;
    for (const Dot &dot : loop.dots)
      warpGroups |= hasWarpGroups_ && warps % kWarpGroup == 0 && dot.elementBytes <= 2 &&
                    dot.m(values).value_or(1) >= kWarpGroupRows && dot.n(values).value_or(1) >= 8;
    const int64_t stages =
        std::max<int64_t>(1, loop.stages.valid() ? loop.stages(values).value_or(1)
                                                 : config.integer("num_stages").value_or(kDefaultStages));
    int64_t sum = 0;
    for (const Load &load : loop.loads) {
      const int64_t elements = elementsOf(load);
      const bool pipelined = stages > 1 && copyBytes(load, elements, seen, warps * kLanes) >= kLeastCopyBytes;
      if (pipelined)
        sum += elements * load.elementBytes * (warpGroups ? stages : stages - 1);
      else if (!loop.dots.empty())
        sum += elements * load.elementBytes;
    }
    // A left operand from before the loop stays in shared memory for warp groups.
    for (const Load &load : outside_)
      if (warpGroups && load.shape.size() == 2 &&
          std::any_of(loop.dots.begin(), loop.dots.end(), [&](const Dot &dot) {
            return dot.m(values) == load.shape[0](values) && dot.k(values) == load.shape[1](values);
          }))
        sum += elementsOf(load) * load.elementBytes;
    most = std::max(most, sum);
  }
  return most;
}

} // namespace tilewright

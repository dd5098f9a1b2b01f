#include "Capacity.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

/// Tiles that a thread keeps whole: past this a candidate is hopeless, and a grid of threads would exhaust
/// memory.
constexpr int64_t kScratchLimitBytes = int64_t{64} << 20;

/// Whether transfers in loops get two buffers: the option `multibuffer`, its alias `num_stages`, or the
/// chip's default.
bool doublesTransfers(const Target &target, const Config &config) {
  if (const auto stages = config.integer("num_stages"))
    return *stages >= 2;
  if (const auto asked = config.integer("multibuffer"))
    return *asked != 0;
  return target.rate("multibuffer_default", 0) != 0;
}

} // namespace

Capacity::Capacity(const SpaceRequest &request, const LaunchSymbols &symbols)
    : target_(request.target), single_(request.program, symbols, false, 32) {
  inLoop_ = std::any_of(request.facts.accesses.begin(), request.facts.accesses.end(),
                        [](const AccessMap &access) { return !access.loops.empty(); });
  for (const Op &op : request.program.ops)
    inLoop_ |= op.kind == OpKind::For || op.kind == OpKind::While;
  if (target_.kind == TargetKind::Cuda)
    shared_.emplace(request, symbols);
  if (inLoop_ && target_.kind == TargetKind::Ascend)
    doubled_.emplace(request.program, symbols, true, 32);
  for (const WorkItem &item : request.facts.work)
    if (item.kind == WorkItem::Kind::Dot && item.shape.size() >= 3) {
      const size_t last = item.shape.size();
      dots_.push_back({Formula(item.shape[last - 3], symbols), Formula(item.shape[last - 2], symbols),
                       Formula(item.shape[last - 1], symbols), std::max<int64_t>(1, byteSize(item.dtype))});
    }
}

Capacity::Demand Capacity::demand(std::span<const int64_t> values, const Config &config) const {
  switch (target_.kind) {
  case TargetKind::Ascend:
    return ascendDemand(values, config);
  case TargetKind::Cpu:
    return cpuDemand(values);
  case TargetKind::Cuda:
    return cudaDemand(values, config);
  }
  return {};
}

Capacity::Demand Capacity::ascendDemand(std::span<const int64_t> values, const Config &config) const {
  Demand out;
  const bool wantsDouble = doubled_ && doublesTransfers(target_, config);
  const LiveTiles::Peak least = single_.peak(values);
  const LiveTiles::Peak asked = wantsDouble ? doubled_->peak(values) : least;
  // The compiler falls back to single buffers by itself, so only the single-buffered demand can reject.
  const auto check = [&](const char *space, const char *code, int64_t wanted, int64_t needed, double error) {
    const MemorySpace *memory = target_.space(space);
    if (!memory || memory->bytes <= 0 || wanted <= 0)
      return;
    out.bytes[space] = wanted <= memory->bytes ? wanted : needed;
    if (out.code.empty() && static_cast<double>(needed) > static_cast<double>(memory->bytes) * error) {
      out.code = code;
      out.text = fmt::format(
          "needs {} bytes of {}, {} has {}{}", needed, space, target_.name, memory->bytes,
          error > 1 ? fmt::format(" (and the plan may be off by {:.0f} %)", (error - 1) * 100) : "");
    }
  };
  check("ub", "capacity.ub", asked.vectorBytes, least.vectorBytes, single_.errorFactor());
  // Sizes of cube buffers are exact: operands of one step in L1, one accumulator in L0C. L0A and L0B are cut
  // by the compiler's own matrix routine.
  check("l1", "capacity.l1", asked.cubeOperandBytes, least.cubeOperandBytes, 1.0);
  check("l0c", "capacity.l0c", asked.cubeResultBytes, least.cubeResultBytes, 1.0);
  // The smallest step of the cube unit must fit whatever the compiler does: 16 rows or columns of the whole
  // depth, in pieces of a quarter of the buffer at least.
  constexpr int64_t kDepthPieces = 4;
  for (const DotOperands &dot : dots_) {
    const int64_t step = 16 * dot.k(values).value_or(1) * dot.elementBytes;
    for (const auto &[space, code] : {std::pair{"l0a", "capacity.l0a"}, std::pair{"l0b", "capacity.l0b"}})
      if (const MemorySpace *memory = target_.space(space);
          memory && memory->bytes > 0 && step / kDepthPieces > memory->bytes && out.code.empty()) {
        out.code = code;
        out.text = fmt::format("needs {} bytes of {} for one step of tl.dot, {} has {}", step, space,
                               target_.name, memory->bytes);
      }
  }
  return out;
}

Capacity::Demand Capacity::cpuDemand(std::span<const int64_t> values) const {
  Demand out;
  const int64_t bytes = single_.peak(values).materialisedBytes;
  if (bytes > 0)
    out.bytes["scratch"] = bytes;
  if (bytes > kScratchLimitBytes) {
    out.code = "capacity.scratch";
    out.text = fmt::format("keeps tiles of {:.1f} MiB per thread, the limit is {} MiB",
                           static_cast<double>(bytes) / (1 << 20), kScratchLimitBytes >> 20);
  }
  return out;
}

Capacity::Demand Capacity::cudaDemand(std::span<const int64_t> values, const Config &config) const {
  Demand out;
  const MemorySpace *shared = target_.space("shared");
  if (!shared)
    return out;
  const int64_t bytes = shared_ ? shared_->bytes(values, config) : 0;
  if (bytes > 0)
    out.bytes["shared"] = bytes;
  if (bytes > shared->bytes) {
    out.code = "capacity.shared";
    out.text = fmt::format("needs {} bytes of shared memory for what its loops load, {} has {}", bytes,
                           target_.name, shared->bytes);
  }
  return out;
}

} // namespace tilewright

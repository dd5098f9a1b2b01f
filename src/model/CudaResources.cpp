#include "CudaResources.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

constexpr double kLanes = 32;
constexpr double kRegisterBytes = 4;
constexpr double kRegistersOfThread = 255;
constexpr double kRegisterStep = 8;          ///< registers are given out in eights
constexpr double kLeastAsyncBytes = 4;       ///< of one thread's asynchronous copy
constexpr double kSharedOfBlockBytes = 1024; ///< that the system keeps for each block
/// Addresses, masks, loop state. From register counts of compiled kernels with one element a thread (12 to
/// 32).
constexpr double kOtherRegisters = 20;
constexpr double kDotRows = 16; ///< of one warp's matrix instruction

} // namespace

bool usesWarpGroups(const WorkLoad &dot, double warps, const CudaRates &rates) {
  return rates.warpGroupDot && std::fmod(warps, 4) == 0 && dot.fullM >= 64 && dot.fullN >= 8 &&
         byteSize(dot.dtype) <= 2;
}

std::vector<LoopPipeline> pipelinesOf(const Workload &load, const std::vector<AccessLayout> &layouts,
                                      double warps, double stagesOption, const CudaRates &rates) {
  std::vector<LoopPipeline> out(load.loops.size());
  std::vector<bool> copies(load.loops.size(), false);
  for (const WorkLoad &work : load.work)
    if (work.loop >= 0 && work.kind == WorkItem::Kind::Dot) {
      auto &loop = out[static_cast<size_t>(work.loop)];
      loop.hasDot = true;
      loop.usesWarpGroups |= usesWarpGroups(work, warps, rates);
    }
  for (size_t i = 0; i < load.accesses.size(); ++i)
    if (const AccessLoad &access = load.accesses[i]; access.loop >= 0 && !access.write && !access.atomic)
      if (layouts[i].instructionElements * access.elementBytes >= kLeastAsyncBytes)
        copies[static_cast<size_t>(access.loop)] = true;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto &own = load.loops[i].stages;
    out[i].stages = own ? *own : out[i].hasDot ? stagesOption : 1;
    out[i].pipelined = out[i].stages > 1 && copies[i];
    if (!out[i].pipelined)
      out[i].stages = 1;
  }
  return out;
}

CudaResources cudaResources(const Workload &load, const std::vector<AccessLayout> &layouts,
                            const std::vector<LoopPipeline> &pipelines, double warps, double sharedBytes,
                            const CudaRates &rates) {
  const double threads = warps * kLanes;
  CudaResources out;
  out.sharedBytes = sharedBytes;
  // Per level of the program: what is loaded together, what a reduction needs whole, what loops carry.
  const size_t levels = pipelines.size() + 1; // the last one: outside of loops
  std::vector<double> loaded(levels, 0), reduced(levels, 0), left(levels, 0);
  for (size_t i = 0; i < load.accesses.size(); ++i) {
    const AccessLoad &access = load.accesses[i];
    const size_t level = access.loop >= 0 ? static_cast<size_t>(access.loop) : levels - 1;
    if (access.write || access.atomic)
      continue;
    const double bytes = layouts[i].instructionElements * access.elementBytes;
    const bool throughShared = level + 1 < levels && pipelines[level].pipelined && bytes >= kLeastAsyncBytes;
    // Pointers that the loop moves on stay in registers, 64 bits each.
    if (level + 1 < levels && load.loops[level].carriesPointers)
      loaded[level] += 2 * layouts[i].instructions;
    if (access.rank >= 2 && access.firstOfGroup && !load.hasDot)
      loaded[level] += 2 * layouts[i].layout.rowsOfThread; // the rows' addresses
    if (!throughShared)
      loaded[level] += layouts[i].layout.elementsOfThread * std::max(1.0, kRegisterBytes / bytes) *
                       access.elementBytes / kRegisterBytes;
  }
  double fragments = 0;
  for (const WorkLoad &work : load.work) {
    const size_t level = work.loop >= 0 ? static_cast<size_t>(work.loop) : levels - 1;
    if (work.kind == WorkItem::Kind::Reduce || work.kind == WorkItem::Kind::Scan)
      reduced[level] = std::max(reduced[level], work.fullRows * work.fullRun / threads);
    if (work.kind == WorkItem::Kind::Dot)
      fragments = std::max(fragments, work.fullM * work.fullN / threads);
    // A computed left operand is needed by all warps that share its rows.
    if (work.kind == WorkItem::Kind::Dot && work.leftComputed)
      left[level] =
          std::max(left[level], work.fullM * work.fullK * byteSize(work.dtype) / kRegisterBytes /
                                    (kLanes * std::min(warps, std::max(1.0, work.fullM / kDotRows))));
  }
  for (const WorkLoad &work : load.work)
    // A computed right operand is held, before and after its computation, until it is in shared memory.
    if (work.kind == WorkItem::Kind::Dot && work.rightComputed)
      left[work.loop >= 0 ? static_cast<size_t>(work.loop) : levels - 1] +=
          2 * work.fullK * work.fullN * byteSize(work.dtype) / kRegisterBytes / threads;
  for (size_t level = 0; level < levels; ++level) {
    double carried = 0;
    for (int32_t loop = level + 1 < levels ? static_cast<int32_t>(level) : -1; loop >= 0;
         loop = load.loops[static_cast<size_t>(loop)].parent)
      carried += load.loops[static_cast<size_t>(loop)].carriedBytes / kRegisterBytes / threads;
    const bool dot = level + 1 < levels && pipelines[level].hasDot;
    const double live = std::max(loaded[level], reduced[level] + left[level]);
    out.registersOfThread = std::max(out.registersOfThread,
                                     kOtherRegisters + (dot ? std::max(carried, fragments) : carried) + live);
  }
  const double registers = rates.registers;
  out.registerLimit = std::min(kRegistersOfThread, registers / threads);
  const double taken =
      std::ceil(std::min(out.registersOfThread, out.registerLimit) / kRegisterStep) * kRegisterStep;
  out.resident = std::min({rates.maxBlocks, rates.maxThreads / threads, registers / (taken * threads)});
  if (rates.sharedOfBlock > 0 && out.sharedBytes > 0)
    out.resident = std::min(out.resident, (rates.sharedOfBlock + kSharedOfBlockBytes) /
                                              (out.sharedBytes + kSharedOfBlockBytes));
  out.resident = std::max(1.0, std::floor(out.resident));
  return out;
}

} // namespace tilewright::model

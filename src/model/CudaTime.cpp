#include "TargetTime.h"
#include "Traffic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

constexpr double kThreadsOfWarp = 32;
constexpr double kSectorBytes = 32;
constexpr double kRegistersOfThread = 255;
/// Registers of a thread beside the tile itself: addresses, masks, loop state. Order of magnitude.
constexpr double kOtherRegisters = 40;

/// Elements of the largest tile that a program keeps in registers.
double liveElements(const Workload &load) {
  double most = 1;
  for (const WorkLoad &work : load.work)
    most = std::max(most, work.kind == WorkItem::Kind::Dot ? work.m * work.n : work.elements() * 1.5);
  for (const AccessLoad &access : load.accesses)
    if (!load.hasDot)
      most = std::max(most, access.rows * access.runElements);
  return most;
}

} // namespace

Prediction cudaTime(const Workload &load, const Target &target, const Candidate &candidate) {
  const double sms = static_cast<double>(std::max<int64_t>(1, target.cores));
  const double warps = static_cast<double>(candidate.config.integer("num_warps").value_or(4));
  const double stages =
      static_cast<double>(candidate.config.integer("num_stages").value_or(load.hasDot ? 3 : 1));
  const double threads = warps * kThreadsOfWarp;

  // Programs that one multiprocessor holds at a time.
  const double registers = liveElements(load) / threads + kOtherRegisters;
  const MemorySpace *registerFile = target.space("registers"), *shared = target.space("shared");
  double resident =
      std::min(target.rate("max_blocks_per_core", 32), target.rate("max_threads_per_core", 2048) / threads);
  if (registerFile)
    resident = std::min(resident, static_cast<double>(registerFile->bytes) / 4 /
                                      (std::min(registers, kRegistersOfThread) * threads));
  if (const auto used = candidate.bytes.find("shared");
      shared && used != candidate.bytes.end() && used->second > 0)
    resident = std::min(resident, static_cast<double>(shared->bytes) / static_cast<double>(used->second));
  resident = std::max(1.0, std::floor(resident));
  const double spill =
      registers > kRegistersOfThread ? 1 + (registers - kRegistersOfThread) / kRegistersOfThread * 2 : 1;

  const MemorySpace *dram = target.space("dram"), *l2 = target.space("l2");
  double dramNs = 0, l2Ns = 0, requests = 0;
  for (const AccessLoad &access : load.accesses) {
    const double run = std::max(1.0, access.runElements) * access.elementBytes;
    const double waste = access.scattered ? kSectorBytes / access.elementBytes
                                          : std::ceil(run / kSectorBytes) * kSectorBytes / run;
    const double moved = access.bytes() * access.executions * load.programs * waste;
    l2Ns += moved / (l2 && l2->readBytesPerNs > 0 ? l2->readBytesPerNs : 5000);
    const double beyond = bytesBeyond(l2 ? static_cast<double>(l2->bytes) * 0.6 : 0, load, access) * waste;
    dramNs += std::min(moved, beyond) / (dram && dram->readBytesPerNs > 0 ? dram->readBytesPerNs : 2000);
    requests += access.executions;
  }
  double tensor = 0, scalar = 0;
  for (const WorkLoad &work : load.work) {
    if (work.kind == WorkItem::Kind::Dot) {
      // A warp group wants 64 rows and 64 columns; less leaves the unit idle.
      const double fill =
          std::min(1.0, work.m / 64) * std::min(1.0, work.n / 64 * 1.2) * std::min(1.0, 0.5 + work.k / 64);
      const double rate = target.rate(byteSize(work.dtype) >= 4   ? "f32_dot_flops_per_ns_per_core"
                                      : byteSize(work.dtype) >= 2 ? "f16_dot_flops_per_ns_per_core"
                                                                  : "i8_dot_flops_per_ns_per_core",
                                      5000);
      tensor += work.executions * 2 * work.m * work.n * work.k / rate / std::max(0.05, fill);
    } else {
      const double rate = work.kind == WorkItem::Kind::Transcendental
                              ? target.rate("transcendental_per_ns_per_core", 32)
                              : target.rate("f32_flops_per_ns_per_core", 500) / 2;
      scalar += work.executions * work.elements() / rate;
    }
  }
  // One program's chain of dependent requests, hidden by other programs, other warps and pipelining.
  const double latency = requests * target.rate("memory_latency_ns", 600) /
                         std::max(1.0, load.hasDot ? stages : std::sqrt(warps));
  const double compute = (tensor + scalar) * spill;

  const double slots = sms * resident;
  const double waves = std::ceil(load.programs / slots);
  const double tail = waves * slots / std::max(1.0, load.programs);
  const double computeAll =
      compute * load.programs / std::min(sms, load.programs) *
      std::min(tail, std::ceil(load.programs / sms) / (load.programs / sms) * 1.0 + 0.5);
  const double memoryAll = std::max(dramNs, l2Ns) * std::max(1.0, std::min(2.0, tail));
  const double latencyAll = latency * waves;
  const double longest = std::max({computeAll, memoryAll, latencyAll});
  const auto share = [&](double ns) { return ns == longest ? ns : 0.2 * ns; };
  return total({{"launch", target.rate("launch_ns", 2500)},
                {"compute", share(computeAll)},
                {"memory", share(memoryAll)},
                {"latency", share(latencyAll)},
                {"program", target.rate("program_ns", 350) * waves}});
}

} // namespace tilewright::model

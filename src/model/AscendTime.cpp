#include "TargetTime.h"
#include "Traffic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

constexpr double kBurstBytes = 512;

/// Bytes per ns that one core gets when `active` cores stream, between the measured points.
double rateAt(const MemorySpace &space, double active) {
  const auto &curve = space.readByActiveCores;
  if (curve.empty())
    return std::max(1.0, space.readBytesPerNs);
  auto above = curve.lower_bound(static_cast<int64_t>(std::ceil(active)));
  if (above == curve.end())
    return curve.rbegin()->second * static_cast<double>(curve.rbegin()->first) / active;
  if (above == curve.begin())
    return above->second;
  const auto below = std::prev(above);
  const double part =
      (active - static_cast<double>(below->first)) / static_cast<double>(above->first - below->first);
  return below->second + (above->second - below->second) * part;
}

double cubeNs(const WorkLoad &work, const Target &target) {
  const auto up = [](double value) { return std::ceil(value / 16) * 16; };
  const double bytes = byteSize(work.dtype);
  const double rate = target.rate(bytes >= 4   ? "f32_dot_flops_per_ns_per_core"
                                  : bytes >= 2 ? "f16_dot_flops_per_ns_per_core"
                                               : "i8_dot_flops_per_ns_per_core",
                                  8000);
  const double multiply = 2 * up(work.m) * up(work.n) * up(work.k) / rate;
  // L0A and L0B are filled from L1 while the cube works; whichever is slower counts.
  const MemorySpace *l0a = target.space("l0a"), *l0b = target.space("l0b");
  const double fill = std::max(
      up(work.m) * up(work.k) * bytes / (l0a && l0a->readBytesPerNs > 0 ? l0a->readBytesPerNs : 441),
      up(work.k) * up(work.n) * bytes / (l0b && l0b->readBytesPerNs > 0 ? l0b->readBytesPerNs : 220));
  return std::max(multiply, fill);
}

double vectorNs(const WorkLoad &work, const Target &target) {
  const double repeatBytes = static_cast<double>(target.vectorBytes);
  const double repeats = work.rows * std::ceil(work.runElements * byteSize(work.dtype) / repeatBytes);
  double each = target.rate("vector_op_ns", 1.1);
  if (work.kind == WorkItem::Kind::Transcendental)
    each = target.rate("transcendental_ns_per_vector", 2.2);
  else if (work.kind == WorkItem::Kind::Reduce)
    each = target.rate("reduce_ns_per_vector", 7.6);
  else if (work.kind == WorkItem::Kind::Scan || work.kind == WorkItem::Kind::Other ||
           byteSize(work.dtype) == 8)
    return work.elements() * target.rate("vector_op_ns", 1.1); // falls to the scalar unit
  return repeats * each + target.rate("vector_op_start_ns", 7);
}

} // namespace

Prediction ascendTime(const Workload &load, const Target &target, const Candidate &candidate) {
  const double cores = static_cast<double>(
      std::max<int64_t>(1, load.hasDot && target.cubeCores ? target.cubeCores : target.cores));
  const double active = std::min(load.programs, cores);
  const MemorySpace *ub = target.space("ub"), *l1 = target.space("l1"), *l2 = target.space("l2");
  const bool doubled = candidate.config.integer("num_stages") ? *candidate.config.integer("num_stages") >= 2
                       : candidate.config.integer("multibuffer")
                           ? *candidate.config.integer("multibuffer") != 0
                           : target.rate("multibuffer_default", 0) != 0;
  const double gmRate =
      load.hasDot ? std::min(l1 && l1->readBytesPerNs > 0 ? l1->readBytesPerNs : 135,
                             (target.space("dram") ? target.space("dram")->readBytesPerNs : 1600) / active)
      : ub        ? rateAt(*ub, active)
                  : 40;
  const double l2Bytes = l2 ? static_cast<double>(l2->bytes) : 0,
               l2Rate = l2 && l2->readBytesPerNs > 0 ? l2->readBytesPerNs : 137;

  double in = 0, out = 0, transfers = 0, scattered = 0;
  for (const AccessLoad &access : load.accesses) {
    if (access.scattered) {
      scattered +=
          access.rows * access.runElements * access.executions * target.rate("gather_ns_per_element", 25);
      continue;
    }
    const double moved = access.bytes() * access.executions;
    // Bytes that other programs already brought into L2 come from there.
    const double first =
        load.programs > 0 ? std::min(moved, bytesBeyond(l2Bytes, load, access) / load.programs) : moved;
    const double ns = first / gmRate + (moved - first) / std::max(gmRate, l2Rate);
    (access.write ? out : in) += ns;
    const double run = access.runElements * access.elementBytes;
    const double shortRuns =
        run < kBurstBytes ? access.rows * (1 - run / kBurstBytes) * target.rate("burst_ns", 4.4) : 0;
    transfers += access.executions * (target.rate("transfer_start_ns", 27) + shortRuns);
  }
  double vector = 0, cube = 0;
  for (const WorkLoad &work : load.work)
    (work.kind == WorkItem::Kind::Dot ? cube : vector) +=
        work.executions * (work.kind == WorkItem::Kind::Dot ? cubeNs(work, target) : vectorNs(work, target));
  if (load.hasDot)
    vector /= 2; // two vector cores beside each cube core

  const double memory = in + out + transfers;
  const double compute = std::max(vector, cube);
  // With double buffers transfers run beside arithmetic; without, one waits for the other.
  const bool overlaps = doubled && load.inLoop;
  const double hidden = overlaps ? 0.9 * std::min(memory, compute) : 0;
  // A plan beyond the buffer, within its error: the compiler may refuse it or drop double buffers. Others
  // first.
  double risk = 0;
  for (const auto &[name, bytes] : candidate.bytes)
    if (const MemorySpace *space = target.space(name); space && space->bytes > 0 && bytes > space->bytes)
      risk = std::max(risk, static_cast<double>(bytes) / static_cast<double>(space->bytes));
  const auto spread = [&](double ns) {
    return spreadOverCores(ns, ns * load.fullShare, load.programs, cores);
  };
  return total({{"launch", target.rate("launch_ns", 1500)},
                {"memory", spread(memory - (memory < compute ? hidden : 0))},
                {"compute", spread(compute - (memory < compute ? 0 : hidden))},
                {"scattered", spread(scattered)},
                {"capacity risk", spread(risk * 0.5 * (memory + compute))},
                {"program", spread(target.rate("program_ns", 40))}});
}

} // namespace tilewright::model

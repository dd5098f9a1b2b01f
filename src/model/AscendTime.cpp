#include "TargetTime.h"
#include "Traffic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

constexpr double kBlockBytes = 32; ///< of the buffers; a row that starts elsewhere in memory is moved apart
constexpr double kUsableL2 = 0.85; ///< of the L2: a footprint above it no longer stays
constexpr double kSideBySide = 6;  ///< exponent of the sum of two bounds, near their maximum

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
  const double repeatBytes = static_cast<double>(target.vectorBytes), bytes = byteSize(work.dtype);
  // Rows that fill whole blocks stand side by side in the buffer, and an operation runs over all of them.
  const bool flat = std::fmod(work.fullRun * bytes, kBlockBytes) == 0;
  const double repeats = flat ? std::ceil(work.rows * work.runElements * bytes / repeatBytes)
                              : work.rows * std::ceil(work.runElements * bytes / repeatBytes);
  double each = target.rate("vector_op_ns", 1.1);
  if (work.kind == WorkItem::Kind::Transcendental)
    each = target.rate("transcendental_ns_per_vector", 2.2);
  else if (work.kind == WorkItem::Kind::Reduce)
    each = work.reducedAxis == 0 && work.fullRows > 1 ? target.rate("vector_op_ns", 1.1)
                                                      : target.rate("reduce_ns_per_vector", 7.6);
  else if (work.kind == WorkItem::Kind::Scan || work.kind == WorkItem::Kind::Other || bytes == 8)
    return work.elements() * target.rate("vector_op_ns", 1.1); // falls to the scalar unit
  return repeats * each + target.rate("vector_op_start_ns", 7);
}

/// What one iteration of a loop (or the code outside of loops, once) does on each pipe, in nanoseconds.
struct Step {
  double in = 0, out = 0, latency = 0, vector = 0, cube = 0, scattered = 0;
  double iterations = 1;

  double compute() const { return std::max(vector, cube); }
  /// With two buffers a transfer runs beside arithmetic on the other one, but each buffer's own chain of
  /// load, compute and store must still fit into two steps.
  double ns(bool doubled) const {
    const double chain = latency + in + out + compute();
    return (doubled ? std::max({in + out, compute(), chain / 2}) : chain) + scattered;
  }
};

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
  const MemorySpace *dram = target.space("dram");
  const double dramRate = dram && dram->readBytesPerNs > 0 ? dram->readBytesPerNs : 1600;
  const double gmRate =
      load.hasDot ? std::min(l1 && l1->readBytesPerNs > 0 ? l1->readBytesPerNs : 135, dramRate / active)
      : ub        ? rateAt(*ub, active)
                  : 40;
  const double l2Bytes = l2 ? static_cast<double>(l2->bytes) * kUsableL2 : 0;
  const double l2Rate = l2 && l2->readBytesPerNs > 0 ? rateAt(*l2, active) : 137;

  std::vector<Step> steps(load.loops.size() + 1); // the last one: outside of loops
  for (size_t i = 0; i < load.loops.size(); ++i)
    steps[i].iterations = load.loops[i].iterations;
  double chipNs = 0; // all bytes of the launch at the chip's own rate
  for (const AccessLoad &access : load.accesses) {
    Step &step = steps[access.loop >= 0 ? static_cast<size_t>(access.loop) : steps.size() - 1];
    if (access.scattered) {
      step.scattered += access.rows * access.runElements * target.rate("gather_ns_per_element", 25);
      continue;
    }
    const double moved = access.bytes() * access.executions;
    // Bytes that other programs already brought into L2 come from there.
    const double beyond =
        load.programs > 0 ? std::min(moved, bytesBeyond(l2Bytes, load, access) / load.programs) : moved;
    const double far = moved > 0 ? beyond / moved : 0;
    chipNs += (beyond / dramRate + (moved - beyond) / (l2Rate * cores)) * load.programs;
    double ns = access.bytes() * (far / gmRate + (1 - far) / std::max(gmRate, l2Rate));
    if (!access.dense && access.rows > 1) {
      // Rows are issued one by one while data streams; rows that start off a block are moved apart.
      const bool aligned = std::fmod(access.alignmentBytes, kBlockBytes) == 0;
      const double issue =
          access.rows * target.rate(aligned ? "strided_row_ns" : "unaligned_row_ns", aligned ? 3.5 : 21);
      ns = std::cbrt(ns * ns * ns + issue * issue * issue);
    }
    step.latency += target.rate("transfer_start_ns", 100);
    (access.write ? step.out : step.in) += ns;
    if (access.atomic)
      step.scattered += target.rate("atomic_ns", 36) * active;
  }
  for (const WorkLoad &work : load.work) {
    Step &step = steps[work.loop >= 0 ? static_cast<size_t>(work.loop) : steps.size() - 1];
    if (work.kind == WorkItem::Kind::Dot)
      step.cube += cubeNs(work, target);
    else
      step.vector += vectorNs(work, target) / (load.hasDot ? 2 : 1); // two vector cores beside each cube core
  }
  double memory = 0, compute = 0, scattered = 0, chain = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    memory += (step.in + step.out + step.latency) * step.iterations;
    compute += step.compute() * step.iterations;
    scattered += step.scattered * step.iterations;
    chain += step.ns(doubled && i + 1 < steps.size()) * step.iterations;
  }
  // A plan beyond the buffer, within its error: the compiler may refuse it or drop double buffers. Others
  // first.
  double risk = 0;
  for (const auto &[name, bytes] : candidate.bytes)
    if (const MemorySpace *space = target.space(name); space && space->bytes > 0 && bytes > space->bytes)
      risk = std::max(risk, static_cast<double>(bytes) / static_cast<double>(space->bytes));
  const auto spread = [&](double ns) {
    return spreadOverCores(ns, ns * load.fullShare, load.programs, cores);
  };
  // The busiest core's chain and the chip's memory work side by side; what is slower decides.
  const double busiest = spread(chain);
  const double dispatch = target.rate("program_ns", 12) * load.programs;
  const double whole = std::pow(std::pow(busiest, kSideBySide) + std::pow(chipNs, kSideBySide) +
                                    std::pow(dispatch, kSideBySide),
                                1 / kSideBySide);
  const double asked = std::max(1e-9, memory + compute + scattered);
  const double rounds = std::ceil(load.programs / cores);
  return total({{"launch", target.rate("launch_ns", 1500)},
                {"memory", whole * memory / asked},
                {"compute", whole * compute / asked},
                {"scattered", whole * scattered / asked},
                {"capacity risk", spread(risk * 0.5 * (memory + compute))},
                {"program", target.rate("core_start_ns", 40) * active +
                                target.rate("next_program_ns", 250) * (rounds - 1)}});
}

} // namespace tilewright::model

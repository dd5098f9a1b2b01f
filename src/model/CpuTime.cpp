#include "TargetTime.h"
#include "Traffic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

/// Part of the slower memory levels' time that hides behind the slowest one: loads of different levels
/// overlap, but not fully. From masked vector adds in L2, L3 and DRAM sizes.
constexpr double kOverlappedShare = 0.75;
constexpr double kLineBytes = 64;
/// Tiles of the dot's register block on an ISA with 64-byte vectors; narrower ones scale the columns.
constexpr double kDotRows = 8, kDotColumnVectors = 2;

double lanesOf(DType dtype, double vectorBytes) {
  return vectorBytes / std::max(4.0, static_cast<double>(byteSize(dtype)));
}

/// Half-precision values are widened first; 64-bit ones halve the lanes already.
double wideningFactor(DType dtype) { return byteSize(dtype) == 2 ? 1.5 : 1.0; }

double dotNs(const WorkLoad &work, const Target &target) {
  const double lanes = lanesOf(work.dtype, static_cast<double>(target.vectorBytes));
  const double columns = kDotColumnVectors * lanes;
  const double m = std::ceil(work.m / kDotRows) * kDotRows, n = std::ceil(work.n / columns) * columns;
  const double vectorNs = target.rate("vector_op_ns", 0.3);
  const double multiply = 2 * m * n * work.k / target.rate("f32_flops_per_ns_per_core", 50);
  // Operand tiles are read (and widened or packed) once a step, the accumulator tile is read and written
  // once.
  const double operands =
      (work.m * work.k + work.k * work.n) / lanes * vectorNs * 2 * wideningFactor(work.dtype);
  const double accumulator = work.m * work.n / lanes * vectorNs * 2;
  // A panel of B beyond L1 makes the inner loop wait for L2.
  const MemorySpace *l1 = target.space("l1d");
  const double panel = work.k * columns * 4;
  const double slow = l1 && panel > static_cast<double>(l1->bytes) ? 1.15 : 1.0;
  return multiply * slow + operands + accumulator;
}

double workNs(const WorkLoad &work, const Target &target) {
  if (work.kind == WorkItem::Kind::Dot)
    return dotNs(work, target) * work.executions;
  const double lanes = lanesOf(work.dtype, static_cast<double>(target.vectorBytes));
  const double vectors = work.rows * std::ceil(work.runElements / lanes) * wideningFactor(work.dtype);
  const double vectorNs = target.rate("vector_op_ns", 0.3);
  double each = vectorNs;
  double starts = 0;
  switch (work.kind) {
  case WorkItem::Kind::Transcendental:
    each = target.rate("transcendental_ns_per_vector", 4);
    break;
  case WorkItem::Kind::Reduce:
    starts = work.rows; // a loop over the row, then a horizontal step
    break;
  case WorkItem::Kind::Scan:
  case WorkItem::Kind::Other:
    each = vectorNs * lanes;
    break;
  default:
    break;
  }
  return (vectors * each + starts * target.rate("run_start_ns", 3)) * work.executions;
}

} // namespace

Prediction cpuTime(const Workload &load, const Target &target) {
  const double cores = static_cast<double>(
      std::max<int64_t>(1, std::min<int64_t>(target.cores, static_cast<int64_t>(load.programs))));
  // Each level serves what its smaller neighbour could not hold.
  double slowest = 0, others = 0;
  const auto level = [&](const MemorySpace &from, double cacheBytes) {
    double ns = 0;
    for (const AccessLoad &access : load.accesses) {
      double bytes = bytesBeyond(cacheBytes, load, access);
      const double run = access.runElements * access.elementBytes;
      if (run < kLineBytes && access.rows > 1 && !access.scattered)
        bytes *= kLineBytes / run; // each short run pulls in a whole line
      const double rate =
          access.write && from.writeBytesPerNs > 0 ? from.writeBytesPerNs : from.readBytesPerNs;
      ns += bytes / std::max(0.1, rate);
    }
    slowest = std::max(slowest, ns);
    others += ns;
  };
  const MemorySpace *smaller = nullptr;
  for (const MemorySpace &space : target.memory) {
    if (smaller)
      level(space, static_cast<double>(smaller->bytes) * (&space == &target.memory.back() ? cores : 1));
    smaller = &space;
  }
  const double memory = slowest + (others - slowest) * (1 - kOverlappedShare);

  double scattered = 0, runs = 0, fromL1 = 0;
  const MemorySpace *l1 = target.space("l1d");
  for (const AccessLoad &access : load.accesses) {
    const double elements = access.rows * access.runElements * access.executions;
    if (access.atomic)
      scattered += elements * target.rate("atomic_ns_per_element", 6);
    else if (access.scattered)
      scattered += elements * target.rate("gather_ns_per_element", 0.6);
    else if (access.runElements > 1)
      fromL1 += elements * access.elementBytes / (l1 && l1->readBytesPerNs > 0 ? l1->readBytesPerNs : 100);
    if (access.write)
      runs += access.rows * access.executions;
  }
  double compute = fromL1;
  for (const WorkLoad &work : load.work)
    compute += workNs(work, target);
  const double loops = runs * target.rate("run_start_ns", 3) + load.trips * target.rate("trip_ns", 4);
  const double programNs = target.rate("program_ns", 12);

  const double perProgram = compute + scattered + loops + programNs;
  const auto spread = [&](double ns) {
    return spreadOverCores(ns, ns * load.fullShare, load.programs, static_cast<double>(target.cores));
  };
  const double launch =
      target.rate("launch_ns", 1500) + (cores > 1 ? target.rate("thread_launch_ns", 4000) : 0);
  const double imbalance = perProgram > 0 ? spread(perProgram) / (perProgram * load.programs / cores) : 1;
  // Streams overlap with arithmetic on what has arrived.
  const double computeAll = spread(compute), memoryAll = memory / cores * imbalance;
  return total({{"launch", launch},
                {"compute", computeAll},
                {"memory", std::max(0.0, memoryAll - 0.5 * std::min(memoryAll, computeAll))},
                {"scattered", spread(scattered)},
                {"loop", spread(loops)},
                {"program", spread(programNs)}});
}

} // namespace tilewright::model

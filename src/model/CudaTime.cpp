#include "CudaRates.h"
#include "CudaResources.h"
#include "TargetTime.h"
#include "Traffic.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {

constexpr double kLanes = 32;
constexpr double kLineBytes = 128;
constexpr double kWarpDotRows = 16; ///< of one warp's matrix instruction
constexpr double kWarpGroup = 4, kWarpGroupRows = 64, kWidestGroupColumns = 256;

/// Work of one program at one level: inside one loop, or outside of all.
struct Level {
  double executions = 1;
  double instructions = 0;  ///< of one thread, one iteration
  double loadLatencyNs = 0; ///< of the slowest load that an iteration waits for
  double loadBytes = 0;     ///< of one iteration
  double reduceNs = 0;
  double dotNs = 0;
};

/// One kernel under one candidate, seen as a machine: what each unit has to do.
class Machine {
public:
  Machine(const Workload &load, const CudaRates &rates, const Candidate &candidate)
      : load_(load), rates_(rates),
        warps_(static_cast<double>(candidate.config.integer("num_warps").value_or(4))) {
    layouts_ = accessLayouts(load, warps_);
    pipelines_ = pipelinesOf(load, layouts_, warps_,
                             static_cast<double>(candidate.config.integer("num_stages").value_or(3)), rates);
    const auto shared = candidate.bytes.find("shared");
    resources_ =
        cudaResources(load, layouts_, pipelines_, warps_,
                      shared == candidate.bytes.end() ? 0 : static_cast<double>(shared->second), rates);
    levels_.resize(load.loops.size() + 1);
    for (size_t i = 0; i < load.loops.size(); ++i)
      levels_[i].executions = load.loops[i].iterations;
    accesses();
    work();
    spills();
  }

  Prediction time() const;

private:
  const Workload &load_;
  const CudaRates &rates_;
  double warps_;
  std::vector<AccessLayout> layouts_;
  std::vector<LoopPipeline> pipelines_;
  CudaResources resources_;
  std::vector<Level> levels_;
  double dramBytes_ = 0, l2Bytes_ = 0;                     ///< of the launch
  double wavefronts_ = 0, sharedBytes_ = 0, tensorNs_ = 0; ///< of one program

  double threads() const { return warps_ * kLanes; }
  size_t levelOf(int32_t loop) const { return loop >= 0 ? static_cast<size_t>(loop) : levels_.size() - 1; }
  void accesses();
  void work();
  void spills();
  void dot(const WorkLoad &work, Level &level);
  void reduce(const WorkLoad &work, Level &level);
  double chainNs() const;
};

void Machine::accesses() {
  const double perProgram = programBytes(load_);
  const double l1 = std::max(0.0, rates_.l1Bytes - resources_.sharedBytes * resources_.resident);
  const AccessLoad *lastRead = nullptr;
  for (size_t i = 0; i < load_.accesses.size(); ++i) {
    const AccessLoad &access = load_.accesses[i];
    const AccessLayout &layout = layouts_[i];
    Level &level = levels_[levelOf(access.loop)];
    const double moved = layout.sectorBytes * access.executions * load_.programs;
    const double waste = layout.sectorBytes / std::max(1.0, access.bytes());
    // Every byte comes from memory once; more often where the L2 cannot keep it.
    const double once = access.firstOfGroup ? access.programBytes * access.distinct : 0;
    const double beyond = std::min(moved, std::max(once, bytesBeyond(rates_.l2Bytes, load_, access)));
    const double run = std::max(1.0, access.runElements) * access.elementBytes;
    const double dram = beyond * (access.scattered ? waste : 1 + rates_.runOverheadBytes / run);
    dramBytes_ += dram;
    const bool nearby = !access.firstOfGroup && perProgram * resources_.resident <= l1;
    if (!nearby)
      l2Bytes_ += moved;
    const double lineRuns = std::max(layout.instructionElements * access.elementBytes * kLanes / kLineBytes,
                                     access.scattered ? kLanes : layout.layout.lanesAcross);
    wavefronts_ += warps_ * layout.instructions * std::max(1.0, lineRuns) * access.executions;
    level.instructions +=
        layout.instructions * rates_.accessInstructions + layout.layout.rowsOfThread * rates_.rowInstructions;
    if (access.write || access.atomic)
      continue;
    const double fromMemory = moved > 0 ? std::min(1.0, beyond / moved) : 0;
    const double latency =
        nearby ? rates_.l1LatencyNs
               : rates_.l2LatencyNs + fromMemory * (rates_.memoryLatencyNs - rates_.l2LatencyNs);
    if (access.indirect && lastRead)
      level.loadLatencyNs += latency; // waits for the index
    else
      level.loadLatencyNs = std::max(level.loadLatencyNs, latency);
    level.loadBytes += layout.sectorBytes;
    lastRead = &access;
  }
  // A tile whose load and store run along different axes goes through shared memory.
  for (size_t i = 0; i < load_.accesses.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const AccessLoad &store = load_.accesses[i], &read = load_.accesses[j];
      if (!store.write || read.write || load_.hasDot ||
          store.fullRows * store.fullRun != read.fullRows * read.fullRun)
        continue;
      if (store.fullRows == read.fullRows && store.contiguousAxis == read.contiguousAxis)
        continue;
      Level &level = levels_[levelOf(store.loop)];
      level.reduceNs += rates_.conversionNs;
      level.instructions += 2 * layouts_[j].layout.elementsOfThread;
      sharedBytes_ += 2 * store.fullRows * store.fullRun * store.elementBytes * store.executions;
    }
}

void Machine::reduce(const WorkLoad &work, Level &level) {
  const double elements = std::max(1.0, work.fullRows * work.fullRun / threads());
  double lanes = 4,
         warps = std::max(1.0, warps_ * kWarpDotRows / std::max(1.0, work.fullRows)); // a dot's result
  double copies = 1;
  for (size_t i = 0; i < load_.accesses.size(); ++i)
    if (const AccessLoad &access = load_.accesses[i];
        !load_.hasDot && access.fullRows * access.fullRun == work.fullRows * work.fullRun) {
      const ThreadLayout &layout = layouts_[i].layout;
      const bool along = work.reducedAxis < 0 || work.reducedAxis == access.contiguousAxis;
      lanes = along ? layout.lanesAlong : layout.lanesAcross;
      warps = along ? layout.warpsAlong : layout.warpsAcross;
      copies = layout.copies;
      break;
    }
  const double results = std::max(1.0, elements * lanes * warps / std::max(1.0, work.reduced));
  level.instructions += elements + results * 2 * std::log2(std::max(1.0, lanes));
  level.reduceNs += rates_.shuffleNs * std::log2(std::max(1.0, lanes));
  if (warps > 1)
    level.reduceNs +=
        rates_.barrierNs + rates_.barrierPerWarpNs * warps_ + rates_.shuffleNs * std::log2(warps);
  if (copies > 1 && warps_ > 1)
    level.reduceNs += rates_.copiesNs * warps_;
}

void Machine::dot(const WorkLoad &work, Level &level) {
  const double bytes = byteSize(work.dtype);
  const double rate = bytes >= 4 ? rates_.f32DotPerNs : bytes >= 2 ? rates_.f16DotPerNs : rates_.i8DotPerNs;
  const double m = std::max(work.fullM, kWarpDotRows), n = std::max(8.0, work.fullN), k = work.fullK;
  double ns = 2 * m * n * k / rate;
  double shared = 0;
  if (usesWarpGroups(work, warps_, rates_)) {
    const double groups = warps_ / kWarpGroup;
    const double groupsM = std::min(groups, m / kWarpGroupRows), groupsN = groups / groupsM;
    const double columns = std::min(kWidestGroupColumns, std::max(8.0, n / groupsN));
    // Each instruction reads its rows of A and all its columns of B from shared memory.
    shared = (m / kWarpGroupRows) * (n / columns) * groupsN * 0 +
             (m / kWarpGroupRows) * (n / columns) * (kWarpGroupRows + columns) * k * bytes;
  } else {
    const double warpsM = std::min(warps_, m / kWarpDotRows), warpsN = std::max(1.0, warps_ / warpsM);
    ns /= rates_.warpDotShare;
    // Each warp reads its rows and its columns through registers.
    shared = warps_ * (m / warpsM + n / std::min(warpsN, n / 8)) * k * bytes;
    level.instructions += m * n * k / (16 * 8 * 16) / warps_ + shared / warps_ / (kLanes * 16);
    ns *= std::max(1.0, warpsN * 8 / n);
  }
  // A computed left operand that several warps need in full goes through shared memory.
  if (work.leftComputed && warps_ * kWarpDotRows > m)
    level.reduceNs += rates_.conversionNs + rates_.barrierPerWarpNs * warps_;
  // So does a computed right operand, always: the matrix instruction takes it from there.
  if (work.rightComputed) {
    level.reduceNs += rates_.conversionNs + rates_.barrierNs + rates_.barrierPerWarpNs * warps_;
    level.instructions += 2 * work.fullK * work.fullN / threads();
    shared += 2 * work.fullK * work.fullN * bytes;
  }
  tensorNs_ += ns * work.executions;
  sharedBytes_ += shared * work.executions;
  level.dotNs += rates_.dotNs + std::max(ns, shared / rates_.sharedBytesPerNs);
}

void Machine::work() {
  for (const WorkLoad &work : load_.work) {
    Level &level = levels_[levelOf(work.loop)];
    const double elements = std::max(1.0, work.fullRows * work.fullRun / threads());
    switch (work.kind) {
    case WorkItem::Kind::Dot:
      dot(work, level);
      break;
    case WorkItem::Kind::Reduce:
      reduce(work, level);
      break;
    case WorkItem::Kind::Transcendental:
      level.instructions += elements * rates_.transcendentalInstructions;
      break;
    case WorkItem::Kind::Scan:
    case WorkItem::Kind::Other:
      level.instructions += elements * 4;
      level.reduceNs += rates_.barrierNs;
      break;
    case WorkItem::Kind::Elementwise:
      level.instructions += elements;
      break;
    }
  }
  for (size_t i = 0; i + 1 < levels_.size(); ++i) {
    levels_[i].instructions += rates_.loopInstructions;
    // Operands that no asynchronous copy may bring are written to shared memory by the threads themselves.
    if (pipelines_[i].hasDot && !pipelines_[i].pipelined) {
      levels_[i].reduceNs += rates_.barrierNs * 2 + rates_.barrierPerWarpNs * warps_;
      levels_[i].instructions += levels_[i].loadBytes / 2 / threads();
    }
  }
  levels_.back().instructions += rates_.startInstructions;
}

/// Registers beyond the limit live in memory: each is written and read again in every iteration, and what all
/// resident threads spill soon exceeds the L1.
void Machine::spills() {
  const double spilled = resources_.spilled();
  if (spilled <= 0)
    return;
  for (Level &level : levels_) {
    level.instructions += 2 * spilled;
    l2Bytes_ += rates_.spillBytes * spilled * threads() * std::max(1.0, level.executions) * load_.programs;
  }
}

double Machine::chainNs() const {
  double sum = rates_.programNs;
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level &level = levels_[i];
    const double arrival =
        level.loadLatencyNs > 0 ? level.loadLatencyNs + level.loadBytes / rates_.multiprocessorBytesPerNs : 0;
    double each = level.instructions * rates_.instructionNs + level.reduceNs + level.dotNs;
    if (i + 1 < levels_.size() && pipelines_[i].pipelined) {
      // Loads run stages ahead; the first ones are waited for.
      sum += std::min(1.0, level.executions) * arrival;
      each = std::hypot(each + rates_.pipelineNs, arrival / std::max(1.0, pipelines_[i].stages - 1));
    } else {
      each += arrival;
    }
    sum += each * level.executions;
  }
  return sum;
}

Prediction Machine::time() const {
  const double programs = std::max(1.0, load_.programs);
  const double perCore = programs / rates_.multiprocessors;
  const double busiest =
      std::ceil(perCore) * (rates_.tailShare) + std::max(1.0, perCore) * (1 - rates_.tailShare);
  double instructions = 0;
  for (const Level &level : levels_)
    instructions += level.instructions * level.executions * warps_;

  const double slots = rates_.multiprocessors * resources_.resident;
  const double turns = std::max(1.0, programs / slots);
  const double rounds = std::ceil(turns) * rates_.tailShare + turns * (1 - rates_.tailShare);
  const double chain = chainNs();

  Parts parts{
      {"latency", chain * (rounds - 1 + load_.longestShare)},
      {"instructions", busiest * instructions / rates_.instructionsPerNs},
      {"tensor", busiest * tensorNs_},
      {"shared", busiest * sharedBytes_ / rates_.sharedBytesPerNs},
      {"wavefronts", busiest * wavefronts_ / rates_.wavefrontsPerNs},
      {"memory", dramBytes_ / rates_.dramBytesPerNs},
      {"l2", l2Bytes_ / rates_.l2BytesPerNs},
      {"dispatch", programs * std::max(rates_.blockDispatchNs, rates_.warpDispatchNs * warps_)},
  };
  double sum = 0, norm = 0;
  for (const auto &[name, ns] : parts) {
    sum += ns;
    norm += ns > 0 ? std::exp2(rates_.overlapExponent * std::log2(ns)) : 0;
  }
  norm = std::pow(norm, 1 / rates_.overlapExponent) + rates_.startShare * chain;
  // The units work side by side: each part is shown with its share of the whole.
  for (auto &[name, ns] : parts)
    ns *= norm / std::max(1e-9, sum);
  parts.add("launch", rates_.launchNs);
  Prediction out = total(parts);
  out.registersOfThread = resources_.registersOfThread;
  out.resident = resources_.resident;
  out.pipelined = std::any_of(pipelines_.begin(), pipelines_.end(),
                              [](const LoopPipeline &loop) { return loop.pipelined; });
  return out;
}

} // namespace

Prediction cudaTime(const Workload &load, const CudaRates &rates, const Candidate &candidate) {
  return Machine(load, rates, candidate).time();
}

} // namespace tilewright::model

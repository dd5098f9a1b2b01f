#include "CudaLayout.h"

#include <algorithm>
#include <cmath>

namespace tilewright::model {

namespace {
constexpr double kLanes = 32;
constexpr double kSectorBytes = 32;
constexpr double kWidestBytes = 16; ///< of one thread in one instruction
} // namespace

ThreadLayout threadLayout(double rows, double run, double vector, double warps) {
  ThreadLayout out;
  out.vector = std::max(1.0, std::min(vector, run));
  const double pieces = std::max(1.0, run / out.vector);
  out.lanesAlong = std::min(kLanes, pieces);
  out.lanesAcross = kLanes / out.lanesAlong;
  out.warpsAlong = std::min(warps, std::max(1.0, pieces / out.lanesAlong));
  out.warpsAcross = warps / out.warpsAlong;
  const double along = std::max(1.0, pieces / (out.lanesAlong * out.warpsAlong)) * out.vector;
  const double across = std::max(1.0, rows / (out.lanesAcross * out.warpsAcross));
  out.elementsOfThread = along * across;
  out.rowsOfThread = across;
  out.copies = std::max(1.0, out.elementsOfThread * kLanes * warps / std::max(1.0, rows * run));
  return out;
}

AccessLayout accessLayout(const AccessLoad &access, double warps) {
  AccessLayout out;
  const double rows = access.fullRows, run = access.fullRun;
  const double widest = std::max(1.0, kWidestBytes / access.elementBytes);
  const bool contiguous = access.contiguousAxis >= 0 && !access.scattered;
  const double share = std::max(1.0, rows * run / (kLanes * warps));
  const double vector = contiguous ? std::min({access.knownAlignment, widest, share}) : 1;
  out.layout = threadLayout(rows, run, vector, warps);
  out.instructionElements = contiguous ? std::min(out.layout.vector, access.knownLength) : 1;
  out.instructions = out.layout.elementsOfThread / out.instructionElements;
  const double runBytes = std::max(1.0, access.runElements) * access.elementBytes;
  if (!contiguous) {
    out.sectorBytes = access.rows * access.runElements * kSectorBytes;
  } else {
    // A run that starts within a sector touches one more than it fills.
    const double loose = 1 - std::min(kSectorBytes, access.alignmentBytes) / kSectorBytes;
    out.sectorBytes = access.rows * (std::ceil(runBytes / kSectorBytes) + loose) * kSectorBytes;
  }
  return out;
}

std::vector<AccessLayout> accessLayouts(const Workload &load, double warps) {
  std::vector<AccessLayout> out;
  const AccessLoad *tile = nullptr;
  const AccessLayout *tileLayout = nullptr;
  out.reserve(load.accesses.size());
  for (const AccessLoad &access : load.accesses) {
    out.push_back(accessLayout(access, warps));
    if (access.rank == 2 && (!tile || access.fullRows * access.fullRun > tile->fullRows * tile->fullRun)) {
      tile = &access;
      tileLayout = &out.back();
    }
  }
  if (!tile || load.hasDot)
    return out;
  for (size_t i = 0; i < out.size(); ++i) {
    const AccessLoad &access = load.accesses[i];
    if (access.rank != 1 || access.write || access.atomic)
      continue;
    const ThreadLayout &needed = tileLayout->layout;
    const bool ofRows = access.fullRun == tile->fullRows;
    if (!ofRows && access.fullRun != tile->fullRun)
      continue;
    const double elements = ofRows ? needed.rowsOfThread : needed.elementsOfThread / needed.rowsOfThread;
    out[i].layout.elementsOfThread = elements;
    out[i].layout.copies = elements * kLanes * warps / std::max(1.0, access.fullRun);
    out[i].instructions = elements / (ofRows ? 1 : out[i].instructionElements);
  }
  return out;
}

} // namespace tilewright::model

#pragma once
#include "CudaLayout.h"

#include "CudaRates.h"

namespace tilewright::model {

/// What a program of a candidate holds on its multiprocessor, and how many fit at a time.
struct CudaResources {
  double registersOfThread = 0; ///< wanted; what exceeds the limit spills
  double registerLimit = 255;
  double sharedBytes = 0;
  double resident = 1; ///< programs of one multiprocessor

  double spilled() const { return registersOfThread > registerLimit ? registersOfThread - registerLimit : 0; }
};

/// Whether loads of a loop go through shared memory ahead of their use, and how many iterations ahead.
struct LoopPipeline {
  bool pipelined = false;
  double stages = 1;
  bool hasDot = false, usesWarpGroups = false;
};

/// `warps` a multiple of 4, 64 rows a warp group: Hopper's asynchronous matrix instruction.
bool usesWarpGroups(const WorkLoad &dot, double warps, const CudaRates &rates);

/// One entry a loop of the workload.
std::vector<LoopPipeline> pipelinesOf(const Workload &load, const std::vector<AccessLayout> &layouts,
                                      double warps, double stagesOption, const CudaRates &rates);

CudaResources cudaResources(const Workload &load, const std::vector<AccessLayout> &layouts,
                            const std::vector<LoopPipeline> &pipelines, double warps, double sharedBytes,
                            const CudaRates &rates);

} // namespace tilewright::model

#pragma once
#include "tilewright/target/Target.h"

namespace tilewright::model {

/// The constants of a CUDA device that the time model uses, looked up once. Names, units and sources are the
/// device description's; the values here stand in for a description that lacks one.
struct CudaRates {
  explicit CudaRates(const Target &target);

  double multiprocessors;
  double launchNs, blockDispatchNs, warpDispatchNs, programNs;
  double dramBytesPerNs, l2BytesPerNs, l2Bytes, l1Bytes, multiprocessorBytesPerNs, runOverheadBytes;
  double memoryLatencyNs, l2LatencyNs, l1LatencyNs;
  double instructionNs, instructionsPerNs, accessInstructions, rowInstructions, transcendentalInstructions,
      loopInstructions, startInstructions;
  double shuffleNs, barrierNs, barrierPerWarpNs, conversionNs, copiesNs;
  double pipelineNs, dotNs, clockGhz, warpDotShare;
  double wavefrontsPerNs;
  double overlapExponent, startShare, tailShare, spillBytes;
  double sharedBytesPerNs;
  double registers, maxBlocks, maxThreads, sharedOfBlock; ///< limits of one multiprocessor
  bool warpGroupDot;
  double f16DotPerNs, f32DotPerNs, i8DotPerNs;
};

} // namespace tilewright::model

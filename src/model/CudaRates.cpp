#include "CudaRates.h"

#include <algorithm>

namespace tilewright::model {

CudaRates::CudaRates(const Target &target) {
  const MemorySpace *dram = target.space("dram"), *l2 = target.space("l2"), *l1 = target.space("l1");
  const auto rate = [&](const char *name, double otherwise) { return target.rate(name, otherwise); };
  multiprocessors = static_cast<double>(std::max<int64_t>(1, target.cores));
  clockGhz = target.clockGhz > 0 ? target.clockGhz : 1.8;
  dramBytesPerNs = dram && dram->readBytesPerNs > 0 ? dram->readBytesPerNs : 2000;
  dramBytesPerNs *= rate("dram_share", 1);
  l2BytesPerNs = l2 && l2->readBytesPerNs > 0 ? l2->readBytesPerNs : 5000;
  l2BytesPerNs *= rate("l2_share", 1);
  l2Bytes = l2 ? static_cast<double>(l2->bytes) : 0;
  l1Bytes = l1 ? static_cast<double>(l1->bytes) : 128 << 10;
  const MemorySpace *file = target.space("registers"), *shared = target.space("shared");
  registers = file && file->bytes > 0 ? static_cast<double>(file->bytes) / 4 : 65536;
  sharedOfBlock = shared ? static_cast<double>(shared->bytes) : 0;
  maxBlocks = rate("max_blocks_per_core", 32);
  maxThreads = rate("max_threads_per_core", 2048);
  warpGroupDot = rate("warp_group_dot", 0) != 0;
  launchNs = rate("launch_ns", 2500);
  blockDispatchNs = rate("block_dispatch_ns", 0.6);
  warpDispatchNs = rate("warp_dispatch_ns", 0.075);
  programNs = rate("program_ns", 500);
  multiprocessorBytesPerNs = rate("multiprocessor_bytes_per_ns", 80);
  runOverheadBytes = rate("run_overhead_bytes", 12);
  memoryLatencyNs = rate("memory_latency_ns", 700);
  l2LatencyNs = rate("l2_latency_ns", 270);
  l1LatencyNs = rate("l1_latency_ns", 40);
  instructionNs = rate("instruction_ns", 1.5);
  instructionsPerNs = rate("instructions_per_ns_per_core", 6);
  accessInstructions = rate("access_instructions", 5);
  rowInstructions = rate("row_instructions", 4);
  transcendentalInstructions = rate("transcendental_instructions", 6);
  loopInstructions = rate("loop_instructions", 20);
  startInstructions = rate("start_instructions", 60);
  shuffleNs = rate("shuffle_ns", 15);
  barrierNs = rate("barrier_ns", 40);
  barrierPerWarpNs = rate("barrier_ns_per_warp", 4);
  conversionNs = rate("conversion_ns", 100);
  copiesNs = rate("copies_ns", 100);
  pipelineNs = rate("pipeline_ns", 60);
  dotNs = rate("dot_ns", 60);
  warpDotShare = rate("warp_dot_share", 0.6);
  wavefrontsPerNs = rate("wavefronts_per_ns_per_core", 1.8);
  overlapExponent = rate("overlap_exponent", 3);
  startShare = rate("start_share", 0.5);
  tailShare = rate("tail_share", 0.5);
  spillBytes = rate("spill_bytes", 8);
  sharedBytesPerNs = rate("shared_bytes_per_ns_per_core", 230);
  const double tensor = rate("tensor_share", 0.8);
  f16DotPerNs = tensor * rate("f16_dot_flops_per_ns_per_core", 5000);
  f32DotPerNs = tensor * rate("f32_dot_flops_per_ns_per_core", 2500);
  i8DotPerNs = tensor * rate("i8_dot_flops_per_ns_per_core", 10000);
}

} // namespace tilewright::model

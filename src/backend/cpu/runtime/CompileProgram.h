#pragma once
#include "tilewright/backend/Backend.h"
#include "tilewright/backend/cpu/CpuIsa.h"

namespace tilewright::cpu {

/// Program and configuration to an artifact, in this process: emitModule, compileModule, encode.
/// Configuration keys that concern the launch and not the code are read here: `cpu_threads` (most threads of
/// a launch).
Expected<Artifact> compileProgram(const Program &program, const Config &config,
                                  const LaunchArguments &arguments, const CpuIsa &isa);

} // namespace tilewright::cpu

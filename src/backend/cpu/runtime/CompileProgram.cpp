#include "CompileProgram.h"

#include "Stopwatch.h"

#include "tilewright/backend/cpu/EmitModule.h"
#include "tilewright/backend/cpu/Pipeline.h"

namespace tilewright::cpu {

Expected<Artifact> compileProgram(const Program &program, const Config &config,
                                  const LaunchArguments &arguments, const CpuIsa &isa) {
  Stopwatch watch;
  const auto context = makeContext();
  registerCpuDialects(*context);
  TW_TRY(EmittedModule emitted, emitModule(*context, program, config, arguments, isa));
  const double emitNs = watch.lapNs();
  TW_TRY(ObjectCode code, compileModule(std::move(emitted), isa));
  code.times.emitNs = emitNs;
  code.argumentCount = static_cast<uint32_t>(program.body().arguments.size());
  if (const auto threads = config.integer("cpu_threads"); threads && *threads > 0)
    code.threads = static_cast<uint32_t>(*threads);

  Artifact artifact;
  artifact.bytes = encode(code);
  artifact.digest = code.digest();
  artifact.entry = code.entry;
  artifact.config = config;
  artifact.bytesUsed = {{"scratch", code.scratchBytes}, {"object", static_cast<int64_t>(code.object.size())}};
  artifact.compileNs = code.times.totalNs();
  return artifact;
}

} // namespace tilewright::cpu

#include "CpuSession.h"

#include "FaultHandler.h"
#include "LaunchPool.h"
#include "ReductionLength.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace tilewright::cpu {

namespace {

bool holds(const std::vector<std::string> &names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct LaunchMemory {
  std::vector<PointerMemory> pointers;
  std::vector<uint64_t> words;
};

Expected<LaunchMemory> launchMemory(const Program &program, const Effects &effects, LaunchBuffers buffers) {
  LaunchMemory out;
  for (const ValueId id : program.body().arguments) {
    const Parameter *parameter = program.parameterOf(id);
    const std::string name = parameter ? parameter->name : program.value(id).name;
    const auto given = std::find_if(buffers.begin(), buffers.end(),
                                    [&](const RuntimeArgument &each) { return each.name == name; });
    if (given == buffers.end())
      return fail(ErrorKind::User, "arg.missing",
                  fmt::format("no memory or value was given for the argument '{}'", name));
    const Type &type = program.value(id).type;
    const auto index = static_cast<uint32_t>(out.words.size());
    if (type.isPointer()) {
      const bool written =
          holds(effects.writes, name) || holds(effects.accumulates, name) || holds(effects.atomics, name);
      const bool readBack = written && (holds(effects.reads, name) || holds(effects.accumulates, name) ||
                                        holds(effects.atomics, name));
      out.pointers.push_back(
          {name, index, given->memory, written, readBack, std::string(tilewright::name(type.dtype))});
      out.words.push_back(0);
    } else {
      out.words.push_back(isFloat(type.dtype) ? std::bit_cast<uint64_t>(given->number)
                                              : static_cast<uint64_t>(given->integer));
    }
  }
  return out;
}

Measurement failed(const Error &error) {
  return {.outcome = TrialOutcome::Failed, .code = error.code, .text = error.message};
}

} // namespace

CpuSession::CpuSession(std::string workerProgram, KernelFacts facts, LaunchArguments arguments,
                       TrialLayout layout, TrialFile file, std::vector<uint64_t> words,
                       const CpuOptions &options)
    : workerProgram_(std::move(workerProgram)), facts_(std::move(facts)), arguments_(std::move(arguments)),
      layout_(std::move(layout)), file_(std::move(file)), words_(std::move(words)),
      checkTimeout_(options.checkTimeout), threads_(options.threads ? options.threads : launchThreads()) {}

Expected<std::unique_ptr<TrialSession>> CpuSession::open(std::string workerProgram, const Program &program,
                                                         const KernelFacts &facts,
                                                         const LaunchArguments &arguments,
                                                         LaunchBuffers buffers, const CpuOptions &options) {
  TW_TRY(LaunchMemory memory, launchMemory(program, facts.effects, buffers));
  TrialLayout layout = layOut(memory.pointers);
  TW_TRY(TrialFile file, TrialFile::create(layout));
  std::unique_ptr<CpuSession> session(new CpuSession(std::move(workerProgram), facts, arguments,
                                                     std::move(layout), std::move(file),
                                                     std::move(memory.words), options));
  TW_CHECK(session->ensureWorker());
  return session;
}

Expected<void> CpuSession::ensureWorker() {
  if (worker_ && worker_->alive())
    return {};
  loaded_.clear();
  file_.clearFault();
  TW_TRY(worker_, WorkerProcess::start(workerProgram_));
  constexpr std::chrono::milliseconds kOpenTimeout{60'000}; // copying gigabytes takes seconds
  auto answer = worker_->exchange(pack(WorkerRequest(OpenRequest{layout_, file_.descriptor(), threads_})),
                                  kOpenTimeout);
  if (!answer)
    return fail(ErrorKind::Unavailable, "target.unavailable",
                "the CPU worker process ended while it opened the trial memory: " + toString(answer.error()));
  auto opened = unpackAnswer(std::move(*answer));
  if (!opened)
    return Unexpected(opened.error());
  return {};
}

TrialCall CpuSession::callFor(const Artifact &artifact, const Candidate &candidate) const {
  return {.digest = artifact.digest,
          .artifactBytes = loaded_.contains(artifact.digest) ? std::string() : artifact.bytes,
          .arguments = words_,
          .grid = candidate.grid};
}

Measurement CpuSession::check(const Artifact &artifact, const Candidate &candidate) {
  if (const auto ready = ensureWorker(); !ready)
    return failed(ready.error());
  const Accumulation accumulation = accumulationOf(facts_, arguments_, candidate.config);
  const CheckRequest request{callFor(artifact, candidate), std::string(name(accumulation.dtype)),
                             accumulation.terms, hasReference_};
  auto answer = ask(request, artifact.digest, checkTimeout_);
  if (!answer)
    return answer.error();
  const auto &checked = std::get<CheckAnswer>(*answer);
  hasReference_ = hasReference_ || checked.storedReference;
  return checked.measurement;
}

Measurement CpuSession::measure(const Artifact &artifact, const Candidate &candidate,
                                const MeasureRequest &request) {
  if (const auto ready = ensureWorker(); !ready)
    return failed(ready.error());
  auto answer = ask(TimeRequest{callFor(artifact, candidate), request}, artifact.digest, request.timeout);
  return answer ? std::get<Measurement>(*answer) : answer.error();
}

tl::expected<WorkerAnswer, Measurement>
CpuSession::ask(const WorkerRequest &request, const std::string &digest, std::chrono::milliseconds timeout) {
  auto message = worker_->exchange(pack(request), timeout);
  if (!message)
    return tl::unexpected(afterDeath(message.error(), timeout));
  auto answer = unpackAnswer(std::move(*message));
  if (!answer)
    return tl::unexpected(failed(answer.error()));
  loaded_.insert(digest);
  return std::move(*answer);
}

Measurement CpuSession::afterDeath(const WorkerEnd &end, std::chrono::milliseconds timeout) {
  if (end.timedOut)
    return {.outcome = TrialOutcome::TimedOut,
            .code = "run.timeout",
            .text = fmt::format("did not finish within {} ms", timeout.count())};
  const FaultRecord fault = file_.fault();
  if (fault.kind == FaultRecord::OutOfBounds && end.exitStatus == kOutOfBoundsExit)
    return {
        .outcome = TrialOutcome::OutOfBounds, .code = "run.out-of-bounds", .text = describe(fault, layout_)};
  std::string text = "the trial process ended with " + toString(end);
  if (fault.kind == FaultRecord::Wild && fault.address != 0)
    text += fmt::format("; the address {:#x} belongs to no argument", fault.address);
  return {.outcome = TrialOutcome::Crashed, .code = "run.crashed", .text = std::move(text)};
}

} // namespace tilewright::cpu

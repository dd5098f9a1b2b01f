#include "TrialRunner.h"

#include "FaultHandler.h"
#include "ObjectCodeFormat.h"
#include "ResultCompare.h"
#include "Stopwatch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::cpu {

namespace {

Measurement failedRun(const Error &error) {
  return {.outcome = TrialOutcome::Failed, .code = error.code, .text = error.message};
}

/// Loaded kernels are small, but a long session sees thousands.
constexpr size_t kMaxKernels = 512;

} // namespace

TrialRunner::TrialRunner(std::shared_ptr<Jit> jit, std::shared_ptr<const LaunchPool> pool,
                         std::unique_ptr<GuardedMemory> memory)
    : jit_(std::move(jit)), pool_(std::move(pool)), memory_(std::move(memory)),
      written_(memory_->layout().regions.size()), readBack_(memory_->layout().regions.size()) {
  for (const auto &pointer : memory_->layout().pointers) {
    if (pointer.region < 0)
      continue;
    written_[pointer.region] = written_[pointer.region] || pointer.written;
    readBack_[pointer.region] = readBack_[pointer.region] || pointer.readBack;
  }
  watchFaults(memory_.get());
}

Expected<std::shared_ptr<LoadedKernel>> TrialRunner::kernelFor(TrialCall &call) {
  if (const auto found = kernels_.find(call.digest); found != kernels_.end())
    return found->second;
  if (kernels_.size() >= kMaxKernels)
    kernels_.clear();
  TW_TRY(ObjectCode code, decodeObjectCode(call.artifactBytes));
  TW_TRY(auto kernel, LoadedKernel::load(*jit_, pool_, std::move(code)));
  kernels_.emplace(call.digest, kernel);
  return kernel;
}

std::vector<uint64_t> TrialRunner::fillIn(std::vector<uint64_t> arguments) const {
  for (const auto &pointer : memory_->layout().pointers)
    arguments.at(pointer.argument) = memory_->address(pointer);
  return arguments;
}

Expected<CheckAnswer> TrialRunner::check(CheckRequest request) {
  TW_TRY(const auto kernel, kernelFor(request.call));
  memory_->restore(Placement::Strict, written_);
  const auto launched = kernel->launch(fillIn(request.call.arguments), request.call.grid);
  noticeWrites();
  if (!launched)
    return CheckAnswer{failedRun(launched.error())};
  if (request.hasReference)
    return CheckAnswer{compareWithReference(request)};
  for (size_t region = 0; region < memory_->layout().regions.size(); ++region)
    memory_->storeReference(region);
  return CheckAnswer{{}, /*storedReference=*/true};
}

void TrialRunner::noticeWrites() {
  for (size_t region = 0; region < written_.size(); ++region) {
    const std::span<const std::byte> now = memory_->working(region), before = memory_->pristine(region);
    if (!written_[region] && !now.empty() && std::memcmp(now.data(), before.data(), now.size()) != 0)
      written_[region] = readBack_[region] = true; // more than the analysis knew: restored from now on
  }
}

Measurement TrialRunner::compareWithReference(const CheckRequest &request) const {
  const DType accumulator = parseDType(request.accumulator).value_or(DType::Float32);
  for (const auto &pointer : memory_->layout().pointers) {
    if (pointer.region < 0 || !written_[pointer.region])
      continue;
    const DType dtype = parseDType(pointer.dtype).value_or(DType::UInt8);
    const auto got = memory_->working(pointer.region).subspan(pointer.offset, pointer.bytes);
    const auto reference = memory_->reference(pointer.region).subspan(pointer.offset, pointer.bytes);
    const Tolerance tolerance = toleranceFor(dtype, accumulator, request.terms);
    const Comparison result = compareBuffers(got, reference, dtype, tolerance);
    if (!result.equal())
      return {.outcome = TrialOutcome::WrongResult,
              .code = "wrong-result",
              .text = fmt::format("{} differs from the reference in {} of {} elements; first at {}: {} "
                                  "instead of {} (relative tolerance {:.2g})",
                                  pointer.name, result.different, result.elements, result.firstIndex,
                                  result.got, result.expected, tolerance.relative)};
  }
  return {};
}

Expected<Measurement> TrialRunner::time(TimeRequest request) {
  TW_TRY(const auto kernel, kernelFor(request.call));
  memory_->restore(Placement::AsCaller, readBack_);
  const auto arguments = fillIn(request.call.arguments);
  const MeasureRequest &measure = request.measure;
  std::optional<Error> problem;
  const auto run = [&](uint64_t repeats) { // nanoseconds for one launch
    Stopwatch watch;
    for (uint64_t i = 0; i < repeats && !problem; ++i) {
      if (const auto launched = kernel->launch(arguments, request.call.grid); !launched)
        problem = launched.error();
    }
    return watch.lapNs() / static_cast<double>(repeats);
  };

  Stopwatch total;
  double spentNs = 0;
  const double limitNs = 0.8 * std::chrono::duration<double, std::nano>(measure.timeout).count();
  Measurement out;
  double oneNs = run(1);
  if (problem)
    return failedRun(*problem);
  if (measure.stopAboveNs > 0 && oneNs > measure.stopAboveNs) {
    // The first run pays for page faults and cold caches; only a second one speaks for the candidate.
    oneNs = std::min(oneNs, run(1));
    if (problem)
      return failedRun(*problem);
    if (oneNs > measure.stopAboveNs) {
      out.samplesNs.push_back(oneNs);
      return out;
    }
  }
  for (uint32_t i = 1; i < measure.warmups; ++i)
    oneNs = std::min(oneNs, run(1));
  // A launch shorter than a sample is repeated within it; the count comes from a run of several launches,
  // because one alone is about as long as reading the clock.
  uint64_t repeats = 1;
  while (repeats < (uint64_t{1} << 30) && oneNs * static_cast<double>(repeats) < measure.minSampleNs) {
    repeats = std::max(repeats + 1,
                       static_cast<uint64_t>(std::min(std::ceil(measure.minSampleNs / std::max(1.0, oneNs)),
                                                      8.0 * static_cast<double>(repeats))));
    oneNs = run(repeats);
  }
  for (uint32_t i = 0; i < std::max(1u, measure.samples) && !problem; ++i) {
    out.samplesNs.push_back(run(repeats));
    spentNs += total.lapNs();
    if (spentNs > limitNs)
      break;
  }
  return problem ? failedRun(*problem) : out;
}

} // namespace tilewright::cpu

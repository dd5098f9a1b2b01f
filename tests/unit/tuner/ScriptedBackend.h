#pragma once
#include "tilewright/tuner/Tuner.h"

#include <atomic>
#include <map>
#include <random>

namespace tilewright::tuner {

/// What the scripted back end does with one candidate.
struct Script {
  double timeNs = 1000;
  double noise = 0;         ///< relative standard deviation
  std::string compileError; ///< reason code; empty: compiles
  TrialOutcome outcome = TrialOutcome::Ok;
  std::string code = "";        ///< with outcome
  std::string digest;           ///< equal digests are equal code; empty: its own
  double firstSampleFactor = 1; ///< the first sample takes this many times longer
  int failsAtSample = 0;        ///< crashes at this sample of the race (0: never)
};

/// A back end that plays a script by the value of "B": no clock, no code, the same numbers for the same seed.
class ScriptedBackend : public Backend {
public:
  explicit ScriptedBackend(std::map<int64_t, Script> script, uint64_t seed = 1)
      : script_(std::move(script)), random_(seed) {}

  std::string_view name() const override { return "scripted"; }
  std::string toolchain() const override { return "script-1"; }
  bool measures() const override { return true; }

  Expected<Artifact> compile(const Program &, const Candidate &candidate,
                             const LaunchArguments &) const override {
    ++compiled;
    const auto b = *candidate.config.integer("B");
    const Script &script = script_.at(b);
    if (!script.compileError.empty())
      return fail(ErrorKind::Refusal, script.compileError, "scripted failure");
    Artifact artifact;
    artifact.config = candidate.config;
    artifact.digest = script.digest.empty() ? std::to_string(b) : script.digest;
    return artifact;
  }

  Expected<std::unique_ptr<TrialSession>> openSession(const Program &, const KernelFacts &,
                                                      const LaunchArguments &, LaunchBuffers) const override {
    return std::make_unique<Session>(*this);
  }
  Expected<std::shared_ptr<CompiledKernel>> load(const Artifact &) const override {
    return fail(ErrorKind::Unavailable, "target.unavailable", "scripted code does not run");
  }

  mutable std::atomic<int> compiled = 0;
  mutable int measured = 0;

private:
  class Session : public TrialSession {
  public:
    explicit Session(const ScriptedBackend &backend) : backend_(backend) {}
    Measurement check(const Artifact &, const Candidate &candidate) override {
      const Script &script = backend_.script_.at(*candidate.config.integer("B"));
      return {script.outcome, script.code, script.outcome == TrialOutcome::Ok ? "" : "scripted", {}};
    }
    Measurement measure(const Artifact &, const Candidate &candidate,
                        const MeasureRequest &request) override {
      const auto b = *candidate.config.integer("B");
      const Script &script = backend_.script_.at(b);
      ++backend_.measured;
      const int sample = ++samples_[b];
      if (script.failsAtSample && sample >= script.failsAtSample)
        return {TrialOutcome::Crashed, "run.crashed", "signal 11", {}};
      Measurement out;
      std::normal_distribution<double> noise(1.0, script.noise);
      for (uint32_t i = 0; i < request.samples; ++i)
        out.samplesNs.push_back(script.timeNs * (sample == 1 ? script.firstSampleFactor : 1) *
                                std::max(0.5, noise(backend_.random_)));
      return out;
    }

  private:
    const ScriptedBackend &backend_;
    std::map<int64_t, int> samples_;
  };

  std::map<int64_t, Script> script_;
  mutable std::mt19937_64 random_;
};

inline std::vector<Entrant> entrantsFor(const std::vector<int64_t> &values) {
  const auto program = std::make_shared<const Program>();
  std::vector<Entrant> out;
  for (const int64_t value : values) {
    Entrant entrant;
    entrant.program = program;
    entrant.planned.candidate.config.set("B", value);
    out.push_back(std::move(entrant));
  }
  return out;
}

} // namespace tilewright::tuner

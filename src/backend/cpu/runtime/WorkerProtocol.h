#pragma once
#include "Channel.h"
#include "TrialMemory.h"

#include "tilewright/backend/Backend.h"

#include <variant>

namespace tilewright::cpu {

/// What a worker is asked. Every request has one answer.
struct CompileRequest {
  std::string programText;
  Config config;
  LaunchArguments arguments;
};
struct OpenRequest {
  TrialLayout layout;
  int descriptor = -1;  ///< the shared file
  uint32_t threads = 1; ///< of a launch, as in the process that asks
};
/// Which code to run on what. `artifactBytes` may be empty when the worker has the digest already.
struct TrialCall {
  std::string digest;
  std::string artifactBytes;
  std::vector<uint64_t> arguments; ///< pointers are filled in by the worker
  std::array<int64_t, 3> grid{1, 1, 1};
};
struct CheckRequest {
  TrialCall call;
  std::string accumulator;   ///< dtype in which sums are taken
  double terms = 1;          ///< reduction length
  bool hasReference = false; ///< a worker that died may have stored one
};
struct TimeRequest {
  TrialCall call;
  MeasureRequest measure;
};
using WorkerRequest = std::variant<CompileRequest, OpenRequest, CheckRequest, TimeRequest>;

/// What a worker answers: nothing (opened), code, or what came of a run; or an error.
struct Opened {};
struct CheckAnswer {
  Measurement measurement;
  bool storedReference = false;
};
using WorkerAnswer = std::variant<Opened, Artifact, CheckAnswer, Measurement>;

WireMessage pack(const WorkerRequest &request);
Expected<WorkerRequest> unpackRequest(WireMessage message);
WireMessage pack(const Expected<WorkerAnswer> &answer);
/// The error of the worker, or `internal` for an answer that cannot be read.
Expected<WorkerAnswer> unpackAnswer(WireMessage message);

} // namespace tilewright::cpu

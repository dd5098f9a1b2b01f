#include "WorkerProtocol.h"

#include "WireJson.h"

namespace tilewright::cpu {

using nlohmann::json;

namespace {

json toJson(const TrialCall &call) {
  return {{"digest", call.digest}, {"arguments", call.arguments}, {"grid", call.grid}};
}
TrialCall callFrom(const json &header, std::string artifactBytes) {
  return {header.at("digest"), std::move(artifactBytes), header.at("arguments"), header.at("grid")};
}

struct RequestPacker {
  WireMessage operator()(const CompileRequest &request) const {
    return {json{{"op", "compile"},
                 {"config", wire::toJson(request.config)},
                 {"arguments", wire::toJson(request.arguments)}}
                .dump(),
            {request.programText},
            -1};
  }
  WireMessage operator()(const OpenRequest &request) const {
    return {
        json{{"op", "open"}, {"layout", wire::toJson(request.layout)}, {"threads", request.threads}}.dump(),
        {},
        request.descriptor};
  }
  WireMessage operator()(const CheckRequest &request) const {
    return {json{{"op", "check"},
                 {"call", toJson(request.call)},
                 {"accumulator", request.accumulator},
                 {"terms", request.terms},
                 {"hasReference", request.hasReference}}
                .dump(),
            {request.call.artifactBytes},
            -1};
  }
  WireMessage operator()(const TimeRequest &request) const {
    const MeasureRequest &measure = request.measure;
    return {json{{"op", "time"},
                 {"call", toJson(request.call)},
                 {"warmups", measure.warmups},
                 {"samples", measure.samples},
                 {"minSampleNs", measure.minSampleNs},
                 {"stopAboveNs", measure.stopAboveNs},
                 {"timeoutMs", measure.timeout.count()}}
                .dump(),
            {request.call.artifactBytes},
            -1};
  }
};

WorkerRequest requestFrom(const json &header, WireMessage &message) {
  const std::string op = header.at("op");
  const auto blob = [&] { return message.blobs.empty() ? std::string() : std::move(message.blobs[0]); };
  if (op == "compile")
    return CompileRequest{blob(), wire::configFrom(header.at("config")),
                          wire::argumentsFrom(header.at("arguments"))};
  if (op == "open")
    return OpenRequest{wire::layoutFrom(header.at("layout")), message.descriptor, header.at("threads")};
  if (op == "check")
    return CheckRequest{callFrom(header.at("call"), blob()), header.at("accumulator"), header.at("terms"),
                        header.at("hasReference")};
  MeasureRequest measure;
  measure.warmups = header.at("warmups");
  measure.samples = header.at("samples");
  measure.minSampleNs = header.at("minSampleNs");
  measure.stopAboveNs = header.at("stopAboveNs");
  measure.timeout = std::chrono::milliseconds(header.at("timeoutMs").get<int64_t>());
  return TimeRequest{callFrom(header.at("call"), blob()), measure};
}

struct AnswerPacker {
  WireMessage operator()(const Opened &) const { return {json{{"answer", "opened"}}.dump(), {}, -1}; }
  WireMessage operator()(const Artifact &artifact) const {
    return {json{{"answer", "artifact"},
                 {"digest", artifact.digest},
                 {"entry", artifact.entry},
                 {"bytesUsed", artifact.bytesUsed},
                 {"compileNs", artifact.compileNs}}
                .dump(),
            {artifact.bytes},
            -1};
  }
  WireMessage operator()(const CheckAnswer &answer) const {
    return {json{{"answer", "check"},
                 {"measurement", wire::toJson(answer.measurement)},
                 {"storedReference", answer.storedReference}}
                .dump(),
            {},
            -1};
  }
  WireMessage operator()(const Measurement &measurement) const {
    return {json{{"answer", "time"}, {"measurement", wire::toJson(measurement)}}.dump(), {}, -1};
  }
};

WorkerAnswer answerFrom(const json &header, WireMessage &message) {
  const std::string kind = header.at("answer");
  if (kind == "opened")
    return Opened{};
  if (kind == "artifact") {
    Artifact artifact;
    artifact.bytes = message.blobs.empty() ? std::string() : std::move(message.blobs[0]);
    artifact.digest = header.at("digest");
    artifact.entry = header.at("entry");
    artifact.bytesUsed = header.at("bytesUsed").get<std::map<std::string, int64_t>>();
    artifact.compileNs = header.at("compileNs");
    return artifact;
  }
  if (kind == "check")
    return CheckAnswer{wire::measurementFrom(header.at("measurement")), header.at("storedReference")};
  return wire::measurementFrom(header.at("measurement"));
}

} // namespace

WireMessage pack(const WorkerRequest &request) { return std::visit(RequestPacker{}, request); }

WireMessage pack(const Expected<WorkerAnswer> &answer) {
  if (!answer)
    return {
        json{{"error", wire::toJson(answer.error())}}.dump(-1, ' ', false, json::error_handler_t::replace),
        {},
        -1};
  return std::visit(AnswerPacker{}, *answer);
}

Expected<WorkerRequest> unpackRequest(WireMessage message) {
  try {
    return requestFrom(json::parse(message.header), message);
  } catch (const json::exception &problem) {
    return fail(ErrorKind::Internal, "internal",
                std::string("a request to the CPU worker cannot be read: ") + problem.what());
  }
}

Expected<WorkerAnswer> unpackAnswer(WireMessage message) {
  try {
    const json header = json::parse(message.header);
    if (header.contains("error"))
      return Unexpected(wire::errorFrom(header["error"]));
    return answerFrom(header, message);
  } catch (const json::exception &problem) {
    return fail(ErrorKind::Internal, "internal",
                std::string("the answer of the CPU worker cannot be read: ") + problem.what());
  }
}

} // namespace tilewright::cpu

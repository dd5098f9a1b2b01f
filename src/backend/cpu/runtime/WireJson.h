#pragma once
#include "TrialMemory.h"

#include "tilewright/backend/Backend.h"

#include <nlohmann/json.hpp>

/// JSON forms of what travels between this process and a worker. Reading throws json::exception on what does
/// not fit; WorkerProtocol.cpp, the only user, turns that into an error.
namespace tilewright::cpu::wire {

nlohmann::json toJson(const Config &config);
Config configFrom(const nlohmann::json &json);

nlohmann::json toJson(const LaunchArguments &arguments);
LaunchArguments argumentsFrom(const nlohmann::json &json);

nlohmann::json toJson(const TrialLayout &layout);
TrialLayout layoutFrom(const nlohmann::json &json);

nlohmann::json toJson(const Measurement &measurement);
Measurement measurementFrom(const nlohmann::json &json);

nlohmann::json toJson(const Error &error);
Error errorFrom(const nlohmann::json &json);

} // namespace tilewright::cpu::wire

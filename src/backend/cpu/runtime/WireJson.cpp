#include "WireJson.h"

#include <bit>

namespace tilewright::cpu::wire {

using nlohmann::json;

namespace {

/// Floats travel as their bits: JSON has no infinities, and a size must come back as it was.
json floatToJson(double value) { return {{"float", std::bit_cast<uint64_t>(value)}}; }
double floatFrom(const json &value) { return std::bit_cast<double>(value.at("float").get<uint64_t>()); }

struct ConfigValueToJson {
  json operator()(bool value) const { return value; }
  json operator()(int64_t value) const { return value; }
  json operator()(double value) const { return floatToJson(value); }
  json operator()(const std::string &value) const { return value; }
};

struct ArgumentToJson : ConfigValueToJson {
  using ConfigValueToJson::operator();
  json operator()(NoneValue) const { return nullptr; }
  json operator()(DType dtype) const { return {{"dtype", name(dtype)}}; }
  json operator()(const TensorSpec &tensor) const {
    json out = {{"tensor", name(tensor.dtype)}, {"shape", tensor.shape}, {"strides", tensor.strides}};
    if (tensor.valueRange)
      out["range"] = {tensor.valueRange->first, tensor.valueRange->second};
    return out;
  }
};

DType dtypeFrom(const json &text) { return parseDType(text.get<std::string>()).value_or(DType::Void); }

ArgumentValue argumentFrom(const json &value) {
  if (value.is_null())
    return NoneValue{};
  if (value.is_boolean())
    return value.get<bool>();
  if (value.is_number())
    return value.get<int64_t>();
  if (value.is_string())
    return value.get<std::string>();
  if (value.contains("float"))
    return floatFrom(value);
  if (value.contains("dtype"))
    return dtypeFrom(value["dtype"]);
  TensorSpec tensor;
  tensor.dtype = dtypeFrom(value.at("tensor"));
  tensor.shape = value.at("shape").get<std::vector<int64_t>>();
  tensor.strides = value.at("strides").get<std::vector<int64_t>>();
  if (value.contains("range"))
    tensor.valueRange = {value["range"][0].get<int64_t>(), value["range"][1].get<int64_t>()};
  return tensor;
}

json toJson(const Diagnostic &diagnostic) {
  json out = {{"severity", static_cast<int>(diagnostic.severity)},
              {"code", diagnostic.code},
              {"message", diagnostic.message}};
  if (const auto &location = diagnostic.location)
    out["location"] = {{"path", location->path},
                       {"line", location->line},
                       {"column", location->column},
                       {"width", location->caretWidth},
                       {"text", location->lineText}};
  out["attached"] = json::array();
  for (const auto &attached : diagnostic.attached)
    out["attached"].push_back(toJson(attached));
  return out;
}

Diagnostic diagnosticFrom(const json &value) {
  Diagnostic out;
  out.severity = static_cast<Severity>(value.at("severity").get<int>());
  out.code = value.at("code");
  out.message = value.at("message");
  if (value.contains("location")) {
    const json &location = value["location"];
    out.location = ResolvedLocation{location.at("path"), location.at("line"), location.at("column"),
                                    location.at("width"), location.at("text")};
  }
  for (const json &attached : value.at("attached"))
    out.attached.push_back(diagnosticFrom(attached));
  return out;
}

} // namespace

json toJson(const Config &config) {
  json out = json::object();
  for (const auto &[name, value] : config.values())
    out[name] = std::visit(ConfigValueToJson{}, value);
  return out;
}

Config configFrom(const json &object) {
  Config out;
  for (const auto &[name, value] : object.items()) {
    if (value.is_boolean())
      out.set(name, value.get<bool>());
    else if (value.is_number())
      out.set(name, value.get<int64_t>());
    else if (value.is_string())
      out.set(name, value.get<std::string>());
    else
      out.set(name, floatFrom(value));
  }
  return out;
}

json toJson(const LaunchArguments &arguments) {
  json out = json::array();
  for (const auto &argument : arguments.values)
    out.push_back({{"name", argument.name}, {"value", std::visit(ArgumentToJson{}, argument.value)}});
  return out;
}

LaunchArguments argumentsFrom(const json &array) {
  LaunchArguments out;
  for (const json &argument : array)
    out.values.push_back({argument.at("name"), argumentFrom(argument.at("value"))});
  return out;
}

json toJson(const TrialLayout &layout) {
  json regions = json::array(), pointers = json::array();
  for (const auto &region : layout.regions)
    regions.push_back({region.callerAddress, region.bytes, region.pristineOffset, region.referenceOffset});
  for (const auto &pointer : layout.pointers)
    pointers.push_back({{"name", pointer.name},
                        {"argument", pointer.argument},
                        {"region", pointer.region},
                        {"offset", pointer.offset},
                        {"bytes", pointer.bytes},
                        {"written", pointer.written},
                        {"readBack", pointer.readBack},
                        {"dtype", pointer.dtype}});
  return {{"regions", regions}, {"pointers", pointers}, {"fileBytes", layout.fileBytes}};
}

TrialLayout layoutFrom(const json &value) {
  TrialLayout out;
  for (const json &region : value.at("regions"))
    out.regions.push_back({region.at(0), region.at(1), region.at(2), region.at(3)});
  for (const json &pointer : value.at("pointers"))
    out.pointers.push_back({pointer.at("name"), pointer.at("argument"), pointer.at("region"),
                            pointer.at("offset"), pointer.at("bytes"), pointer.at("written"),
                            pointer.at("readBack"), pointer.at("dtype")});
  out.fileBytes = value.at("fileBytes");
  return out;
}

json toJson(const Measurement &measurement) {
  return {{"outcome", static_cast<int>(measurement.outcome)},
          {"code", measurement.code},
          {"text", measurement.text},
          {"samplesNs", measurement.samplesNs}};
}

Measurement measurementFrom(const json &value) {
  return {static_cast<TrialOutcome>(value.at("outcome").get<int>()), value.at("code"), value.at("text"),
          value.at("samplesNs").get<std::vector<double>>()};
}

json toJson(const Error &error) {
  json out = {{"kind", static_cast<int>(error.kind)},
              {"code", error.code},
              {"message", error.message},
              {"diagnostics", json::array()}};
  for (const auto &diagnostic : error.diagnostics)
    out["diagnostics"].push_back(toJson(diagnostic));
  return out;
}

Error errorFrom(const json &value) {
  Error out(static_cast<ErrorKind>(value.at("kind").get<int>()), value.at("code"), value.at("message"));
  for (const json &diagnostic : value.at("diagnostics"))
    out.diagnostics.push_back(diagnosticFrom(diagnostic));
  return out;
}

} // namespace tilewright::cpu::wire

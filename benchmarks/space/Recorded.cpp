#include "Recorded.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace tilewright::bench {

namespace {

using nlohmann::json;

Unexpected problem(std::string text) {
  return Unexpected(Error(ErrorKind::User, "bench.grid", std::move(text)));
}

Expected<RecordedShape> shapeOf(const json &header, const std::string &family, const json &description,
                                const std::string &kernels, const std::string &target) {
  const std::string where = description.at("kernel").get<std::string>();
  const size_t colon = where.find(':');
  TW_TRY(Kernel kernel,
         Kernel::load(kernels + "/kernels/" + where.substr(0, colon), where.substr(colon + 1)));
  RecordedShape out{family,
                    header.at("shape_id").get<std::string>(),
                    description.at("dot").get<bool>(),
                    {},
                    std::move(kernel),
                    {},
                    0};
  for (const json &text : description.at("arguments")) {
    TW_TRY(Argument argument, parseArgument(substituted(text.get<std::string>(), header.at("shape"))));
    out.problem.arguments.set(argument.name, argument.value);
  }
  out.problem.grid = substituted(description.at("grid").get<std::string>(), header.at("shape"));
  out.problem.target = target;
  out.problem.onlyConfigs = true;
  return out;
}

RecordedPoint pointOf(const json &line, const json &description) {
  RecordedPoint out;
  for (const auto &[name, value] : line.at("c").items())
    out.config.set(name, value.get<int64_t>());
  out.config.set("num_warps", line.at("w").get<int64_t>());
  if (line.contains("s") && !line.at("s").is_null()) {
    out.config.set("num_stages", line.at("s").get<int64_t>());
    if (description.contains("stages"))
      out.config.set(description.at("stages").get<std::string>(), line.at("s").get<int64_t>());
  }
  if (line.at("st") == "ok")
    out.timeUs = line.at("us").get<double>();
  return out;
}

} // namespace

std::string substituted(std::string text, const json &shape) {
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open)) {
    const size_t close = text.find('}', open);
    std::string name = text.substr(open + 1, close - open - 1);
    int64_t less = 0;
    if (name.ends_with("-1")) {
      less = 1;
      name.resize(name.size() - 2);
    }
    const std::string value = std::to_string(shape.at(name).get<int64_t>() - less);
    text.replace(open, close - open + 1, value);
    open += value.size();
  }
  return text;
}

Expected<std::vector<RecordedShape>> readGrids(const std::vector<std::string> &folders,
                                               const std::string &kernels, const std::string &target) {
  std::ifstream familiesFile(kernels + "/families.json");
  const json families = json::parse(familiesFile, nullptr, false);
  if (families.is_discarded())
    return problem(kernels + "/families.json cannot be read");
  std::vector<RecordedShape> out;
  for (const auto &[family, description] : families.items()) {
    for (const std::string &folder : folders) {
      std::ifstream file(folder + "/" + family + ".jsonl");
      std::string line;
      while (std::getline(file, line)) {
        const json parsed = json::parse(line, nullptr, false);
        if (parsed.is_discarded())
          return problem(fmt::format("{}/{}.jsonl holds a line that is not JSON", folder, family));
        if (parsed.value("kind", "") == "header") {
          TW_TRY(RecordedShape shape, shapeOf(parsed, family, description, kernels, target));
          out.push_back(std::move(shape));
          continue;
        }
        if (out.empty())
          return problem(fmt::format("{}/{}.jsonl has a point before its header", folder, family));
        RecordedPoint point = pointOf(parsed, description);
        if (point.timeUs && (out.back().bestUs == 0 || *point.timeUs < out.back().bestUs))
          out.back().bestUs = *point.timeUs;
        out.back().problem.configs.push_back(point.config);
        out.back().points.push_back(std::move(point));
      }
    }
  }
  return out;
}

} // namespace tilewright::bench

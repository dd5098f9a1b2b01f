#pragma once
#include "tilewright/tilewright.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::bench {

/// One recorded point of a grid: a configuration and its measured time, or nothing where it could not run.
struct RecordedPoint {
  Config config;
  std::optional<double> timeUs;
};

/// All configurations of one kernel on one shape, with the launch that they were measured for.
struct RecordedShape {
  std::string family, shape;
  bool hasDot = false;
  Problem problem;
  Kernel kernel;
  std::vector<RecordedPoint> points;
  double bestUs = 0;
};

/// Reads every grid `FAMILY.jsonl` in `folders` whose family families.json knows, families in alphabetic
/// order. `kernels` is the folder with families.json and kernels/.
Expected<std::vector<RecordedShape>> readGrids(const std::vector<std::string> &folders,
                                               const std::string &kernels, const std::string &target);

/// "{name}" and "{name-1}" replaced by numbers of `shape`.
std::string substituted(std::string text, const nlohmann::json &shape);

} // namespace tilewright::bench

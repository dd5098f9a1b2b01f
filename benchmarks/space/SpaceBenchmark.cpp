#include "AscendPairs.h"
#include "FitRates.h"
#include "GridReplay.h"
#include "Speed.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

/// Quality of the order in which candidates are tried, and the time that generating and ordering takes.
int main(int argc, char **argv) {
  CLI::App app{"Ranks recorded configurations with the cost model and times generation and ranking"};
  std::vector<std::string> grids;
  std::string kernels = TILEWRIGHT_SOURCE_DIR "/benchmarks/space", target = "cuda-h200", dump, pairs;
  app.add_option("--grids", grids, "folders with recorded GPU grids (FAMILY.jsonl)");
  app.add_option("--kernels", kernels, "folder with families.json and kernels/");
  app.add_option("--target", target, "device that the grids were recorded on");
  app.add_option("--dump", dump, "write every point with its predicted parts to this file");
  app.add_option("--pairs", pairs, "published times of Ascend chips (published_pairs.json)");
  int speed = 0;
  app.add_option("--speed", speed, "time analysis, generation and ranking, with this many runs of each");
  int fit = 0;
  app.add_option("--fit", fit, "fit the device's constants to half of the shapes, with this many passes");
  CLI11_PARSE(app, argc, argv);
  if (fit > 0)
    return tilewright::bench::fitRates(grids, kernels, target, fit);
  if (grids.empty())
    fmt::print("SKIPPED: recorded GPU grids (no --grids)\n");
  else if (const int code = tilewright::bench::replayGrids(grids, kernels, target, dump))
    return code;
  if (pairs.empty())
    fmt::print("SKIPPED: published Ascend pairs (no --pairs)\n");
  else if (const int code = tilewright::bench::scorePairs(pairs, kernels))
    return code;
  if (speed > 0)
    return tilewright::bench::timeSpaces(kernels, speed);
  return 0;
}

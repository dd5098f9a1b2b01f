#include "GridReplay.h"
#include "Scores.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fstream>
#include <map>

namespace tilewright::bench {

namespace {

/// Every second shape, counted over the families in alphabetic order and each one's shapes as recorded: a
/// split that no result has influenced.
bool isForFitting(size_t shapeNumber) { return shapeNumber % 2 == 0; }

void printRow(const std::string &name, const std::string &detail, const std::array<double, 4> &values) {
  fmt::print("  {:<14} {:<24}", name, detail);
  for (const double value : values)
    fmt::print(" {:>6.3f}", value);
  fmt::print("\n");
}

void printHalf(const char *title, const std::map<std::string, std::vector<Recall>> &families,
               const std::map<std::string, bool> &hasDot) {
  fmt::print("\n{}\n  {:<14} {:<24}", title, "", "");
  for (const char *name : Recall::kNames)
    fmt::print(" {:>6}", name);
  fmt::print("\n");
  std::map<bool, std::vector<Recall>> byKind;
  for (const auto &[family, recalls] : families) {
    const RecallSummary summary = summarise(recalls);
    printRow(family, fmt::format("geomean of {}", summary.shapes), summary.geomean);
    printRow("", "worst", summary.worst);
    auto &kind = byKind[hasDot.at(family)];
    kind.insert(kind.end(), recalls.begin(), recalls.end());
  }
  for (const auto &[dot, recalls] : byKind) {
    const RecallSummary summary = summarise(recalls);
    const char *name = dot ? "with a dot" : "without a dot";
    printRow(name, fmt::format("geomean of {}", summary.shapes), summary.geomean);
    printRow("", "fifth percentile", summary.fifth);
    printRow("", "worst", summary.worst);
  }
}

} // namespace

int replayGrids(const std::vector<std::string> &folders, const std::string &kernels,
                const std::string &target, const std::string &dumpPath) {
  const auto shapes = readGrids(folders, kernels, target);
  if (!shapes) {
    fmt::print(stderr, "{}", render(shapes.error()));
    return 1;
  }
  if (shapes->empty()) {
    fmt::print("SKIPPED: no recorded grids in {}\n", fmt::join(folders, ", "));
    return 0;
  }
  std::ofstream dump;
  if (!dumpPath.empty())
    dump.open(dumpPath);
  fmt::print("Recorded GPU grids, target {}: best of all / best of the model's first k\n", target);
  fmt::print("  {:<14} {:<24}", "", "shape");
  for (const char *name : Recall::kNames)
    fmt::print(" {:>6}", name);
  fmt::print("  points  first\n");

  std::map<std::string, std::vector<Recall>> fitted, reported;
  std::map<std::string, bool> hasDot;
  for (size_t number = 0; number < shapes->size(); ++number) {
    const RecordedShape &shape = (*shapes)[number];
    const auto plan = shape.kernel.plan(shape.problem);
    if (!plan) {
      fmt::print(stderr, "{}", render(plan.error()));
      return 1;
    }
    std::map<Config, std::optional<double>> times;
    for (const RecordedPoint &point : shape.points)
      times[point.config] = point.timeUs;
    std::vector<std::optional<double>> inOrder;
    for (const tuner::Entrant &entrant : plan->ranked) {
      const auto &time = times.at(entrant.planned.candidate.config);
      inOrder.push_back(time);
      if (dump.is_open()) {
        nlohmann::json config;
        for (const auto &[name, value] : entrant.planned.candidate.config.values())
          config[name] = std::get<int64_t>(value);
        nlohmann::json parts;
        for (const auto &[name, ns] : entrant.planned.prediction.partsNs)
          parts[std::string(name)] = ns;
        fmt::print(dump, "{}\n",
                   nlohmann::json{{"family", shape.family},
                                  {"shape", shape.shape},
                                  {"fit", isForFitting(number)},
                                  {"config", config},
                                  {"us", time ? nlohmann::json(*time) : nlohmann::json()},
                                  {"predicted", entrant.planned.prediction.timeNs / 1e3},
                                  {"parts", parts},
                                  {"registers", entrant.planned.prediction.registersOfThread},
                                  {"resident", entrant.planned.prediction.resident},
                                  {"bytes", entrant.planned.candidate.bytes}}
                       .dump());
      }
    }
    // Rejected ones are judged too: one that ran well must not be lost unseen.
    const Recall recall = recallOf(inOrder, shape.bestUs);
    (isForFitting(number) ? fitted : reported)[shape.family].push_back(recall);
    hasDot[shape.family] = shape.hasDot;
    size_t lost = 0;
    for (const Rejection &rejection : plan->rejected)
      if (const auto found = times.find(rejection.config); found != times.end() && found->second)
        ++lost;
    fmt::print("  {:<14} {:<24}", shape.family, shape.shape);
    for (const double value : recall.at)
      fmt::print(" {:>6.3f}", value);
    fmt::print("  {:>6}  {}{}{}\n", shape.points.size(),
               plan->ranked.empty() ? "" : plan->ranked[0].planned.candidate.config.toString(),
               isForFitting(number) ? "  (fitting half)" : "",
               lost ? fmt::format("  {} that ran were rejected", lost) : "");
  }
  printHalf("Half of the shapes that constants may be fitted on", fitted, hasDot);
  printHalf("Other half", reported, hasDot);
  return 0;
}

} // namespace tilewright::bench

#include "FitRates.h"

#include "Scores.h"

#include "model/TargetTime.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace tilewright::bench {

namespace {

constexpr double kPull = 0.001; ///< towards each constant's start: what the data does not tell stays
constexpr double kFirstStep = 1.4, kLastStep = 1.05;

/// Every number that may move, and how far from its start (a factor either way): what the data sheet says
/// stays.
struct Constant {
  const char *name;
  double start;
};
const Constant kConstants[] = {
    {"warp_dispatch_ns", 0.075},
    {"block_dispatch_ns", 0.6},
    {"program_ns", 500},
    {"multiprocessor_bytes_per_ns", 80},
    {"run_overhead_bytes", 12},
    {"memory_latency_ns", 700},
    {"l2_latency_ns", 270},
    {"l1_latency_ns", 40},
    {"instruction_ns", 1.5},
    {"instructions_per_ns_per_core", 6},
    {"access_instructions", 5},
    {"transcendental_instructions", 6},
    {"row_instructions", 4},
    {"loop_instructions", 20},
    {"start_instructions", 60},
    {"shuffle_ns", 15},
    {"barrier_ns", 40},
    {"barrier_ns_per_warp", 4},
    {"conversion_ns", 100},
    {"copies_ns", 100},
    {"pipeline_ns", 60},
    {"dot_ns", 60},
    {"warp_dot_share", 0.6},
    {"wavefronts_per_ns_per_core", 1.8},
    {"overlap_exponent", 3},
    {"start_share", 0.5},
    {"tail_share", 0.5},
    {"spill_bytes", 8},
    {"shared_bytes_per_ns_per_core", 230},
    {"tensor_share", 0.8},
    {"l2_share", 1},
    {"dram_share", 1},
};

struct Point {
  model::Workload load;
  Candidate candidate;
  double us = 0; ///< 0: could not run
};
struct Shape {
  std::string name;
  std::vector<Point> points;
  double bestUs = 0;
};

double lossOf(const Shape &shape, const Target &target) {
  std::vector<double> predicted(shape.points.size());
  const model::CudaRates rates(target);
  double weights = 0, mean = 0;
  for (size_t i = 0; i < shape.points.size(); ++i) {
    const Point &point = shape.points[i];
    predicted[i] = model::cudaTime(point.load, rates, point.candidate).timeNs;
    if (point.us <= 0)
      continue;
    const double weight = std::pow(shape.bestUs / point.us, 2);
    weights += weight;
    mean += weight * std::log(predicted[i] / (1e3 * point.us));
  }
  mean /= weights;
  double spread = 0;
  for (size_t i = 0; i < shape.points.size(); ++i)
    if (const Point &point = shape.points[i]; point.us > 0)
      spread += std::pow(shape.bestUs / point.us, 2) / weights *
                std::pow(std::log(predicted[i] / (1e3 * point.us)) - mean, 2);
  std::vector<size_t> order(shape.points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return predicted[a] < predicted[b]; });
  std::vector<std::optional<double>> inOrder;
  for (const size_t i : order)
    inOrder.push_back(shape.points[i].us > 0 ? std::optional(shape.points[i].us) : std::nullopt);
  const Recall recall = recallOf(inOrder, shape.bestUs);
  return std::sqrt(spread) + 0.2 * std::abs(mean) - 0.2 * std::log(recall.at[0]) -
         0.4 * std::log(recall.at[1]);
}

double lossOf(const std::vector<Shape> &shapes, const Target &target) {
  double sum = 0;
  for (const Shape &shape : shapes)
    sum += lossOf(shape, target);
  double distance = 0;
  for (const Constant &constant : kConstants)
    distance += std::pow(std::log(target.rates.at(constant.name).value / constant.start), 2);
  return sum / static_cast<double>(shapes.size()) + kPull * distance;
}

Expected<std::vector<Shape>> shapesForFitting(const std::vector<std::string> &folders,
                                              const std::string &kernels, const std::string &target) {
  TW_TRY(const std::vector<RecordedShape> recorded, readGrids(folders, kernels, target));
  std::vector<Shape> out;
  for (size_t number = 0; number < recorded.size(); number += 2) {
    const RecordedShape &shape = recorded[number];
    TW_TRY(const KernelPlan plan, shape.kernel.plan(shape.problem));
    std::map<Config, double> times;
    for (const RecordedPoint &point : shape.points)
      times[point.config] = point.timeUs.value_or(0);
    Shape fitted{shape.family + " " + shape.shape, {}, shape.bestUs};
    for (const PathPlan &path : plan.paths) {
      const SpaceRequest request{*path.path.program, *path.path.facts, *plan.target, shape.problem.arguments,
                                 *path.path.grid};
      const model::WorkloadModel workload(request);
      for (size_t i = 0; i < path.plan.ranked.size(); ++i) {
        const Candidate &candidate = path.plan.ranked[i].candidate;
        const double us = times.at(candidate.config);
        if (!path.plan.ranked[i].repeats && (us < 4 * shape.bestUs || i % 8 == 0 || i < 100))
          fitted.points.push_back({workload.of(candidate), candidate, us});
      }
    }
    out.push_back(std::move(fitted));
  }
  return out;
}

} // namespace

int fitRates(const std::vector<std::string> &folders, const std::string &kernels,
             const std::string &targetName, int rounds) {
  auto target = findTarget(targetName);
  if (!target) {
    fmt::print(stderr, "{}", render(target.error()));
    return 1;
  }
  const auto shapes = shapesForFitting(folders, kernels, targetName);
  if (!shapes) {
    fmt::print(stderr, "{}", render(shapes.error()));
    return 1;
  }
  for (const Constant &constant : kConstants)
    if (!target->rates.contains(constant.name))
      target->rates[constant.name] = {constant.start, "start of the fit"};
  double best = lossOf(*shapes, *target);
  fmt::print(stderr, "start {:.4f}\n", best);
  std::map<std::string, double> steps;
  for (const Constant &constant : kConstants)
    steps[constant.name] = kFirstStep;
  for (int round = 0; round < rounds; ++round) {
    for (const Constant &constant : kConstants) {
      double &value = target->rates[constant.name].value;
      double &step = steps[constant.name];
      const double was = value;
      bool moved = false;
      for (const double factor : {step, 1 / step}) {
        value = was * factor;
        if (const double loss = lossOf(*shapes, *target); loss < best - 1e-6) {
          best = loss;
          moved = true;
          break;
        }
        value = was;
      }
      step = moved ? std::min(kFirstStep, step * 1.1) : std::max(kLastStep, std::sqrt(step));
    }
    fmt::print(stderr, "round {} {:.4f}\n", round, best);
  }
  for (const Shape &shape : *shapes)
    fmt::print(stderr, "  {:<30} {:.4f}\n", shape.name, lossOf(shape, *target));
  nlohmann::json rates;
  for (const Constant &constant : kConstants)
    rates[constant.name] = target->rates[constant.name].value;
  fmt::print("{}\n", rates.dump(1));
  return 0;
}

} // namespace tilewright::bench

#include "Speed.h"

#include "Recorded.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <fstream>

namespace tilewright::bench {

namespace {

using nlohmann::json;

constexpr int64_t kConsidered = 10'000;

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Processor time, so that a busy machine reads the same as an idle one.
template <class Work> double medianMs(int repeats, Work work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();
    work();
    times.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return medianOf(times);
}

/// A shape for every extent that families.json mentions: middle sizes.
json middleShape() {
  return {{"n", 1 << 24}, {"M", 2048}, {"N", 4096}, {"K", 1024}, {"V", 32000},
          {"T", 2048},    {"BH", 32},  {"S", 2048}, {"D", 64},   {"C", 2048}};
}

/// Hints that widen the space until about kConsidered points are considered: more values for the launch
/// options, which every kernel has.
Hints widened(const SpaceRequest &request, int64_t considered) {
  Hints hints;
  const auto grow = [&](const char *name, std::vector<ConfigValue> values, int64_t had) {
    if (considered * static_cast<int64_t>(values.size()) / had > 2 * kConsidered)
      values.resize(static_cast<size_t>(std::max<int64_t>(1, 2 * kConsidered * had / considered)));
    considered = considered * static_cast<int64_t>(values.size()) / had;
    hints.values[name] = std::move(values);
  };
  if (request.target.kind == TargetKind::Cuda && considered < kConsidered) {
    std::vector<ConfigValue> registers;
    for (int64_t i = 1; i <= kConsidered / std::max<int64_t>(1, considered); ++i)
      registers.emplace_back(i * 8);
    grow("maxnreg", std::move(registers), 1);
  }
  return hints;
}

} // namespace

int timeSpaces(const std::string &kernels, int repeats) {
  std::ifstream file(kernels + "/families.json");
  const json families = json::parse(file, nullptr, false);
  if (families.is_discarded()) {
    fmt::print(stderr, "{}/families.json cannot be read\n", kernels);
    return 1;
  }
  fmt::print("\nSpeed, medians of {} runs, milliseconds of processor time\n  {:<14} {:<14} {:>9} {:>11} "
             "{:>9} {:>9} {:>18}\n",
             repeats, "kernel", "target", "analysis", "considered", "generate", "rank", "both, per 10,000");
  std::vector<double> analyses, lists, tenThousands;
  for (const auto &[family, description] : families.items())
    for (const char *targetName : {"cpu", "ascend910b1", "cuda-h200"}) {
      const std::string where = description.at("kernel").get<std::string>();
      const size_t colon = where.find(':');
      const auto kernel =
          Kernel::load(kernels + "/kernels/" + where.substr(0, colon), where.substr(colon + 1));
      const auto target = findTarget(targetName);
      if (!kernel || !target)
        return 1;
      Problem problem;
      for (const json &text : description.at("arguments")) {
        const auto argument = parseArgument(substituted(text.get<std::string>(), middleShape()));
        problem.arguments.set(argument->name, argument->value);
      }
      problem.grid = substituted(description.at("grid").get<std::string>(), middleShape());
      problem.target = targetName;
      const auto path = kernel->analyze(problem);
      if (!path || !path->grid) {
        fmt::print(stderr, "{}: {}\n", family, path ? "no grid" : render(path.error()));
        return 1;
      }
      const double analysis = medianMs(
          repeats, [&] { return tilewright::analyze(*path->program, &*path->grid).accesses.size(); });
      SpaceRequest request{*path->program, *path->facts, *target, problem.arguments, *path->grid};
      const int64_t plain = generate(request).considered;
      request.hints = widened(request, std::max<int64_t>(1, plain));
      CandidateSpace space = generate(request);
      const double generation = medianMs(repeats, [&] { space = generate(request); });
      const double ranking = medianMs(repeats, [&] { return rank(request, space).ranked.size(); });
      const double perTenThousand =
          (generation + ranking) * kConsidered / static_cast<double>(std::max<int64_t>(1, space.considered));
      fmt::print("  {:<14} {:<14} {:>9.2f} {:>11} {:>9.2f} {:>9.2f} {:>18.1f}\n", family, targetName,
                 analysis, space.considered, generation, ranking, perTenThousand);
      analyses.push_back(analysis);
      // Short lists cost less than they would per 10,000: what a user waits for is the whole.
      lists.push_back(generation + ranking);
      if (space.considered >= kConsidered / 4)
        tenThousands.push_back(perTenThousand);
    }
  fmt::print("  median: analysis {:.2f} ms (aim 2), a list as it is {:.2f} ms, 10,000 considered {:.1f} ms "
             "(aim 20)\n",
             medianOf(analyses), medianOf(lists), medianOf(tenThousands));
  return 0;
}

} // namespace tilewright::bench

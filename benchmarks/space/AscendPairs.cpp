#include "AscendPairs.h"

#include "Recorded.h"

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <map>

namespace tilewright::bench {

namespace {

using nlohmann::json;

constexpr double kNearTie = 1.02;

/// "BM=32,BN=512 (grid 64)" without the remark.
std::string settingsOf(const std::string &published) {
  const std::string head = published.substr(0, published.find(" ("));
  return head.substr(0, head.find(' '));
}

/// The configuration that a published text stands for, or nothing.
std::optional<Config> configOf(const json &group, const std::string &published) {
  if (group.contains("configs")) {
    const auto found = group["configs"].find(published);
    if (found == group["configs"].end())
      return std::nullopt;
    const auto config = Config::parse(found->get<std::string>());
    return config ? std::optional(*config) : std::nullopt;
  }
  const auto config = Config::parse(settingsOf(published));
  return config ? std::optional(*config) : std::nullopt;
}

std::string targetOf(const json &group, const std::string &chip) {
  if (group.contains("target"))
    return group["target"].get<std::string>();
  for (const auto &[prefix, target] : group["targets"].items())
    if (chip.starts_with(prefix))
      return target.get<std::string>();
  return {};
}

/// Predicted nanoseconds.
Expected<double> predicted(const json &group, const std::string &kernels, const std::string &target,
                           Config config) {
  const std::string where = group.at("kernel").get<std::string>();
  const size_t colon = where.find(':');
  TW_TRY(const Kernel kernel,
         Kernel::load(kernels + "/kernels/" + where.substr(0, colon), where.substr(colon + 1)));
  Problem problem;
  for (const json &text : group.at("arguments")) {
    TW_TRY(Argument argument, parseArgument(text.get<std::string>()));
    problem.arguments.set(argument.name, argument.value);
  }
  problem.target = target;
  problem.onlyConfigs = true;
  if (group.contains("programs")) {
    // The number of programs is not a tile: it is the launch's grid.
    const std::string name = group["programs"].get<std::string>();
    problem.fixedGrid = {config.integer(name).value_or(1), 1, 1};
    Config::Map rest = config.values();
    rest.erase(name);
    config = Config(std::move(rest));
  } else {
    problem.grid = group.at("grid").get<std::string>();
  }
  problem.configs = {config};
  TW_TRY(const KernelPlan plan, kernel.plan(problem));
  if (plan.ranked.empty())
    return Unexpected(Error(
        ErrorKind::Refusal, "bench.pair",
        fmt::format("{}: {}", config.toString(), plan.rejected.empty() ? "refused" : plan.rejected[0].text)));
  return plan.ranked[0].planned.prediction.timeNs;
}

struct Score {
  size_t right = 0, counted = 0;
};

} // namespace

int scorePairs(const std::string &pairsPath, const std::string &kernels) {
  std::ifstream pairsFile(pairsPath), groupsFile(kernels + "/ascend_groups.json");
  const json pairs = json::parse(pairsFile, nullptr, false), groups = json::parse(groupsFile, nullptr, false);
  if (pairs.is_discarded() || groups.is_discarded()) {
    fmt::print("SKIPPED: published Ascend pairs ({} cannot be read)\n", pairsPath);
    return 0;
  }
  std::map<std::string, Score> scores;
  Score all;
  size_t leftOut = 0, ties = 0;
  fmt::print("\nPublished Ascend pairs: predicted / published times, microseconds\n");
  for (const json &pair : pairs) {
    const std::string id = pair.at("id").get<std::string>(), family = id.substr(0, id.rfind('-'));
    const auto group = groups.find(family);
    if (group == groups.end()) {
      ++leftOut;
      continue;
    }
    const std::string textA = pair.at("config_a").get<std::string>(),
                      textB = pair.at("config_b").get<std::string>();
    const auto a = configOf(*group, textA), b = configOf(*group, textB);
    const std::string target = targetOf(*group, pair.at("chip").get<std::string>());
    if (!a || !b || target.empty()) {
      ++leftOut;
      continue;
    }
    if (pair.at("time_a_us").is_number() && pair.at("time_b_us").is_number()) {
      const double x = pair["time_a_us"].get<double>(), y = pair["time_b_us"].get<double>();
      if (std::max(x, y) / std::min(x, y) < kNearTie) {
        ++ties;
        continue;
      }
    }
    const auto timeA = predicted(*group, kernels, target, *a), timeB = predicted(*group, kernels, target, *b);
    const bool right = timeA && timeB && (pair.at("faster") == "a" ? *timeA < *timeB : *timeB < *timeA);
    Score &score = scores[family];
    ++score.counted;
    ++all.counted;
    score.right += right;
    all.right += right;
    const auto show = [](const Expected<double> &time) {
      return time ? fmt::format("{:.1f}", *time / 1e3) : time.error().message;
    };
    fmt::print("  {} {:<22} {:>10} / {:<10} {:<34} {:>10} / {:<10} {}\n", right ? "right" : "WRONG", id,
               show(timeA), pair.at("time_a_us").dump(), textA.substr(0, 34), show(timeB),
               pair.at("time_b_us").dump(), textB.substr(0, 34));
  }
  for (const auto &[family, score] : scores)
    fmt::print("  {:<22} {:>3} of {}\n", family, score.right, score.counted);
  fmt::print("  all {:>3} of {} ({:.0f} %); {} near ties and {} pairs of hand-written schedules left out\n",
             all.right, all.counted,
             all.counted ? 100.0 * static_cast<double>(all.right) / static_cast<double>(all.counted) : 0,
             ties, leftOut);
  return 0;
}

} // namespace tilewright::bench

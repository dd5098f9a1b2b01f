#include "Domains.h"
#include "Traffic.h"
#include "Verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

namespace {

constexpr int64_t kMostConsidered = int64_t{1}
                                    << 20; ///< a product above this is thinned before it is enumerated
constexpr size_t kMostListed = 2000;       ///< rejections kept with their text; the rest is counted
constexpr double kKeptByCostAlone =
    0.5; ///< of a thinned list: the cheapest; the rest is spread over all costs

/// How many points the default product may have. Where candidates are measured in full the list stays short;
/// a GPU list is ranked first and only its head is compiled.
int64_t productBudget(TargetKind kind) {
  switch (kind) {
  case TargetKind::Cpu:
    return 150;
  case TargetKind::Ascend:
    return 600;
  case TargetKind::Cuda:
    return 20'000;
  }
  return 150;
}

int64_t productOf(const std::vector<Dimension> &dimensions) {
  int64_t product = 1;
  for (const Dimension &dimension : dimensions)
    if (const auto count = static_cast<int64_t>(dimension.domain.values.size()); count > 0)
      product = product > INT64_MAX / count ? INT64_MAX : product * count;
  return product;
}

/// Takes values out of the longest generated domains, evenly, until the product fits. What the user asked for
/// stays.
void fitProduct(std::vector<Dimension> &dimensions, int64_t budget) {
  constexpr size_t kFewest = 2;
  std::vector<std::vector<ConfigValue>> whole;
  for (const Dimension &dimension : dimensions)
    whole.push_back(dimension.domain.values);
  while (productOf(dimensions) > budget) {
    size_t longest = dimensions.size();
    for (size_t i = 0; i < dimensions.size(); ++i)
      if (const size_t count = dimensions[i].domain.values.size();
          !dimensions[i].fromHint && count > kFewest &&
          (longest == dimensions.size() || count >= dimensions[longest].domain.values.size()))
        longest = i;
    if (longest == dimensions.size())
      break;
    // Always from the whole domain: thinning a thinned list would leave uneven gaps.
    std::vector<ConfigValue> fewer = whole[longest];
    thinDomain(fewer, dimensions[longest].domain.values.size() - 1);
    dimensions[longest].domain.values = std::move(fewer);
  }
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i].domain.values.size() < whole[i].size())
      dimensions[i].domain.reason += "; thinned evenly to keep the product small";
}

class Enumerator {
public:
  Enumerator(const SpaceRequest &request, const Verdict &verdict, std::vector<Dimension> dimensions,
             CandidateSpace &out)
      : request_(request), verdict_(verdict), dimensions_(std::move(dimensions)), out_(out),
        traffic_(request, verdict.symbols()), values_(verdict.symbols().launchValues()) {
    std::erase_if(dimensions_, [](const Dimension &each) { return each.domain.values.empty(); });
    remaining_.assign(dimensions_.size() + 1, 1);
    for (size_t depth = dimensions_.size(); depth-- > 0;) {
      const auto count = static_cast<int64_t>(dimensions_[depth].domain.values.size());
      remaining_[depth] =
          remaining_[depth + 1] > INT64_MAX / count ? INT64_MAX : remaining_[depth + 1] * count;
    }
    for (const Candidate &candidate : out.candidates)
      known_.insert(candidate.config);
    for (const Rejection &rejection : out.rejected)
      known_.insert(rejection.config);
  }

  void run() {
    descend(0, {}, 0);
    out_.considered += remaining_[0];
    thin();
    for (auto &[cost, candidate] : found_)
      out_.candidates.push_back(std::move(candidate));
  }

private:
  const SpaceRequest &request_;
  const Verdict &verdict_;
  std::vector<Dimension> dimensions_;
  CandidateSpace &out_;
  Traffic traffic_;
  std::vector<int64_t> values_;
  std::vector<int64_t> remaining_; ///< points below each depth
  std::set<Config> known_;         ///< judged as the user's own
  std::vector<std::pair<double, Candidate>> found_;

  void reject(Rejection rejection, int64_t count) {
    out_.rejectedByCode[rejection.code] += count;
    if (out_.rejected.size() < kMostListed)
      out_.rejected.push_back(std::move(rejection));
  }

  void descend(size_t depth, const Config &config, uint64_t assigned) {
    if (depth == dimensions_.size()) {
      if (known_.contains(config))
        return;
      auto judged = verdict_.judgeValues(config, values_);
      if (!judged)
        return reject(std::move(judged.error()), 1);
      found_.emplace_back(traffic_.bytes(values_, judged->grid), *std::move(judged));
      return;
    }
    const Dimension &dimension = dimensions_[depth];
    for (const ConfigValue &value : dimension.domain.values) {
      Config next = config;
      next.set(dimension.domain.parameter, value);
      if (!dimension.openIndex) {
        descend(depth + 1, next, assigned);
        continue;
      }
      verdict_.symbols().assign(values_, *dimension.openIndex,
                                next.integer(dimension.domain.parameter).value_or(0));
      const uint64_t nowAssigned = assigned | (uint64_t{1} << *dimension.openIndex);
      if (auto rejection = verdict_.earlyViolation(nowAssigned, *dimension.openIndex, values_)) {
        rejection->config = next;
        reject(*std::move(rejection), remaining_[depth + 1]);
        continue;
      }
      descend(depth + 1, next, nowAssigned);
    }
  }

  /// Above maxCandidates: the cheapest half by traffic, the rest spread evenly over the others, in the old
  /// order.
  void thin() {
    const auto most = static_cast<size_t>(std::max<int64_t>(1, request_.maxCandidates));
    if (found_.size() <= most)
      return;
    std::vector<size_t> order(found_.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return found_[a].first < found_[b].first; });
    std::vector<bool> kept(found_.size(), false);
    const auto cheapest =
        std::max<size_t>(1, static_cast<size_t>(static_cast<double>(most) * kKeptByCostAlone));
    for (size_t i = 0; i < cheapest; ++i)
      kept[order[i]] = true;
    const size_t rest = most - cheapest, others = order.size() - cheapest;
    for (size_t i = 0; i < rest; ++i)
      kept[order[cheapest + i * others / rest]] = true;

    std::vector<std::pair<double, Candidate>> out;
    for (size_t i = 0; i < found_.size(); ++i) {
      if (kept[i])
        out.push_back(std::move(found_[i]));
      else
        reject({found_[i].second.config, "cost.cut",
                fmt::format("{:.3g} bytes asked for by all programs; {} of {} feasible candidates are kept",
                            found_[i].first, most, found_.size()),
                Origin::Generated},
               1);
    }
    found_ = std::move(out);
  }
};

/// Smallest and largest integer of each open parameter's domain.
void domainEnds(const std::vector<Dimension> &dimensions, size_t openCount, std::vector<int64_t> &least,
                std::vector<int64_t> &most) {
  least.assign(openCount, 0);
  most.assign(openCount, 0);
  for (const Dimension &dimension : dimensions) {
    if (!dimension.openIndex || dimension.domain.values.empty())
      continue;
    std::vector<int64_t> integers;
    for (const ConfigValue &value : dimension.domain.values)
      integers.push_back(std::holds_alternative<bool>(value) ? (std::get<bool>(value) ? 1 : 0)
                                                             : std::get<int64_t>(value));
    least[*dimension.openIndex] = *std::min_element(integers.begin(), integers.end());
    most[*dimension.openIndex] = *std::max_element(integers.begin(), integers.end());
  }
}

/// Nothing was feasible: which rules were in the way, and one example of each.
Error nothingFeasible(const SpaceRequest &request, const CandidateSpace &space) {
  auto diagnostic =
      makeDiagnostic(Severity::Error, "space.empty",
                     fmt::format("no candidate of {} is feasible on {} ({} considered)",
                                 request.program.kernel, request.target.name, space.considered));
  for (const auto &[code, count] : space.rejectedByCode) {
    const auto example = std::find_if(space.rejected.rbegin(), space.rejected.rend(),
                                      [&](const Rejection &each) { return each.code == code; });
    diagnostic.note(example == space.rejected.rend()
                        ? fmt::format("{} dropped [{}]", count, code)
                        : fmt::format("{} dropped [{}], for example {}: {}", count, code,
                                      example->config.toString(), example->text));
  }
  if (space.rejectedByCode.contains("grid.limit"))
    diagnostic.help("let one program do several blocks in a loop, so that fewer programs are needed");
  else if (std::any_of(space.rejectedByCode.begin(), space.rejectedByCode.end(),
                       [](const auto &each) { return each.first.starts_with("capacity."); }))
    diagnostic.help("walk over the long axis in a loop, with a tile of its own");
  else
    diagnostic.help("write configurations by hand to see what each rule says of them");
  return Error(ErrorKind::Refusal, std::move(diagnostic));
}

} // namespace

CandidateSpace generate(const SpaceRequest &request) {
  CandidateSpace out;
  const Verdict verdict(request);
  std::set<Config> given;
  for (const Config &config : request.userConfigs) {
    ++out.considered;
    auto judged = verdict.judge(config);
    if (judged) {
      judged->origin = Origin::User;
      if (given.insert(config).second)
        out.candidates.push_back(*std::move(judged));
    } else {
      judged.error().origin = Origin::User;
      ++out.rejectedByCode[judged.error().code];
      out.rejected.push_back(std::move(judged.error()));
    }
  }
  const auto finish = [&](std::optional<Error> problem) {
    if (out.candidates.empty())
      out.emptyReason = problem ? std::move(problem) : nothingFeasible(request, out);
    return std::move(out);
  };
  if (request.onlyUserConfigs)
    return finish(request.userConfigs.empty()
                      ? std::optional(Error(ErrorKind::User, "space.empty",
                                            "no configuration was given, and none may be generated"))
                      : std::nullopt);

  auto wanted = dimensions(request, verdict.symbols());
  if (!wanted)
    return finish(std::move(wanted.error()));
  std::vector<int64_t> least, most;
  domainEnds(*wanted, verdict.symbols().open().size(), least, most);
  if (auto refused = verdict.grid().fixedGrid(least, most))
    return finish(std::move(refused));

  fitProduct(*wanted, productBudget(request.target.kind));
  if (const int64_t product = productOf(*wanted); product > kMostConsidered)
    return finish(Error(ErrorKind::User, "hint.value",
                        fmt::format("the hints multiply to {} configurations; {} can be looked at", product,
                                    kMostConsidered)));
  for (const Dimension &dimension : *wanted)
    out.domains.push_back(dimension.domain);
  Enumerator(request, verdict, *std::move(wanted), out).run();
  return finish(std::nullopt);
}

tl::expected<Candidate, Rejection> judge(const SpaceRequest &request, const Config &config) {
  return Verdict(request).judge(config);
}

} // namespace tilewright

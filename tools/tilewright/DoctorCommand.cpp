#include "Call.h"

#include "tilewright/backend/LoadBackend.h"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace tilewright::cli {

namespace {

struct Finding {
  std::string part;
  bool works = false;
  std::string text; ///< what was found, or why not and what to do
};

Finding cpuBackend() {
  auto backend = loadBackend("cpu");
  if (!backend)
    return {"cpu back end", false, backend.error().message};
  return {"cpu back end", true, (*backend)->toolchain()};
}

Finding cpuTarget() {
  const Target target = probeCpu();
  return {"cpu", true,
          fmt::format("{}, {} threads, vectors of {} bytes", target.description, target.cores,
                      target.vectorBytes)};
}

Finding storeFinding(const Call &call) {
  auto store = call.openStore();
  if (!store)
    return {"store", false, store.error().message};
  auto problems = (*store)->verify();
  if (!problems)
    return {"store", false, problems.error().message};
  if (!problems->empty())
    return {"store", false, fmt::format("{}: {}", (*store)->location(), problems->front())};
  return {"store", true, (*store)->location()};
}

Finding devices() {
  const auto names = targetNames();
  std::string broken;
  for (const auto &name : names)
    if (auto target = findTarget(name); !target)
      broken += fmt::format("{}{}", broken.empty() ? "" : "; ", target.error().message);
  if (!broken.empty())
    return {"device descriptions", false, broken};
  return {"device descriptions", names.size() > 1,
          names.size() > 1 ? fmt::format("{} targets", names.size())
                           : "no folder with device descriptions was found; set TILEWRIGHT_DEVICES"};
}

Finding accelerator(const char *part, const char *node, const char *why) {
  const bool there = ::access(node, F_OK) == 0;
  return {part, false,
          there ? fmt::format("{} is there, but {}", node, why)
                : fmt::format("no device here ({} is missing); candidates and explanations work without one",
                              node)};
}

} // namespace

int doctorCommand(const Call &call) {
  const std::vector<Finding> findings{
      cpuTarget(),
      cpuBackend(),
      devices(),
      storeFinding(call),
      accelerator("ascend", "/dev/davinci0", "measuring on it is not part of this version"),
      accelerator("cuda", "/dev/nvidia0", "measuring on it is not part of this version")};
  bool usable = true;
  nlohmann::json list = nlohmann::json::array();
  for (const auto &finding : findings) {
    const bool needed = finding.part != "ascend" && finding.part != "cuda";
    usable = usable && (finding.works || !needed);
    if (call.json)
      list.push_back({{"part", finding.part}, {"works", finding.works}, {"text", finding.text}});
    else
      fmt::print("{:<4} {}: {}\n", finding.works ? "ok" : needed ? "NO" : "-", finding.part, finding.text);
  }
  if (call.json)
    fmt::print("{}\n", nlohmann::json{{"version", version()}, {"works", usable}, {"parts", list}}.dump());
  return usable ? kDone : kNotAvailable;
}

} // namespace tilewright::cli

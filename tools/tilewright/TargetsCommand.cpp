#include "Call.h"

#include <cstdio>
#include <fmt/format.h>

namespace tilewright::cli {

int targetsCommand(const Call &call) {
  nlohmann::json list = nlohmann::json::array();
  int status = kDone;
  for (const auto &name : targetNames()) {
    auto target = findTarget(name);
    if (!target) {
      status = report(target.error(), false);
      continue;
    }
    if (call.json) {
      list.push_back(nlohmann::json::parse(tilewright::toJson(*target)));
      continue;
    }
    fmt::print("{}: {}\n", target->name, target->description);
    fmt::print("  cores {}{}, vectors of {} bytes{}\n", target->cores,
               target->cubeCores ? fmt::format(" (and {} cube cores)", target->cubeCores) : "",
               target->vectorBytes,
               target->clockGhz > 0 ? fmt::format(", {:.2f} GHz", target->clockGhz) : "");
    for (const auto &space : target->memory)
      fmt::print("  {}{}, aligned to {} bytes{}\n", space.name,
                 space.bytes ? fmt::format(" {} KiB per core", space.bytes / 1024) : "", space.alignmentBytes,
                 space.readBytesPerNs > 0
                     ? fmt::format(", {:.1f} bytes/ns read per core", space.readBytesPerNs)
                     : "");
  }
  if (call.json)
    fmt::print("{}\n", nlohmann::json{{"targets", list}}.dump());
  return status;
}

} // namespace tilewright::cli

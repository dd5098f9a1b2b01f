#include "Call.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tilewright::cli {

namespace {

std::string day(int64_t unixMs) {
  const std::time_t seconds = unixMs / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

int list(store::Store &store, bool json) {
  auto keys = store.keys();
  if (!keys)
    return report(keys.error(), json);
  if (json) {
    nlohmann::json out{{"store", store.location()}, {"keys", nlohmann::json::array()}};
    for (const auto &key : *keys) {
      nlohmann::json entry{{"digest", key.key.digest()},     {"kernel", key.key.kernelName},
                           {"file", key.key.file},           {"target", key.key.target},
                           {"keyValues", key.key.keyValues}, {"trials", key.trials},
                           {"okTrials", key.okTrials},       {"lastUnixMs", key.lastUnixMs}};
      if (key.choice)
        entry["best"] = {{"config", toJson(key.choice->config)},
                         {"timeUs", key.choice->timeNs / 1e3},
                         {"method", store::toString(key.choice->method)}};
      out["keys"].push_back(std::move(entry));
    }
    fmt::print("{}\n", out.dump());
    return kDone;
  }
  fmt::print("{}: {} problems\n", store.location(), keys->size());
  std::vector<std::vector<std::string>> rows{{"kernel", "target", "best", "time", "trials", "last", "key"}};
  for (const auto &key : *keys)
    rows.push_back({key.key.kernelName, key.key.target, key.choice ? key.choice->config.toString() : "none",
                    key.choice ? humanTime(key.choice->timeNs) : "", fmt::format("{}", key.trials),
                    day(key.lastUnixMs), key.key.keyValues});
  if (rows.size() > 1)
    fmt::print("{}", table(rows));
  return kDone;
}

int reportImport(const Expected<store::ImportReport> &done, bool json) {
  if (!done)
    return report(done.error(), json);
  for (const auto &problem : done->problems)
    std::fputs(("warning: skipped " + problem + "\n").c_str(), stderr);
  if (json)
    fmt::print("{}\n", nlohmann::json{{"keys", done->keys},
                                      {"trials", done->trials},
                                      {"choices", done->choices},
                                      {"known", done->known},
                                      {"problems", done->problems}}
                           .dump());
  else
    fmt::print("added {} problems, {} trials, {} choices; {} were known\n", done->keys, done->trials,
               done->choices, done->known);
  return kDone;
}

} // namespace

int storeCommand(const Call &call, const StoreCall &storeCall) {
  auto opened = call.openStore();
  if (!opened)
    return report(opened.error(), call.json);
  store::Store &store = **opened;
  if (storeCall.action == "list")
    return list(store, call.json);
  if (storeCall.action == "export") {
    if (auto done = store.exportJson(storeCall.file); !done)
      return report(done.error(), call.json);
    if (call.json)
      fmt::print("{}\n", nlohmann::json{{"file", storeCall.file}}.dump());
    else
      fmt::print("wrote {}\n", storeCall.file);
    return kDone;
  }
  if (storeCall.action == "import")
    return reportImport(store.importJson(storeCall.file), call.json);
  if (storeCall.action == "merge")
    return reportImport(store.merge(storeCall.file), call.json);
  if (storeCall.action == "verify") {
    auto problems = store.verify();
    if (!problems)
      return report(problems.error(), call.json);
    if (call.json)
      fmt::print("{}\n", nlohmann::json{{"store", store.location()}, {"problems", *problems}}.dump());
    else {
      for (const auto &problem : *problems)
        fmt::print("{}\n", problem);
      fmt::print("{}: {}\n", store.location(),
                 problems->empty() ? "no damage found" : fmt::format("{} problems", problems->size()));
    }
    return problems->empty() ? kDone : kWorkFailed;
  }
  store::GcPolicy policy;
  policy.supersededKernels = true;
  if (storeCall.olderThanDays > 0) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    policy.keysUnusedSinceUnixMs = now - static_cast<int64_t>(storeCall.olderThanDays * 86'400'000);
  }
  auto done = store.gc(policy);
  if (!done)
    return report(done.error(), call.json);
  if (call.json)
    fmt::print("{}\n", nlohmann::json{{"keys", done->keys},
                                      {"trials", done->trials},
                                      {"choices", done->choices},
                                      {"objects", done->objects},
                                      {"bytesBefore", done->bytesBefore},
                                      {"bytesAfter", done->bytesAfter}}
                           .dump());
  else
    fmt::print("forgot {} problems, {} trials, {} choices, {} objects: {} -> {} bytes\n", done->keys,
               done->trials, done->choices, done->objects, done->bytesBefore, done->bytesAfter);
  return kDone;
}

} // namespace tilewright::cli

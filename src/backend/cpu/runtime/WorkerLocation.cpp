#include "WorkerProcess.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <vector>

namespace tilewright::cpu {

namespace {

constexpr const char *kWorkerName = "tilewright-cpu-worker";

std::string folderOf(const std::string &path) { return path.substr(0, path.rfind('/')); }

/// The shared object or executable that holds this function.
std::string ownFolder() {
  Dl_info found{};
  char resolved[PATH_MAX];
  if (dladdr(reinterpret_cast<void *>(&findWorker), &found) == 0 || !found.dli_fname ||
      !realpath(found.dli_fname, resolved))
    return {};
  return folderOf(resolved);
}

std::string programFolder() {
  char resolved[PATH_MAX];
  return realpath("/proc/self/exe", resolved) ? folderOf(resolved) : std::string();
}

} // namespace

Expected<std::string> findWorker() {
  std::vector<std::string> folders;
  if (const char *given = std::getenv("TILEWRIGHT_LIBEXEC"))
    folders.emplace_back(given);
  for (const auto &folder : {ownFolder(), programFolder()}) {
    if (!folder.empty())
      folders.insert(folders.end(), {folder, folder + "/../libexec/tilewright", folder + "/../bin"});
  }
  for (const auto &folder : folders) {
    std::string path = folder + "/" + kWorkerName;
    if (access(path.c_str(), X_OK) == 0)
      return path;
  }
  return fail(ErrorKind::Unavailable, "target.unavailable",
              fmt::format("the program {} is missing, in which CPU kernels are compiled and tried; looked in "
                          "{}. Reinstall Tilewright, or "
                          "name its folder in TILEWRIGHT_LIBEXEC",
                          kWorkerName, fmt::join(folders, ", ")));
}

} // namespace tilewright::cpu

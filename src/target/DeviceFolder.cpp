#include "DeviceFolder.h"

#include "tilewright/support/Files.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#ifndef TILEWRIGHT_DEVICE_FOLDER
#define TILEWRIGHT_DEVICE_FOLDER ""
#endif

namespace tilewright {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kExtension = ".json";
constexpr std::string_view kHostCpu = "cpu"; ///< probed, never read from a file

bool isFile(const fs::path &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Folders of the running program and of the library that holds this code (a Python extension, say): an
/// installation has bin/ beside share/, a wheel has devices/ beside the extension, a build tree lies below
/// the sources.
std::vector<fs::path> programFolders() {
  std::vector<fs::path> out;
  std::error_code failed;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", failed); !failed)
    out.push_back(program.parent_path());
  if (Dl_info library{};
      dladdr(reinterpret_cast<const void *>(&descriptionFile), &library) && library.dli_fname)
    if (const fs::path path = fs::canonical(library.dli_fname, failed); !failed)
      out.push_back(path.parent_path());
  return out;
}

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j)
      diagonal =
          std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
  }
  return row.back();
}

} // namespace

std::vector<std::string> deviceFolders() {
  std::vector<fs::path> wanted;
  if (const char *given = std::getenv("TILEWRIGHT_DEVICES"); given && *given)
    wanted.emplace_back(given);
  for (const fs::path &program : programFolders()) {
    wanted.push_back(program / "devices");
    wanted.push_back(program / "../share/tilewright/devices");
    fs::path above = program;
    for (int level = 0; level < 4 && above.has_relative_path(); ++level, above = above.parent_path())
      if (isFile(above / "include/tilewright/target/Target.h"))
        wanted.push_back(above / "devices");
  }
  if (const std::string_view built = TILEWRIGHT_DEVICE_FOLDER; !built.empty())
    wanted.emplace_back(built);

  std::vector<std::string> out;
  for (const auto &folder : wanted) {
    std::error_code failed;
    const std::string path = fs::weakly_canonical(folder, failed).string();
    if (!failed && fs::is_directory(path, failed) && std::find(out.begin(), out.end(), path) == out.end())
      out.push_back(path);
  }
  return out;
}

std::string descriptionFile(std::string_view name, std::string_view origin) {
  if (name.find('/') != std::string_view::npos)
    return {};
  std::vector<fs::path> folders;
  if (fs::path(origin).has_parent_path())
    folders.push_back(fs::path(origin).parent_path());
  for (auto &folder : deviceFolders())
    folders.emplace_back(std::move(folder));
  for (const auto &folder : folders)
    if (const fs::path file = folder / (std::string(name) + std::string(kExtension)); isFile(file))
      return file.string();
  return {};
}

std::vector<std::string> targetNames() {
  std::set<std::string> names;
  for (const auto &folder : deviceFolders()) {
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(folder, failed))
      if (entry.path().extension() == kExtension)
        names.insert(entry.path().stem().string());
  }
  std::vector<std::string> out{std::string(kHostCpu)};
  names.erase(std::string(kHostCpu));
  out.insert(out.end(), names.begin(), names.end());
  return out;
}

Expected<Target> findTarget(std::string_view nameOrPath) {
  if (nameOrPath == kHostCpu)
    return probeCpu();
  std::string file = descriptionFile(nameOrPath, {});
  if (file.empty() && nameOrPath.ends_with(kExtension))
    file = std::string(nameOrPath);
  if (!file.empty()) {
    TW_TRY(const std::string json, readFile(file));
    return readTarget(json, file);
  }

  const auto names = targetNames();
  Error error(ErrorKind::User, "target.unknown",
              fmt::format("no target '{}'; known are {}", nameOrPath, fmt::join(names, ", ")));
  const auto nearest =
      std::min_element(names.begin(), names.end(), [&](const std::string &a, const std::string &b) {
        return editDistance(a, nameOrPath) < editDistance(b, nameOrPath);
      });
  auto diagnostic = makeDiagnostic(Severity::Error, error.code, error.message);
  if (editDistance(*nearest, nameOrPath) <= 3)
    diagnostic.help(fmt::format("did you mean '{}'?", *nearest));
  else
    diagnostic.help("the path of a description of your own (NAME.json) works too");
  error.diagnostics.push_back(std::move(diagnostic));
  return Unexpected(std::move(error));
}

} // namespace tilewright

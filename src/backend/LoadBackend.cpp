#include "tilewright/backend/LoadBackend.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace tilewright {

namespace {

/// Every plugin exports this; the caller owns the result.
using CreateBackend = Backend *();
constexpr const char *kFactorySymbol = "tilewrightCreateBackend";

std::string folderOf(const char *path) {
  char resolved[PATH_MAX];
  if (!path || !realpath(path, resolved))
    return {};
  const std::string text = resolved;
  return text.substr(0, text.rfind('/'));
}

std::vector<std::string> pluginFolders() {
  std::vector<std::string> folders;
  if (const char *given = std::getenv("TILEWRIGHT_PLUGINS"))
    folders.emplace_back(given);
  Dl_info own{};
  dladdr(reinterpret_cast<void *>(&pluginFolders), &own);
  for (const auto &folder : {folderOf(own.dli_fname), folderOf("/proc/self/exe")}) {
    if (!folder.empty())
      folders.insert(folders.end(),
                     {folder, folder + "/lib", folder + "/../lib", folder + "/../lib/tilewright"});
  }
  return folders;
}

Unexpected unavailable(std::string message) {
  auto diagnostic = makeDiagnostic(Severity::Error, "target.unavailable", std::move(message));
  diagnostic.help("the CPU back end needs LLVM and MLIR 22 (Debian packages libllvm22 and libmlir-22) and a "
                  "build with TILEWRIGHT_BUILD_CPU=ON; "
                  "analysis and candidates work without it");
  return Unexpected(Error(ErrorKind::Unavailable, std::move(diagnostic)));
}

Expected<std::shared_ptr<Backend>> openBackend(const std::string &name) {
  const std::string file = fmt::format("libtilewright_{}.so", name);
  const auto folders = pluginFolders();
  for (const auto &folder : folders) {
    const std::string path = folder + "/" + file;
    if (access(path.c_str(), R_OK) != 0)
      continue;
    // Never closed: code and type information of the back end are used until the process ends.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char *why = dlerror();
      return unavailable(fmt::format("the back end '{}' cannot be loaded: {}", name, why ? why : path));
    }
    const auto create = reinterpret_cast<CreateBackend *>(dlsym(library, kFactorySymbol));
    if (!create)
      return unavailable(
          fmt::format("{} is not a back end of Tilewright: it lacks the symbol {}", path, kFactorySymbol));
    if (Backend *backend = create())
      return std::shared_ptr<Backend>(backend);
    return unavailable(fmt::format("the back end '{}' does not start", name));
  }
  return unavailable(fmt::format("the back end '{}' is not installed: there is no {} in {}", name, file,
                                 fmt::join(folders, ", ")));
}

/// Back ends of this process. They are stateless to their users, and loading one twice would start its
/// workers twice.
struct LoadedBackends {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Backend>, std::less<>> byName;
};

} // namespace

Expected<std::shared_ptr<Backend>> loadBackend(std::string_view name) {
  // Never destroyed: at exit the libraries of a back end may be gone before it. Its workers end with this
  // process.
  static LoadedBackends &loaded = *new LoadedBackends;
  const std::scoped_lock lock(loaded.mutex);
  if (const auto found = loaded.byName.find(name); found != loaded.byName.end())
    return found->second;
  TW_TRY(auto backend, openBackend(std::string(name)));
  loaded.byName.emplace(name, backend);
  return backend;
}

} // namespace tilewright

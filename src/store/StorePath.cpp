#include "tilewright/store/Store.h"

#include <cstdlib>
#include <pwd.h>
#include <unistd.h>

namespace tilewright::store {

static std::filesystem::path environmentPath(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static std::filesystem::path home() {
  if (auto path = environmentPath("HOME"); !path.empty())
    return path;
  passwd *entry = getpwuid(geteuid());
  return entry && entry->pw_dir ? entry->pw_dir : std::filesystem::temp_directory_path();
}

std::filesystem::path defaultStorePath() {
  if (auto path = environmentPath("TILEWRIGHT_STORE"); !path.empty())
    return path;
  auto cache = environmentPath("XDG_CACHE_HOME");
  if (!cache.is_absolute()) // the XDG specification: a relative path is to be ignored
    cache = home() / ".cache";
  return cache / "tilewright" / "store.db";
}

} // namespace tilewright::store

#include "tilewright/support/Files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace tilewright {

Expected<std::string> readFile(const std::string &path) {
  std::error_code status;
  if (std::filesystem::is_directory(path, status))
    return fail(ErrorKind::User, "io.read", fmt::format("{} is a folder, not a file", path));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  if (in)
    bytes << in.rdbuf();
  if (!in || bytes.bad())
    return fail(ErrorKind::User, "io.read",
                fmt::format("cannot read {}: {}", path, errno ? std::strerror(errno) : "unknown reason"));
  return std::move(bytes).str();
}

Expected<SourceFilePtr> readSourceFile(const std::string &path) {
  TW_TRY(std::string text, readFile(path));
  return std::make_shared<const SourceFile>(path, std::move(text));
}

Expected<void> writeFile(const std::string &path, std::string_view bytes) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  errno = 0;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) {
      const std::string reason = errno ? std::strerror(errno) : "unknown reason";
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      return fail(ErrorKind::User, "io.write", fmt::format("cannot write {}: {}", path, reason));
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error)
    return fail(ErrorKind::User, "io.write", fmt::format("cannot write {}: {}", path, error.message()));
  return {};
}

} // namespace tilewright

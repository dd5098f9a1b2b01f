#include "tilewright/store/Records.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <pwd.h>
#include <sstream>
#include <unistd.h>

namespace tilewright::store {

/// Field 22 of /proc/PID/stat: the start in clock ticks since boot. 0 where there is no such file or it is
/// another system's.
static int64_t startOf(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line))
    return 0;
  // The second field is the program's name in parentheses and may hold anything, so count from the last one.
  size_t close = line.rfind(')');
  if (close == std::string::npos)
    return 0;
  std::istringstream rest(line.substr(close + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    rest >> field;
  return std::strtoll(field.c_str(), nullptr, 10);
}

static std::string hostName() {
  std::array<char, 256> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0)
    return "unknown";
  return buffer.data();
}

static std::string userName() {
  std::array<char, 4096> buffer{};
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
    return found->pw_name;
  return std::to_string(geteuid());
}

Origin Origin::current() { return {hostName(), userName(), getpid(), startOf(getpid())}; }

bool Origin::mayBeAlive() const {
  if (pid <= 0 || host != hostName())
    return true;
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
    return false;
  int64_t start = startOf(pid);
  return processStart == 0 || start == 0 || start == processStart;
}

} // namespace tilewright::store

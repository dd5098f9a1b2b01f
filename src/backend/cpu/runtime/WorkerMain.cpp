// tilewright-cpu-worker: compiles kernels and tries candidates for another process, which survives whatever
// happens here. Not for use by hand: it speaks over descriptor 3 and ends when that is closed.
#include "WorkerServer.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

constexpr int kSocket = 3;

/// A kernel in an endless loop does not look at the channel; this does.
void endWithTheParent() {
  std::thread([] {
    pollfd parent{kSocket, POLLRDHUP, 0};
    while (poll(&parent, 1, -1) < 0 || (parent.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {
    }
    _exit(0);
  }).detach();
}

/// When memory runs out, the system should end this process and not the user's.
void volunteerForTheOutOfMemoryKiller() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  [[maybe_unused]] const ssize_t written = write(file, "1000", 4);
  close(file);
}

} // namespace

int main() {
  int kind = 0;
  socklen_t size = sizeof kind;
  if (getsockopt(kSocket, SOL_SOCKET, SO_TYPE, &kind, &size) != 0) {
    std::fputs("tilewright-cpu-worker is started by Tilewright's CPU back end; it does nothing by hand\n",
               stderr);
    return 2;
  }
  fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  const rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  volunteerForTheOutOfMemoryKiller();
  endWithTheParent();
  return tilewright::cpu::serve(tilewright::cpu::Channel(kSocket));
}

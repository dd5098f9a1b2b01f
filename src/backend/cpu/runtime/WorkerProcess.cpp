#include "WorkerProcess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilewright::cpu {

namespace {

constexpr int kWorkerSocket = 3; // the descriptor at which WorkerMain.cpp expects the channel
constexpr size_t kLastWordsBytes = 600;

Unexpected systemFailure(const char *what, int error) {
  return fail(ErrorKind::Unavailable, "target.unavailable",
              fmt::format("the CPU worker process cannot be started: {}: {}", what, std::strerror(error)));
}

/// A child that has closed its channel is about to be gone; one that only pretends is killed.
pid_t waitFor(pid_t pid, int &status) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const pid_t reaped = waitpid(pid, &status, WNOHANG);
    if (reaped > 0 || (reaped < 0 && errno != EINTR))
      return reaped;
    usleep(i < 20 ? 100 : 2000);
  }
  kill(pid, SIGKILL);
  return waitpid(pid, &status, 0);
}

/// Closes what the parent does not keep.
class OwnedDescriptor {
public:
  explicit OwnedDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~OwnedDescriptor() {
    if (descriptor_ >= 0)
      close(descriptor_);
  }
  OwnedDescriptor(const OwnedDescriptor &) = delete;
  OwnedDescriptor &operator=(const OwnedDescriptor &) = delete;
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

private:
  int descriptor_;
};

} // namespace

std::string toString(const WorkerEnd &end) {
  if (end.timedOut)
    return "it did not finish in time";
  std::string text = end.signal ? fmt::format("signal {} ({})", end.signal, strsignal(end.signal))
                                : fmt::format("exit status {}", end.exitStatus);
  return end.lastWords.empty() ? text : text + "; its last words: " + end.lastWords;
}

Expected<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string &program) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return systemFailure("socketpair", errno);
  Channel channel(sockets[0]);
  const OwnedDescriptor theirs(sockets[1]);
  OwnedDescriptor output(memfd_create("tilewright-worker-output", MFD_CLOEXEC));
  if (output.get() < 0)
    return systemFailure("memfd_create", errno);
  fcntl(output.get(), F_SETFL, O_APPEND);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), kWorkerSocket);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, standard;
  sigemptyset(&none);
  sigfillset(&standard); // the caller's handlers and masks (Python's, say) are not the worker's
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &standard);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  std::string name = program;
  const std::array<char *, 2> arguments{name.data(), nullptr};
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return systemFailure(program.c_str(), error);
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, std::move(channel), output.release()));
}

WorkerProcess::WorkerProcess(int pid, Channel channel, int output)
    : pid_(pid), owner_(getpid()), channel_(std::move(channel)), output_(output) {}

bool WorkerProcess::alive() const { return pid_ > 0 && owner_ == getpid(); }

WorkerProcess::~WorkerProcess() {
  if (alive())
    reap(/*timedOut=*/true);
  if (output_ >= 0)
    close(output_);
}

tl::expected<WireMessage, WorkerEnd> WorkerProcess::exchange(const WireMessage &request,
                                                             std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  if (!alive())
    return tl::unexpected(WorkerEnd{.exitStatus = -1});
  if (!channel_.send(request))
    return tl::unexpected(reap(false));
  auto received = channel_.receive(deadline);
  if (received.status != ReceiveStatus::Ok)
    return tl::unexpected(reap(received.status == ReceiveStatus::TimedOut));
  return std::move(received.message);
}

WorkerEnd WorkerProcess::reap(bool timedOut) {
  WorkerEnd end;
  end.timedOut = timedOut;
  if (timedOut)
    kill(pid_, SIGKILL);
  int status = 0;
  const pid_t reaped = waitFor(pid_, status);
  pid_ = -1;
  if (reaped > 0 && WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  else if (reaped > 0 && WIFEXITED(status))
    end.exitStatus = WEXITSTATUS(status);
  end.lastWords = lastWords();
  return end;
}

std::string WorkerProcess::lastWords() const {
  const off_t size = lseek(output_, 0, SEEK_END);
  if (size <= 0)
    return {};
  const auto count = std::min<size_t>(kLastWordsBytes, static_cast<size_t>(size));
  std::string text(count, '\0');
  const ssize_t got = pread(output_, text.data(), count, size - static_cast<off_t>(count));
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  return text;
}

} // namespace tilewright::cpu

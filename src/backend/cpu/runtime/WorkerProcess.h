#pragma once
#include "Channel.h"

#include "tilewright/support/Expected.h"

#include <chrono>
#include <memory>
#include <string>

namespace tilewright::cpu {

/// The program that runs untrusted work: TILEWRIGHT_LIBEXEC, else beside the library or executable that holds
/// this code (also ../libexec/tilewright and ../bin from there), else beside the running program.
/// target.unavailable lists the places that were tried.
Expected<std::string> findWorker();

/// How a worker's life ended, in words for a message: "signal 11 (Segmentation fault)", "exit status 3".
struct WorkerEnd {
  bool timedOut = false;
  int signal = 0; ///< 0 when it exited by itself
  int exitStatus = 0;
  std::string lastWords; ///< the tail of what it wrote to standard error
};
std::string toString(const WorkerEnd &end);

/// A child process with a channel to it. Whatever happens to it (a fault, a hang, a kill), this process lives
/// on. It ends with its WorkerProcess object, and with this process. Not thread-safe.
class WorkerProcess {
public:
  static Expected<std::unique_ptr<WorkerProcess>> start(const std::string &program);
  ~WorkerProcess();

  /// Sends and waits for the answer. When the worker dies or the time is over it is reaped and its end
  /// returned; the object is of no more use then.
  tl::expected<WireMessage, WorkerEnd> exchange(const WireMessage &request,
                                                std::chrono::milliseconds timeout);
  /// False also in a fork of the process that started it: the worker is not the fork's to talk to, or to end.
  bool alive() const;
  int pid() const { return pid_; }

private:
  WorkerProcess(int pid, Channel channel, int output);
  WorkerEnd reap(bool timedOut);
  std::string lastWords() const;

  int pid_ = -1;
  const int owner_; ///< the process that started it
  Channel channel_;
  int output_ = -1; ///< a memory file that takes the worker's standard output and error
};

} // namespace tilewright::cpu

#include "FaultHandler.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <ucontext.h>
#include <unistd.h>

namespace tilewright::cpu {

namespace {

std::atomic<const GuardedMemory *> watched{nullptr};

bool isWriteFault([[maybe_unused]] const ucontext_t &context) {
#if defined(__x86_64__)
  constexpr greg_t kWriteBit = 2; // of the page-fault error code
  return (context.uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0;
#else
  return false;
#endif
}

void onFault(int signal, siginfo_t *details, void *context) {
  if (const GuardedMemory *memory = watched.load()) {
    // A non-canonical address comes without its value (SI_KERNEL); it belongs to no buffer.
    const bool hasAddress =
        details->si_code == SEGV_MAPERR || details->si_code == SEGV_ACCERR || signal == SIGBUS;
    const FaultRecord fault = hasAddress ? memory->classify(reinterpret_cast<uint64_t>(details->si_addr),
                                                            isWriteFault(*static_cast<ucontext_t *>(context)))
                                         : FaultRecord{.kind = FaultRecord::Wild};
    *memory->faultRecord() = fault;
    if (fault.kind == FaultRecord::OutOfBounds)
      _exit(kOutOfBoundsExit);
  }
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr); // the instruction runs again and ends the process by its signal
}

} // namespace

void watchFaults(const GuardedMemory *memory) {
  watched.store(memory);
  constexpr size_t kStackBytes = 64 * 1024;
  static const auto stack = std::make_unique<char[]>(kStackBytes);
  const stack_t alternative{.ss_sp = stack.get(), .ss_flags = 0, .ss_size = kStackBytes};
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

} // namespace tilewright::cpu

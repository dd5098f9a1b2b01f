#include "WorkerServer.h"

#include "CompileProgram.h"
#include "TrialRunner.h"

#include "tilewright/program/Text.h"

#include <unistd.h>

namespace tilewright::cpu {

namespace {

/// One conversation. What a request needs is made when it is first needed: a worker that only compiles has no
/// Jit.
class Server {
public:
  Expected<WorkerAnswer> operator()(CompileRequest &request) {
    if (!program_ ||
        programText_ != request.programText) { // candidates of one kernel come one after the other
      TW_TRY(Program program, readProgram(std::make_shared<SourceFile>("program.tw", request.programText)));
      program_ = std::make_unique<Program>(std::move(program));
      programText_ = std::move(request.programText);
    }
    TW_TRY(Artifact artifact, compileProgram(*program_, request.config, request.arguments, isa_));
    return artifact;
  }

  Expected<WorkerAnswer> operator()(OpenRequest &request) {
    runner_.reset();
    TW_TRY(auto memory, GuardedMemory::map(std::move(request.layout), request.descriptor));
    close(request.descriptor);
    if (!jit_) {
      TW_TRY(jit_, Jit::create());
    }
    runner_ =
        std::make_unique<TrialRunner>(jit_, std::make_shared<LaunchPool>(request.threads), std::move(memory));
    return Opened{};
  }

  Expected<WorkerAnswer> operator()(CheckRequest &request) {
    if (!runner_)
      return notOpen();
    TW_TRY(CheckAnswer answer, runner_->check(std::move(request)));
    return answer;
  }

  Expected<WorkerAnswer> operator()(TimeRequest &request) {
    if (!runner_)
      return notOpen();
    TW_TRY(Measurement answer, runner_->time(std::move(request)));
    return answer;
  }

private:
  static Unexpected notOpen() {
    return fail(ErrorKind::Internal, "internal",
                "the CPU worker was asked for a trial before its memory was opened");
  }

  const CpuIsa isa_ = hostIsa();
  std::string programText_;
  std::unique_ptr<Program> program_;
  std::shared_ptr<Jit> jit_;
  std::unique_ptr<TrialRunner> runner_;
};

} // namespace

int serve(Channel channel) {
  Server server;
  while (true) {
    auto received = channel.receive();
    if (received.status != ReceiveStatus::Ok)
      return received.status == ReceiveStatus::Closed ? 0 : 1;
    auto request = unpackRequest(std::move(received.message));
    const Expected<WorkerAnswer> answer =
        request ? std::visit(server, *request) : Expected<WorkerAnswer>(Unexpected(request.error()));
    if (!channel.send(pack(answer)))
      return 0;
  }
}

} // namespace tilewright::cpu

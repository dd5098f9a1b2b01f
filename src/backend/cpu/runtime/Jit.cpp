#include "Jit.h"

#include "RuntimeSymbols.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <mutex>

namespace tilewright::cpu {

namespace orc = llvm::orc;

namespace {

Unexpected loadFailure(llvm::Error error) {
  return fail(ErrorKind::Internal, "internal",
              "compiled CPU code cannot be loaded: " + llvm::toString(std::move(error)));
}

void initializeNativeTargetOnce() {
  static std::once_flag done; // LLVM's registry is process-wide
  std::call_once(done, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

class OrcJit;

class OrcCode final : public LoadedCode {
public:
  OrcCode(std::shared_ptr<OrcJit> jit, orc::JITDylib &dylib) : jit_(std::move(jit)), dylib_(dylib) {}
  ~OrcCode() override;
  KernelSpan entry() const override { return entry_; }
  void setEntry(KernelSpan entry) { entry_ = entry; }

private:
  const std::shared_ptr<OrcJit> jit_;
  orc::JITDylib &dylib_;
  KernelSpan entry_ = nullptr;
};

class OrcJit final : public Jit {
public:
  explicit OrcJit(std::unique_ptr<orc::LLJIT> lljit) : lljit_(std::move(lljit)) {}

  Expected<void> defineRuntimeSymbols() {
    runtime_ = &lljit_->getExecutionSession().createBareJITDylib("runtime");
    orc::SymbolMap symbols;
    for (const auto &symbol : runtimeSymbols())
      symbols[lljit_->mangleAndIntern(llvm::StringRef(symbol.name.data(), symbol.name.size()))] = {
          orc::ExecutorAddr::fromPtr(symbol.address), llvm::JITSymbolFlags::Exported};
    if (auto error = runtime_->define(orc::absoluteSymbols(std::move(symbols))))
      return loadFailure(std::move(error));
    return {};
  }

  /// ORC says "failed to materialize" to the one who looked up and the cause to the session's reporter.
  void keepReports() {
    session().setErrorReporter(
        [this](llvm::Error error) { reported_ += "; " + llvm::toString(std::move(error)); });
  }

  Expected<std::unique_ptr<LoadedCode>> load(const ObjectCode &code) override {
    const std::scoped_lock lock(loading_);
    reported_.clear();
    auto &session = lljit_->getExecutionSession();
    auto &dylib = session.createBareJITDylib(fmt::format("kernel{}", nextNumber_++));
    auto loaded = std::make_unique<OrcCode>(std::static_pointer_cast<OrcJit>(shared_from_this()), dylib);
    dylib.addToLinkOrder(*runtime_);
    auto bytes = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(code.object.data(), code.object.size()),
                                                      code.entry);
    if (auto error = lljit_->addObjectFile(dylib, std::move(bytes)))
      return loadFailure(std::move(error));
    auto address = lljit_->lookup(dylib, code.entry);
    if (!address) {
      auto failure = loadFailure(address.takeError());
      failure.value().message += reported_;
      return failure;
    }
    loaded->setEntry(address->toPtr<KernelSpan>());
    return loaded;
  }

  orc::ExecutionSession &session() { return lljit_->getExecutionSession(); }

private:
  std::unique_ptr<orc::LLJIT> lljit_;
  orc::JITDylib *runtime_ = nullptr;
  std::mutex loading_; ///< guards the two below
  uint64_t nextNumber_ = 0;
  std::string reported_;
};

OrcCode::~OrcCode() { llvm::consumeError(jit_->session().removeJITDylib(dylib_)); }

} // namespace

Expected<std::shared_ptr<Jit>> Jit::create() {
  initializeNativeTargetOnce();
  // Everything happens on the calling thread: a hop to another one costs more than linking.
  auto control =
      orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return loadFailure(control.takeError());
  auto lljit = orc::LLJITBuilder()
                   .setExecutorProcessControl(std::move(*control))
                   .setLinkProcessSymbolsByDefault(false)
                   .setPlatformSetUp(orc::setUpInactivePlatform)
                   .create();
  if (!lljit)
    return loadFailure(lljit.takeError());
  auto jit = std::make_shared<OrcJit>(std::move(*lljit));
  jit->keepReports();
  TW_CHECK(jit->defineRuntimeSymbols());
  return jit;
}

} // namespace tilewright::cpu

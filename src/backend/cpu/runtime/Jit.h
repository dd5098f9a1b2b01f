#pragma once
#include "tilewright/backend/cpu/KernelAbi.h"
#include "tilewright/backend/cpu/ObjectCode.h"
#include "tilewright/support/Expected.h"

#include <memory>

namespace tilewright::cpu {

/// Code in this process; it stays mapped while the object lives.
class LoadedCode {
public:
  virtual ~LoadedCode() = default;
  virtual KernelSpan entry() const = 0;
};

/// Links object bytes into the process (LLVM's ORC, one session, one symbol space for each kernel).
/// Thread-safe. Loading costs about 0.1 ms; nothing is compiled here. Loaded code keeps its Jit alive.
class Jit : public std::enable_shared_from_this<Jit> {
public:
  static Expected<std::shared_ptr<Jit>> create();
  virtual ~Jit() = default;
  virtual Expected<std::unique_ptr<LoadedCode>> load(const ObjectCode &code) = 0;
};

} // namespace tilewright::cpu

#pragma once
#include <cstddef>

namespace tilewright::cpu {

/// Memory of one thread for tiles that must be materialised. Grown on demand, kept until the thread ends,
/// 64-byte aligned. What `atLeast` returns ends at an unreadable page, so a kernel that runs past its scratch
/// faults at once instead of spoiling another one's tiles.
class ScratchArena {
public:
  static ScratchArena &ofThisThread();
  ~ScratchArena();

  /// At least `bytes` bytes, of any content; null when the system has no more memory. Valid until the next
  /// call.
  void *atLeast(size_t bytes);

private:
  ScratchArena() = default;
  ScratchArena(const ScratchArena &) = delete;
  ScratchArena &operator=(const ScratchArena &) = delete;

  std::byte *base_ = nullptr;
  size_t usableBytes_ = 0; ///< whole pages before the guard page
};

} // namespace tilewright::cpu

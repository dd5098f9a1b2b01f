#include "ScratchArena.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tilewright::cpu {

namespace {
size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
constexpr size_t kAlignment = 64;
} // namespace

ScratchArena &ScratchArena::ofThisThread() {
  thread_local ScratchArena arena;
  return arena;
}

ScratchArena::~ScratchArena() {
  if (base_)
    munmap(base_, usableBytes_ + pageBytes());
}

void *ScratchArena::atLeast(size_t bytes) {
  const size_t wanted = roundUp(bytes == 0 ? 1 : bytes, kAlignment);
  if (wanted > usableBytes_) {
    const size_t page = pageBytes();
    const size_t usable = roundUp(wanted, page);
    void *mapped = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      return nullptr;
    mprotect(static_cast<std::byte *>(mapped) + usable, page, PROT_NONE);
    if (base_)
      munmap(base_, usableBytes_ + page);
    base_ = static_cast<std::byte *>(mapped);
    usableBytes_ = usable;
  }
  return base_ + usableBytes_ - wanted;
}

} // namespace tilewright::cpu

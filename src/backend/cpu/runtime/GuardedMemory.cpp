#include "GuardedMemory.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace tilewright::cpu {

namespace {

constexpr uint64_t kPage = 4096;
uint64_t roundUpToPage(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

/// Tried in turn; the first covers ±2^31 elements of 8 bytes.
constexpr uint64_t kGuardBytes[] = {uint64_t{17} << 30, uint64_t{1} << 30, uint64_t{1} << 24, kPage};
/// Addresses below this are offsets from a null pointer; Linux maps nothing there (vm.mmap_min_addr).
constexpr uint64_t kNullZoneBytes = 65536;

} // namespace

Expected<std::unique_ptr<GuardedMemory>> GuardedMemory::map(TrialLayout layout, int descriptor) {
  std::unique_ptr<GuardedMemory> memory(new GuardedMemory());
  memory->layout_ = std::move(layout);
  const auto noMemory = [&](const char *what) {
    return fail(ErrorKind::Refusal, "run.memory",
                fmt::format("no memory for trial buffers: {}: {}", what, std::strerror(errno)));
  };
  void *file = mmap(nullptr, memory->layout_.fileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (file == MAP_FAILED)
    return noMemory("the shared file");
  memory->file_ = static_cast<std::byte *>(file);
  // A kernel that runs wild must not reach the copies that later trials depend on.
  mprotect(memory->file_ + kPage, memory->layout_.fileBytes - kPage, PROT_READ);

  for (const auto &region : memory->layout_.regions) {
    Zone zone;
    const uint64_t pageBytes =
        roundUpToPage(region.bytes) + kPage; // one more, to slide the copy to the caller's offset
    for (const uint64_t guard : kGuardBytes) {
      zone.guardBytes = guard;
      zone.reservedBytes = guard + pageBytes + guard;
      void *reserved =
          mmap(nullptr, zone.reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (reserved != MAP_FAILED) {
        zone.reserved = static_cast<std::byte *>(reserved);
        break;
      }
    }
    if (!zone.reserved)
      return noMemory("address space");
    if (mprotect(zone.reserved + zone.guardBytes, pageBytes, PROT_READ | PROT_WRITE) != 0)
      return noMemory("working copies");
    zone.pagesEnd = zone.reserved + zone.guardBytes + pageBytes;
    zone.strictBase = zone.pagesEnd - region.bytes;
    const uint64_t slide = (reinterpret_cast<uint64_t>(zone.strictBase) - region.callerAddress) % kPage;
    zone.callerBase = zone.strictBase - slide;
    memory->zones_.push_back(zone);
  }
  for (size_t i = 0; i < memory->zones_.size(); ++i)
    std::memcpy(memory->base(i), memory->pristine(i).data(), memory->pristine(i).size());
  return memory;
}

GuardedMemory::~GuardedMemory() {
  for (const auto &zone : zones_)
    munmap(zone.reserved, zone.reservedBytes);
  if (file_)
    munmap(file_, layout_.fileBytes);
}

std::byte *GuardedMemory::base(size_t region) const {
  return placement_ == Placement::Strict ? zones_[region].strictBase : zones_[region].callerBase;
}

void GuardedMemory::restore(Placement placement, const std::vector<bool> &regions) {
  for (size_t i = 0; i < zones_.size(); ++i) {
    const bool moves = placement != placement_ && zones_[i].strictBase != zones_[i].callerBase;
    if (!moves && !regions[i])
      continue;
    std::byte *to = placement == Placement::Strict ? zones_[i].strictBase : zones_[i].callerBase;
    std::memcpy(to, pristine(i).data(), pristine(i).size());
  }
  placement_ = placement;
}

uint64_t GuardedMemory::address(const TrialLayout::Pointer &pointer) const {
  return pointer.region < 0
             ? 0
             : reinterpret_cast<uint64_t>(base(static_cast<size_t>(pointer.region)) + pointer.offset);
}

std::span<std::byte> GuardedMemory::working(size_t region) const {
  return {base(region), layout_.regions[region].bytes};
}
std::span<const std::byte> GuardedMemory::pristine(size_t region) const {
  return {file_ + layout_.regions[region].pristineOffset, layout_.regions[region].bytes};
}
std::span<const std::byte> GuardedMemory::reference(size_t region) const {
  return {file_ + layout_.regions[region].referenceOffset, layout_.regions[region].bytes};
}

void GuardedMemory::storeReference(size_t region) {
  std::byte *to = file_ + layout_.regions[region].referenceOffset;
  const uint64_t bytes = roundUpToPage(layout_.regions[region].bytes);
  mprotect(to, bytes, PROT_READ | PROT_WRITE);
  std::memcpy(to, base(region), layout_.regions[region].bytes);
  mprotect(to, bytes, PROT_READ);
}

FaultRecord GuardedMemory::classify(uint64_t address, bool isWrite) const {
  FaultRecord fault;
  fault.address = address;
  fault.isWrite = isWrite ? 1 : 0;
  fault.kind = FaultRecord::Wild;
  if (address < kNullZoneBytes) {
    for (const auto &pointer : layout_.pointers) {
      if (pointer.region < 0)
        fault.kind = FaultRecord::OutOfBounds;
    }
    return fault;
  }
  for (size_t i = 0; i < zones_.size(); ++i) {
    const auto begin = reinterpret_cast<uint64_t>(zones_[i].reserved);
    if (address < begin || address >= begin + zones_[i].reservedBytes)
      continue;
    const auto first = reinterpret_cast<uint64_t>(base(i));
    const uint64_t end = first + layout_.regions[i].bytes;
    fault.kind = FaultRecord::OutOfBounds;
    fault.region = static_cast<int32_t>(i);
    fault.distance = address >= end ? static_cast<int64_t>(address - end)
                                    : static_cast<int64_t>(address) - static_cast<int64_t>(first);
    return fault;
  }
  return fault;
}

} // namespace tilewright::cpu

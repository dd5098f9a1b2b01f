#include "TrialMemory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tilewright::cpu {

namespace {

constexpr uint64_t kPage = 4096;
uint64_t roundUpToPage(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
uint64_t address(const std::byte *pointer) { return reinterpret_cast<uint64_t>(pointer); }

Unexpected noMemory(uint64_t bytes, int error) {
  return fail(
      ErrorKind::Refusal, "run.memory",
      fmt::format("no memory for a copy of the arguments ({} bytes) in which candidates are tried: {}", bytes,
                  std::strerror(error)));
}

bool copyToFile(int descriptor, const TrialLayout::Region &region) {
  const auto *from = reinterpret_cast<const char *>(region.callerAddress);
  for (uint64_t done = 0; done < region.bytes;) {
    const ssize_t written = pwrite(descriptor, from + done, region.bytes - done,
                                   static_cast<off_t>(region.pristineOffset + done));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    done += static_cast<uint64_t>(written);
  }
  return true;
}

} // namespace

TrialLayout layOut(std::span<const PointerMemory> pointers) {
  TrialLayout layout;
  std::vector<size_t> byAddress(pointers.size());
  std::iota(byAddress.begin(), byAddress.end(), 0);
  std::sort(byAddress.begin(), byAddress.end(), [&](size_t a, size_t b) {
    return address(pointers[a].memory.data()) < address(pointers[b].memory.data());
  });

  layout.pointers.resize(pointers.size());
  for (const size_t i : byAddress) {
    const PointerMemory &pointer = pointers[i];
    TrialLayout::Pointer &place = layout.pointers[i];
    place = {pointer.name,    pointer.argument, -1,           0, pointer.memory.size(),
             pointer.written, pointer.readBack, pointer.dtype};
    if (!pointer.memory.data())
      continue;
    const uint64_t begin = address(pointer.memory.data());
    const uint64_t end = begin + pointer.memory.size();
    const bool overlaps = !layout.regions.empty() && !pointer.memory.empty() &&
                          begin < layout.regions.back().callerAddress + layout.regions.back().bytes;
    if (overlaps) {
      auto &region = layout.regions.back();
      region.bytes = std::max(region.bytes, end - region.callerAddress);
    } else {
      layout.regions.push_back({.callerAddress = begin, .bytes = pointer.memory.size()});
    }
    place.region = static_cast<int32_t>(layout.regions.size()) - 1;
    place.offset = begin - layout.regions.back().callerAddress;
  }

  layout.fileBytes = kPage;
  for (auto &region : layout.regions)
    region.pristineOffset = std::exchange(layout.fileBytes, layout.fileBytes + roundUpToPage(region.bytes));
  for (auto &region : layout.regions)
    region.referenceOffset = std::exchange(layout.fileBytes, layout.fileBytes + roundUpToPage(region.bytes));
  return layout;
}

Expected<TrialFile> TrialFile::create(const TrialLayout &layout) {
  const int descriptor = memfd_create("tilewright-trial", MFD_CLOEXEC);
  if (descriptor < 0)
    return noMemory(layout.fileBytes, errno);
  TrialFile file(descriptor, nullptr);
  if (ftruncate(descriptor, static_cast<off_t>(layout.fileBytes)) != 0)
    return noMemory(layout.fileBytes, errno);
  for (const auto &region : layout.regions) {
    if (!copyToFile(descriptor, region))
      return noMemory(layout.fileBytes, errno);
  }
  void *record = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (record == MAP_FAILED)
    return noMemory(layout.fileBytes, errno);
  file.record_ = record;
  return file;
}

TrialFile::TrialFile(TrialFile &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), record_(std::exchange(other.record_, nullptr)) {}

TrialFile::~TrialFile() {
  if (record_)
    munmap(record_, kPage);
  if (descriptor_ >= 0)
    close(descriptor_);
}

FaultRecord TrialFile::fault() const {
  FaultRecord record;
  std::memcpy(&record, record_, sizeof record);
  return record;
}

void TrialFile::clearFault() { std::memset(record_, 0, sizeof(FaultRecord)); }

std::string describe(const FaultRecord &fault, const TrialLayout &layout) {
  const char *verb = fault.isWrite ? "writes" : "reads";
  std::vector<std::string> names;
  uint64_t regionBytes = 0;
  if (fault.region >= 0 && static_cast<size_t>(fault.region) < layout.regions.size())
    regionBytes = layout.regions[fault.region].bytes;
  for (const auto &pointer : layout.pointers) {
    if (pointer.region == fault.region)
      names.push_back(pointer.name);
  }
  if (fault.region < 0)
    return fmt::format("the kernel {} through a null pointer ({})", verb, fmt::join(names, " or "));
  if (fault.distance < 0)
    return fmt::format("the kernel {} {} bytes before the start of {} ({} bytes long)", verb, -fault.distance,
                       fmt::join(names, " or "), regionBytes);
  return fmt::format("the kernel {} past the end of {}: at byte {} of {}", verb, fmt::join(names, " or "),
                     static_cast<int64_t>(regionBytes) + fault.distance, regionBytes);
}

} // namespace tilewright::cpu

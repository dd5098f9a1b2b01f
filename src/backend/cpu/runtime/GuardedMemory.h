#pragma once
#include "TrialMemory.h"

#include <memory>

namespace tilewright::cpu {

/// How the working copy of a region lies between its guards.
enum class Placement : uint8_t {
  /// Its last byte touches the guard behind it, so reading one element too far faults. For checks.
  Strict,
  /// The caller's address modulo a page, so that cache lines split as they will in the caller's process. For
  /// timing.
  AsCaller,
};

/// Working copies of a launch's memory inside the worker, with unmapped zones of many GiB around each: a
/// 32-bit index of an 8-byte element that goes wrong ends in a guard and nowhere else. Address space is all
/// that guards cost.
class GuardedMemory {
public:
  /// Maps the shared file and makes the working copies.
  static Expected<std::unique_ptr<GuardedMemory>> map(TrialLayout layout, int descriptor);
  ~GuardedMemory();

  const TrialLayout &layout() const { return layout_; }
  /// Copies regions from their pristine copies: those marked in `regions`, or all when the placement changes.
  void restore(Placement placement, const std::vector<bool> &regions);
  /// The address of a pointer argument in the current placement.
  uint64_t address(const TrialLayout::Pointer &pointer) const;
  std::span<std::byte> working(size_t region) const;
  std::span<const std::byte> pristine(size_t region) const;
  /// Results that later ones are compared with; survives the death of the worker.
  std::span<const std::byte> reference(size_t region) const;
  void storeReference(size_t region);

  /// Signal-safe: what an access to `address` hit.
  FaultRecord classify(uint64_t address, bool isWrite) const;
  FaultRecord *faultRecord() const { return reinterpret_cast<FaultRecord *>(file_); }

private:
  GuardedMemory() = default;
  struct Zone {
    std::byte *reserved = nullptr; ///< guard, pages, guard
    uint64_t reservedBytes = 0;
    uint64_t guardBytes = 0;
    std::byte *pagesEnd = nullptr;
    std::byte *strictBase = nullptr;
    std::byte *callerBase = nullptr;
  };
  std::byte *base(size_t region) const;

  TrialLayout layout_;
  std::byte *file_ = nullptr;
  std::vector<Zone> zones_;
  Placement placement_ = Placement::Strict;
};

} // namespace tilewright::cpu

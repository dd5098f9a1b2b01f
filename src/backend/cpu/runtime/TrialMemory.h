#pragma once
#include "tilewright/support/Expected.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tilewright::cpu {

/// Where the caller's memory of one launch lies in the file that is shared with the worker. Arguments whose
/// memory overlaps share a region, so that a kernel called with aliasing arguments is tried with aliasing
/// arguments.
///
///     file:  | fault record | pristine copy of region 0 | of region 1 | ... | reference results of region 0
///     | ... |
///             one page        each from a page boundary on
struct TrialLayout {
  struct Region {
    uint64_t callerAddress = 0; ///< of its first byte; the working copy keeps it modulo a page in timed runs
    uint64_t bytes = 0;
    uint64_t pristineOffset = 0;
    uint64_t referenceOffset = 0;
  };
  struct Pointer {
    std::string name;
    uint32_t argument = 0; ///< index among the runtime arguments
    int32_t region = -1;   ///< -1: a null pointer
    uint64_t offset = 0;   ///< within the region
    uint64_t bytes = 0;
    bool written = false; ///< as the analysis says; the worker also notices others
    bool readBack =
        false;         ///< what it holds before a run decides the run (read and written, accumulated, atomic)
    std::string dtype; ///< element type, "f32"
  };
  std::vector<Region> regions;
  std::vector<Pointer> pointers;
  uint64_t fileBytes = 0;
};

/// One pointer argument as the caller has it.
struct PointerMemory {
  std::string name;
  uint32_t argument = 0;
  std::span<std::byte> memory; ///< null data: a null pointer
  bool written = false;
  bool readBack = false;
  std::string dtype;
};

/// Groups overlapping memory and assigns file offsets.
TrialLayout layOut(std::span<const PointerMemory> pointers);

/// What the worker's signal handler leaves in the first page of the file before it dies, and what is left of
/// the process when it could not.
struct FaultRecord {
  enum Kind : uint32_t { None = 0, OutOfBounds = 1, Wild = 2 };
  uint32_t kind = None;
  int32_t region = -1; ///< OutOfBounds: whose guard was touched; -1 with a null pointer
  uint64_t address = 0;
  int64_t distance = 0; ///< bytes past the region's end (>= 0) or before its start (< 0)
  uint32_t isWrite = 0;
};

/// The shared file, seen from the process that owns the caller's memory.
class TrialFile {
public:
  /// Copies the caller's memory once.
  static Expected<TrialFile> create(const TrialLayout &layout);
  TrialFile(TrialFile &&other) noexcept;
  ~TrialFile();

  int descriptor() const { return descriptor_; }
  FaultRecord fault() const;
  void clearFault();

private:
  TrialFile(int descriptor, void *record) : descriptor_(descriptor), record_(record) {}
  int descriptor_ = -1;
  void *record_ = nullptr;
};

/// A sentence for the user: "writes 4 bytes past the end of y".
std::string describe(const FaultRecord &fault, const TrialLayout &layout);

} // namespace tilewright::cpu

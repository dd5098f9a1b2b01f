#pragma once
#include "tilewright/support/Expected.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

/// Where a number comes from: a manual, a file, a measurement (and how to repeat it).
struct Sourced {
  double value = 0;
  std::string source;
};

enum class TargetKind : uint8_t { Cpu, Ascend, Cuda };
std::string_view name(TargetKind kind); ///< "cpu", "ascend", "cuda"

/// One level of memory that a tile lives in or streams through.
struct MemorySpace {
  std::string name;  ///< "ub", "l1", "l0a", "l0b", "l0c"; "l1d", "l2", "l3", "dram"; "shared", "registers"
  int64_t bytes = 0; ///< per core; 0 when unbounded
  int64_t alignmentBytes = 1;
  double readBytesPerNs = 0; ///< per core, one core active; 0 when unknown
  double writeBytesPerNs = 0;
  std::map<int64_t, double> readByActiveCores; ///< bytes per ns per core, by active cores
  std::string source;
};

/// A device description: limits and rates, immutable. Files under devices/ (JSON, with units in the field
/// names and a source beside each number); the CPU's is probed from the running machine.
struct Target {
  std::string name; ///< "cpu", "ascend910b1", "cuda-h200"
  TargetKind kind = TargetKind::Cpu;
  std::string description;
  std::string fingerprint;         ///< what a stored result depends on: CPU model and features, chip name
  int64_t cores = 1;               ///< CPU threads used; vector cores (Ascend); SMs
  int64_t cubeCores = 0;           ///< Ascend
  int64_t maxPrograms = INT64_MAX; ///< limit on the product of the grid
  std::array<int64_t, 3> maxGrid{INT32_MAX, INT32_MAX,
                                 INT32_MAX}; ///< limit on each axis (program ids are 32-bit)
  double clockGhz = 0;
  int64_t vectorBytes = 32;    ///< native vector width
  bool powerOfTwoTiles = true; ///< tl.arange must be a power of two
  std::vector<MemorySpace> memory;
  std::map<std::string, Sourced>
      rates; ///< "f32_flops_per_ns_per_core", "launch_ns", "program_ns", "exp_ns_per_element", ...

  const MemorySpace *space(std::string_view name) const;
  double rate(std::string_view name, double otherwise) const;
};

/// All targets this installation knows: the probed "cpu" and each description under the device folder.
std::vector<std::string> targetNames();

/// By name, or the path of a JSON description. target.unknown lists the names; target.description says what
/// is wrong.
Expected<Target> findTarget(std::string_view nameOrPath);

/// Reads one description. `origin` names it in messages, and is where `based_on` looks first when it is a
/// path.
///
///     { "name": "ascend910b3", "based_on": "ascend910b1", "cores": 40, "cube_cores": 20 }
///
/// takes everything that it does not say from another description (or from the probed "cpu"); memory spaces
/// and rates merge by name. Unknown fields, wrong types and absent sources are target.description, with the
/// field's name.
Expected<Target> readTarget(std::string_view json, std::string_view origin);
std::string toJson(const Target &target);

/// This machine: model, features, caches, threads allowed (affinity), quick measurements only where `/sys` is
/// silent.
Target probeCpu();

/// Where device descriptions are looked for: TILEWRIGHT_DEVICES, the installation, the source tree.
std::vector<std::string> deviceFolders();

} // namespace tilewright

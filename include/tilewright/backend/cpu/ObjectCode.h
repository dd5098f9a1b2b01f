#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::cpu {

/// Where the time of one compilation went, in nanoseconds.
struct StageTimes {
  double emitNs = 0;      ///< Program → MLIR
  double lowerNs = 0;     ///< MLIR passes down to the LLVM dialect
  double translateNs = 0; ///< LLVM dialect → LLVM IR
  double optimizeNs = 0;  ///< LLVM IR passes
  double codegenNs = 0;   ///< instruction selection to object bytes
  double totalNs() const { return emitNs + lowerNs + translateNs + optimizeNs + codegenNs; }
};

/// One relocatable object with a KernelSpan function and what a launch of it needs. Free of LLVM types, so
/// that it can be stored and sent between processes.
struct ObjectCode {
  std::string object;                    ///< ELF relocatable
  std::string entry;                     ///< symbol of the KernelSpan function
  int64_t scratchBytes = 0;              ///< arena per thread
  std::vector<std::string> assertions;   ///< messages of device assertions, by index
  std::vector<std::string> remarks;      ///< why a fast path was refused: "code: text"
  std::optional<uint32_t> argumentCount; ///< runtime arguments that a launch must give, where known
  uint32_t threads = 0;                  ///< most threads of a launch; 0: as many as the runtime has
  StageTimes times;                      ///< not part of the content

  /// Hash of everything that a launch depends on: equal code, equal digest.
  std::string digest() const;
};

/// The byte form kept in stores and sent between processes: a magic line, a JSON header, the object.
std::string encode(const ObjectCode &code);

} // namespace tilewright::cpu

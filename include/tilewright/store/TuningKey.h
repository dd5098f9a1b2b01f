#pragma once
#include <string>

namespace tilewright::store {

/// What a tuning result depends on. Two launches with equal keys may share it; anything else may not.
///
/// The first five fields are canonical text made by whoever knows the matter, and they alone make the digest.
/// The last three are for people who read a listing: a kernel in a moved file keeps its results.
///
///     {kernelIdentity: "softmax:9f31...", targetFingerprint: "cpu:avx512:8", toolchain:
///     "llvm-22.1.0;tilewright-0.1",
///      specialization: "x:*fp32,n:i32", keyValues: "n_cols=781"}
struct TuningKey {
  std::string kernelIdentity; ///< hash of the kernel's meaning (its source without layout, and what it calls)
  std::string targetFingerprint; ///< the device, as far as times depend on it
  std::string toolchain;         ///< compilers and their versions
  std::string specialization;    ///< argument types, alignment classes, fixed constants
  std::string keyValues;         ///< the values of the tuning key's arguments (`key=[...]`)

  std::string kernelName; ///< as the user wrote it; not part of the digest
  std::string file;       ///< where the kernel was last seen; not part of the digest
  std::string target;     ///< "cpu", "ascend:910b3", ...; not part of the digest

  /// 32 hexadecimal digits over the first five fields; the same on every machine and in every version.
  std::string digest() const;
  /// Whether two keys differ at most in `keyValues`: candidates for reuse between neighbouring shapes.
  bool sameFamily(const TuningKey &other) const;

  friend bool operator==(const TuningKey &, const TuningKey &) = default;
};

} // namespace tilewright::store

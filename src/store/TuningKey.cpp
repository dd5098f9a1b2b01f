#include "tilewright/store/TuningKey.h"

#include "tilewright/support/Hash.h"

namespace tilewright::store {

std::string TuningKey::digest() const {
  return ContentHasher()
      .add(kernelIdentity)
      .add(targetFingerprint)
      .add(toolchain)
      .add(specialization)
      .add(keyValues)
      .digest();
}

bool TuningKey::sameFamily(const TuningKey &other) const {
  return kernelIdentity == other.kernelIdentity && targetFingerprint == other.targetFingerprint &&
         toolchain == other.toolchain && specialization == other.specialization;
}

} // namespace tilewright::store

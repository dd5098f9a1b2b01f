#include "tilewright/support/Hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace tilewright {

std::string contentHash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

ContentHasher &ContentHasher::add(std::string_view field) {
  joined_ += fmt::format("{}:", field.size());
  joined_ += field;
  return *this;
}

std::string ContentHasher::digest() const { return contentHash(joined_); }

} // namespace tilewright

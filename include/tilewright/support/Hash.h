#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

/// 128-bit content hash (XXH3), as 32 lower-case hexadecimal digits. Used for keys in the store: stable
/// across machines and versions of this program.
std::string contentHash(std::string_view bytes);

/// Hashes several fields so that ("ab","c") and ("a","bc") differ.
class ContentHasher {
public:
  ContentHasher &add(std::string_view field);
  std::string digest() const;

private:
  std::string joined_;
};

} // namespace tilewright

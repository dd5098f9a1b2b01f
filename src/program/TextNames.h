#pragma once
#include <string>
#include <string_view>
#include <unordered_set>

namespace tilewright {

/// Hands out names for the text form: the wanted one, or with ".2", ".3", ... when it is taken. Characters
/// that the text form could not read back become '_'.
class UniqueNames {
public:
  std::string unique(std::string_view wanted, std::string_view otherwise);
  /// "0", "1", ... for values that the source gave no name.
  std::string number();
  /// The name without the suffix that `unique` may have added; empty for a number.
  static std::string_view stem(std::string_view text);

private:
  std::unordered_set<std::string> taken_;
  uint32_t next_ = 0;
};

} // namespace tilewright

#pragma once
#include "ModuleScope.h"

#include <map>
#include <set>
#include <string>

namespace tilewright::lowering {

/// What the uses of a function's names say about them, before anything is lowered. Found in the text of the
/// function and of the helpers that it calls; names are never looked at.
struct ParameterUse {
  using Names = std::set<std::string, std::less<>>;
  Names pointers; ///< loaded from, stored to, or added to with an offset before that
  Names sizes;    ///< extents, divisors, loop steps: never zero
  Names flags;    ///< tested for truth
  Names read;     ///< read at all
  Names integers; ///< indices, bounds, divisors: of a pointer, that what it points to is one
  Names dtypes;   ///< given where a dtype is expected
  Names options;  ///< given to keyword options that take a text or None
  Names unrolled; ///< bounds of static loops
  std::map<std::string, size_t, std::less<>>
      sequences; ///< counted, unpacked, or read by constant indices: how many items those ask for
  std::map<std::string, size_t, std::less<>> descriptors; ///< loaded from by a list of offsets: how many
  /// What a name is compared with.
  std::map<std::string, std::vector<std::string>, std::less<>> texts;
  std::map<std::string, std::vector<int64_t>, std::less<>> numbers;
};

ParameterUse parameterUse(const JitFunction &function);

} // namespace tilewright::lowering

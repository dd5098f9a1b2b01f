#pragma once
#include "tilewright/program/SymInt.h"

namespace tilewright::symbolic {

/// Looks a name up; an invalid SymInt means "unknown".
using SymLookup = std::function<SymInt(std::string_view name)>;

/// Reads the longest expression at the start of `text` and says how many bytes it took. The rest is the caller's:
/// `BLOCK_M x BLOCK_N x f32` reads `BLOCK_M` and stops at `x`.
struct SymPrefix {
  SymInt expression;
  size_t length = 0;
};
Expected<SymPrefix> parseSymPrefix(SymContext &context, std::string_view text, const SymLookup &lookup);

} // namespace tilewright::symbolic

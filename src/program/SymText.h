#pragma once
#include "tilewright/program/Type.h"

namespace tilewright::symbolic {

/// Looks a name up; an invalid SymInt means "unknown".
using SymLookup = std::function<SymInt(std::string_view name)>;

/// Reads the longest expression at the start of `text` and says how many bytes it took. The rest is the
/// caller's: `BLOCK_M x BLOCK_N x f32` reads `BLOCK_M` and stops at `x`.
struct SymPrefix {
  SymInt expression;
  size_t length = 0;
};
Expected<SymPrefix> parseSymPrefix(SymContext &context, std::string_view text, const SymLookup &lookup);

/// Names for symbols where the context's own (which need not be unique) won't do; empty means the context's.
using SymNames = std::function<std::string(uint32_t symbolId)>;
std::string symText(SymInt expression, const SymNames &names);
std::string typeText(const Type &type, const SymNames &names);

} // namespace tilewright::symbolic

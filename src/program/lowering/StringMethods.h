#pragma once
#include "LoweringContext.h"

namespace tilewright::lowering {

/// Python's methods of a text whose arguments are known: what builds assembly and messages while a kernel is
/// compiled. Nothing for a method that is not among them.
std::optional<FrontValue> callStringMethod(LoweringContext &c, const FrontValue &self, std::string_view name,
                                           const std::vector<FrontValue> &arguments,
                                           const std::vector<std::pair<std::string, FrontValue>> &keywords);
bool isStringMethod(std::string_view name);

} // namespace tilewright::lowering

#pragma once
#include "LoweringContext.h"

namespace tilewright::lowering {

/// Values and functions of other packages that need no more than their own arguments: `math.pi`,
/// `math.log2(8)`, `torch.finfo(torch.float16).max`. Nothing when the path is none of them, or an argument is
/// not known.
std::optional<FrontValue> foreignValue(const std::string &path);
std::optional<FrontValue> callForeign(LoweringContext &c, const std::string &path,
                                      const std::vector<FrontValue> &arguments, const SourceRange &range);

} // namespace tilewright::lowering

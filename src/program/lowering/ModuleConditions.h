#pragma once
#include "tilewright/lang/Ast.h"

#include <optional>
#include <string>
#include <variant>

namespace tilewright::lowering {

class ModuleScope;

/// A value that a file's top level computes from its own text.
using HostValue = std::variant<std::nullptr_t, bool, int64_t, double, std::string>;

/// What a host expression is when the file is imported in a plain process: no environment variable is set,
/// nothing type-checks, triton has the functions that this front end knows. Nothing when more would have to
/// be known.
///
///     os.environ.get("FAST", "0") == "1"      false
///     hasattr(tl, "make_tensor_descriptor")   true
///     torch.cuda.is_available()               nothing
std::optional<HostValue> hostValue(const ModuleScope &scope, const lang::Expr *expr, int depth = 0);
/// Its truth.
std::optional<bool> decidedCondition(const ModuleScope &scope, const lang::Expr *expr);

/// Whether `path` is a function, module or dtype of triton that this front end has heard of.
bool knownToTriton(const std::string &path);

} // namespace tilewright::lowering

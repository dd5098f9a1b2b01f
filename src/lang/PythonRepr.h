#pragma once
#include "tilewright/lang/Ast.h"

#include <string>

namespace tilewright::lang {

/// What Python's `repr` prints.
void appendRepr(std::string &out, const Constant::Value &value);
void appendStrRepr(std::string &out, std::string_view text);

} // namespace tilewright::lang

#pragma once
#include "tilewright/lang/Ast.h"

#include <string>

namespace tilewright::lang {

/// Whose `ast.dump` to print. The forms differ: 3.9 has no locations of imported names, 3.12 adds type
/// parameters and exact locations inside f-strings, 3.13 omits empty lists.
enum class PythonVersion : uint8_t { V39, V310, V311, V312, V313 };

/// The tree exactly as CPython prints it: `ast.dump(ast.parse(source), include_attributes=attributes)`.
///
///     dump(*parse(source("x = 1\n")), false)
///       == "Module(body=[Assign(targets=[Name(id='x', ctx=Store())], value=Constant(value=1))],
///       type_ignores=[])"
///
/// It is the oracle test's subject: two independent parsers agree on every file, or one of them is wrong.
std::string dump(const Module &module, bool attributes = false, PythonVersion version = PythonVersion::V311);
/// `ast.dump(ast.parse(source, mode='eval'), ...)`.
std::string dump(const ExpressionModule &module, bool attributes = false,
                 PythonVersion version = PythonVersion::V311);
/// One node and what is below it.
std::string dump(const Expr &expr, bool attributes = false, PythonVersion version = PythonVersion::V311);
std::string dump(const Stmt &stmt, bool attributes = false, PythonVersion version = PythonVersion::V311);

} // namespace tilewright::lang

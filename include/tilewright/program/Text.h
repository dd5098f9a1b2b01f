#pragma once
#include "tilewright/program/Program.h"

namespace tilewright {

/// The complete text form of a Program (see Program.h). Stable: same Program, same text.
std::string print(const Program &program);

/// Reads the text form; `file` provides locations for errors.
Expected<Program> readProgram(SourceFilePtr file);

/// Checks what every stage relies on: operand counts and types per op, shapes of elementwise ops equal,
/// regions ended by a yield of the right types, uses after definitions in the same or an enclosing region,
/// required attributes present. Errors are Internal: a Program that fails was built wrongly.
Expected<void> verify(const Program &program);

} // namespace tilewright

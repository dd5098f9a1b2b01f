#pragma once
#include "LoweringContext.h"

#include "tilewright/lang/Ast.h"

namespace tilewright::lowering {

/// Python's arithmetic on values of compile time. Integers stay expressions over open parameters wherever
/// SymInt can say the operation; where it can't (a quotient as a float, a power), the operands are pinned to
/// the witness.
///
///     BLOCK // 4 + 1        Int, sym = BLOCK // 4 + 1
///     1.0 / BLOCK           Float 0.0625, with the path condition BLOCK == 16
FrontValue constexprBinary(LoweringContext &c, lang::BinaryOperator op, const FrontValue &a,
                           const FrontValue &b, const SourceRange &range);
FrontValue constexprCompare(LoweringContext &c, lang::CompareOperator op, const FrontValue &a,
                            const FrontValue &b, const SourceRange &range);
FrontValue constexprUnary(LoweringContext &c, lang::UnaryOperator op, const FrontValue &a,
                          const SourceRange &range);

/// An integer of any size; refused past 128 bits.
FrontValue constexprInteger(LoweringContext &c, WideInteger value);
/// The integer that a source's decimal digits spell, with their line for what is too large.
FrontValue constexprInteger(LoweringContext &c, std::string_view digits, const SourceRange &range);

/// min or max of constexpr numbers.
FrontValue constexprExtreme(LoweringContext &c, bool wantMax, const std::vector<FrontValue> &values,
                            const SourceRange &range);

/// How Python would print the value: for f-strings and messages.
std::string pythonText(const FrontValue &value);

} // namespace tilewright::lowering

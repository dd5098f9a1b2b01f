#pragma once
#include "tilewright/program/Program.h"

namespace tilewright {

/// What holds for an op whatever a pass wants from it. Ops.def names one of the constants below in each op's
/// line; a pass that treats a whole class alike asks `traitsOf(kind)` and needs no list of its own, so a new
/// op is treated by every pass from its first day.
struct OpTraits {
  bool elementwise = false; ///< lane i of each result depends on lane i of the operands only
  bool uniform = false;     ///< operands and result have one type, and index arithmetic may use it
  bool binary = false;      ///< two operands, `uniform`
  bool view = false;        ///< the result is the operand's memory, seen in another shape or dtype
  bool work = false;        ///< costs a pass over the tile's data (moves and reinterpretations don't)
  bool effect = false;      ///< does something besides giving results, so it stays when nobody uses them
};

namespace op_traits {
inline constexpr OpTraits kPlain{};
inline constexpr OpTraits kBinary{.elementwise = true, .uniform = true, .binary = true, .work = true};
inline constexpr OpTraits kUniform{.elementwise = true, .uniform = true, .work = true};
inline constexpr OpTraits kElementwise{.elementwise = true, .work = true};
inline constexpr OpTraits kReinterpret{.elementwise = true, .view = true};
inline constexpr OpTraits kView{.view = true};
inline constexpr OpTraits kCombine{.work = true};
inline constexpr OpTraits kEffect{.effect = true};
inline constexpr OpTraits kOpaque{.elementwise = true, .work = true, .effect = true};
} // namespace op_traits

constexpr const OpTraits &traitsOf(OpKind kind) {
  using namespace op_traits;
  constexpr const OpTraits *kTraits[] = {
#define OP(name, text, operands, results, traits) &traits,
#include "tilewright/program/Ops.def"
  };
  return *kTraits[static_cast<size_t>(kind)];
}

} // namespace tilewright

#include "DotAccumulator.h"

namespace tilewright::cpu {

namespace {

/// The carried argument whose next value is `value`, in the loop body that holds `op`.
ValueId carriedInto(const BoundProgram &p, const Op &op, ValueId value) {
  const RegionId region = p.regionOf(p.idOf(op));
  const Region &body = p.program().region(region);
  if (body.parent == kNone || p.op(body.parent).kind != OpKind::For)
    return kNone;
  const Op &yield = p.op(body.ops.back());
  for (size_t index = 0; index < yield.operands.size(); ++index)
    if (p.canonical(yield.operands[index]) == p.canonical(value))
      return body.arguments[index + 1];
  return kNone;
}

/// The one op that reads the value, or null.
const Op *onlyUser(const BoundProgram &p, ValueId value) {
  return p.users(value).size() == 1 ? &p.op(p.users(value)[0]) : nullptr;
}

} // namespace

std::optional<DotAccumulator> findCarriedAccumulator(const BoundProgram &p, const TileEvaluator &evaluator,
                                                     const Op &dot) {
  const RegionId region = p.regionOf(p.idOf(dot));
  DotAccumulator found;
  found.result = p.canonical(dot.results[0]);
  ValueId argument = carriedInto(p, dot, found.result);
  if (argument == kNone) {
    const Op *sum = onlyUser(p, found.result);
    if (!sum || sum->kind != OpKind::Add || p.regionOf(p.idOf(*sum)) != region ||
        p.floatConstantOf(dot.operands[2]) != 0.0)
      return std::nullopt;
    const ValueId other = p.canonical(sum->operands[p.canonical(sum->operands[0]) == found.result ? 1 : 0]);
    found.result = p.canonical(sum->results[0]);
    argument = carriedInto(p, dot, found.result);
    if (argument == kNone || other != argument || onlyUser(p, argument) != sum)
      return std::nullopt;
  } else if (const ValueId accumulator = p.canonical(dot.operands[2]); accumulator != argument) {
    // From the argument to the accumulator through elementwise ops that nobody else reads.
    for (ValueId value = argument; value != accumulator;) {
      const Op *next = onlyUser(p, value);
      if (!next || !isElementwise(next->kind) || p.regionOf(p.idOf(*next)) != region)
        return std::nullopt;
      value = p.canonical(next->results[0]);
    }
    if (onlyUser(p, accumulator) != &dot)
      return std::nullopt;
    found.needsInit = true;
  } else if (onlyUser(p, argument) != &dot) {
    return std::nullopt;
  }
  const StoredTile *stored = evaluator.findStored(argument);
  if (!stored)
    return std::nullopt;
  found.buffer = stored->buffer;
  return found;
}

} // namespace tilewright::cpu

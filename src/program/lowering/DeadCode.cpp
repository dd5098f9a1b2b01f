#include "DeadCode.h"

#include "tilewright/program/OpTraits.h"

#include <algorithm>

namespace tilewright::lowering {

namespace {

/// Whether an operation only computes its results.
bool isPure(const Op &op) {
  if (op.kind == OpKind::InlineAsm || op.kind == OpKind::ExternCall)
    return op.attributes.flag("pure");
  if (op.kind == OpKind::Load) // a volatile one acts; an atomic one orders what is around it
    return !op.attributes.flag("volatile") && !op.attributes.has("sem");
  return !traitsOf(op.kind).effect;
}

} // namespace

void removeDeadCode(Program &program) {
  std::vector<uint32_t> uses(program.values.size(), 0);
  std::vector<bool> placed(program.ops.size(), false);
  for (const Region &region : program.regions)
    for (const OpId id : region.ops)
      placed[id] = true;
  for (OpId id = 0; id < program.ops.size(); ++id)
    if (placed[id])
      for (const ValueId operand : program.ops[id].operands)
        ++uses[operand];
  // Operands are made before their users, so one pass backwards sees every use disappear first.
  std::vector<bool> dead(program.ops.size(), false);
  for (OpId id = static_cast<OpId>(program.ops.size()); id-- > 0;) {
    const Op &op = program.ops[id];
    dead[id] = !placed[id] || (isPure(op) && std::all_of(op.results.begin(), op.results.end(),
                                                         [&](ValueId v) { return uses[v] == 0; }));
    if (dead[id] && placed[id])
      for (const ValueId operand : op.operands)
        --uses[operand];
  }

  std::vector<OpId> newOp(program.ops.size(), kNone);
  std::vector<Op> ops;
  for (OpId id = 0; id < program.ops.size(); ++id)
    if (!dead[id]) {
      newOp[id] = static_cast<OpId>(ops.size());
      ops.push_back(std::move(program.ops[id]));
    }
  // Regions of dead operations go with them.
  std::vector<RegionId> newRegion(program.regions.size(), kNone);
  std::vector<Region> regions;
  for (RegionId id = 0; id < program.regions.size(); ++id) {
    Region &region = program.regions[id];
    if (id != 0 && (region.parent == kNone || newOp[region.parent] == kNone))
      continue;
    newRegion[id] = static_cast<RegionId>(regions.size());
    regions.push_back(std::move(region));
  }
  std::vector<ValueId> newValue(program.values.size(), kNone);
  std::vector<Value> values;
  for (ValueId id = 0; id < program.values.size(); ++id) {
    Value &value = program.values[id];
    const bool stays = value.definingOp != kNone ? newOp[value.definingOp] != kNone
                                                 : value.owner != kNone && newRegion[value.owner] != kNone;
    if (!stays)
      continue;
    newValue[id] = static_cast<ValueId>(values.size());
    values.push_back(std::move(value));
  }
  for (Op &op : ops) {
    for (ValueId &v : op.operands)
      v = newValue[v];
    for (ValueId &v : op.results)
      v = newValue[v];
    for (RegionId &r : op.regions)
      r = newRegion[r];
  }
  for (Region &region : regions) {
    if (region.parent != kNone)
      region.parent = newOp[region.parent];
    for (ValueId &v : region.arguments)
      v = newValue[v];
    std::vector<OpId> kept;
    for (const OpId id : region.ops)
      if (newOp[id] != kNone)
        kept.push_back(newOp[id]);
    region.ops = std::move(kept);
  }
  for (Value &value : values) {
    if (value.definingOp != kNone)
      value.definingOp = newOp[value.definingOp];
    if (value.owner != kNone)
      value.owner = newRegion[value.owner];
  }
  for (Parameter &parameter : program.parameters)
    if (parameter.value != kNone)
      parameter.value = newValue[parameter.value];
  program.ops = std::move(ops);
  program.regions = std::move(regions);
  program.values = std::move(values);
}

} // namespace tilewright::lowering

#include "TilePlan.h"
#include "Clipping.h"

namespace tilewright::cpu {

namespace {

bool isExpensiveOp(const BoundProgram &p, const Op &op) {
  switch (op.kind) {
  case OpKind::Unary: {
    const std::string function = op.attributes.text("function");
    return function != "neg" && function != "not" && function != "abs" && function != "floor" &&
           function != "ceil" && function != "trunc" && function != "round";
  }
  case OpKind::Binary:
    return true;
  case OpKind::Div:
  case OpKind::Rem:
    return !(isInteger(p.value(op.results[0]).type.dtype) && p.constantOf(op.operands[1]));
  default:
    return false;
  }
}

} // namespace

TilePlan::TilePlan(const BoundProgram &program, TileAccess &access) : p_(program), access_(access) {
  groupStores();
  findConsumers();
  findOverwrittenLoads();
  findSharedWork();
  findStreams();
}

ValueId TilePlan::streamsInto(ValueId tile) const {
  const auto found = streams_.find(tile);
  return found == streams_.end() ? kNone : found->second;
}

void TilePlan::findStreams() {
  for (const ValueId tile : whileComputing_) {
    ValueId target = kNone;
    size_t stores = 0;
    for (const OpId root : consumers_[tile]) {
      const Op &op = p_.op(root);
      if (op.kind != OpKind::Store)
        continue;
      ++stores;
      if (p_.regionOf(root) == p_.regionOf(p_.value(tile).definingOp) &&
          p_.shape(op.operands[0]) == p_.shape(tile) && access_.steps(op.operands[0]).back().isConstant(1))
        target = p_.canonical(op.operands[0]);
    }
    if (stores == 1 && target != kNone)
      streams_[tile] = target;
  }
}

llvm::ArrayRef<OpId> TilePlan::storeGroup(OpId last) const {
  const auto found = groups_.find(last);
  return found == groups_.end() ? llvm::ArrayRef<OpId>{} : llvm::ArrayRef<OpId>(found->second);
}

uint32_t TilePlan::groupOf(OpId op) const {
  const auto found = groupLeader_.find(op);
  return found == groupLeader_.end() ? op : found->second;
}

/// Ops that make somebody compute tiles.
bool TilePlan::isRoot(const Op &op) const { return !isPure(op.kind) && op.kind != OpKind::Load; }

bool TilePlan::isVirtual(ValueId value) const {
  const Op *op = p_.definition(value);
  return op && p_.isTile(value) && (isPure(op->kind) || op->kind == OpKind::Load);
}

void TilePlan::groupStores() {
  for (RegionId region = 0; region < p_.program().regions.size(); ++region)
    groupStores(region);
}

void TilePlan::groupStores(RegionId region) {
  std::vector<OpId> open;
  const auto close = [&] {
    if (!open.empty()) {
      for (const OpId member : open)
        groupLeader_[member] = open.back();
      groups_[open.back()] = open;
    }
    open.clear();
  };
  const auto mask = [&](const Op &op) {
    return op.operands.size() > 2 ? p_.canonical(op.operands[2]) : kNone;
  };
  const auto fits = [&](const Op &store) {
    for (const OpId member : open) {
      const Op &other = p_.op(member);
      if (p_.shape(other.operands[0]) != p_.shape(store.operands[0]) || mask(other) != mask(store))
        return false;
      const ValueId base = access_.base(store.operands[0]), otherBase = access_.base(other.operands[0]);
      if (base == kNone || otherBase == kNone || base == otherBase ||
          access_.steps(store.operands[0]) != access_.steps(other.operands[0]))
        return false;
    }
    return true;
  };
  for (const OpId id : p_.program().region(region).ops) {
    const Op &op = p_.op(id);
    if (!p_.isLive(id))
      continue;
    if (op.kind == OpKind::Store && p_.isTile(op.operands[0])) {
      if (!fits(op))
        close();
      open.push_back(id);
    } else if (isRoot(op) || op.kind == OpKind::Load) {
      close();
    }
  }
  close();
}

void TilePlan::findConsumers() {
  for (OpId id = 0; id < p_.program().ops.size(); ++id) {
    if (p_.regionOf(id) == kNone || !p_.isLive(id) || !isRoot(p_.op(id)))
      continue;
    llvm::SmallVector<ValueId> work(p_.op(id).operands.begin(), p_.op(id).operands.end());
    std::set<ValueId> seen;
    while (!work.empty()) {
      const ValueId value = p_.canonical(work.pop_back_val());
      if (!seen.insert(value).second)
        continue;
      if (isVirtual(value)) {
        consumers_[value].insert(groupOf(id));
        const Op *op = p_.definition(value);
        work.append(op->operands.begin(), op->operands.end());
      } else if (const Induction *induction = access_.induction(value)) {
        work.push_back(induction->init);
      }
    }
  }
}

/// Whether the op is inside a loop that does not hold `region`.
bool TilePlan::insideLoopWithout(OpId id, RegionId region, OpId *loop) const {
  const auto outer = p_.parentsOf(region);
  for (const OpId parent : p_.parentsOf(p_.regionOf(id))) {
    if (std::find(outer.begin(), outer.end(), parent) != outer.end())
      return false;
    if (p_.op(parent).kind == OpKind::For || p_.op(parent).kind == OpKind::While) {
      if (loop)
        *loop = parent;
      return true;
    }
  }
  return false;
}

void TilePlan::findOverwrittenLoads() {
  std::vector<OpId> writers;
  for (OpId id = 0; id < p_.program().ops.size(); ++id)
    if (p_.regionOf(id) != kNone && p_.isLive(id) && hasEffect(p_.op(id).kind) &&
        p_.op(id).kind != OpKind::Return && p_.op(id).kind != OpKind::DeviceAssert &&
        p_.op(id).kind != OpKind::DevicePrint)
      writers.push_back(id);
  const auto isInside = [&](OpId id, OpId parent) {
    const auto parents = p_.parentsOf(p_.regionOf(id));
    return std::find(parents.begin(), parents.end(), parent) != parents.end();
  };
  for (const auto &[value, roots] : consumers_) {
    const Op *load = p_.definition(value);
    if (load->kind != OpKind::Load)
      continue;
    const OpId loadId = p_.idOf(*load);
    const auto overwritten = [&] {
      for (const OpId root : roots) {
        for (const OpId writer : writers) {
          const Op &store = p_.op(writer);
          const bool plainStore = store.kind == OpKind::Store && p_.isTile(store.operands[0]);
          if (groupOf(writer) == root) {
            if (plainStore ? access_.mayConflict(*load, store, true) : true)
              return true;
            continue;
          }
          // Roots are emitted at the place of their last member.
          const bool between =
              p_.position(loadId) < p_.position(writer) && p_.position(writer) < p_.position(root);
          bool earlierIteration = false;
          for (const OpId parent : p_.parentsOf(p_.regionOf(root)))
            if (p_.op(parent).kind != OpKind::If && !isInside(loadId, parent) && isInside(writer, parent))
              earlierIteration = true;
          if (between || earlierIteration)
            return true;
        }
      }
      return false;
    }();
    if (overwritten)
      atDefinition_.insert(value);
  }
}

bool TilePlan::isExpensive(ValueId value) {
  value = p_.canonical(value);
  if (const auto known = expensive_.find(value); known != expensive_.end())
    return known->second;
  bool result = false;
  if (const Op *op = p_.definition(value); op && isVirtual(value) && isElementwise(op->kind)) {
    // An index modulo something is better taken apart by the nest that reads it (Bound::wraps).
    result = isExpensiveOp(p_, *op) && !wrapBound(p_, access_, value, identityMap(p_.rank(value)));
    for (const ValueId operand : op->operands)
      result |= isExpensive(operand);
  }
  return expensive_[value] = result;
}

void TilePlan::findSharedWork() {
  std::set<ValueId> shared;
  for (const auto &[value, roots] : consumers_) {
    if (!isExpensive(value) || access_.isUniform(value))
      continue;
    const RegionId region = p_.regionOf(p_.value(value).definingOp);
    bool inInnerLoop = false;
    for (const OpId root : roots)
      inInnerLoop |= insideLoopWithout(root, region);
    if (roots.size() >= 2 || inInnerLoop)
      shared.insert(value);
  }
  for (const ValueId value : shared) {
    // A user with the same consumers includes this work: keep that one instead.
    bool included = false;
    for (const OpId user : p_.users(value))
      if (isElementwise(p_.op(user).kind) && p_.users(value).size() == 1)
        for (const ValueId result : p_.op(user).results)
          included |= shared.contains(result) && consumers_[result] == consumers_[value];
    if (included)
      continue;
    const RegionId region = p_.regionOf(p_.value(value).definingOp);
    bool inInnerLoop = false;
    for (const OpId root : consumers_[value])
      inInnerLoop |= insideLoopWithout(root, region);
    (inInnerLoop ? atDefinition_ : whileComputing_).insert(value);
  }
  // Operands of a dot that an inner loop does not change are packed once.
  for (OpId id = 0; id < p_.program().ops.size(); ++id) {
    const Op &op = p_.op(id);
    if (op.kind != OpKind::Dot || p_.regionOf(id) == kNone || !p_.isLive(id))
      continue;
    for (const ValueId operand : {p_.canonical(op.operands[0]), p_.canonical(op.operands[1])})
      if (isVirtual(operand) && insideLoopWithout(id, p_.regionOf(p_.value(operand).definingOp)))
        atDefinition_.insert(operand);
  }
}

} // namespace tilewright::cpu

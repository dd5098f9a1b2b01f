// Tiles that cross the border of a loop iteration: kept in the arena and updated in place where that is
// right.
#include "KernelEmitter.h"

namespace tilewright::cpu {

void KernelEmitter::storeCarriedInit(const Carried &carried) {
  if (carried.buffer)
    nests_.materialise(carried.init, *carried.buffer);
}

void KernelEmitter::collectReads(ValueId value, bool inPlace, CarriedReads &reads,
                                 std::set<std::pair<ValueId, bool>> &seen) const {
  value = p_.canonical(value);
  if (!p_.isTile(value) || !seen.insert({value, inPlace}).second)
    return;
  const Op *op = p_.definition(value);
  if (!op) {
    reads.arguments.insert(value);
    if (!inPlace)
      reads.elsewhere.insert(value);
    return;
  }
  if (evaluator_.findStored(value))
    return;
  const bool aligned = isElementwise(op->kind) || op->kind == OpKind::Load;
  if (!aligned && !isPure(op->kind))
    return;
  for (const ValueId operand : op->operands)
    collectReads(operand, inPlace && aligned, reads, seen);
}

/// New values of carried tiles at the end of an iteration. Tiles of one shape share a nest. A tile is
/// overwritten in place when nobody reads its old elements afterwards: not at another place in this nest, and
/// not in a later nest. Otherwise its new value goes to a second buffer first.
void KernelEmitter::updateCarried(llvm::ArrayRef<Carried> carried, llvm::ArrayRef<ValueId> next) {
  struct Update {
    const Carried *carried;
    ValueId value;
    CarriedReads reads;
    TileBuffer target;
  };
  std::vector<Update> updates;
  for (size_t index = 0; index < carried.size(); ++index) {
    const ValueId value = p_.canonical(next[index]);
    if (value == carried[index].argument)
      continue;
    if (const StoredTile *stored = evaluator_.findStored(value);
        stored && stored->buffer.offset == carried[index].buffer->offset)
      continue; // was computed in place
    Update update{&carried[index], value, {}, *carried[index].buffer};
    std::set<std::pair<ValueId, bool>> seen;
    collectReads(value, true, update.reads, seen);
    updates.push_back(std::move(update));
  }
  // Large tiles first: their updates are the ones that read the small ones, and only small ones are then
  // copied.
  const auto elements = [&](ValueId value) {
    int64_t count = 1;
    for (const int64_t size : p_.shape(value))
      count *= size;
    return count;
  };
  std::stable_sort(updates.begin(), updates.end(),
                   [&](const Update &a, const Update &b) { return elements(a.value) > elements(b.value); });

  struct Copy {
    TileBuffer from, to;
    ValueId shapeOf;
  };
  std::vector<Copy> copies;
  for (size_t first = 0; first < updates.size();) {
    size_t last = first + 1;
    while (last < updates.size() && p_.shape(updates[last].value) == p_.shape(updates[first].value))
      ++last;
    LoopNest::Request request;
    request.shape.assign(p_.shape(updates[first].value).begin(), p_.shape(updates[first].value).end());
    for (size_t index = first; index < last; ++index) {
      Update &update = updates[index];
      bool readLater = false;
      for (size_t other = first; other < updates.size(); ++other)
        readLater |= (other < last ? updates[other].reads.elsewhere : updates[other].reads.arguments)
                         .contains(update.carried->argument);
      if (readLater) {
        const Type &type = p_.value(update.value).type;
        const TileBuffer second = e_.scratch.allocate(type, p_.shape(update.value));
        copies.push_back({second, update.target, update.value});
        update.target = second;
      }
      request.values.push_back(update.value);
      request.elementBytes =
          std::max<int64_t>(request.elementBytes,
                            update.target.kind == Type::Kind::Pointer ? 8 : byteSize(update.target.dtype));
    }
    nests_.emit(request, [&](const Position &position) {
      llvm::SmallVector<Lane> lanes;
      for (size_t index = first; index < last; ++index) {
        Lane lane = evaluator_.at(updates[index].value, position);
        lanes.push_back(lane);
      }
      for (size_t index = first; index < last; ++index)
        evaluator_.store(updates[index].target, position, lanes[index - first]);
    });
    first = last;
  }
  for (const Copy &copy : copies) {
    LoopNest::Request request;
    request.shape.assign(p_.shape(copy.shapeOf).begin(), p_.shape(copy.shapeOf).end());
    request.elementBytes = copy.to.kind == Type::Kind::Pointer ? 8 : byteSize(copy.to.dtype);
    nests_.emit(request, [&](const Position &position) {
      evaluator_.store(copy.to, position, lanes_.readBuffer(copy.from, position));
    });
  }
}

} // namespace tilewright::cpu

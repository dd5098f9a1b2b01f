#include "Bounds.h"
#include "Monomials.h"
#include "Walks.h"

#include <algorithm>
#include <span>

namespace tilewright::analysis {

namespace {

class MapBuilder {
public:
  MapBuilder(Trace &trace, const std::vector<Walk> &walks)
      : trace_(trace), indices_(trace.indices), context_(trace.indices.context()), walks_(walks) {}

  AccessMap build(uint32_t number) {
    const AccessRecord &record = trace_.accesses[number];
    AccessMap map;
    map.op = record.op;
    if (record.buffers.size() == 1)
      map.buffer = trace_.program.parameters[record.buffers[0]].name;
    map.dtype = record.dtype;
    map.write = record.write;
    map.atomic = record.atomic;
    map.tileShape = record.tileShape;
    map.loops = trace_.loopChain(record.loop);
    map.constant = context_.constant(0);
    map.maskExtent.resize(record.tileShape.size());
    map.indirect = indices_.mentionsUnknown(record.offset);
    map.indirectAxes = indirectAxes(record.offset);

    SymInt rest = record.offset;
    for (const Walk &walk : walksOf(number)) {
      map.modular = map.modular || walk.modular || walk.decodedStep.valid();
      if (walk.hasLanes() && walk.masked)
        map.maskExtent[static_cast<size_t>(walk.tileAxis)] = walk.extent;
      // Decoded program ids become one term: an address step per tile, as many tiles as the extent holds.
      if (!walk.decodedStep.valid())
        continue;
      const SymInt trip = walk.extent.valid() ? context_.cdiv(walk.extent, walk.decodedStep) : SymInt();
      map.terms.push_back({AccessTerm::Kind::ProgramId, walk.decodedProgram,
                           context_.mul(walk.stride, walk.decodedStep), trip});
      if (!walk.modular) // what is inside a modulo is left to addMonomial
        rest = context_.sub(rest, context_.mul(context_.mul(walk.stride, walk.decodedStep), walk.decoded));
    }
    for (const Monomial &monomial : monomialsOf(rest))
      addMonomial(map, number, monomial);
    std::stable_sort(map.terms.begin(), map.terms.end(), [](const AccessTerm &a, const AccessTerm &b) {
      return std::pair(a.kind, a.index) < std::pair(b.kind, b.index);
    });
    for (const AccessTerm &term : map.terms)
      if (term.kind == AccessTerm::Kind::Lane &&
          (term.coefficient.isConstant(1) || term.coefficient.isConstant(-1)))
        map.contiguousAxis = static_cast<int32_t>(term.index);
    return map;
  }

private:
  /// The walks come access by access.
  std::span<const Walk> walksOf(uint32_t number) const {
    const auto [first, last] = std::equal_range(walks_.begin(), walks_.end(), number, ByAccess{});
    return {first, last};
  }
  struct ByAccess {
    bool operator()(const Walk &walk, uint32_t number) const { return walk.access < number; }
    bool operator()(uint32_t number, const Walk &walk) const { return number < walk.access; }
  };

  void addTerm(AccessMap &map, AccessTerm::Kind kind, uint32_t index, SymInt coefficient, SymInt trip) {
    for (AccessTerm &term : map.terms)
      if (term.kind == kind && term.index == index && kind != AccessTerm::Kind::ProgramId) {
        term.coefficient = context_.add(term.coefficient, coefficient);
        return;
      }
    map.terms.push_back({kind, index, coefficient, trip});
  }

  void addSymbol(AccessMap &map, uint32_t number, SymInt symbol, SymInt coefficient) {
    const IndexSymbol &meaning = indices_.of(symbol.symbolId());
    if (meaning.kind == IndexKind::Lane)
      addTerm(map, AccessTerm::Kind::Lane, meaning.axis, coefficient, meaning.size);
    else if (meaning.kind == IndexKind::ProgramId)
      addTerm(map, AccessTerm::Kind::ProgramId, meaning.axis, coefficient, programTrip(number, meaning.axis));
    else
      addTerm(map, AccessTerm::Kind::Loop, meaning.op, coefficient, tripOf(meaning.op));
  }

  void addMonomial(AccessMap &map, uint32_t number, const Monomial &monomial, bool wrapped = false) {
    SymInt index;
    int moving = 0;
    for (SymInt factor : monomial.factors)
      if (indices_.mentionsIndex(factor)) {
        index = factor;
        ++moving;
      }
    if (moving == 0) {
      map.constant = context_.add(map.constant, productOf(context_, monomial));
      return;
    }
    if (moving > 1) {
      map.modular = true;
      return;
    }
    Monomial others = monomial;
    others.factors.erase(std::find(others.factors.begin(), others.factors.end(), index));
    const SymInt coefficient = productOf(context_, others);
    if (index.isSymbol())
      return addSymbol(map, number, index, coefficient);
    map.modular = true;
    if (wrapped)
      return; // a decoded program id, whose term is there already
    // x % m runs like x between wraps; min and max run like the operand that moves.
    const bool follows = index.op() == SymOp::Mod || index.op() == SymOp::Min || index.op() == SymOp::Max;
    if (!follows)
      return;
    const auto inner = index.op() == SymOp::Mod ? index.operands().subspan(0, 1) : index.operands();
    for (SymInt operand : inner)
      if (indices_.mentionsIndex(operand)) {
        for (Monomial part : monomialsOf(operand)) {
          if (!indices_.mentionsIndex(productOf(context_, part)))
            continue;
          if (__builtin_mul_overflow(part.coefficient, others.coefficient, &part.coefficient))
            continue;
          part.factors.insert(part.factors.end(), others.factors.begin(), others.factors.end());
          addMonomial(map, number, part, true);
        }
        return;
      }
  }

  SymInt tripOf(OpId loop) {
    for (const LoopRecord &record : trace_.loops)
      if (record.op == loop)
        return record.trip;
    return {};
  }

  /// Programs along the axis, where a walk of this access knows its extent.
  SymInt programTrip(uint32_t number, uint32_t axis) {
    for (const Walk &walk : walksOf(number))
      for (const Walk::Step &step : walk.programs) {
        if (step.index != axis)
          continue;
        if (const SymInt turns = turnsOf(walk, step); turns.valid())
          return turns;
        if (walk.extent.valid())
          return context_.cdiv(walk.extent, step.amount);
      }
    return {};
  }

  std::vector<uint32_t> indirectAxes(SymInt offset) {
    uint32_t axes = 0;
    for (uint32_t symbol : indices_.symbolsIn(offset))
      axes |= indices_.of(symbol).laneAxes;
    std::vector<uint32_t> list;
    for (uint32_t d = 0; d < 16; ++d)
      if (axes >> d & 1)
        list.push_back(d);
    return list;
  }

  Trace &trace_;
  Indices &indices_;
  SymContext &context_;
  const std::vector<Walk> &walks_;
};

} // namespace

std::vector<AccessMap> accessMaps(Trace &trace, const std::vector<Walk> &walks) {
  std::vector<AccessMap> maps;
  MapBuilder builder(trace, walks);
  for (uint32_t i = 0; i < trace.accesses.size(); ++i)
    maps.push_back(builder.build(i));
  return maps;
}

} // namespace tilewright::analysis

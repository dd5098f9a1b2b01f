#include "Indices.h"

#include <algorithm>

namespace tilewright::analysis {

namespace {

constexpr int64_t kMaxIndex =
    (int64_t(1) << 31) - 1; ///< program ids, iterations and lanes are 32-bit in Triton

const IndexSymbol kFree{};

} // namespace

Indices::Indices(const Program &program) : context_(*program.symbols) {}

SymInt Indices::remember(SymInt symbol, IndexSymbol meaning) {
  const uint32_t id = symbol.symbolId();
  if (meanings_.size() <= id)
    meanings_.resize(id + 1);
  meanings_[id] = meaning;
  return symbol;
}

const IndexSymbol &Indices::of(uint32_t symbolId) const {
  return symbolId < meanings_.size() ? meanings_[symbolId] : kFree;
}

SymInt Indices::lane(uint32_t axis, SymInt size) {
  if (size.isConstant(1))
    return context_.constant(0);
  if (lanes_.size() <= axis)
    lanes_.resize(axis + 1);
  for (const auto &[known, symbol] : lanes_[axis])
    if (known == size)
      return symbol;
  const int64_t max = size.range().max == INT64_MAX ? kMaxIndex : size.range().max - 1;
  const SymInt symbol = context_.newSymbol(SymbolKind::LaneIndex, "lane" + std::to_string(axis), {0, max});
  lanes_[axis].emplace_back(size, symbol);
  return remember(symbol, {IndexKind::Lane, axis, size});
}

SymInt Indices::programId(uint32_t axis, SymInt known) {
  if (axis >= programIds_.size())
    return opaque(kNone, 0, false);
  SymInt &symbol = programIds_[axis];
  if (known.valid() && known.isSymbol() && &known.context() == &context_)
    symbol = known;
  else if (!symbol.valid())
    symbol = context_.newSymbol(SymbolKind::ProgramId, "pid" + std::to_string(axis), {0, kMaxIndex});
  return remember(symbol, {IndexKind::ProgramId, axis});
}

SymInt Indices::programCount(uint32_t axis, SymInt known) {
  if (axis >= programCounts_.size())
    return opaque(kNone, 0, false);
  SymInt &symbol = programCounts_[axis];
  if (known.valid() && known.isSymbol() && &known.context() == &context_)
    symbol = known;
  else if (!symbol.valid())
    symbol = context_.newSymbol(SymbolKind::ProgramCount, "nprog" + std::to_string(axis), {1, kMaxIndex});
  return remember(symbol, {IndexKind::ProgramCount, axis});
}

SymInt Indices::iteration(OpId loop) {
  const SymInt symbol =
      context_.newSymbol(SymbolKind::LoopIndex, "iter" + std::to_string(loop), {0, kMaxIndex});
  return remember(symbol, {IndexKind::Iteration, 0, {}, loop});
}

SymInt Indices::carry(OpId loop, bool isTile) {
  const SymInt symbol = context_.newSymbol(SymbolKind::Opaque, "carried" + std::to_string(loop));
  return remember(symbol, {IndexKind::Carry, 0, {}, loop, isTile ? ~0u : 0u});
}

SymInt Indices::loaded(OpId load, uint32_t laneAxes, DType dtype) {
  SymRange range;
  if (dtype == DType::Int1)
    range = {0, 1};
  else if (isInteger(dtype) && !isSigned(dtype))
    range.min = 0;
  const SymInt symbol = context_.newSymbol(SymbolKind::Opaque, "loaded" + std::to_string(load), range);
  return remember(symbol, {IndexKind::Loaded, 0, {}, load, laneAxes});
}

SymInt Indices::opaque(OpId op, uint32_t laneAxes, bool isBoolean) {
  const SymInt symbol = context_.newSymbol(SymbolKind::Opaque, "value" + std::to_string(op),
                                           isBoolean ? SymRange{0, 1} : SymRange{});
  return remember(symbol, {IndexKind::Opaque, 0, {}, op, laneAxes});
}

const std::vector<uint32_t> &Indices::symbolsIn(SymInt expression) {
  if (const auto found = symbols_.find(expression.node()); found != symbols_.end())
    return found->second;
  std::vector<uint32_t> symbols;
  if (expression.isSymbol())
    symbols.push_back(expression.symbolId());
  for (SymInt operand : expression.operands()) {
    const auto &inner = symbolsIn(operand);
    symbols.insert(symbols.end(), inner.begin(), inner.end());
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols_.emplace(expression.node(), std::move(symbols)).first->second;
}

bool Indices::mentions(SymInt expression, IndexKind kind) {
  const auto &symbols = symbolsIn(expression);
  return std::any_of(symbols.begin(), symbols.end(), [&](uint32_t id) { return of(id).kind == kind; });
}

bool Indices::mentions(SymInt expression, SymInt symbol) {
  const auto &symbols = symbolsIn(expression);
  return std::binary_search(symbols.begin(), symbols.end(), symbol.symbolId());
}

bool Indices::mentionsIndex(SymInt expression) {
  const auto &symbols = symbolsIn(expression);
  return std::any_of(symbols.begin(), symbols.end(), [&](uint32_t id) {
    const IndexKind kind = of(id).kind;
    return kind == IndexKind::Lane || kind == IndexKind::ProgramId || kind == IndexKind::Iteration;
  });
}

bool Indices::mentionsUnknown(SymInt expression) {
  const auto &symbols = symbolsIn(expression);
  return std::any_of(symbols.begin(), symbols.end(), [&](uint32_t id) {
    const IndexKind kind = of(id).kind;
    return kind == IndexKind::Carry || kind == IndexKind::Loaded || kind == IndexKind::Opaque;
  });
}

uint32_t Indices::laneAxesOf(SymInt expression) {
  uint32_t axes = 0;
  for (uint32_t id : symbolsIn(expression)) {
    const IndexSymbol &meaning = of(id);
    axes |= meaning.kind == IndexKind::Lane ? 1u << meaning.axis : meaning.laneAxes;
  }
  return axes;
}

SymInt Indices::moveLanes(SymInt expression, const std::vector<uint32_t> &newAxis) {
  std::unordered_map<uint32_t, SymInt> replacements;
  const std::vector<uint32_t> symbols = symbolsIn(expression); // a copy: the table grows below
  for (uint32_t id : symbols) {
    const IndexSymbol meaning = of(id);
    if (meaning.kind == IndexKind::Lane) {
      if (meaning.axis < newAxis.size() && newAxis[meaning.axis] != meaning.axis)
        replacements[id] = lane(newAxis[meaning.axis], meaning.size);
    } else if (meaning.laneAxes != 0 && meaning.laneAxes != ~0u) {
      uint32_t axes = 0;
      for (uint32_t d = 0; d < newAxis.size(); ++d)
        if (meaning.laneAxes >> d & 1)
          axes |= 1u << newAxis[d];
      if (axes == meaning.laneAxes)
        continue;
      SymInt &moved = moved_[uint64_t(id) << 32 | axes];
      if (!moved.valid()) {
        const Symbol &symbol = context_.symbol(id);
        moved = context_.newSymbol(SymbolKind::Opaque, symbol.name, symbol.range, symbol.divisor);
        IndexSymbol copy = meaning;
        copy.laneAxes = axes;
        remember(moved, copy);
      }
      replacements[id] = moved;
    }
  }
  return substitute(expression, replacements);
}

SymInt Indices::substitute(SymInt expression, const std::unordered_map<uint32_t, SymInt> &replacements) {
  if (replacements.empty() || !expression.valid())
    return expression;
  const auto &symbols = symbolsIn(expression);
  if (std::none_of(symbols.begin(), symbols.end(), [&](uint32_t id) { return replacements.count(id) != 0; }))
    return expression;
  return context_.substitute(expression, [&](uint32_t id) {
    const auto found = replacements.find(id);
    return found == replacements.end() ? SymInt() : found->second;
  });
}

} // namespace tilewright::analysis

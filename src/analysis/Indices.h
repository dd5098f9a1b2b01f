#pragma once
#include "tilewright/program/Program.h"

#include <array>
#include <unordered_map>

namespace tilewright::analysis {

/// What a symbol of an index expression stands for, seen from the analysis.
enum class IndexKind : uint8_t {
  Free, ///< a parameter, a runtime scalar: the same for every lane, iteration and program
  ProgramId,
  ProgramCount,
  Lane,      ///< position along one axis of a tile
  Iteration, ///< number of the iteration of a loop, from 0 in steps of 1
  Carry,     ///< what a loop has added to a carried value so far
  Loaded,    ///< a value that was read from memory
  Opaque,    ///< anything else that is only known to exist
};

struct IndexSymbol {
  IndexKind kind = IndexKind::Free;
  uint32_t axis = 0;     ///< program-id axis, or tile axis of a lane
  SymInt size;           ///< Lane: elements along the axis
  OpId op = kNone;       ///< the loop, the load, or the operation that made it
  uint32_t laneAxes = 0; ///< Loaded, Opaque, Carry: bit d is set when the value differs along tile axis d
};

/// The symbols that the analysis adds to a Program's context, and what every symbol stands for.
///
/// The lane symbol of a tile axis is determined by (axis, size), so two tiles of one shape share their lanes
/// and elementwise arithmetic on tiles is plain arithmetic on expressions:
///
///     rows[:, None] * stride + cols[None, :]   =   stride*(pid*BLOCK + lane0) + lane1
class Indices {
public:
  explicit Indices(const Program &program);

  SymContext &context() const { return context_; }
  SymInt lane(uint32_t axis, SymInt size);
  SymInt programId(uint32_t axis, SymInt known);
  SymInt programCount(uint32_t axis, SymInt known);
  SymInt iteration(OpId loop);
  SymInt carry(OpId loop, bool isTile);
  SymInt loaded(OpId load, uint32_t laneAxes, DType dtype);
  SymInt opaque(OpId op, uint32_t laneAxes, bool isBoolean);

  const IndexSymbol &of(uint32_t symbolId) const;
  std::array<SymInt, 3> programIds() const { return programIds_; }
  std::array<SymInt, 3> programCounts() const { return programCounts_; }

  /// Symbols that occur in the expression, sorted; cached by node.
  const std::vector<uint32_t> &symbolsIn(SymInt expression);
  bool mentions(SymInt expression, IndexKind kind);
  bool mentions(SymInt expression, SymInt symbol);
  /// Lane, program id or iteration: what makes an address differ from one access to the next.
  bool mentionsIndex(SymInt expression);
  /// Loaded, carried or opaque values.
  bool mentionsUnknown(SymInt expression);
  uint32_t laneAxesOf(SymInt expression);

  /// Lanes (and lane-dependent unknowns) move to other tile axes: axis d becomes `newAxis[d]`.
  SymInt moveLanes(SymInt expression, const std::vector<uint32_t> &newAxis);
  SymInt substitute(SymInt expression, const std::unordered_map<uint32_t, SymInt> &replacements);

private:
  SymInt remember(SymInt symbol, IndexSymbol meaning);

  SymContext &context_;
  std::vector<IndexSymbol> meanings_;
  std::vector<std::vector<std::pair<SymInt, SymInt>>> lanes_; ///< by axis: size, symbol
  std::array<SymInt, 3> programIds_{}, programCounts_{};
  std::unordered_map<uint64_t, SymInt> moved_; ///< an unknown with its lanes on other axes
  std::unordered_map<const SymNode *, std::vector<uint32_t>> symbols_;
};

} // namespace tilewright::analysis

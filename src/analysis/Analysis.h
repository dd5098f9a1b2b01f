#pragma once
#include "Walks.h"

#include <unordered_map>

namespace tilewright::analysis {

/// What the steps of the analysis share: the traced Program, the walks, and the facts so far. Each step reads
/// what the earlier ones found and adds its own part; `analyze` calls them in the order of this list.
struct Analysis {
  Analysis(const Program &program, const Grid *grid);

  const Program &program;
  const Grid *grid;
  Trace trace;
  std::vector<Walk> walks;
  KernelFacts facts;

  Indices &indices() { return trace.indices; }
  SymContext &context() { return trace.indices.context(); }
  /// Line and source text of an op; only the first line of a compound statement.
  Evidence evidenceAt(OpId op, std::string note = {}) const;
  /// Lowers the status to Partial and says where and why.
  void unresolved(std::string code, std::string message, SourceRange where);
  Axis &axisOf(const Walk &walk) { return facts.axes[static_cast<size_t>(walk.axis)]; }
  bool mentionsScalar(SymInt expression); ///< a runtime scalar
  bool mentionsOpen(SymInt expression);   ///< an open parameter
  /// A condition or extent that a candidate and a launch decide: free of program ids, loops and loaded
  /// values.
  bool isLaunchTime(SymInt expression);
  const Parameter *
  scalarNamed(SymInt symbol) const; ///< the runtime scalar that is exactly this symbol, or null
  /// Constexprs of the launch that have the value `number`: those that the source of the given ops names, or
  /// all when it names none.
  std::vector<const Parameter *> fixedCandidates(SymInt number, const std::vector<OpId> &uses);
  /// Whether the source of an op, or of what made its operands, uses the parameter's name.
  bool isNamedAt(const Parameter &parameter, OpId use) const;
  size_t shapesNaming(const Parameter &parameter, SymInt size) const;
  /// The argument that a count is: a runtime scalar, an open parameter, or a constexpr of the launch. Null
  /// when it is none. Of several constexprs with one value, one that is not `taken` yet.
  const Parameter *countNamed(SymInt count, const std::vector<OpId> &uses,
                              const std::vector<const Parameter *> &taken = {});
  /// Walks with lanes at one position: more than one per buffer where a loop was unrolled.
  using Pieces = std::unordered_multimap<const SymNode *, size_t>;
  std::pair<Pieces::const_iterator, Pieces::const_iterator> piecesAt(SymInt position);

private:
  Pieces pieces_;
};

/// An evidence that is not there yet is appended; repeated lines are not.
void addEvidence(std::vector<Evidence> &list, Evidence evidence);

/// What one tile of a walk has to hold when nothing of the tile's own size moves it: the extent, or the step
/// from one program (or iteration) to the next. Invalid when unknown.
SymInt coverOf(const Walk &walk);

/// Where the walk's address starts, without program ids, iterations and lanes; invalid if it depends on
/// loaded values.
SymInt constantPart(Analysis &analysis, const Walk &walk);

/// How far the pieces of an unrolled loop reach together: base + i*S + lane for i = 0, 1, 2 reaches 3*S. The
/// walk's own size when it is the only piece.
SymInt reachOf(Analysis &analysis, const Walk &walk);

void takeGridExtents(Analysis &analysis); ///< extents that only the grid tells
void findAxes(Analysis &analysis);        ///< facts.axes, Walk::axis, facts.loops
void findReductions(Analysis &analysis);  ///< Axis::reduction
void findEffects(Analysis &analysis);
void findWork(Analysis &analysis);
void findRoles(Analysis &analysis);        ///< facts.parameters
void findHostCoupling(Analysis &analysis); ///< facts.hostCoupled, Role::HostCoupled
void findConstraints(Analysis &analysis);
void inferGrid(Analysis &analysis);

} // namespace tilewright::analysis

#pragma once
#include "Trace.h"

namespace tilewright::analysis {

/// The walk behind `trace`: one visit per op. Control flow is in TraceControl.cpp, memory in TraceMemory.cpp,
/// arithmetic and shapes in TraceValues.cpp.
class Tracer {
public:
  Tracer(const Program &program, Trace &result);
  void run();

private:
  // Values
  void visitRegion(RegionId region);
  void visit(OpId id);
  void visitSource(OpId id);
  void visitShape(OpId id);
  void visitArithmetic(OpId id);
  void visitUnary(OpId id);
  void visitReshape(OpId id);
  SymInt binary(const Op &op, SymInt a, SymInt b);

  // Memory
  void visitAddPtr(OpId id);
  void visitPointerAccess(OpId id);
  void visitMakeBlock(OpId id);
  void visitAdvance(OpId id);
  void visitBlockAccess(OpId id);
  void visitRowAccess(OpId id);
  void recordBlockAccess(OpId id, const IndexValue &block, const std::vector<SymInt> &offsets,
                         uint32_t checkedAxes);

  // Control flow
  void visitFor(OpId id);
  void visitWhile(OpId id);
  void visitIf(OpId id);
  struct Carried {
    IndexValue init;
    std::vector<SymInt> symbols; ///< one for an integer or pointer, one per axis for a block pointer
  };
  Carried enterCarried(OpId loop, ValueId init, ValueId argument);
  void leaveCarried(OpId id, const std::vector<Carried> &carried, const std::vector<ValueId> &yields,
                    const LoopRecord &loop, uint32_t firstSymbol);
  IndexValue merge(OpId op, SymInt condition, const IndexValue &a, const IndexValue &b, const Type &type);
  void finish(); ///< replaces carried symbols by what they turned out to be

  // Small things
  IndexValue &at(ValueId value) { return result_.values[value]; }
  SymInt integer(ValueId value); ///< its expression, or a fresh unknown
  void setInteger(ValueId value, SymInt expr);
  void setOpaque(ValueId value, OpId op);
  void setResultsOpaque(OpId id);
  SymInt conjunction(SymInt a, SymInt b); ///< either may be invalid
  static uint32_t allLanes(const Type &type);
  SymInt constant(int64_t value) { return indices_.context().constant(value); }

  const Program &program_;
  Trace &result_;
  Indices &indices_;
  SymContext &context_;
  SymInt guard_;
  uint32_t loop_ = kNone;
  std::vector<std::vector<ValueId>> yields_;      ///< operands of the last yield, by region depth
  std::unordered_map<uint32_t, SymInt> resolved_; ///< carry symbol -> step * iteration
  std::vector<uint32_t> resolvedOrder_;           ///< inner loops first
  std::unordered_map<uint64_t, SymInt> loadedBy_; ///< (buffer, offset) -> the symbol of the value there
};

} // namespace tilewright::analysis

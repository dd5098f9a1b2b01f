#pragma once
#include "Trace.h"
#include "tilewright/analysis/KernelFacts.h"

namespace tilewright::analysis {

/// How one access moves along one direction of its buffer:
///
///     position = lane + Σ step·program + Σ step·iteration (+ decodedStep·f(program ids))
///
/// with unit steps per element. A matrix access has two; a row number that only a program id gives is one
/// without lanes. Walks are what extents, axes and roles hang on.
struct Walk {
  enum class Source : uint8_t { None, Mask, Guard, Modulo, Declared, Loop, Grid, SamePosition };

  uint32_t access = 0;   ///< index into Trace::accesses
  int32_t tileAxis = -1; ///< -1: no lanes
  SymInt size;           ///< lanes along the axis; 1 without lanes
  SymInt position;       ///< the index part, lane coefficient 1
  SymInt stride;         ///< elements of the buffer per step
  SymInt extent;         ///< invalid when unknown
  Source source = Source::None;
  bool masked = false; ///< lanes past the extent take no part (mask, wrapped addressing)
  bool modular = false;
  std::vector<SymInt> innerExtents; ///< further bounds: the end of a program's own block

  struct Step {
    uint32_t index; ///< program-id axis, or the loop's index in Trace::loops
    SymInt amount;  ///< per program or per iteration
  };
  std::vector<Step> programs, loops;
  SymInt decodedStep; ///< valid when program ids pass through division or modulo: the amount per decoded tile
  SymInt decoded;     ///< the decoded tile number
  uint32_t decodedProgram = 0; ///< a program-id axis that it is decoded from
  bool decodedInLoop = false;  ///< decoded from a task number that a loop counts

  int32_t axis = -1; ///< index into KernelFacts::axes, once known
  bool hasLanes() const { return tileAxis >= 0; }
};

/// Takes a position apart into programs, loops and the decoded part.
void decompose(Trace &trace, Walk &walk);

/// In a walk where the loop starts at a program id and steps over all programs: programs take turns.
///
///     range(pid*B, n, programs*B):  step B per program, programs*B per iteration  ->  programs
///
/// Returns the quotient, or an invalid SymInt when the programs do not take turns.
SymInt turnsOf(const Walk &walk, const Walk::Step &program);

/// The positions that a loop visits, all programs together, in units of its index: upper - lower for a plain
/// loop, n for range(pid, n, programs). Invalid when not known.
SymInt loopExtent(Trace &trace, const LoopRecord &loop);

/// How far a loop moves a walk, all programs together, in elements: n for steps of B in range(cdiv(n, B)).
/// Invalid when not known.
SymInt loopReach(Trace &trace, const Walk::Step &step);

/// Whether a loop alone covers the whole extent, so that a second program would only start one step later:
/// for k in range(cdiv(K, B)) with lanes at pid*B + k*B. Such programs share no work.
bool startsPastItsLoop(Trace &trace, const Walk &walk, const Walk::Step &program);

/// The walks of every access, with extents from masks, wrapped addressing, declared shapes, guards and loops.
std::vector<Walk> findWalks(Trace &trace);

/// The access maps of every access, aligned with Trace::accesses; uses the walks for steps and trip counts.
std::vector<AccessMap> accessMaps(Trace &trace, const std::vector<Walk> &walks);

} // namespace tilewright::analysis

#pragma once
#include "Indices.h"

namespace tilewright::analysis {

/// What is known of an SSA value that takes part in addressing: an integer (scalar or tile) as an expression
/// over program ids, iterations, lanes and runtime scalars; a pointer as buffers plus offset; a block pointer
/// or descriptor as base, shape, strides and offsets. Floats have no IndexValue.
struct IndexValue {
  enum class Kind : uint8_t { None, Integer, Pointer, Block } kind = Kind::None;
  SymInt expr; ///< the integer, or the pointer's offset in elements
  std::vector<uint32_t>
      buffers; ///< pointer parameters (indices) that the pointer may come from; empty if unknown
  std::vector<SymInt> shape, strides, offsets; ///< Block

  bool known() const { return kind != Kind::None; }
};

struct AccessRecord {
  OpId op = kNone;
  bool read = false, write = false, atomic = false;
  std::vector<uint32_t> buffers;
  DType dtype = DType::Void;
  SymInt offset;
  std::vector<SymInt> tileShape;
  SymInt mask;  ///< 0/1-valued over lanes; invalid without a mask
  SymInt guard; ///< conditions of enclosing branches and earlier returns; invalid if none
  /// Block pointers and descriptors: the extent that each axis was declared with (bounds checks are in `mask`
  /// too).
  std::vector<SymInt> declaredOffset, declaredExtent;
  uint32_t loop = kNone; ///< innermost enclosing loop: index into Trace::loops
};

struct LoopRecord {
  OpId op = kNone;
  uint32_t parent = kNone; ///< index of the enclosing loop
  SymInt iteration;
  SymInt lower, upper, step, trip;       ///< lower .. step are invalid for `while`
  std::vector<ValueId> carriedArguments; ///< body arguments
  std::vector<ValueId> carriedYields;
};

/// The Program executed once over index expressions.
struct Trace {
  explicit Trace(const Program &program) : program(program), indices(program) {}

  const Program &program;
  Indices indices;
  std::vector<IndexValue> values;     ///< by ValueId
  std::vector<AccessRecord> accesses; ///< in program order
  std::vector<LoopRecord> loops;      ///< outer before inner
  std::vector<uint32_t> loopOf;       ///< by OpId: innermost enclosing loop, or kNone
  std::vector<SymInt> guardOf;        ///< by OpId: conditions on the path to it; invalid if none
  std::vector<Diagnostic> diagnostics;

  /// Enclosing loop ops of a loop index, outermost first.
  std::vector<OpId> loopChain(uint32_t innermost) const;
  /// A value that is data, not a position: floats, and integers that were read or computed from data.
  bool isData(ValueId value);
};

/// Walks the Program in order. Loop-carried integers and pointers that grow by a fixed step become
/// init + step*iteration; a carried value of any other shape stays unknown. Never fails: what cannot be
/// followed is an unknown symbol.
Trace trace(const Program &program);

} // namespace tilewright::analysis

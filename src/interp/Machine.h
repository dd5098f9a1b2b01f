#pragma once
#include "Memory.h"

#include <optional>
#include <set>

namespace tilewright::interp {

/// Runs one program instance after the other. Every SSA value owns a slot of lanes that keeps its capacity,
/// so that a loop allocates only in its first iteration. Each family of operations has its own file
/// (Elementwise.cpp, ShapeOps.cpp, MemoryOps.cpp, CombineOps.cpp); control flow is in Machine.cpp.
class Machine {
public:
  Machine(const Program &program, SymValues symbols, std::array<int64_t, 3> grid,
          const InterpreterLimits &limits);

  /// Evaluates shapes and binds arguments.
  Expected<void> prepare(std::span<const RuntimeArgument> arguments);
  Expected<void> runProgram(std::array<int64_t, 3> programId);

private:
  enum class Flow : uint8_t { Next, Return, Failed };

  // --- Machine.cpp ---
  Expected<void> bindArgument(const Parameter &parameter, std::span<const RuntimeArgument> arguments);
  Expected<void> evaluateShapes();
  Flow runRegion(RegionId region);
  Flow execute(const Op &op);
  Flow runFor(const Op &op);
  Flow runWhile(const Op &op);
  Flow runIf(const Op &op);
  /// Copies all at once: a loop may hand its values on in another order.
  void assign(std::span<const ValueId> to, std::span<const ValueId> from);
  void noteSymbol(ValueId value);
  Flow checkSymbol(const Op &op, ValueId value);
  Flow failed(const Op &op, ErrorKind kind, std::string code, std::string message);
  Flow unsupported(const Op &op, std::string_view what = {});

  // --- families ---
  Flow constant(const Op &op);
  Flow iota(const Op &op);
  Flow binary(const Op &op);
  Flow compare(const Op &op);
  Flow select(const Op &op);
  Flow unary(const Op &op);
  Flow libraryCall(const Op &op, std::string_view function);
  Flow fma(const Op &op);
  Flow clamp(const Op &op);
  Flow cast(const Op &op);
  Flow bitcast(const Op &op);
  Flow addPtr(const Op &op);

  Flow broadcast(const Op &op);
  Flow permute(const Op &op);
  Flow join(const Op &op);
  Flow split(const Op &op);
  Flow cat(const Op &op);
  Flow gather(const Op &op);
  Flow copy(const Op &op);
  template <class Visit>
  Flow walkSlice(const Op &op, ValueId part, ValueId whole, size_t firstOffset, Visit visit);
  Flow extractSlice(const Op &op);
  Flow insertSlice(const Op &op);

  Flow load(const Op &op);
  Flow store(const Op &op);
  Flow makeBlockPtr(const Op &op);
  Flow advance(const Op &op);
  Flow blockAccess(const Op &op);
  Flow rowAccess(const Op &op);
  Flow descriptorReduce(const Op &op);
  Flow atomicRmw(const Op &op);
  Flow atomicPoll(const Op &op);
  Flow atomicCas(const Op &op);
  Flow deviceAssert(const Op &op);
  /// False (with the error set) when the access leaves its buffer.
  bool checkAccess(const Op &op, BufferId buffer, DType dtype, int64_t address, bool write);
  Flow outOfBounds(const Op &op, BufferId buffer, DType dtype, int64_t address, bool write);

  Flow dot(const Op &op);
  Flow dotScaled(const Op &op);
  Flow map(const Op &op);
  Flow reduce(const Op &op);
  Flow scan(const Op &op);
  Flow sort(const Op &op);
  Flow histogram(const Op &op);

  // --- access to values ---
  const Type &type(ValueId value) const { return program_.value(value).type; }
  DType dtype(ValueId value) const { return program_.value(value).type.dtype; }
  size_t count(ValueId value) const { return counts_[value]; }
  const std::vector<int64_t> &extents(ValueId value) const { return extents_[value]; }
  Cell *lanes(ValueId value) { return slots_[value].data(); }
  const Cell *operand(const Op &op, size_t i) { return slots_[op.operands[i]].data(); }
  /// The slot of a result, sized for its lanes.
  Cell *result(const Op &op, size_t i = 0) {
    Lanes &slot = slots_[op.results[i]];
    slot.resize(counts_[op.results[i]]);
    return slot.data();
  }

  const Program &program_;
  SymValues symbols_;
  std::set<uint32_t> tooLarge_; ///< symbols whose u64 value is past what an expression holds
  std::array<int64_t, 3> grid_, programId_{};
  const InterpreterLimits &limits_;
  Memory memory_;
  std::vector<BufferId> origins_;
  std::vector<std::vector<int64_t>> extents_;
  std::vector<size_t> counts_;
  std::vector<Lanes> slots_;
  std::vector<Lanes> scratch_; ///< for `assign`
  std::vector<ValueId> yielded_;
  uint64_t executed_ = 0;
  std::optional<Error> error_;
};

/// Where an axis lies in row-major lanes: lane = (outer*length + position)*inner + rest.
struct AxisView {
  size_t outer = 1, length = 1, inner = 1;
  AxisView(const std::vector<int64_t> &extents, int64_t axis) {
    for (size_t i = 0; i < extents.size(); ++i)
      (static_cast<int64_t>(i) < axis    ? outer
       : static_cast<int64_t>(i) == axis ? length
                                         : inner) *= static_cast<size_t>(extents[i]);
  }
};

} // namespace tilewright::interp

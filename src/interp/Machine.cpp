#include "Machine.h"

#include "tilewright/program/OpTraits.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::interp {

Machine::Machine(const Program &program, SymValues symbols, std::array<int64_t, 3> grid,
                 const InterpreterLimits &limits)
    : program_(program), symbols_(std::move(symbols)), grid_(grid), limits_(limits),
      origins_(pointerOrigins(program)) {}

Expected<void> Machine::prepare(std::span<const RuntimeArgument> arguments) {
  slots_.resize(program_.values.size());
  // Buffers are numbered in body-argument order, as pointerOrigins counts them.
  for (ValueId value : program_.body().arguments) {
    const Parameter *parameter = program_.parameterOf(value);
    if (!parameter)
      return fail(ErrorKind::Internal, "internal", "a body argument belongs to no parameter");
    TW_CHECK(bindArgument(*parameter, arguments));
  }
  TW_CHECK(evaluateShapes());
  for (const PathCondition &path : program_.pathConditions)
    if (tilewright::evaluate(path.condition, symbols_) == 0)
      return fail(
          ErrorKind::Refusal,
          makeDiagnostic(Severity::Error, "path.condition",
                         fmt::format("this program was lowered for configurations with {}", path.text),
                         path.location.valid() ? std::optional(path.location) : std::nullopt));
  for (const StaticRequirement &rule : program_.requirements)
    if (tilewright::evaluate(rule.condition, symbols_) == 0)
      return fail(ErrorKind::Refusal,
                  makeDiagnostic(Severity::Error, rule.code, rule.text,
                                 rule.location.valid() ? std::optional(rule.location) : std::nullopt));
  return {};
}

Expected<void> Machine::bindArgument(const Parameter &parameter, std::span<const RuntimeArgument> arguments) {
  const RuntimeArgument *given = nullptr;
  for (const RuntimeArgument &argument : arguments)
    if (argument.name == parameter.name)
      given = &argument;
  if (!given)
    return fail(ErrorKind::User, "arg.missing",
                fmt::format("the kernel argument {} was not given", parameter.name));
  Cell cell;
  if (parameter.kind == Parameter::Kind::Pointer) {
    memory_.add(*given);
    cell.i = memory_.buffers().back().begin;
  } else if (isFloat(parameter.type.dtype)) {
    cell.f = roundTo(parameter.type.dtype, given->number);
  } else {
    cell.i = wrap(parameter.type.dtype, given->integer);
    if (parameter.symbol.valid())
      symbols_.set(parameter.symbol.symbolId(), cell.i);
  }
  slots_[parameter.value] = {cell};
  return {};
}

Expected<void> Machine::evaluateShapes() {
  counts_.resize(program_.values.size(), 1);
  extents_.resize(program_.values.size());
  for (size_t id = 0; id < program_.values.size(); ++id) {
    const Value &value = program_.values[id];
    const auto where = [&]() -> std::optional<SourceRange> {
      const Op *op = program_.definingOp(static_cast<ValueId>(id));
      return op && op->location.valid() ? std::optional(op->location) : std::nullopt;
    };
    int64_t lanes = 1;
    for (SymInt extent : value.type.shape) {
      const auto known = tilewright::evaluate(extent, symbols_);
      if (!known || *known < 1 || __builtin_mul_overflow(lanes, *known, &lanes))
        return fail(
            ErrorKind::Refusal,
            makeDiagnostic(Severity::Error, "lower.shape",
                           fmt::format("the tile extent {} is {} for this configuration", toString(extent),
                                       known ? fmt::format("{}", *known) : "unknown"),
                           where()));
      extents_[id].push_back(*known);
    }
    if (static_cast<uint64_t>(lanes) > limits_.maxTileBytes / sizeof(Cell))
      return fail(
          ErrorKind::Refusal,
          makeDiagnostic(Severity::Error, "run.memory",
                         fmt::format("a tile of {} elements is more than the interpreter may hold ({} bytes)",
                                     lanes, limits_.maxTileBytes),
                         where()));
    if (value.type.kind == Type::Kind::Value || value.type.kind == Type::Kind::Pointer)
      counts_[id] = static_cast<size_t>(lanes);
  }
  return {};
}

Expected<void> Machine::runProgram(std::array<int64_t, 3> programId) {
  programId_ = programId;
  if (runRegion(0) == Flow::Failed)
    return Unexpected(*std::move(error_));
  return {};
}

Machine::Flow Machine::failed(const Op &op, ErrorKind kind, std::string code, std::string message) {
  auto diagnostic = makeDiagnostic(Severity::Error, std::move(code), std::move(message),
                                   op.location.valid() ? std::optional(op.location) : std::nullopt);
  diagnostic.note(fmt::format("in program ({}, {}, {}) of a grid of ({}, {}, {})", programId_[0],
                              programId_[1], programId_[2], grid_[0], grid_[1], grid_[2]));
  error_ = Error(kind, std::move(diagnostic));
  return Flow::Failed;
}

Machine::Flow Machine::unsupported(const Op &op, std::string_view what) {
  return failed(
      op, ErrorKind::Refusal, "compile.unsupported",
      fmt::format("the interpreter cannot execute {}{}{}", name(op.kind), what.empty() ? "" : " ", what));
}

Machine::Flow Machine::runRegion(RegionId region) {
  for (OpId id : program_.region(region).ops) {
    const Op &op = program_.op(id);
    if (op.kind == OpKind::Yield) {
      yielded_ = op.operands;
      return Flow::Next;
    }
    if (++executed_ > limits_.maxOps)
      return failed(op, ErrorKind::Refusal, "run.timeout",
                    fmt::format("stopped after {} operations", limits_.maxOps));
    if (const Flow flow = execute(op); flow != Flow::Next)
      return flow;
    for (ValueId value : op.results) {
      noteSymbol(value);
      if (limits_.checkSymbols && checkSymbol(op, value) == Flow::Failed)
        return Flow::Failed;
    }
  }
  return Flow::Next;
}

/// A value that introduces a symbol gives it its number, for shapes and constants that mention it. An
/// unsigned number of 64 bits may be too large for an expression: what mentions it says nothing then.
void Machine::noteSymbol(ValueId value) {
  const SymInt sym = program_.value(value).sym;
  if (!sym.valid() || !sym.isSymbol() || slots_[value].empty() || !isInteger(dtype(value)))
    return;
  symbols_.set(sym.symbolId(), slots_[value][0].i);
  if (dtype(value) == DType::UInt64) {
    if (slots_[value][0].i < 0)
      tooLarge_.insert(sym.symbolId());
    else
      tooLarge_.erase(sym.symbolId());
  }
}

Machine::Flow Machine::checkSymbol(const Op &op, ValueId value) {
  const SymInt sym = program_.value(value).sym;
  if (!sym.valid() || !isInteger(dtype(value)) || slots_[value].size() != 1)
    return Flow::Next;
  const auto unknown = [this](uint32_t symbol) { return tooLarge_.contains(symbol); };
  if (!tooLarge_.empty() && std::ranges::any_of(symbolsOf(sym), unknown))
    return Flow::Next;
  const auto expected = tilewright::evaluate(sym, symbols_);
  if (!expected || wrap(dtype(value), *expected) == slots_[value][0].i)
    return Flow::Next;
  return failed(op, ErrorKind::Internal, "internal",
                fmt::format("{} is {} but its expression {} says {}", program_.value(value).name,
                            slots_[value][0].i, toString(sym), *expected));
}

void Machine::assign(std::span<const ValueId> to, std::span<const ValueId> from) {
  if (to.size() == 1) {
    if (to[0] != from[0])
      slots_[to[0]] = slots_[from[0]];
  } else {
    scratch_.resize(std::max(scratch_.size(), to.size()));
    for (size_t i = 0; i < to.size(); ++i)
      scratch_[i] = slots_[from[i]];
    for (size_t i = 0; i < to.size(); ++i)
      slots_[to[i]].swap(scratch_[i]);
  }
  for (ValueId value : to)
    noteSymbol(value);
}

Machine::Flow Machine::runFor(const Op &op) {
  const int64_t lower = operand(op, 0)->i, upper = operand(op, 1)->i, step = operand(op, 2)->i;
  if (step == 0)
    return failed(op, ErrorKind::User, "lower.type", "the step of a range is zero");
  const Region &body = program_.region(op.regions[0]);
  const std::span<const ValueId> carried(body.arguments.data() + 1, body.arguments.size() - 1);
  assign(op.results, std::span(op.operands).subspan(3));
  assign(carried, op.results);
  const DType indexType = dtype(body.arguments[0]);
  for (int64_t index = lower;;) {
    if (step > 0 ? !lessInteger(indexType, index, upper) : !lessInteger(indexType, upper, index))
      break;
    Cell cell;
    cell.i = index;
    slots_[body.arguments[0]] = {cell};
    noteSymbol(body.arguments[0]);
    if (++executed_ > limits_.maxOps)
      return failed(op, ErrorKind::Refusal, "run.timeout",
                    fmt::format("stopped after {} operations", limits_.maxOps));
    if (const Flow flow = runRegion(op.regions[0]); flow != Flow::Next)
      return flow;
    assign(carried, yielded_);
    if (__builtin_add_overflow(index, step, &index))
      break;
  }
  assign(op.results, carried);
  return Flow::Next;
}

Machine::Flow Machine::runWhile(const Op &op) {
  const Region &before = program_.region(op.regions[0]), &body = program_.region(op.regions[1]);
  assign(before.arguments, op.operands);
  for (;;) {
    if (const Flow flow = runRegion(op.regions[0]); flow != Flow::Next)
      return flow;
    if (slots_[yielded_[0]][0].i == 0)
      break;
    assign(body.arguments, before.arguments);
    if (++executed_ > limits_.maxOps)
      return failed(op, ErrorKind::Refusal, "run.timeout",
                    fmt::format("stopped after {} operations", limits_.maxOps));
    if (const Flow flow = runRegion(op.regions[1]); flow != Flow::Next)
      return flow;
    assign(before.arguments, yielded_);
  }
  assign(op.results, before.arguments);
  return Flow::Next;
}

Machine::Flow Machine::runIf(const Op &op) {
  if (const Flow flow = runRegion(op.regions[operand(op, 0)->i != 0 ? 0 : 1]); flow != Flow::Next)
    return flow;
  assign(op.results, yielded_);
  return Flow::Next;
}

Machine::Flow Machine::execute(const Op &op) {
  if (traitsOf(op.kind).binary)
    return binary(op);
  switch (op.kind) {
  case OpKind::Constant:
    return constant(op);
  case OpKind::ProgramId:
    result(op)->i = programId_[static_cast<size_t>(op.attributes.integer("axis"))];
    return Flow::Next;
  case OpKind::ProgramCount:
    result(op)->i = grid_[static_cast<size_t>(op.attributes.integer("axis"))];
    return Flow::Next;
  case OpKind::Iota:
    return iota(op);
  case OpKind::Splat:
  case OpKind::Broadcast:
    return broadcast(op);
  case OpKind::ExpandDims:
  case OpKind::Reshape:
  case OpKind::Hint:
    return copy(op);
  case OpKind::Permute:
    return permute(op);
  case OpKind::Join:
    return join(op);
  case OpKind::Split:
    return split(op);
  case OpKind::Cat:
    return cat(op);
  case OpKind::Gather:
    return gather(op);
  case OpKind::Compare:
    return compare(op);
  case OpKind::Select:
    return select(op);
  case OpKind::Fma:
    return fma(op);
  case OpKind::Clamp:
    return clamp(op);
  case OpKind::Unary:
    return unary(op);
  case OpKind::Binary:
    return libraryCall(op, op.attributes.text("function"));
  case OpKind::ExternCall:
    return libraryCall(op, op.attributes.text("symbol"));
  case OpKind::Cast:
    return cast(op);
  case OpKind::Bitcast:
    return bitcast(op);
  case OpKind::AddPtr:
    return addPtr(op);
  case OpKind::Load:
    return load(op);
  case OpKind::Store:
    return store(op);
  case OpKind::MakeBlockPtr:
  case OpKind::MakeDescriptor:
    return makeBlockPtr(op);
  case OpKind::Advance:
    return advance(op);
  case OpKind::BlockLoad:
  case OpKind::BlockStore:
  case OpKind::DescriptorLoad:
  case OpKind::DescriptorStore:
    return blockAccess(op);
  case OpKind::AtomicRmw:
    return atomicRmw(op);
  case OpKind::AtomicCas:
    return atomicCas(op);
  case OpKind::Dot:
    return dot(op);
  case OpKind::Reduce:
    return reduce(op);
  case OpKind::Scan:
    return scan(op);
  case OpKind::Sort:
  case OpKind::TopK:
    return sort(op);
  case OpKind::Map:
    return map(op);
  case OpKind::ExtractSlice:
    return extractSlice(op);
  case OpKind::InsertSlice:
    return insertSlice(op);
  case OpKind::DotScaled:
    return dotScaled(op);
  case OpKind::DescriptorGather:
  case OpKind::DescriptorScatter:
    return rowAccess(op);
  case OpKind::DescriptorReduce:
    return descriptorReduce(op);
  case OpKind::AtomicPoll:
    return atomicPoll(op);
  case OpKind::Histogram:
    return histogram(op);
  case OpKind::For:
    return runFor(op);
  case OpKind::While:
    return runWhile(op);
  case OpKind::If:
    return runIf(op);
  case OpKind::Return:
    return Flow::Return;
  case OpKind::DeviceAssert:
    return deviceAssert(op);
  case OpKind::Assume:
  case OpKind::DevicePrint:
  case OpKind::Barrier:
    return Flow::Next;
  default: // a yield ends its region in runRegion; assembly is for the target that it is written for
    return unsupported(op);
  }
}

} // namespace tilewright::interp

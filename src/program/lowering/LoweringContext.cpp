#include "LoweringContext.h"

#include <fmt/format.h>

namespace tilewright::lowering {

void LoweringContext::fail(const SourceRange &range, std::string code, std::string message, SymInt needed,
                           std::string help) {
  const bool refusal = code == "lower.unsupported" || code == "lower.limit" || code == "static_assert" ||
                       code == "lower.raise";
  Diagnostic diagnostic = makeDiagnostic(Severity::Error, std::move(code), std::move(message),
                                         range.valid() ? std::optional(range) : std::nullopt);
  for (auto call = calls.rbegin(); call != calls.rend(); ++call)
    diagnostic.note(fmt::format("in helper {} called at line {}", call->name, call->location.line()),
                    call->location);
  if (!help.empty())
    diagnostic.help(std::move(help));
  throw LoweringFailure{Error(refusal ? ErrorKind::Refusal : ErrorKind::User, std::move(diagnostic)), needed};
}

void LoweringContext::traceOrigins(std::vector<ValueId> work, LoweringFailure::Names &origins) const {
  // Back through the operations that made the values, to the parameters behind their loads.
  std::set<ValueId> seen;
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    if (id == kNone || !seen.insert(id).second)
      continue;
    if (const Parameter *parameter = program.parameterOf(id))
      origins.insert(parameter->name);
    const Op *op = program.definingOp(id);
    const RegionId owner = program.values[id].owner;
    if (!op && owner != kNone && program.regions[owner].parent != kNone)
      op = &program.ops[program.regions[owner].parent]; // a carried value: what it started from
    if (!op)
      continue;
    const bool address = op->kind == OpKind::Load || (op->kind == OpKind::AddPtr);
    work.insert(work.end(), op->operands.begin(),
                address && !op->operands.empty() ? op->operands.begin() + 1 : op->operands.end());
    for (const RegionId region : op->regions) // an `if`: what its branches yield
      if (!program.regions[region].ops.empty())
        if (const Op &last = program.ops[program.regions[region].ops.back()]; last.kind == OpKind::Yield)
          work.insert(work.end(), last.operands.begin(), last.operands.end());
  }
}

void LoweringContext::traceOrigins(SymInt sym, LoweringFailure::Names &origins) const {
  if (!sym.valid() || sym.isConstant())
    return;
  for (const uint32_t symbol : symbolsOf(sym))
    for (const Parameter &parameter : program.parameters)
      if (parameter.symbol.valid() && parameter.symbol.symbolId() == symbol)
        origins.insert(parameter.name);
}

void LoweringContext::failLoaded(const SourceRange &range, std::string message,
                                 const std::vector<ValueId> &values) {
  try {
    failType(range, std::move(message));
  } catch (LoweringFailure &failure) {
    traceOrigins(values, failure.suspects);
    failure.wantsIntegers = true;
    throw;
  }
}

void LoweringContext::unsupported(const SourceRange &range, std::string message, std::string help) {
  fail(range, "lower.unsupported", std::move(message), {}, std::move(help));
}

int64_t LoweringContext::valueOf(SymInt sym, const SourceRange &range) {
  if (const auto constant = sym.constant())
    return *constant;
  const auto value = evaluate(sym, witness);
  if (!value)
    fail(range, "lower.type",
         fmt::format("'{}' has no value here (division by zero, or too large)", toString(sym)));
  return *value;
}

bool LoweringContext::decide(SymInt condition, bool answer, const SourceRange &range) {
  if (condition.isConstant())
    return condition.constant() != 0;
  const SymInt held = answer ? condition : syms.logicalNot(condition);
  if (!held.isConstant() && decided_.insert(held.node()).second)
    program.pathConditions.push_back({held, std::string(range.text()), range});
  return answer;
}

bool LoweringContext::truth(const FrontValue &value, const SourceRange &range) {
  switch (value.kind) {
  case FrontKind::None:
    return false;
  case FrontKind::Bool:
    return decide(value.sym, value.witness != 0, range);
  case FrontKind::Int:
    return value.wide ||
           decide(syms.logicalNot(syms.eq(value.sym, syms.constant(0))), value.witness != 0, range);
  case FrontKind::Float:
    return value.number != 0;
  case FrontKind::String:
    return !value.text.empty();
  case FrontKind::Tuple:
    return !value.items->empty();
  default:
    return true;
  }
}

int64_t LoweringContext::concrete(const FrontValue &value, const SourceRange &range) {
  if (value.wide)
    failType(range, "this integer does not fit 64 bits");
  if (!value.sym.isConstant())
    decide(syms.eq(value.sym, syms.constant(value.witness)), true, range);
  return value.witness;
}

void LoweringContext::require(SymInt condition, std::string_view code, const std::string &text,
                              const SourceRange &range, const std::string &failure) {
  if (required_.count(condition.node()))
    return;
  if (valueOf(condition, range) == 0)
    fail(range, std::string(code), failure, condition.isConstant() ? SymInt() : condition);
  if (!condition.isConstant() && required_.insert(condition.node()).second)
    program.requirements.push_back({condition, std::string(code), text, range});
}

OpId LoweringContext::createOp(OpKind kind, std::vector<ValueId> operands, std::vector<Type> results,
                               Attributes attributes) {
  if (program.ops.size() >= options.maxOps)
    fail(here, "lower.limit", fmt::format("the kernel grows past {} operations", options.maxOps), {},
         "a static_range that unrolls too far is the usual cause");
  return builder.create(kind, std::move(operands), std::move(results), std::move(attributes), here);
}

ValueId LoweringContext::create(OpKind kind, std::vector<ValueId> operands, Type result,
                                Attributes attributes) {
  std::vector<Type> results;
  results.push_back(std::move(result));
  return builder.result(createOp(kind, std::move(operands), std::move(results), std::move(attributes)));
}

void LoweringContext::nameValue(ValueId value, std::string_view name) {
  if (auto &slot = program.values[value].name; slot.empty())
    slot = std::string(name);
}

void LoweringContext::setSym(ValueId value, SymInt sym, std::string_view opaqueName) {
  Value &v = program.values[value];
  if (!v.type.isScalar() || v.type.kind != Type::Kind::Value || !isInteger(v.type.dtype))
    return;
  // Expressions that outgrow any use are cut: nobody can reason about them, and their text would never end.
  constexpr uint32_t kMaxWeight = 256;
  if (sym.valid() && sym.weight() <= kMaxWeight) {
    v.sym = sym;
    return;
  }
  const SymRange range = v.type.dtype == DType::Int1 ? SymRange{0, 1} : SymRange{};
  v.sym = syms.newSymbol(SymbolKind::Opaque, std::string(opaqueName), range);
}

SymInt LoweringContext::programSymbol(SymbolKind kind, uint32_t axis, std::string_view name, int64_t min) {
  SymInt &symbol = programSymbols_[{kind, axis}];
  if (!symbol.valid())
    symbol = syms.newSymbol(kind, fmt::format("{}{}", name, axis), {min, INT32_MAX});
  return symbol;
}

void LoweringContext::remark(std::string code, std::string message, const SourceRange &range) {
  program.remarks.push_back(makeDiagnostic(Severity::Remark, std::move(code), std::move(message), range));
}

LoweringContext::Mark LoweringContext::mark() const {
  return {program.values.size(),
          program.ops.size(),
          program.regions.size(),
          program.pathConditions.size(),
          program.requirements.size(),
          program.remarks.size(),
          unrolled};
}

void LoweringContext::rollback(const Mark &mark) {
  if (program.requirements.size() > mark.requirements) { // what was recorded is taken back
    checkedShapes.clear();
    sameExtents.clear();
  }
  for (size_t i = mark.paths; i < program.pathConditions.size(); ++i)
    decided_.erase(program.pathConditions[i].condition.node());
  for (size_t i = mark.requirements; i < program.requirements.size(); ++i)
    required_.erase(program.requirements[i].condition.node());
  program.values.resize(mark.values);
  program.ops.resize(mark.ops);
  program.regions.resize(mark.regions);
  program.pathConditions.resize(mark.paths);
  program.requirements.resize(mark.requirements);
  program.remarks.resize(mark.remarks);
  unrolled = mark.unrolled;
}

} // namespace tilewright::lowering

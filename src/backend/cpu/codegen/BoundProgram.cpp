#include "BoundProgram.h"

#include <fmt/format.h>

namespace tilewright::cpu {

bool isElementwise(OpKind kind) { return kind >= OpKind::Add && kind <= OpKind::AddPtr; }

bool isPure(OpKind kind) {
  return kind <= OpKind::AddPtr ||
         kind == OpKind::Hint; // Ops.def lists sources, shape and elementwise ops first
}

bool hasEffect(OpKind kind) {
  switch (kind) {
  case OpKind::Store:
  case OpKind::BlockStore:
  case OpKind::DescriptorStore:
  case OpKind::DescriptorScatter:
  case OpKind::DescriptorReduce:
  case OpKind::AtomicRmw:
  case OpKind::AtomicCas:
  case OpKind::AtomicPoll:
  case OpKind::Return:
  case OpKind::DeviceAssert:
  case OpKind::DevicePrint:
  case OpKind::InlineAsm:
  case OpKind::ExternCall:
    return true;
  default:
    return false;
  }
}

Expected<BoundProgram> BoundProgram::create(const Program &program, const Config &config) {
  BoundProgram bound;
  bound.program_ = &program;
  TW_TRY(bound.bindings_, program.bind(config));
  bound.shapes_.resize(program.values.size());
  for (ValueId id = 0; id < program.values.size(); ++id) {
    const Value &value = program.values[id];
    for (const SymInt size : value.type.shape) {
      const auto number = bound.evaluate(size);
      if (!number || *number < 0) {
        Error error(ErrorKind::Refusal, "compile.unsupported",
                    fmt::format("the tile size {} has no value for this configuration", toString(size)));
        if (value.definingOp != kNone && program.op(value.definingOp).location.valid())
          error = Error(ErrorKind::Refusal, makeDiagnostic(Severity::Error, error.code, error.message,
                                                           program.op(value.definingOp).location));
        return Unexpected(std::move(error));
      }
      bound.shapes_[id].push_back(*number);
    }
  }
  bound.canonical_.resize(program.values.size());
  for (ValueId id = 0; id < program.values.size(); ++id)
    bound.canonical_[id] = id;
  bound.positions_.resize(program.ops.size());
  bound.regionOf_.resize(program.ops.size(), kNone);
  uint32_t next = 0;
  bound.number(0, next);
  bound.merge(0, {});
  bound.markLive();
  bound.collectUsers();
  return bound;
}

std::optional<int64_t> BoundProgram::evaluate(SymInt expression) const {
  if (!expression.valid())
    return std::nullopt;
  return tilewright::evaluate(expression, bindings_);
}

const Op *BoundProgram::definition(ValueId id) const { return program_->definingOp(canonical_[id]); }

std::optional<int64_t> BoundProgram::constantOf(ValueId id) const {
  const Value &entry = value(id);
  if (entry.type.isPointer() || !isInteger(entry.type.dtype))
    return std::nullopt;
  if (!isTile(id)) {
    if (const auto number = evaluate(entry.sym))
      return number;
  }
  const Op *op = definition(id);
  if (!op)
    return std::nullopt;
  switch (op->kind) {
  case OpKind::Constant: {
    const Attribute *attribute = op->attributes.find("value");
    if (!attribute)
      return std::nullopt;
    if (const auto *sym = std::get_if<SymInt>(attribute))
      return evaluate(*sym);
    if (const auto *number = std::get_if<int64_t>(attribute))
      return *number;
    if (const auto *boolean = std::get_if<bool>(attribute))
      return *boolean;
    return std::nullopt;
  }
  case OpKind::Splat:
  case OpKind::Broadcast:
  case OpKind::ExpandDims:
  case OpKind::Reshape:
  case OpKind::Hint:
    return constantOf(op->operands[0]);
  case OpKind::Cast: {
    const Type &from = value(op->operands[0]).type;
    if (!isInteger(from.dtype) || bitWidth(from.dtype) > bitWidth(entry.type.dtype) ||
        from.dtype == DType::Int1)
      return std::nullopt;
    return constantOf(op->operands[0]);
  }
  default:
    return std::nullopt;
  }
}

std::optional<double> BoundProgram::floatConstantOf(ValueId id) const {
  const Op *op = definition(id);
  if (!op)
    return std::nullopt;
  switch (op->kind) {
  case OpKind::Constant: {
    const Attribute *attribute = op->attributes.find("value");
    if (attribute)
      if (const auto *number = std::get_if<double>(attribute))
        return *number;
    if (const auto integer = isInteger(value(id).type.dtype) ? constantOf(id) : std::nullopt)
      return static_cast<double>(*integer);
    return std::nullopt;
  }
  case OpKind::Splat:
  case OpKind::Broadcast:
  case OpKind::ExpandDims:
  case OpKind::Reshape:
  case OpKind::Cast:
  case OpKind::Hint:
    return floatConstantOf(op->operands[0]);
  default:
    return std::nullopt;
  }
}

llvm::SmallVector<OpId> BoundProgram::parentsOf(RegionId region) const {
  llvm::SmallVector<OpId> parents;
  while (region != kNone && program_->regions[region].parent != kNone) {
    const OpId parent = program_->regions[region].parent;
    parents.push_back(parent);
    region = regionOf_[parent];
  }
  return parents;
}

void BoundProgram::number(RegionId region, uint32_t &next) {
  for (const OpId id : program_->region(region).ops) {
    positions_[id] = next++;
    regionOf_[id] = region;
    for (const RegionId inner : op(id).regions)
      number(inner, next);
  }
}

namespace {

std::string attributeKey(const Attribute &attribute) {
  struct Writer {
    std::string operator()(bool value) const { return value ? "t" : "f"; }
    std::string operator()(int64_t value) const { return fmt::format("i{}", value); }
    std::string operator()(double value) const { return fmt::format("d{:a}", value); }
    std::string operator()(const std::string &value) const { return "s" + value; }
    std::string operator()(SymInt value) const {
      return fmt::format("y{}", value.valid() ? value.node()->id : kNone);
    }
    std::string operator()(DType value) const { return fmt::format("t{}", static_cast<int>(value)); }
    std::string operator()(const std::vector<int64_t> &value) const {
      return fmt::format("v{}", fmt::join(value, ","));
    }
    std::string operator()(const std::vector<SymInt> &value) const {
      std::string text = "w";
      for (const SymInt sym : value)
        text += (*this)(sym) + ",";
      return text;
    }
  };
  return std::visit(Writer{}, attribute);
}

} // namespace

/// Scoped value numbering: a key is visible in its region and the regions inside it.
void BoundProgram::merge(RegionId region, std::map<std::string, ValueId> visible) {
  for (const OpId id : program_->region(region).ops) {
    const Op &current = op(id);
    if (isPure(current.kind) && current.results.size() == 1) {
      const Type &type = value(current.results[0]).type;
      std::string key = fmt::format("{}/{}.{}", static_cast<int>(current.kind), static_cast<int>(type.kind),
                                    static_cast<int>(type.dtype));
      for (const int64_t size : shape(current.results[0]))
        key += fmt::format("x{}", size);
      for (const ValueId operand : current.operands)
        key += fmt::format(" {}", canonical_[operand]);
      for (const auto &[name, attribute] : current.attributes.values())
        key += fmt::format(" {}={}", name, attributeKey(attribute));
      if (current.kind == OpKind::Hint)
        canonical_[current.results[0]] = canonical_[current.operands[0]];
      else
        canonical_[current.results[0]] =
            visible.try_emplace(std::move(key), current.results[0]).first->second;
    }
    for (const RegionId inner : current.regions)
      merge(inner, visible);
  }
}

void BoundProgram::markLive() {
  live_.assign(program_->ops.size(), false);
  llvm::SmallVector<OpId> work;
  const auto need = [&](OpId id) {
    if (id != kNone && !live_[id]) {
      live_[id] = true;
      work.push_back(id);
    }
  };
  for (OpId id = 0; id < program_->ops.size(); ++id)
    if (regionOf_[id] != kNone && hasEffect(op(id).kind))
      need(id);
  while (!work.empty()) {
    const OpId id = work.pop_back_val();
    for (const ValueId operand : op(id).operands) {
      const Value &entry = value(canonical_[operand]);
      if (entry.definingOp != kNone)
        need(entry.definingOp);
      else if (entry.owner != kNone)
        need(program_->region(entry.owner).parent);
    }
    for (const OpId parent : parentsOf(regionOf_[id]))
      need(parent);
    for (const RegionId region : op(id).regions)
      for (const OpId inner : program_->region(region).ops)
        if (op(inner).kind == OpKind::Yield)
          need(inner);
  }
}

void BoundProgram::collectUsers() {
  users_.resize(program_->values.size());
  for (OpId id = 0; id < program_->ops.size(); ++id) {
    if (regionOf_[id] == kNone || !live_[id])
      continue;
    for (const ValueId operand : op(id).operands) {
      auto &list = users_[canonical_[operand]];
      if (list.empty() || list.back() != id)
        list.push_back(id);
    }
  }
}

} // namespace tilewright::cpu

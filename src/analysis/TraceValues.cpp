#include "Tracer.h"

#include "tilewright/program/OpTraits.h"

#include <numeric>

namespace tilewright::analysis {

void Tracer::visit(OpId id) {
  const Op &op = program_.op(id);
  switch (op.kind) {
  case OpKind::Constant:
  case OpKind::ProgramId:
  case OpKind::ProgramCount:
  case OpKind::Iota:
    return visitSource(id);
  case OpKind::Splat:
  case OpKind::ExpandDims:
  case OpKind::Broadcast:
  case OpKind::Permute:
    return visitShape(id);
  case OpKind::Reshape:
    return visitReshape(id);
  case OpKind::Compare:
  case OpKind::Select:
    return visitArithmetic(id);
  case OpKind::Unary:
  case OpKind::Cast:
  case OpKind::Bitcast:
  case OpKind::Hint:
    return visitUnary(id);
  case OpKind::AddPtr:
    return visitAddPtr(id);
  case OpKind::Load:
  case OpKind::Store:
  case OpKind::AtomicRmw:
  case OpKind::AtomicCas:
  case OpKind::AtomicPoll:
    return visitPointerAccess(id);
  case OpKind::MakeBlockPtr:
  case OpKind::MakeDescriptor:
    return visitMakeBlock(id);
  case OpKind::Advance:
    return visitAdvance(id);
  case OpKind::BlockLoad:
  case OpKind::BlockStore:
  case OpKind::DescriptorLoad:
  case OpKind::DescriptorStore:
  case OpKind::DescriptorReduce:
    return visitBlockAccess(id);
  case OpKind::DescriptorGather:
  case OpKind::DescriptorScatter:
    return visitRowAccess(id);
  case OpKind::For:
    return visitFor(id);
  case OpKind::While:
    return visitWhile(id);
  case OpKind::If:
    return visitIf(id);
  default:
    return traitsOf(op.kind).uniform ? visitArithmetic(id) : setResultsOpaque(id);
  }
}

void Tracer::visitSource(OpId id) {
  const Op &op = program_.op(id);
  const ValueId result = op.results[0];
  const Type &type = program_.value(result).type;
  const SymInt known = program_.value(result).sym;
  switch (op.kind) {
  case OpKind::Constant:
    if (!isInteger(type.dtype))
      return;
    if (const SymInt value = op.attributes.sym("value");
        value.valid() && type.dtype == DType::UInt64 && value.constant().value_or(0) < 0)
      setOpaque(result, id); // bits past int64
    else if (value.valid())
      setInteger(result, value);
    else
      setInteger(result, constant(op.attributes.integerOr("value", 0)));
    return;
  case OpKind::ProgramId:
    return setInteger(result,
                      indices_.programId(static_cast<uint32_t>(op.attributes.integerOr("axis", 0)), known));
  case OpKind::ProgramCount:
    return setInteger(
        result, indices_.programCount(static_cast<uint32_t>(op.attributes.integerOr("axis", 0)), known));
  default: { // Iota
    SymInt start = op.attributes.sym("start");
    if (!start.valid())
      start = constant(op.attributes.integerOr("start", 0));
    if (type.shape.empty())
      return setInteger(result, start);
    return setInteger(result, context_.add(start, indices_.lane(0, type.shape[0])));
  }
  }
}

/// Integers and pointers change shape alike: lanes move to other axes.
void Tracer::visitShape(OpId id) {
  const Op &op = program_.op(id);
  const ValueId result = op.results[0];
  at(result) = at(op.operands[0]);
  IndexValue &value = at(result);
  if (!value.known() || !value.expr.valid())
    return;
  const size_t rank = program_.value(op.operands[0]).type.shape.size();
  std::vector<uint32_t> newAxis(rank);
  std::iota(newAxis.begin(), newAxis.end(), 0u);
  if (op.kind == OpKind::ExpandDims) {
    int64_t axis = op.attributes.integerOr("axis", 0);
    if (axis < 0)
      axis += static_cast<int64_t>(rank) + 1;
    for (uint32_t &d : newAxis)
      if (d >= axis)
        ++d;
  } else if (op.kind == OpKind::Permute) {
    const auto &order = op.attributes.integers("order");
    for (size_t i = 0; i < order.size() && i < rank; ++i)
      if (order[i] >= 0 && static_cast<size_t>(order[i]) < rank)
        newAxis[static_cast<size_t>(order[i])] = static_cast<uint32_t>(i);
  }
  value.expr = indices_.moveLanes(value.expr, newAxis);
}

/// Row-major reshape: the operand's lanes are digits of the result's linear position.
void Tracer::visitReshape(OpId id) {
  const Op &op = program_.op(id);
  const ValueId result = op.results[0];
  const IndexValue source = at(op.operands[0]);
  if (!source.known() || !source.expr.valid())
    return;
  const auto &from = program_.value(op.operands[0]).type.shape;
  const auto &to = program_.value(result).type.shape;
  if (indices_.mentionsUnknown(source.expr) && indices_.laneAxesOf(source.expr) != 0)
    return setOpaque(result, id);

  std::unordered_map<uint32_t, SymInt> replacements;
  std::vector<size_t> fromAxes, toAxes; // axes that hold more than one element
  for (size_t d = 0; d < from.size(); ++d)
    if (!from[d].isConstant(1))
      fromAxes.push_back(d);
  for (size_t d = 0; d < to.size(); ++d)
    if (!to[d].isConstant(1))
      toAxes.push_back(d);
  bool onlyUnitAxes = fromAxes.size() == toAxes.size();
  for (size_t i = 0; onlyUnitAxes && i < fromAxes.size(); ++i)
    onlyUnitAxes = from[fromAxes[i]] == to[toAxes[i]];
  SymInt linear = constant(0);
  for (size_t d : toAxes)
    linear = context_.add(context_.mul(linear, to[d]), indices_.lane(static_cast<uint32_t>(d), to[d]));
  SymInt stride = constant(1);
  for (size_t i = fromAxes.size(); i-- > 0;) {
    const size_t d = fromAxes[i];
    const SymInt lane = indices_.lane(static_cast<uint32_t>(d), from[d]);
    if (onlyUnitAxes)
      replacements[lane.symbolId()] = indices_.lane(static_cast<uint32_t>(toAxes[i]), to[toAxes[i]]);
    else {
      SymInt digit = context_.floorDiv(linear, stride);
      if (i != 0)
        digit = context_.mod(digit, from[d]);
      replacements[lane.symbolId()] = digit;
    }
    stride = context_.mul(stride, from[d]);
  }
  at(result) = source;
  at(result).expr = indices_.substitute(source.expr, replacements);
}

SymInt Tracer::binary(const Op &op, SymInt a, SymInt b) {
  const bool isBoolean = program_.value(op.results[0]).type.dtype == DType::Int1;
  switch (op.kind) {
  case OpKind::Add:
    return context_.add(a, b);
  case OpKind::Sub:
    return context_.sub(a, b);
  case OpKind::Mul:
    // A product of masks is their conjunction.
    if (a.range() == SymRange{0, 1} && b.range() == SymRange{0, 1})
      return context_.logicalAnd(a, b);
    return context_.mul(a, b);
  case OpKind::Div: // sizes and positions are not negative, where truncation and floor agree
    return b.isConstant(0) ? SymInt() : context_.floorDiv(a, b);
  case OpKind::Rem:
    return b.isConstant(0) ? SymInt() : context_.mod(a, b);
  case OpKind::And:
    return isBoolean ? context_.logicalAnd(a, b) : context_.bit(SymOp::BitAnd, a, b);
  case OpKind::Or:
    return isBoolean ? context_.logicalOr(a, b) : context_.bit(SymOp::BitOr, a, b);
  case OpKind::Xor:
    if (isBoolean && b.isConstant(1))
      return context_.logicalNot(a);
    return context_.bit(SymOp::Xor, a, b);
  case OpKind::Shl:
    return context_.bit(SymOp::Shl, a, b);
  case OpKind::Shr:
    return context_.bit(SymOp::Shr, a, b);
  case OpKind::Min:
    return context_.min(a, b);
  case OpKind::Max:
    return context_.max(a, b);
  case OpKind::Compare: {
    const std::string predicate = op.attributes.text("predicate");
    if (predicate == "lt")
      return context_.lt(a, b);
    if (predicate == "le")
      return context_.le(a, b);
    if (predicate == "gt")
      return context_.lt(b, a);
    if (predicate == "ge")
      return context_.le(b, a);
    const SymInt equal = context_.eq(a, b);
    return predicate == "ne" ? context_.logicalNot(equal) : equal;
  }
  default:
    return {};
  }
}

void Tracer::visitArithmetic(OpId id) {
  const Op &op = program_.op(id);
  const ValueId result = op.results[0];
  if (op.kind == OpKind::Select) {
    const IndexValue &a = at(op.operands[1]), &b = at(op.operands[2]);
    if (a.known() && a.kind == b.kind)
      at(result) = merge(id, integer(op.operands[0]), a, b, program_.value(result).type);
    else
      setOpaque(result, id);
    return;
  }
  std::vector<SymInt> operands;
  for (ValueId operand : op.operands) {
    if (at(operand).kind != IndexValue::Kind::Integer)
      return setOpaque(result, id);
    operands.push_back(at(operand).expr);
  }
  // Arithmetic on data of one tile stays data: its value does not help addressing.
  SymInt expr;
  if (op.kind == OpKind::Fma)
    expr = context_.add(context_.mul(operands[0], operands[1]), operands[2]);
  else if (op.kind == OpKind::Clamp)
    expr = context_.min(context_.max(operands[0], operands[1]), operands[2]);
  else
    expr = binary(op, operands[0], operands[1]);
  if (expr.valid())
    setInteger(result, expr);
  else
    setOpaque(result, id);
}

void Tracer::visitUnary(OpId id) {
  const Op &op = program_.op(id);
  const ValueId result = op.results[0];
  const Type &type = program_.value(result).type;
  const IndexValue source = at(op.operands[0]);
  const Type &sourceType = program_.value(op.operands[0]).type;
  if (!source.known())
    return setOpaque(result, id);

  if (source.kind != IndexValue::Kind::Integer) { // pointers
    at(result) = source;
    if (op.kind == OpKind::Bitcast && type.isPointer() && byteSize(type.dtype) != byteSize(sourceType.dtype))
      at(result).expr = context_.floorDiv(context_.mul(source.expr, constant(byteSize(sourceType.dtype))),
                                          constant(std::max(1u, byteSize(type.dtype))));
    else if (!type.isPointer())
      setOpaque(result, id); // a pointer as an integer
    return;
  }
  if (type.isPointer()) { // an integer, usually a loaded one, as a pointer
    at(result).kind = IndexValue::Kind::Pointer;
    at(result).expr = constant(0);
    at(result).buffers.clear();
    return;
  }
  if (!isInteger(type.dtype))
    return; // a float
  SymInt expr = source.expr;
  if (op.kind == OpKind::Unary) {
    const std::string function = op.attributes.text("function");
    if (function == "neg")
      expr = context_.neg(expr);
    else if (function == "not")
      expr = type.dtype == DType::Int1 ? context_.logicalNot(expr) : context_.sub(constant(-1), expr);
    else if (function == "abs")
      expr = context_.max(expr, context_.neg(expr));
    else
      return setOpaque(result, id);
  } else if (op.kind == OpKind::Cast && type.dtype == DType::Int1 && sourceType.dtype != DType::Int1)
    expr = context_.logicalNot(context_.eq(expr, constant(0)));
  setInteger(result, expr);
}

} // namespace tilewright::analysis

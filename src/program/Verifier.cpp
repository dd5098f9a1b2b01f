#include "tilewright/program/OpTraits.h"
#include "tilewright/program/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

struct OpShape {
  int operands; ///< -1: any number
  int results;
};
constexpr OpShape kOpShapes[] = {
#define OP(name, text, operands, results, traits) {operands, results},
#include "tilewright/program/Ops.def"
};

class Verifier {
public:
  explicit Verifier(const Program &program) : program_(program), visible_(program.values.size(), false) {}

  Expected<void> operator()() {
    if (!program_.symbols)
      return problem("the program has no symbol context");
    if (program_.regions.empty() || program_.body().parent != kNone)
      return problem("region 0 must be the body");
    for (const Parameter &p : program_.parameters)
      TW_CHECK(parameter(p));
    for (const PathCondition &path : program_.pathConditions)
      if (!path.condition.valid())
        return problem("a path condition without expression");
    for (const StaticRequirement &rule : program_.requirements)
      if (!rule.condition.valid() || rule.code.empty())
        return problem("a requirement without expression or code");
    for (const Value &value : program_.values)
      for (SymInt extent : value.type.shape)
        if (!extent.valid())
          return problem(fmt::format("value '{}' has an axis without extent", value.name));
    return region(0, nullptr, {});
  }

private:
  Unexpected problem(const std::string &what) const {
    if (!op_)
      return fail(ErrorKind::Internal, "internal",
                  fmt::format("malformed program of {}: {}", program_.kernel, what));
    std::string operands;
    for (ValueId operand : op_->operands)
      operands +=
          (operands.empty() ? "" : ", ") + (operand < program_.values.size() ? toString(type(operand)) : "?");
    return fail(ErrorKind::Internal,
                makeDiagnostic(Severity::Error, "internal",
                               fmt::format("malformed program of {}: '{}' ({}): {}", program_.kernel,
                                           name(op_->kind), operands, what),
                               op_->location.valid() ? std::optional(op_->location) : std::nullopt));
  }

  const Type &type(ValueId id) const { return program_.value(id).type; }
  const Type &operandType(size_t i) const { return type(op_->operands[i]); }
  const Type &resultType(size_t i = 0) const { return type(op_->results[i]); }

  Expected<void> parameter(const Parameter &p) {
    const bool isRuntime = p.kind == Parameter::Kind::Pointer || p.kind == Parameter::Kind::Scalar;
    const auto &arguments = program_.body().arguments;
    if (isRuntime && std::find(arguments.begin(), arguments.end(), p.value) == arguments.end())
      return problem(fmt::format("parameter {} is not an argument of the body", p.name));
    if (isRuntime && type(p.value) != p.type)
      return problem(fmt::format("parameter {} has another type than its value", p.name));
    if (p.kind == Parameter::Kind::Pointer && !p.type.isPointer())
      return problem(fmt::format("parameter {} must be a pointer", p.name));
    if (p.kind == Parameter::Kind::Open && (!p.symbol.valid() || !p.symbol.isSymbol()))
      return problem(fmt::format("open parameter {} has no symbol", p.name));
    return {};
  }

  /// `yields`: the types that the region must yield; null for the body, which yields nothing.
  Expected<void> region(RegionId id, const std::vector<Type> *yields, std::vector<Type> arguments) {
    const Op *const holder = op_;
    const Region &region = program_.region(id);
    if (yields) {
      if (region.arguments.size() != arguments.size())
        return problem(fmt::format("a region has {} arguments instead of {}", region.arguments.size(),
                                   arguments.size()));
      for (size_t i = 0; i < arguments.size(); ++i)
        if (type(region.arguments[i]) != arguments[i])
          return problem(fmt::format("region argument {} is {} instead of {}", i,
                                     toString(type(region.arguments[i])), toString(arguments[i])));
      const OpKind last = region.ops.empty() ? OpKind::Hint : program_.op(region.ops.back()).kind;
      const bool mayReturn = holder && holder->kind == OpKind::If;
      if (last != OpKind::Yield && !(mayReturn && last == OpKind::Return))
        return problem("a region must end in a yield");
    }
    std::vector<ValueId> defined;
    const auto define = [&](ValueId value) {
      visible_[value] = true;
      defined.push_back(value);
    };
    for (size_t i = 0; i < region.arguments.size(); ++i) {
      const Value &value = program_.value(region.arguments[i]);
      if (value.owner != id || value.index != i)
        return problem("a region argument does not know its region");
      define(region.arguments[i]);
    }
    for (size_t i = 0; i < region.ops.size(); ++i) {
      if (region.ops[i] >= program_.ops.size())
        return problem("a region lists an operation that does not exist");
      op_ = &program_.op(region.ops[i]);
      if (op_->kind == OpKind::Yield && i + 1 != region.ops.size())
        return problem("a yield must be the last operation of its region");
      TW_CHECK(operation(region.ops[i]));
      if (op_->kind == OpKind::Yield)
        TW_CHECK(yield(yields));
      for (size_t k = 0; k < op_->results.size(); ++k) {
        const Value &value = program_.value(op_->results[k]);
        if (value.definingOp != region.ops[i] || value.index != k)
          return problem("a result does not know its operation");
        define(op_->results[k]);
      }
    }
    op_ = holder;
    for (ValueId value : defined)
      visible_[value] = false;
    return {};
  }

  Expected<void> yield(const std::vector<Type> *wanted) {
    if (!wanted)
      return problem("the body yields nothing");
    if (op_->operands.size() != wanted->size())
      return problem(
          fmt::format("{} values are yielded instead of {}", op_->operands.size(), wanted->size()));
    for (size_t i = 0; i < wanted->size(); ++i)
      if (operandType(i) != (*wanted)[i])
        return problem(fmt::format("value {} is yielded as {} instead of {}", i, toString(operandType(i)),
                                   toString((*wanted)[i])));
    return {};
  }

  Expected<void> operation(OpId id) {
    const OpShape shape = kOpShapes[static_cast<size_t>(op_->kind)];
    if (shape.operands >= 0 && op_->operands.size() != static_cast<size_t>(shape.operands))
      return problem(fmt::format("takes {} operands", shape.operands));
    if (shape.results >= 0 && op_->results.size() != static_cast<size_t>(shape.results))
      return problem(fmt::format("has {} results", shape.results));
    for (ValueId operand : op_->operands)
      if (operand >= program_.values.size() || !visible_[operand])
        return problem(fmt::format("operand '{}' is not defined before its use",
                                   operand < program_.values.size() ? program_.value(operand).name : "?"));
    for (RegionId region : op_->regions)
      if (region >= program_.regions.size() || program_.region(region).parent != id)
        return problem("a region does not know its operation");
    TW_CHECK(attributesAndTypes());
    return regions();
  }

  Expected<void> need(std::initializer_list<std::string_view> names) {
    for (std::string_view name : names)
      if (!op_->attributes.has(name))
        return problem(fmt::format("the attribute '{}' is missing", name));
    return {};
  }
  Expected<void> check(bool holds, std::string_view what) {
    if (holds)
      return {};
    return problem(std::string(what));
  }
  Expected<void> sameShapes() {
    const auto &shape = op_->operands.empty() ? resultType().shape : operandType(0).shape;
    for (ValueId operand : op_->operands)
      TW_CHECK(check(type(operand).shape == shape, "the shapes of all operands must be equal"));
    for (ValueId result : op_->results)
      TW_CHECK(check(type(result).shape == shape, "the result has another shape than the operands"));
    return {};
  }
  Expected<void> axisWithin(size_t rank) {
    TW_CHECK(need({"axis"}));
    const int64_t axis = op_->attributes.integer("axis");
    return check(axis >= 0 && static_cast<uint64_t>(axis) < rank, "the axis is out of range");
  }
  static bool isTruth(const Type &t) { return t.kind == Type::Kind::Value && t.dtype == DType::Int1; }

  bool isIntegerScalar(size_t i) const {
    const Type &t = operandType(i);
    return t.isScalar() && t.kind == Type::Kind::Value && isInteger(t.dtype);
  }
  bool isRowDescriptor(size_t i) const {
    const Type &t = operandType(i);
    return t.kind == Type::Kind::Descriptor && t.rank() == 2;
  }
  bool isRows(size_t i) const {
    const Type &t = operandType(i);
    return t.kind == Type::Kind::Value && t.rank() == 1 && isInteger(t.dtype);
  }

  Expected<void> attributesAndTypes() {
    if (traitsOf(op_->kind).uniform) {
      TW_CHECK(sameShapes());
      for (ValueId operand : op_->operands)
        TW_CHECK(check(type(operand) == resultType(), "operands and result have one type"));
    }
    switch (op_->kind) {
    case OpKind::Constant:
      TW_CHECK(need({"value"}));
      TW_CHECK(check(resultType().isScalar(), "a constant is a scalar"));
      return check(isFloat(resultType().dtype) ? !op_->attributes.sym("value").valid()
                                               : op_->attributes.sym("value").valid(),
                   "the value must be a SymInt for integers and a double for floats");
    case OpKind::ProgramId:
    case OpKind::ProgramCount:
      return axisWithin(3);
    case OpKind::Iota:
      TW_CHECK(need({"start", "end"}));
      return check(resultType().rank() == 1 && resultType().dtype == DType::Int32 &&
                       op_->attributes.sym("start").valid() && op_->attributes.sym("end").valid(),
                   "an iota is a one-dimensional i32 tile with symbolic bounds");
    case OpKind::Splat:
      TW_CHECK(check(operandType(0).isScalar() && resultType().isTile(), "a scalar becomes a tile"));
      return check(operandType(0).dtype == resultType().dtype && operandType(0).kind == resultType().kind,
                   "the element type stays");
    case OpKind::ExpandDims: {
      TW_CHECK(check(resultType().rank() == operandType(0).rank() + 1, "the rank grows by one"));
      TW_CHECK(axisWithin(resultType().rank()));
      auto shape = resultType().shape;
      const auto axis = shape.begin() + op_->attributes.integer("axis");
      TW_CHECK(check(axis->isConstant(1), "the new axis has extent 1"));
      shape.erase(axis);
      return check(shape == operandType(0).shape, "the other axes stay");
    }
    case OpKind::Broadcast: {
      TW_CHECK(check(resultType().rank() == operandType(0).rank(), "the rank stays"));
      for (size_t i = 0; i < resultType().rank(); ++i)
        TW_CHECK(
            check(operandType(0).shape[i] == resultType().shape[i] || operandType(0).shape[i].isConstant(1),
                  "only axes of extent 1 can grow"));
      return {};
    }
    case OpKind::Permute: {
      TW_CHECK(need({"order"}));
      const auto &order = op_->attributes.integers("order");
      TW_CHECK(check(order.size() == operandType(0).rank() && order.size() == resultType().rank(),
                     "the order names every axis"));
      std::vector<bool> seen(order.size());
      for (size_t i = 0; i < order.size(); ++i) {
        TW_CHECK(check(order[i] >= 0 && static_cast<size_t>(order[i]) < order.size() &&
                           !seen[static_cast<size_t>(order[i])],
                       "the order is a permutation"));
        seen[static_cast<size_t>(order[i])] = true;
        TW_CHECK(check(resultType().shape[i] == operandType(0).shape[static_cast<size_t>(order[i])],
                       "the result's axes follow the order"));
      }
      return {};
    }
    case OpKind::Compare: {
      TW_CHECK(need({"predicate"}));
      TW_CHECK(sameShapes());
      return check(isTruth(resultType()), "a comparison gives i1");
    }
    case OpKind::Unary:
    case OpKind::Binary:
      TW_CHECK(need({"function"}));
      return sameShapes();
    case OpKind::Select:
      TW_CHECK(sameShapes());
      TW_CHECK(check(isTruth(operandType(0)), "the condition is i1"));
      return check(operandType(1) == operandType(2) && operandType(1) == resultType(),
                   "both values have the result's type");
    case OpKind::Cast:
    case OpKind::Bitcast:
    case OpKind::Hint:
      return sameShapes();
    case OpKind::AddPtr:
      TW_CHECK(sameShapes());
      return check(operandType(0).isPointer() && operandType(1).kind == Type::Kind::Value &&
                       isInteger(operandType(1).dtype) && resultType() == operandType(0),
                   "a pointer and an integer offset give a pointer of the same type");
    case OpKind::Load:
      TW_CHECK(check(!op_->operands.empty() && op_->operands.size() <= 3, "takes pointer, mask and other"));
      TW_CHECK(sameShapes());
      TW_CHECK(check(operandType(0).isPointer() && resultType().dtype == operandType(0).dtype,
                     "loads what is pointed at"));
      TW_CHECK(check(op_->operands.size() < 2 || isTruth(operandType(1)), "the mask is i1"));
      return check(op_->operands.size() < 3 || operandType(2) == resultType(),
                   "'other' has the result's type");
    case OpKind::Store:
      TW_CHECK(
          check(op_->operands.size() == 2 || op_->operands.size() == 3, "takes pointer, value and mask"));
      TW_CHECK(sameShapes());
      TW_CHECK(check(operandType(0).isPointer() && operandType(1).dtype == operandType(0).dtype,
                     "stores what is pointed at"));
      return check(op_->operands.size() < 3 || isTruth(operandType(2)), "the mask is i1");
    case OpKind::MakeBlockPtr: {
      TW_CHECK(need({"rank"}));
      const auto rank = static_cast<size_t>(op_->attributes.integer("rank"));
      TW_CHECK(check(op_->operands.size() == 1 + 3 * rank, "takes base, shape, strides and offsets"));
      return check(resultType().kind == Type::Kind::BlockPointer && resultType().rank() == rank,
                   "gives a block pointer");
    }
    case OpKind::Advance:
      return check(!op_->operands.empty() && operandType(0).kind == Type::Kind::BlockPointer &&
                       op_->operands.size() == 1 + operandType(0).rank() && resultType() == operandType(0),
                   "takes a block pointer and one offset an axis");
    case OpKind::BlockLoad:
      return check(operandType(0).kind == Type::Kind::BlockPointer &&
                       operandType(0).shape == resultType().shape &&
                       operandType(0).dtype == resultType().dtype,
                   "loads the block that is pointed at");
    case OpKind::BlockStore:
      return check(operandType(0).kind == Type::Kind::BlockPointer &&
                       operandType(0).shape == operandType(1).shape &&
                       operandType(0).dtype == operandType(1).dtype,
                   "stores the block that is pointed at");
    case OpKind::MakeDescriptor: {
      TW_CHECK(need({"rank"}));
      if (op_->attributes.flag("opaque"))
        return check(op_->operands.size() == 1 && resultType().kind == Type::Kind::Descriptor,
                     "takes an address and gives a descriptor");
      const auto rank = static_cast<size_t>(op_->attributes.integer("rank"));
      return check(op_->operands.size() == 1 + 2 * rank && resultType().kind == Type::Kind::Descriptor,
                   "takes base, shape and strides and gives a descriptor");
    }
    case OpKind::DescriptorLoad:
      return check(!op_->operands.empty() && operandType(0).kind == Type::Kind::Descriptor &&
                       op_->operands.size() == 1 + operandType(0).rank(),
                   "takes a descriptor and one offset an axis");
    case OpKind::DescriptorStore:
      return check(op_->operands.size() >= 2 && operandType(0).kind == Type::Kind::Descriptor &&
                       op_->operands.size() == 2 + operandType(0).rank(),
                   "takes a descriptor, a value and one offset an axis");
    case OpKind::DescriptorGather:
      return check(isRowDescriptor(0) && isRows(1) && isIntegerScalar(2) &&
                       resultType() == Type::tile(operandType(0).dtype,
                                                  {operandType(1).shape[0], operandType(0).shape[1]}),
                   "takes a descriptor of rows, rows and a column, and gives those rows");
    case OpKind::DescriptorScatter:
      return check(isRowDescriptor(0) && isRows(2) && isIntegerScalar(3) &&
                       operandType(1) == Type::tile(operandType(0).dtype,
                                                    {operandType(2).shape[0], operandType(0).shape[1]}),
                   "takes a descriptor of rows, their values, rows and a column");
    case OpKind::DescriptorReduce:
      TW_CHECK(need({"operation"}));
      return check(op_->operands.size() >= 2 && operandType(0).kind == Type::Kind::Descriptor &&
                       op_->operands.size() == 2 + operandType(0).rank() &&
                       operandType(1).shape == operandType(0).shape,
                   "takes a descriptor, a value of its block's shape and one offset an axis");
    case OpKind::AtomicPoll:
      return check((op_->operands.size() == 2 || (op_->operands.size() == 3 && isIntegerScalar(2))) &&
                       operandType(0).isPointer() && operandType(0).shape == operandType(1).shape &&
                       operandType(0).dtype == operandType(1).dtype && isTruth(resultType()) &&
                       resultType().shape == operandType(0).shape,
                   "takes pointer, expected value and timeout, and gives i1");
    case OpKind::AtomicRmw:
      TW_CHECK(need({"operation"}));
      TW_CHECK(
          check(op_->operands.size() == 2 || op_->operands.size() == 3, "takes pointer, value and mask"));
      TW_CHECK(sameShapes());
      return check(operandType(0).isPointer() && operandType(1) == resultType() &&
                       (op_->operands.size() < 3 || isTruth(operandType(2))),
                   "pointer, value and i1 mask");
    case OpKind::AtomicCas:
      TW_CHECK(sameShapes());
      return check(operandType(0).isPointer() && operandType(1) == operandType(2) &&
                       operandType(1) == resultType(),
                   "compare and value have the result's type");
    case OpKind::Dot: {
      const size_t rank = resultType().rank();
      TW_CHECK(check(rank >= 2 && operandType(0).rank() == rank && operandType(1).rank() == rank &&
                         operandType(2) == resultType(),
                     "operands of one rank, and an accumulator of the result's type"));
      const auto &a = operandType(0).shape, &b = operandType(1).shape, &c = resultType().shape;
      return check(a[rank - 1] == b[rank - 2] && a[rank - 2] == c[rank - 2] && b[rank - 1] == c[rank - 1],
                   "[M, K] x [K, N] gives [M, N]");
    }
    case OpKind::DotScaled:
      TW_CHECK(need({"a_format", "b_format"}));
      return check(op_->operands.size() ==
                           3u + op_->attributes.flag("a_scaled") + op_->attributes.flag("b_scaled") &&
                       operandType(0).rank() == resultType().rank() &&
                       operandType(1).rank() == resultType().rank() && operandType(2) == resultType(),
                   "takes two tiles, an accumulator of the result's type, and a scale for each scaled side");
    case OpKind::Map:
      TW_CHECK(need({"pack"}));
      TW_CHECK(check(!op_->operands.empty() && !op_->results.empty() && op_->attributes.integer("pack") > 0,
                     "maps tiles to tiles"));
      return sameShapes();
    case OpKind::InlineAsm:
      TW_CHECK(need({"asm", "constraints"}));
      TW_CHECK(check(!op_->results.empty(), "gives a value"));
      return op_->operands.empty() ? Expected<void>() : sameShapes();
    case OpKind::ExternCall:
      TW_CHECK(need({"symbol"}));
      for (ValueId operand : op_->operands)
        TW_CHECK(check(type(operand).shape.empty() || type(operand).shape == resultType().shape,
                       "operands are scalars or have the result's shape"));
      return {};
    case OpKind::ExtractSlice:
    case OpKind::InsertSlice: {
      TW_CHECK(need({"strides"}));
      const size_t first = op_->kind == OpKind::ExtractSlice ? 1 : 2, rank = resultType().rank();
      TW_CHECK(check(op_->operands.size() == first + rank && operandType(0).rank() == rank &&
                         op_->attributes.integers("strides").size() == rank,
                     "takes one offset and one stride an axis"));
      for (size_t i = first; i < op_->operands.size(); ++i)
        TW_CHECK(check(isIntegerScalar(i), "offsets are integer scalars"));
      if (op_->kind == OpKind::ExtractSlice)
        return check(operandType(0).dtype == resultType().dtype, "the element type stays");
      return check(operandType(0) == resultType() && operandType(1).rank() == rank &&
                       operandType(1).dtype == resultType().dtype,
                   "a part of the same rank and element type is put in");
    }
    case OpKind::TopK: {
      TW_CHECK(axisWithin(operandType(0).rank()));
      auto shape = operandType(0).shape;
      if (resultType().rank() == shape.size())
        shape[static_cast<size_t>(op_->attributes.integer("axis"))] =
            resultType().shape[static_cast<size_t>(op_->attributes.integer("axis"))];
      return check(resultType() == operandType(0).withShape(shape), "only the sorted axis changes");
    }
    case OpKind::Reduce:
    case OpKind::Scan: {
      TW_CHECK(check(!op_->operands.empty(), "needs an operand"));
      TW_CHECK(axisWithin(operandType(0).rank()));
      for (ValueId operand : op_->operands)
        TW_CHECK(
            check(type(operand).shape == operandType(0).shape, "the shapes of all operands must be equal"));
      TW_CHECK(check(op_->attributes.text("kind").empty() == !op_->regions.empty(),
                     "either a kind or a combine region"));
      auto shape = operandType(0).shape;
      if (op_->kind == OpKind::Reduce)
        shape.erase(shape.begin() + op_->attributes.integer("axis"));
      for (ValueId result : op_->results)
        TW_CHECK(check(type(result).shape == shape, "the result has the wrong shape"));
      return {};
    }
    case OpKind::Sort:
      TW_CHECK(axisWithin(operandType(0).rank()));
      return sameShapes();
    case OpKind::Gather:
      TW_CHECK(axisWithin(operandType(0).rank()));
      return check(operandType(1).shape == resultType().shape, "the result has the shape of the index");
    case OpKind::Assume:
      return check(isTruth(operandType(0)), "the condition is i1");
    case OpKind::DeviceAssert:
      return check(!op_->operands.empty() && op_->operands.size() <= 2 && isTruth(operandType(0)),
                   "the condition is i1");
    case OpKind::For:
      TW_CHECK(check(op_->operands.size() == 3 + op_->results.size(),
                     "takes bounds, step and one value a result"));
      TW_CHECK(check(operandType(0).isScalar() && operandType(0) == operandType(1) &&
                         operandType(0) == operandType(2) && isInteger(operandType(0).dtype),
                     "bounds and step are integers of one type"));
      return carried(3);
    case OpKind::While:
      TW_CHECK(check(op_->operands.size() == op_->results.size(), "takes one value a result"));
      return carried(0);
    case OpKind::If:
      return check(operandType(0).isScalar() && isTruth(operandType(0)), "the condition is an i1 scalar");
    default:
      return {};
    }
  }

  Expected<void> carried(size_t first) {
    for (size_t i = 0; i < op_->results.size(); ++i)
      TW_CHECK(check(operandType(first + i) == resultType(i), "carried values keep their type"));
    return {};
  }

  std::vector<Type> resultTypes() const {
    std::vector<Type> types;
    for (ValueId result : op_->results)
      types.push_back(type(result));
    return types;
  }

  Expected<void> regions() {
    const std::vector<Type> results = resultTypes();
    switch (op_->kind) {
    case OpKind::For: {
      TW_CHECK(check(op_->regions.size() == 1, "has one region"));
      std::vector<Type> arguments{operandType(0)};
      arguments.insert(arguments.end(), results.begin(), results.end());
      return region(op_->regions[0], &results, std::move(arguments));
    }
    case OpKind::While: {
      TW_CHECK(check(op_->regions.size() == 2, "has a condition and a body"));
      const std::vector<Type> condition{Type::scalar(DType::Int1)};
      TW_CHECK(region(op_->regions[0], &condition, results));
      return region(op_->regions[1], &results, results);
    }
    case OpKind::If:
      TW_CHECK(check(op_->regions.size() == 2, "has two branches"));
      TW_CHECK(region(op_->regions[0], &results, {}));
      return region(op_->regions[1], &results, {});
    case OpKind::Map: {
      TW_CHECK(check(op_->regions.size() == 1, "has one region"));
      std::vector<Type> arguments, yields;
      const int64_t pack = op_->attributes.integer("pack");
      for (ValueId operand : op_->operands)
        arguments.insert(arguments.end(), static_cast<size_t>(pack), type(operand).withShape({}));
      for (const Type &result : results)
        yields.insert(yields.end(), static_cast<size_t>(pack), result.withShape({}));
      return region(op_->regions[0], &yields, std::move(arguments));
    }
    case OpKind::Reduce:
    case OpKind::Scan: {
      if (op_->regions.empty())
        return {};
      TW_CHECK(check(op_->regions.size() == 1, "has at most one region"));
      std::vector<Type> scalars, arguments;
      for (ValueId operand : op_->operands)
        scalars.push_back(Type::scalar(type(operand).dtype));
      for (int side = 0; side < 2; ++side)
        arguments.insert(arguments.end(), scalars.begin(), scalars.end());
      return region(op_->regions[0], &scalars, std::move(arguments));
    }
    default:
      return check(op_->regions.empty(), "has no regions");
    }
  }

  const Program &program_;
  std::vector<bool> visible_;
  const Op *op_ = nullptr;
};

} // namespace

Expected<void> verify(const Program &program) { return Verifier(program)(); }

} // namespace tilewright

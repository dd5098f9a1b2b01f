#include "tilewright/lang/Parser.h"
#include "tilewright/program/Grid.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

namespace {

/// What a grid expression can evaluate to on the way: integers, quotients of integers (Python's `/`, which
/// `math.ceil` turns back into an integer), tuples, texts, tensors of the launch.
struct GridValue {
  SymInt integer;               ///< or the numerator
  SymInt denominator;           ///< valid for a quotient
  std::vector<GridValue> items; ///< of a tuple or list
  bool isTuple = false;
  std::optional<std::string> text;
  const TensorSpec *tensor = nullptr;
  bool isMeta = false;

  bool isInteger() const { return integer.valid() && !denominator.valid(); }
};

class GridReader {
public:
  GridReader(const Program &program, const LaunchArguments &arguments)
      : program_(program), arguments_(arguments), symbols_(*program.symbols) {}

  Expected<std::vector<SymInt>> dims(const lang::Expr *expression) {
    if (const auto *lambda = lang::dynCast<lang::Lambda>(expression)) {
      const auto &args = *lambda->args;
      const auto &positional = args.posonlyargs.empty() ? args.args : args.posonlyargs;
      if (positional.empty())
        return error(expression, "the lambda takes no configuration; write lambda meta: ...");
      meta_ = positional[0]->arg;
      expression = lambda->body;
    }
    TW_TRY(const GridValue value, evaluate(expression));
    std::vector<SymInt> result;
    const std::vector<GridValue> single{value};
    for (const GridValue &item : value.isTuple ? value.items : single) {
      if (!item.isInteger())
        return error(expression, "every axis of a grid must be an integer");
      result.push_back(item.integer);
    }
    if (result.empty() || result.size() > 3)
      return error(expression, fmt::format("a grid has one to three axes, not {}", result.size()));
    return result;
  }

private:
  Unexpected error(const lang::Expr *where, std::string message) const {
    return fail(ErrorKind::User,
                makeDiagnostic(Severity::Error, "grid.syntax", std::move(message), where->range));
  }

  static GridValue integer(SymInt value) {
    GridValue result;
    result.integer = value;
    return result;
  }
  GridValue integer(int64_t value) { return integer(symbols_.constant(value)); }

  Expected<SymInt> evaluateInteger(const lang::Expr *expression) {
    TW_TRY(const GridValue value, evaluate(expression));
    if (!value.isInteger())
      return error(expression, "an integer is expected here");
    return value.integer;
  }

  Expected<GridValue> evaluate(const lang::Expr *expression) {
    switch (expression->kind) {
    case lang::ExprKind::Constant: {
      const auto *constant = lang::cast<lang::Constant>(expression);
      if (const int64_t *value = constant->asInt())
        return integer(*value);
      if (const bool *flag = constant->asBool())
        return integer(*flag);
      GridValue value;
      if (const auto *text = constant->asStr())
        value.text = std::string(*text);
      else
        return error(expression, "only integers can stand in a grid");
      return value;
    }
    case lang::ExprKind::Name:
      return named(expression, lang::cast<lang::Name>(expression)->id);
    case lang::ExprKind::Tuple:
      return sequence(lang::cast<lang::Tuple>(expression)->elts);
    case lang::ExprKind::List:
      return sequence(lang::cast<lang::List>(expression)->elts);
    case lang::ExprKind::BinOp:
      return binary(lang::cast<lang::BinOp>(expression));
    case lang::ExprKind::UnaryOp:
      return unary(lang::cast<lang::UnaryOp>(expression));
    case lang::ExprKind::BoolOp:
      return junction(lang::cast<lang::BoolOp>(expression));
    case lang::ExprKind::Compare:
      return comparison(lang::cast<lang::Compare>(expression));
    case lang::ExprKind::IfExp: {
      const auto *choice = lang::cast<lang::IfExp>(expression);
      TW_TRY(const SymInt condition, evaluateInteger(choice->test));
      if (const auto known = condition.constant())
        return evaluate(*known ? choice->body : choice->orelse);
      TW_TRY(const GridValue body, evaluate(choice->body));
      TW_TRY(const GridValue orelse, evaluate(choice->orelse));
      return select(expression, condition, body, orelse);
    }
    case lang::ExprKind::Call:
      return call(lang::cast<lang::Call>(expression));
    case lang::ExprKind::Subscript:
      return subscript(lang::cast<lang::Subscript>(expression));
    case lang::ExprKind::Attribute:
      return attribute(lang::cast<lang::Attribute>(expression));
    default:
      return error(expression,
                   fmt::format("a grid cannot contain this ({})", lang::nodeName(expression->kind)));
    }
  }

  Expected<GridValue> select(const lang::Expr *where, SymInt condition, const GridValue &a,
                             const GridValue &b) {
    if (a.isInteger() && b.isInteger())
      return integer(symbols_.select(condition, a.integer, b.integer));
    if (!a.isTuple || !b.isTuple || a.items.size() != b.items.size())
      return error(where, "both sides must be grids of as many axes");
    GridValue result;
    result.isTuple = true;
    for (size_t i = 0; i < a.items.size(); ++i) {
      TW_TRY(GridValue item, select(where, condition, a.items[i], b.items[i]));
      result.items.push_back(std::move(item));
    }
    return result;
  }

  /// A name: the lambda's own argument, a kernel parameter, or another launch argument.
  Expected<GridValue> named(const lang::Expr *where, std::string_view name) {
    if (!meta_.empty() && name == meta_) {
      GridValue value;
      value.isMeta = true;
      return value;
    }
    const Parameter *parameter = program_.findParameter(name);
    if (parameter && parameter->symbol.valid())
      return integer(parameter->symbol);
    const ArgumentValue *argument =
        parameter && parameter->kind == Parameter::Kind::Fixed ? &parameter->fixed : arguments_.find(name);
    if (!argument) {
      if (parameter)
        return error(where, fmt::format("the grid needs the launch argument {}", name));
      std::string known;
      for (const Parameter &p : program_.parameters)
        known += (known.empty() ? "" : ", ") + p.name;
      auto diagnostic = makeDiagnostic(
          Severity::Error, "grid.syntax",
          fmt::format("'{}' is neither a parameter of {} nor a launch argument", name, program_.kernel),
          where->range);
      diagnostic.help("the kernel's parameters are " + known);
      return fail(ErrorKind::User, std::move(diagnostic));
    }
    GridValue value;
    if (const auto *number = std::get_if<int64_t>(argument))
      return integer(*number);
    if (const auto *flag = std::get_if<bool>(argument))
      return integer(*flag);
    if (const auto *text = std::get_if<std::string>(argument))
      value.text = *text;
    else if (const auto *tensor = std::get_if<TensorSpec>(argument))
      value.tensor = tensor;
    else
      return error(where, fmt::format("{} is {}, which a grid cannot use", name, toString(*argument)));
    return value;
  }

  Expected<GridValue> sequence(lang::Seq<const lang::Expr *> elements) {
    GridValue result;
    result.isTuple = true;
    for (const lang::Expr *element : elements) {
      TW_TRY(GridValue item, evaluate(element));
      result.items.push_back(std::move(item));
    }
    return result;
  }

  Expected<GridValue> binary(const lang::BinOp *op) {
    TW_TRY(const GridValue left, evaluate(op->left));
    TW_TRY(const GridValue right, evaluate(op->right));
    if (op->op == lang::BinaryOperator::Add && left.isTuple && right.isTuple) {
      GridValue joined = left;
      joined.items.insert(joined.items.end(), right.items.begin(), right.items.end());
      return joined;
    }
    if (!left.isInteger() || !right.isInteger())
      return error(op, "both operands must be integers");
    const SymInt a = left.integer, b = right.integer;
    switch (op->op) {
    case lang::BinaryOperator::Add:
      return integer(symbols_.add(a, b));
    case lang::BinaryOperator::Sub:
      return integer(symbols_.sub(a, b));
    case lang::BinaryOperator::Mult:
      return integer(symbols_.mul(a, b));
    case lang::BinaryOperator::FloorDiv:
      return integer(symbols_.floorDiv(a, b));
    case lang::BinaryOperator::Mod:
      return integer(symbols_.mod(a, b));
    case lang::BinaryOperator::Div: {
      GridValue quotient = integer(a);
      quotient.denominator = b;
      return quotient;
    }
    case lang::BinaryOperator::LShift:
      return integer(symbols_.bit(SymOp::Shl, a, b));
    case lang::BinaryOperator::RShift:
      return integer(symbols_.bit(SymOp::Shr, a, b));
    case lang::BinaryOperator::BitAnd:
      return integer(symbols_.bit(SymOp::BitAnd, a, b));
    case lang::BinaryOperator::BitOr:
      return integer(symbols_.bit(SymOp::BitOr, a, b));
    case lang::BinaryOperator::BitXor:
      return integer(symbols_.bit(SymOp::Xor, a, b));
    case lang::BinaryOperator::Pow:
      if (const auto exponent = b.constant(); exponent && *exponent >= 0 && *exponent <= 8) {
        SymInt power = symbols_.constant(1);
        for (int64_t i = 0; i < *exponent; ++i)
          power = symbols_.mul(power, a);
        return integer(power);
      }
      if (const auto exponent = b.constant();
          a.isConstant(2) && exponent && *exponent >= 0 && *exponent <= 62)
        return integer(int64_t(1) << *exponent);
      [[fallthrough]];
    default:
      return error(op, fmt::format("the operator {} is not supported in a grid", lang::operatorText(op->op)));
    }
  }

  Expected<GridValue> unary(const lang::UnaryOp *op) {
    // -(-a // b) is how some write a ceiling; the normal form knows it.
    TW_TRY(const SymInt operand, evaluateInteger(op->operand));
    switch (op->op) {
    case lang::UnaryOperator::UAdd:
      return integer(operand);
    case lang::UnaryOperator::USub:
      return integer(symbols_.neg(operand));
    case lang::UnaryOperator::Not:
      return integer(symbols_.logicalNot(operand));
    case lang::UnaryOperator::Invert:
      return integer(symbols_.sub(symbols_.constant(-1), operand));
    }
    return error(op, "the operator is not supported in a grid");
  }

  Expected<GridValue> junction(const lang::BoolOp *op) {
    // Python's `and` and `or` give one of their operands, not a truth value.
    TW_TRY(SymInt result, evaluateInteger(op->values[0]));
    for (const lang::Expr *next : op->values.subspan(1)) {
      TW_TRY(const SymInt value, evaluateInteger(next));
      result = op->op == lang::BoolOperator::And ? symbols_.select(result, value, result)
                                                 : symbols_.select(result, result, value);
    }
    return integer(result);
  }

  Expected<GridValue> comparison(const lang::Compare *compare) {
    SymInt result = symbols_.constant(1);
    TW_TRY(GridValue left, evaluate(compare->left));
    for (size_t i = 0; i < compare->ops.size(); ++i) {
      TW_TRY(GridValue right, evaluate(compare->comparators[i]));
      const lang::CompareOperator op = compare->ops[i];
      SymInt holds;
      if (left.text && right.text && (op == lang::CompareOperator::Eq || op == lang::CompareOperator::NotEq))
        holds = symbols_.constant((*left.text == *right.text) == (op == lang::CompareOperator::Eq));
      else if (left.isInteger() && right.isInteger()) {
        const SymInt a = left.integer, b = right.integer;
        switch (op) {
        case lang::CompareOperator::Eq:
        case lang::CompareOperator::Is:
          holds = symbols_.eq(a, b);
          break;
        case lang::CompareOperator::NotEq:
        case lang::CompareOperator::IsNot:
          holds = symbols_.logicalNot(symbols_.eq(a, b));
          break;
        case lang::CompareOperator::Lt:
          holds = symbols_.lt(a, b);
          break;
        case lang::CompareOperator::LtE:
          holds = symbols_.le(a, b);
          break;
        case lang::CompareOperator::Gt:
          holds = symbols_.lt(b, a);
          break;
        case lang::CompareOperator::GtE:
          holds = symbols_.le(b, a);
          break;
        default:
          break;
        }
      }
      if (!holds.valid())
        return error(compare, "this comparison is not supported in a grid");
      result = symbols_.logicalAnd(result, holds);
      left = std::move(right);
    }
    return integer(result);
  }

  Expected<GridValue> call(const lang::Call *call) {
    std::string_view function;
    if (const auto *name = lang::dynCast<lang::Name>(call->func))
      function = name->id;
    else if (const auto *attribute = lang::dynCast<lang::Attribute>(call->func)) {
      function = attribute->attr;
      if (tensorMethods().count(function)) {
        TW_TRY(const GridValue receiver, evaluate(attribute->value));
        return method(call, receiver, function);
      }
    }
    if (!call->keywords.empty())
      return error(call, "keyword arguments are not supported in a grid");
    std::vector<GridValue> values;
    for (const lang::Expr *argument : call->args) {
      TW_TRY(GridValue value, evaluate(argument));
      values.push_back(std::move(value));
    }
    if (values.size() == 1 && values[0].integer.valid()) {
      const GridValue &x = values[0];
      if (function == "ceil")
        return x.isInteger() ? x : integer(symbols_.cdiv(x.integer, x.denominator));
      if (function == "floor" || function == "int")
        return x.isInteger() ? x : integer(symbols_.floorDiv(x.integer, x.denominator));
      if (function == "next_power_of_2" && x.isInteger())
        return integer(symbols_.nextPow2(x.integer));
      if (function == "abs" && x.isInteger())
        return integer(symbols_.max(x.integer, symbols_.neg(x.integer)));
    }
    if (values.size() == 1 && function == "len" && values[0].tensor && !values[0].tensor->shape.empty())
      return integer(values[0].tensor->shape[0]);
    if (values.size() == 1 && function == "len" && values[0].isTuple)
      return integer(static_cast<int64_t>(values[0].items.size()));
    if (values.size() == 1 && function == "tuple" && values[0].isTuple)
      return values[0];
    if (values.size() == 1 && values[0].isTuple &&
        (function == "min" || function == "max" || function == "prod"))
      values = std::vector<GridValue>(values[0].items);
    const bool integers =
        !values.empty() &&
        std::all_of(values.begin(), values.end(), [](const GridValue &value) { return value.isInteger(); });
    if (integers && (function == "cdiv" || function == "ceil_div" || function == "ceildiv") &&
        values.size() == 2)
      return integer(symbols_.cdiv(values[0].integer, values[1].integer));
    if (integers && (function == "min" || function == "max" || function == "prod")) {
      SymInt result = values[0].integer;
      for (size_t i = 1; i < values.size(); ++i)
        result = function == "min"   ? symbols_.min(result, values[i].integer)
                 : function == "max" ? symbols_.max(result, values[i].integer)
                                     : symbols_.mul(result, values[i].integer);
      return integer(result);
    }
    return error(call, fmt::format("the call {} is not supported in a grid", call->range.text()));
  }

  static const std::map<std::string_view, bool> &tensorMethods() {
    static const std::map<std::string_view, bool> kMethods = {{"numel", true}, {"nelement", true},
                                                              {"size", true},  {"stride", true},
                                                              {"dim", true},   {"element_size", true}};
    return kMethods;
  }

  static std::vector<int64_t> stridesOf(const TensorSpec &tensor) {
    if (!tensor.strides.empty())
      return tensor.strides;
    std::vector<int64_t> strides(tensor.shape.size(), 1);
    for (size_t axis = strides.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * tensor.shape[axis];
    return strides;
  }

  GridValue tupleOf(const std::vector<int64_t> &values) {
    GridValue result;
    result.isTuple = true;
    for (int64_t value : values)
      result.items.push_back(integer(value));
    return result;
  }

  Expected<GridValue> method(const lang::Call *call, const GridValue &receiver, std::string_view name) {
    if (!receiver.tensor)
      return error(call, fmt::format("{} is not a tensor of the launch", call->func->range.text()));
    const TensorSpec &tensor = *receiver.tensor;
    if (name == "numel" || name == "nelement")
      return integer(tensor.elementCount());
    if (name == "dim")
      return integer(static_cast<int64_t>(tensor.shape.size()));
    if (name == "element_size")
      return integer(byteSize(tensor.dtype));
    GridValue all = tupleOf(name == "size" ? tensor.shape : stridesOf(tensor));
    if (call->args.empty())
      return all;
    TW_TRY(const SymInt index, evaluateInteger(call->args[0]));
    return item(call, all, index);
  }

  Expected<GridValue> item(const lang::Expr *where, const GridValue &tuple, SymInt index) {
    const auto position = index.constant();
    const auto count = static_cast<int64_t>(tuple.items.size());
    if (!position || *position < -count || *position >= count)
      return error(where, fmt::format("the index must be a constant between {} and {}", -count, count - 1));
    return tuple.items[static_cast<size_t>(*position < 0 ? *position + count : *position)];
  }

  Expected<GridValue> subscript(const lang::Subscript *subscript) {
    TW_TRY(const GridValue value, evaluate(subscript->value));
    TW_TRY(const GridValue index, evaluate(subscript->slice));
    if (value.isMeta) {
      if (!index.text)
        return error(subscript, "the configuration is indexed by a name in quotes");
      return named(subscript, *index.text);
    }
    if (!value.isTuple || !index.isInteger())
      return error(subscript, "only a shape or the configuration can be indexed");
    return item(subscript, value, index.integer);
  }

  Expected<GridValue> attribute(const lang::Attribute *attribute) {
    TW_TRY(const GridValue value, evaluate(attribute->value));
    if (value.tensor && attribute->attr == "shape")
      return tupleOf(value.tensor->shape);
    if (value.tensor && attribute->attr == "ndim")
      return integer(static_cast<int64_t>(value.tensor->shape.size()));
    if (value.isMeta)
      return named(attribute, attribute->attr);
    return error(attribute, fmt::format("the attribute {} is not supported in a grid", attribute->attr));
  }

  const Program &program_;
  const LaunchArguments &arguments_;
  SymContext &symbols_;
  std::string_view meta_;
};

} // namespace

Expected<Grid> parseGrid(std::string_view text, const Program &program, const LaunchArguments &arguments) {
  auto parsed = lang::parseExpression(std::make_shared<SourceFile>("<grid>", std::string(text)));
  if (!parsed) {
    Error error = std::move(parsed).error();
    error.code = "grid.syntax";
    for (Diagnostic &diagnostic : error.diagnostics)
      diagnostic.code = "grid.syntax";
    return Unexpected(std::move(error));
  }
  TW_TRY(const std::vector<SymInt> dims, GridReader(program, arguments).dims(parsed->body));
  std::array<int64_t, 3> fixed{1, 1, 1};
  bool isFixed = true;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    isFixed &= dims[axis].isConstant();
    fixed[axis] = dims[axis].constant().value_or(1);
  }
  return isFixed ? Grid::fixed(fixed) : Grid::symbolic(dims, std::string(text));
}

} // namespace tilewright

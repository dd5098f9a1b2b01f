#include "ModuleConditions.h"

#include "Builtins.h"
#include "HostFunctions.h"
#include "ModuleScope.h"

#include <algorithm>
#include <charconv>

namespace tilewright::lowering {

using namespace lang;

namespace {

constexpr int kMaxDepth = 32;

bool truthOf(const HostValue &value) {
  struct Reader {
    bool operator()(std::nullptr_t) const { return false; }
    bool operator()(bool flag) const { return flag; }
    bool operator()(int64_t integer) const { return integer != 0; }
    bool operator()(double number) const { return number != 0; }
    bool operator()(const std::string &text) const { return !text.empty(); }
  };
  return std::visit(Reader{}, value);
}

std::optional<double> numberOf(const HostValue &value) {
  if (const auto *flag = std::get_if<bool>(&value))
    return *flag;
  if (const auto *integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  if (const auto *number = std::get_if<double>(&value))
    return *number;
  return std::nullopt;
}

bool equal(const HostValue &a, const HostValue &b) {
  const auto x = numberOf(a), y = numberOf(b);
  return x && y ? *x == *y : a == b;
}

std::string changed(std::string text, int (*change)(int)) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [&](unsigned char c) { return static_cast<char>(change(c)); });
  return text;
}

std::optional<HostValue> callValue(const ModuleScope &scope, const Call *call, int depth) {
  const std::string path = scope.resolve(call->func);
  const auto argument = [&](size_t i) -> std::optional<HostValue> {
    return i < call->args.size() ? hostValue(scope, call->args[i], depth) : std::nullopt;
  };
  if (path == "os.environ.get" || path == "os.getenv")
    return call->args.size() == 1 && call->keywords.empty() ? HostValue(nullptr)
           : call->args.size() == 2                         ? argument(1)
                                                            : std::nullopt;
  if (path == "hasattr" && call->args.size() == 2) {
    const std::string object = scope.resolve(call->args[0]);
    const auto name = argument(1);
    if (name && std::holds_alternative<std::string>(*name) && object.substr(0, 6) == "triton")
      return HostValue(knownToTriton(object + "." + std::get<std::string>(*name)));
    return std::nullopt;
  }
  if (path == "triton.language.constexpr" || path == "bool" || path == "int" || path == "str") {
    auto value = argument(0);
    if (!value || call->args.size() != 1)
      return std::nullopt;
    if (path == "bool")
      return HostValue(truthOf(*value));
    if (path == "int") {
      if (const auto *text = std::get_if<std::string>(&*value)) {
        int64_t parsed = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), parsed);
        if (error != std::errc() || end != text->data() + text->size())
          return std::nullopt;
        return HostValue(parsed);
      }
      if (const auto number = numberOf(*value))
        return HostValue(static_cast<int64_t>(*number));
      return std::nullopt;
    }
    if (path == "str" && !std::holds_alternative<std::string>(*value))
      return std::nullopt;
    return value;
  }
  if (const auto *method = dynCast<lang::Attribute>(call->func); method && call->args.empty()) {
    const auto self = hostValue(scope, method->value, depth);
    if (!self || !std::holds_alternative<std::string>(*self))
      return std::nullopt;
    const std::string &text = std::get<std::string>(*self);
    if (method->attr == "lower")
      return HostValue(changed(text, std::tolower));
    if (method->attr == "upper")
      return HostValue(changed(text, std::toupper));
    if (method->attr == "strip") {
      const size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
      return HostValue(begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1));
    }
  }
  return std::nullopt;
}

std::optional<HostValue> compared(const ModuleScope &scope, const Compare *compare, int depth) {
  if (compare->ops.size() != 1)
    return std::nullopt;
  const Expr *right = compare->comparators[0];
  const CompareOperator op = compare->ops[0];
  const bool isIn = op == CompareOperator::In || op == CompareOperator::NotIn;
  if (isIn && scope.resolve(right) == "os.environ")
    return HostValue(op == CompareOperator::NotIn);
  const auto a = hostValue(scope, compare->left, depth);
  if (!a)
    return std::nullopt;
  if (isIn) {
    Seq<const Expr *> items;
    if (const auto *tuple = dynCast<Tuple>(right))
      items = tuple->elts;
    else if (const auto *list = dynCast<List>(right))
      items = list->elts;
    else if (const auto *set = dynCast<Set>(right))
      items = set->elts;
    else
      return std::nullopt;
    bool found = false;
    for (const Expr *item : items) {
      const auto value = hostValue(scope, item, depth);
      if (!value)
        return std::nullopt;
      found |= equal(*a, *value);
    }
    return HostValue(found == (op == CompareOperator::In));
  }
  const auto b = hostValue(scope, right, depth);
  if (!b)
    return std::nullopt;
  const auto x = numberOf(*a), y = numberOf(*b);
  switch (op) {
  case CompareOperator::Eq:
  case CompareOperator::Is:
    return HostValue(equal(*a, *b));
  case CompareOperator::NotEq:
  case CompareOperator::IsNot:
    return HostValue(!equal(*a, *b));
  case CompareOperator::Lt:
    return x && y ? std::optional(HostValue(*x < *y)) : std::nullopt;
  case CompareOperator::LtE:
    return x && y ? std::optional(HostValue(*x <= *y)) : std::nullopt;
  case CompareOperator::Gt:
    return x && y ? std::optional(HostValue(*x > *y)) : std::nullopt;
  case CompareOperator::GtE:
    return x && y ? std::optional(HostValue(*x >= *y)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace

bool knownToTriton(const std::string &path) {
  const FrontValue value = valueOfPath(path);
  if (value.is(FrontKind::Builtin))
    return findBuiltin(value.text) || !unsupportedReason(value.text).empty();
  return value.is(FrontKind::TypeObject) || value.is(FrontKind::Module);
}

std::optional<HostValue> hostValue(const ModuleScope &scope, const Expr *expr, int depth) {
  if (!expr || ++depth > kMaxDepth)
    return std::nullopt;
  switch (expr->kind) {
  case ExprKind::Constant: {
    const auto *constant = cast<Constant>(expr);
    if (const auto *flag = constant->asBool())
      return HostValue(*flag);
    if (const auto *integer = constant->asInt())
      return HostValue(*integer);
    if (const auto *number = constant->asFloat())
      return HostValue(*number);
    if (const auto *text = constant->asStr())
      return HostValue(std::string(*text));
    return constant->isNone() ? std::optional(HostValue(nullptr)) : std::nullopt;
  }
  case ExprKind::Name:
  case ExprKind::Attribute: {
    const Meaning meaning = scope.meaningOf(expr, depth);
    if (meaning.kind == Meaning::Kind::External && meaning.path == "typing.TYPE_CHECKING")
      return HostValue(false);
    if (meaning.kind == Meaning::Kind::External)
      if (const auto known = foreignValue(meaning.path))
        return known->is(FrontKind::String) ? HostValue(known->text) : HostValue(known->number);
    if (meaning.kind == Meaning::Kind::Bound && meaning.binding->value)
      return hostValue(*meaning.scope, meaning.binding->value, depth);
    return std::nullopt;
  }
  case ExprKind::UnaryOp:
    if (cast<UnaryOp>(expr)->op == UnaryOperator::Not)
      if (const auto value = hostValue(scope, cast<UnaryOp>(expr)->operand, depth))
        return HostValue(!truthOf(*value));
    return std::nullopt;
  case ExprKind::BoolOp: {
    const auto *all = cast<BoolOp>(expr);
    const bool isOr = all->op == BoolOperator::Or;
    std::optional<HostValue> last = HostValue(!isOr);
    bool unknown = false;
    for (const Expr *part : all->values) {
      const auto value = hostValue(scope, part, depth);
      if (value && truthOf(*value) == isOr)
        return unknown ? std::optional(HostValue(isOr)) : value;
      unknown |= !value;
      last = value;
    }
    return unknown ? std::nullopt : last;
  }
  case ExprKind::Compare:
    return compared(scope, cast<Compare>(expr), depth);
  case ExprKind::Call:
    return callValue(scope, cast<Call>(expr), depth);
  case ExprKind::IfExp:
    if (const auto test = hostValue(scope, cast<IfExp>(expr)->test, depth))
      return hostValue(scope, truthOf(*test) ? cast<IfExp>(expr)->body : cast<IfExp>(expr)->orelse, depth);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<bool> decidedCondition(const ModuleScope &scope, const Expr *expr) {
  const auto value = hostValue(scope, expr);
  return value ? std::optional(truthOf(*value)) : std::nullopt;
}

} // namespace tilewright::lowering

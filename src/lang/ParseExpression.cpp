// Operators and what is above them: from yield and tuples down to primaries.
#include "ParserCore.h"

#include <fmt/format.h>

namespace tilewright::lang {

namespace {

struct BinaryRule {
  int precedence = 0; ///< 0: no binary operator
  BinaryOperator op = BinaryOperator::Add;
};

BinaryRule binaryRule(TokenKind kind) {
  switch (kind) {
  case TokenKind::Pipe:
    return {1, BinaryOperator::BitOr};
  case TokenKind::Caret:
    return {2, BinaryOperator::BitXor};
  case TokenKind::Ampersand:
    return {3, BinaryOperator::BitAnd};
  case TokenKind::LeftShift:
    return {4, BinaryOperator::LShift};
  case TokenKind::RightShift:
    return {4, BinaryOperator::RShift};
  case TokenKind::Plus:
    return {5, BinaryOperator::Add};
  case TokenKind::Minus:
    return {5, BinaryOperator::Sub};
  case TokenKind::Star:
    return {6, BinaryOperator::Mult};
  case TokenKind::Slash:
    return {6, BinaryOperator::Div};
  case TokenKind::DoubleSlash:
    return {6, BinaryOperator::FloorDiv};
  case TokenKind::Percent:
    return {6, BinaryOperator::Mod};
  case TokenKind::At:
    return {6, BinaryOperator::MatMult};
  default:
    return {};
  }
}

} // namespace

bool ParserCore::startsExpression(TokenKind kind) {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::Number:
  case TokenKind::String:
  case TokenKind::FStringStart:
  case TokenKind::False:
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::Await:
  case TokenKind::Lambda:
  case TokenKind::Not:
  case TokenKind::LeftParen:
  case TokenKind::LeftBracket:
  case TokenKind::LeftBrace:
  case TokenKind::Ellipsis:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Tilde:
  case TokenKind::Star:
    return true;
  default:
    return false;
  }
}

const Expr *ParserCore::parseYieldOrStarExpressions() {
  return at(TokenKind::Yield) ? parseYield() : parseStarExpressions();
}

const Expr *ParserCore::parseYield() {
  const uint32_t begin = here();
  advance();
  if (accept(TokenKind::From)) {
    const Expr *value = parseExpression();
    auto *node = make<YieldFrom>(begin);
    node->value = value;
    raiseHeight(node, value);
    return node;
  }
  const Expr *value = startsExpression(kind()) ? parseStarExpressions() : nullptr;
  auto *node = make<Yield>(begin);
  node->value = value;
  raiseHeight(node, value);
  return node;
}

const Expr *ParserCore::parseStarExpressions() {
  const uint32_t begin = here();
  const Expr *first = parseStarExpression();
  if (!at(TokenKind::Comma))
    return first;
  std::vector<const Expr *> items{first};
  while (accept(TokenKind::Comma) && startsExpression(kind()))
    items.push_back(parseStarExpression());
  auto *node = make<Tuple>(begin);
  node->elts = arena_.copy(items);
  raiseHeight(node, node->elts);
  return node;
}

const Expr *ParserCore::parseStarExpression() {
  if (!at(TokenKind::Star))
    return parseExpression();
  const uint32_t begin = here();
  advance();
  const Expr *value = parseBinary(1);
  auto *node = make<Starred>(begin);
  node->value = value;
  raiseHeight(node, value);
  return node;
}

const Expr *ParserCore::parseStarNamedExpression() {
  return at(TokenKind::Star) ? parseStarExpression() : parseNamedExpression();
}

const Expr *ParserCore::parseNamedExpression() {
  const uint32_t begin = here();
  const bool isName = at(TokenKind::Name);
  const Expr *target = parseExpression();
  if (!at(TokenKind::ColonEqual))
    return target;
  if (!isName || target->kind != ExprKind::Name)
    fail("':=' assigns to plain names only", target->range);
  setContext(target, ExprContext::Store);
  advance();
  const Expr *value = parseExpression();
  auto *node = make<NamedExpr>(begin);
  node->target = target;
  node->value = value;
  raiseHeight(node, value);
  raiseHeight(node, target);
  return node;
}

const Expr *ParserCore::parseExpression() {
  const DepthGuard guard(*this);
  if (at(TokenKind::Lambda))
    return parseLambda();
  const uint32_t begin = here();
  const Expr *body = parseDisjunction();
  if (!at(TokenKind::If))
    return body;
  advance();
  const Expr *test = parseDisjunction();
  if (!at(TokenKind::Else))
    failHere(fmt::format("expected 'else' after the condition, found {}", found()),
             "a conditional expression is written: value if condition else other");
  advance();
  const Expr *orelse = parseExpression();
  auto *node = make<IfExp>(begin);
  node->test = test;
  node->body = body;
  node->orelse = orelse;
  raiseHeight(node, {test, body, orelse});
  return node;
}

const Expr *ParserCore::parseLambda() {
  const uint32_t begin = here();
  advance();
  const Arguments *args = parseParameters(TokenKind::Colon);
  expect(TokenKind::Colon, "after the parameters of the lambda");
  const Expr *body = parseExpression();
  auto *node = make<Lambda>(begin);
  node->args = args;
  node->body = body;
  raiseHeight(node, body);
  raiseHeight(node, args->defaults);
  raiseHeight(node, args->kwDefaults);
  return node;
}

const Expr *ParserCore::parseDisjunction() {
  const uint32_t begin = here();
  const Expr *first = parseConjunction();
  if (!at(TokenKind::Or))
    return first;
  std::vector<const Expr *> values{first};
  while (accept(TokenKind::Or))
    values.push_back(parseConjunction());
  auto *node = make<BoolOp>(begin);
  node->op = BoolOperator::Or;
  node->values = arena_.copy(values);
  raiseHeight(node, node->values);
  return node;
}

const Expr *ParserCore::parseConjunction() {
  const uint32_t begin = here();
  const Expr *first = parseInversion();
  if (!at(TokenKind::And))
    return first;
  std::vector<const Expr *> values{first};
  while (accept(TokenKind::And))
    values.push_back(parseInversion());
  auto *node = make<BoolOp>(begin);
  node->op = BoolOperator::And;
  node->values = arena_.copy(values);
  raiseHeight(node, node->values);
  return node;
}

const Expr *ParserCore::parseInversion() {
  if (!at(TokenKind::Not))
    return parseComparison();
  std::vector<uint32_t> begins;
  while (at(TokenKind::Not)) {
    begins.push_back(here());
    advance();
  }
  const Expr *operand = parseComparison();
  for (; !begins.empty(); begins.pop_back()) {
    auto *node = make<UnaryOp>(begins.back());
    node->op = UnaryOperator::Not;
    node->operand = operand;
    raiseHeight(node, operand);
    operand = node;
  }
  return operand;
}

const Expr *ParserCore::parseComparison() {
  const uint32_t begin = here();
  const Expr *left = parseBinary(1);
  std::vector<CompareOperator> ops;
  std::vector<const Expr *> comparators;
  for (;;) {
    CompareOperator op;
    switch (kind()) {
    case TokenKind::EqualEqual:
      op = CompareOperator::Eq;
      break;
    case TokenKind::NotEqual:
      op = CompareOperator::NotEq;
      break;
    case TokenKind::Less:
      op = CompareOperator::Lt;
      break;
    case TokenKind::LessEqual:
      op = CompareOperator::LtE;
      break;
    case TokenKind::Greater:
      op = CompareOperator::Gt;
      break;
    case TokenKind::GreaterEqual:
      op = CompareOperator::GtE;
      break;
    case TokenKind::In:
      op = CompareOperator::In;
      break;
    case TokenKind::Is:
      op = nextKind() == TokenKind::Not ? CompareOperator::IsNot : CompareOperator::Is;
      break;
    case TokenKind::Not:
      if (nextKind() == TokenKind::In) {
        op = CompareOperator::NotIn;
        break;
      }
      [[fallthrough]];
    default:
      if (ops.empty())
        return left;
      auto *node = make<Compare>(begin);
      node->left = left;
      node->ops = arena_.copy(ops);
      node->comparators = arena_.copy(comparators);
      raiseHeight(node, left);
      raiseHeight(node, node->comparators);
      return node;
    }
    if (op == CompareOperator::IsNot || op == CompareOperator::NotIn)
      advance();
    advance();
    ops.push_back(op);
    comparators.push_back(parseBinary(1));
  }
}

const Expr *ParserCore::parseBinary(int minPrecedence) {
  const uint32_t begin = here();
  const Expr *left = parseFactor();
  for (;;) {
    const BinaryRule rule = binaryRule(kind());
    if (rule.precedence < minPrecedence)
      return left;
    advance();
    const Expr *right = parseBinary(rule.precedence + 1);
    auto *node = make<BinOp>(begin);
    node->left = left;
    node->op = rule.op;
    node->right = right;
    raiseHeight(node, {left, right});
    left = node;
  }
}

const Expr *ParserCore::parseFactor() {
  const auto atSign = [&] { return at(TokenKind::Minus) || at(TokenKind::Plus) || at(TokenKind::Tilde); };
  if (!atSign())
    return parsePower();
  struct Sign {
    uint32_t begin;
    UnaryOperator op;
  };
  std::vector<Sign> signs;
  while (atSign()) {
    signs.push_back({here(), at(TokenKind::Minus)  ? UnaryOperator::USub
                             : at(TokenKind::Plus) ? UnaryOperator::UAdd
                                                   : UnaryOperator::Invert});
    advance();
  }
  const Expr *operand = parsePower();
  for (; !signs.empty(); signs.pop_back()) {
    auto *node = make<UnaryOp>(signs.back().begin);
    node->op = signs.back().op;
    node->operand = operand;
    raiseHeight(node, operand);
    operand = node;
  }
  return operand;
}

const Expr *ParserCore::parsePower() {
  const uint32_t begin = here();
  const Expr *base;
  if (accept(TokenKind::Await)) {
    const Expr *value = parsePrimary();
    auto *node = make<Await>(begin);
    node->value = value;
    raiseHeight(node, value);
    base = node;
  } else {
    base = parsePrimary();
  }
  if (!at(TokenKind::DoubleStar))
    return base;
  const DepthGuard guard(*this);
  advance();
  const Expr *exponent = parseFactor();
  auto *node = make<BinOp>(begin);
  node->left = base;
  node->op = BinaryOperator::Pow;
  node->right = exponent;
  raiseHeight(node, {base, exponent});
  return node;
}

const Expr *ParserCore::parsePrimary() {
  const uint32_t begin = here();
  const Expr *value = parseAtom();
  for (;;) {
    switch (kind()) {
    case TokenKind::Dot: {
      advance();
      const Identifier attr = expectName("an attribute name after '.'");
      auto *node = make<Attribute>(begin);
      node->value = value;
      node->attr = attr;
      raiseHeight(node, value);
      value = node;
      break;
    }
    case TokenKind::LeftParen:
      value = parseCall(begin, value);
      break;
    case TokenKind::LeftBracket:
      value = parseSubscript(begin, value);
      break;
    default:
      return value;
    }
  }
}

const Expr *ParserCore::parseTargetList() {
  const uint32_t begin = here();
  const auto parseTarget = [&]() -> const Expr * {
    return at(TokenKind::Star) ? parseStarExpression() : parseBinary(1);
  };
  const Expr *target = parseTarget();
  if (at(TokenKind::Comma)) {
    std::vector<const Expr *> items{target};
    while (accept(TokenKind::Comma) && startsExpression(kind()))
      items.push_back(parseTarget());
    auto *node = make<Tuple>(begin);
    node->elts = arena_.copy(items);
    raiseHeight(node, node->elts);
    target = node;
  }
  setContext(target, ExprContext::Store);
  return target;
}

void ParserCore::setContext(const Expr *target, ExprContext context, std::string_view action) {
  // The node was made by this parser and nobody else has seen it yet.
  const auto set = [&]<class T>(const T *node) { const_cast<T *>(node)->ctx = context; };
  switch (target->kind) {
  case ExprKind::Name:
    return set(cast<Name>(target));
  case ExprKind::Attribute:
    return set(cast<Attribute>(target));
  case ExprKind::Subscript:
    return set(cast<Subscript>(target));
  case ExprKind::Starred:
    if (context == ExprContext::Del)
      failTarget(target, action);
    set(cast<Starred>(target));
    if (cast<Starred>(target)->value->kind == ExprKind::Starred)
      failTarget(target, action);
    return setContext(cast<Starred>(target)->value, context, action);
  case ExprKind::List:
    set(cast<List>(target));
    for (const Expr *item : cast<List>(target)->elts)
      setContext(item, context, action);
    return;
  case ExprKind::Tuple:
    set(cast<Tuple>(target));
    for (const Expr *item : cast<Tuple>(target)->elts)
      setContext(item, context, action);
    return;
  default:
    failTarget(target, action);
  }
}

void ParserCore::failTarget(const Expr *target, std::string_view action) {
  const auto name = [&]() -> std::string_view {
    switch (target->kind) {
    case ExprKind::Call:
      return "a function call";
    case ExprKind::BinOp:
    case ExprKind::UnaryOp:
    case ExprKind::BoolOp:
      return "an expression";
    case ExprKind::Compare:
      return "a comparison";
    case ExprKind::Lambda:
      return "a lambda";
    case ExprKind::IfExp:
      return "a conditional expression";
    case ExprKind::JoinedStr:
      return "an f-string";
    case ExprKind::Dict:
      return "a dict display";
    case ExprKind::Set:
      return "a set display";
    case ExprKind::ListComp:
    case ExprKind::SetComp:
    case ExprKind::DictComp:
      return "a comprehension";
    case ExprKind::GeneratorExp:
      return "a generator expression";
    case ExprKind::Await:
      return "an await expression";
    case ExprKind::Yield:
    case ExprKind::YieldFrom:
      return "a yield expression";
    case ExprKind::NamedExpr:
      return "a ':=' expression";
    case ExprKind::Starred:
      return "a starred expression";
    case ExprKind::Constant: {
      const auto *constant = cast<Constant>(target);
      if (constant->isNone())
        return "None";
      if (const bool *value = constant->asBool())
        return *value ? "True" : "False";
      return "a literal";
    }
    default:
      return nodeName(target->kind);
    }
  }();
  const bool comparable = target->kind == ExprKind::Call || target->kind == ExprKind::BinOp;
  fail(fmt::format("cannot {} {}", action, name), target->range,
       action == "assign to" && comparable && at(TokenKind::Equal) ? "did you mean '=='?" : "");
}

} // namespace tilewright::lang

// Simple statements and the lines they stand on.
#include "ParserCore.h"

#include <fmt/format.h>
#include <optional>

namespace tilewright::lang {

namespace {

std::optional<BinaryOperator> augmentedOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusEqual:
    return BinaryOperator::Add;
  case TokenKind::MinusEqual:
    return BinaryOperator::Sub;
  case TokenKind::StarEqual:
    return BinaryOperator::Mult;
  case TokenKind::AtEqual:
    return BinaryOperator::MatMult;
  case TokenKind::SlashEqual:
    return BinaryOperator::Div;
  case TokenKind::PercentEqual:
    return BinaryOperator::Mod;
  case TokenKind::DoubleStarEqual:
    return BinaryOperator::Pow;
  case TokenKind::LeftShiftEqual:
    return BinaryOperator::LShift;
  case TokenKind::RightShiftEqual:
    return BinaryOperator::RShift;
  case TokenKind::PipeEqual:
    return BinaryOperator::BitOr;
  case TokenKind::CaretEqual:
    return BinaryOperator::BitXor;
  case TokenKind::AmpersandEqual:
    return BinaryOperator::BitAnd;
  case TokenKind::DoubleSlashEqual:
    return BinaryOperator::FloorDiv;
  default:
    return std::nullopt;
  }
}

} // namespace

void ParserCore::parseStatement(std::vector<const Stmt *> &out) {
  const DepthGuard guard(*this);
  if (at(TokenKind::Indent))
    failHere("this line is indented, but no block begins here");
  if (const Stmt *compound = parseCompound())
    out.push_back(compound);
  else
    parseSimpleLine(out);
}

/// `a; b; c`
void ParserCore::parseSimpleLine(std::vector<const Stmt *> &out) {
  for (;;) {
    out.push_back(parseSimpleStatement());
    if (!accept(TokenKind::Semicolon) || at(TokenKind::Newline))
      break;
  }
  if (at(TokenKind::EndOfFile) || accept(TokenKind::Newline))
    return;
  if (at(TokenKind::Equal))
    failHere("cannot assign here", "did you mean '=='?");
  if (const auto *statement = dynCast<ExprStmt>(out.back()))
    if (const auto *name = dynCast<Name>(statement->value);
        name && (name->id == "print" || name->id == "exec") && startsExpression(kind()))
      fail(fmt::format("missing parentheses in a call of '{}'", name->id), statement->range,
           fmt::format("{} is a function since Python 3: write {}(...)", name->id, name->id));
  failHere(fmt::format("expected the end of the statement, found {}", found()),
           startsExpression(kind()) ? "is a comma, an operator or a parenthesis missing?" : "");
}

const Stmt *ParserCore::parseSimpleStatement() {
  const uint32_t begin = here();
  switch (kind()) {
  case TokenKind::Pass:
    advance();
    return make<Pass>(begin);
  case TokenKind::Break:
    advance();
    return make<Break>(begin);
  case TokenKind::Continue:
    advance();
    return make<Continue>(begin);
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Raise:
    return parseRaise();
  case TokenKind::Del:
    return parseDelete();
  case TokenKind::Assert:
    return parseAssert();
  case TokenKind::Import:
    return parseImport();
  case TokenKind::From:
    return parseImportFrom();
  case TokenKind::Global:
  case TokenKind::Nonlocal:
    return parseNames();
  case TokenKind::Name:
    if (atTypeAlias())
      return parseTypeAlias();
    return parseExpressionStatement();
  case TokenKind::Elif:
  case TokenKind::Else:
  case TokenKind::Except:
  case TokenKind::Finally:
    failHere(fmt::format("'{}' without a statement that it belongs to", tokenText(kind())));
  default:
    return parseExpressionStatement();
  }
}

const Stmt *ParserCore::parseExpressionStatement() {
  const uint32_t begin = here();
  if (!startsExpression(kind()) && !at(TokenKind::Yield))
    failExpected("a statement");
  const Expr *first = parseYieldOrStarExpressions();
  if (at(TokenKind::Equal))
    return parseAssignment(begin, first);
  if (at(TokenKind::Colon))
    return parseAnnotation(begin, first);
  if (const auto op = augmentedOperator(kind())) {
    if (first->kind == ExprKind::Tuple || first->kind == ExprKind::List || first->kind == ExprKind::Starred)
      fail(fmt::format("'{}' needs a single target", tokenText(kind())), first->range);
    setContext(first, ExprContext::Store);
    advance();
    const Expr *value = parseYieldOrStarExpressions();
    auto *node = make<AugAssign>(begin);
    node->target = first;
    node->op = *op;
    node->value = value;
    return node;
  }
  if (at(TokenKind::ColonEqual))
    failHere("':=' cannot be used at the start of a statement", "assign with '='");
  auto *node = make<ExprStmt>(begin);
  node->value = first;
  return node;
}

const Stmt *ParserCore::parseAssignment(uint32_t begin, const Expr *first) {
  std::vector<const Expr *> targets;
  const Expr *value = first;
  while (at(TokenKind::Equal)) {
    setContext(value, ExprContext::Store);
    targets.push_back(value);
    advance();
    value = parseYieldOrStarExpressions();
  }
  if (augmentedOperator(kind()))
    failHere(fmt::format("'{}' cannot be mixed with '='", tokenText(kind())));
  auto *node = make<Assign>(begin);
  node->targets = arena_.copy(targets);
  node->value = value;
  return node;
}

const Stmt *ParserCore::parseAnnotation(uint32_t begin, const Expr *target) {
  if (target->kind == ExprKind::Tuple || target->kind == ExprKind::List)
    fail("only a single target can be annotated", target->range);
  if (target->kind != ExprKind::Name && target->kind != ExprKind::Attribute &&
      target->kind != ExprKind::Subscript)
    failHere(fmt::format("expected the end of the statement, found {}", found()));
  setContext(target, ExprContext::Store);
  advance();
  const Expr *annotation = parseExpression();
  const Expr *value = accept(TokenKind::Equal) ? parseYieldOrStarExpressions() : nullptr;
  auto *node = make<AnnAssign>(begin);
  node->target = target;
  node->annotation = annotation;
  node->value = value;
  node->simple = target->kind == ExprKind::Name && target->range.begin == begin;
  return node;
}

const Stmt *ParserCore::parseDelete() {
  const uint32_t begin = here();
  advance();
  std::vector<const Expr *> targets;
  do {
    if (!startsExpression(kind())) {
      if (targets.empty())
        failExpected("what to delete");
      break;
    }
    const Expr *target = parseStarExpression();
    setContext(target, ExprContext::Del, "delete");
    targets.push_back(target);
  } while (accept(TokenKind::Comma));
  auto *node = make<Delete>(begin);
  node->targets = arena_.copy(targets);
  return node;
}

const Stmt *ParserCore::parseReturn() {
  const uint32_t begin = here();
  advance();
  const Expr *value = startsExpression(kind()) ? parseStarExpressions() : nullptr;
  auto *node = make<Return>(begin);
  node->value = value;
  return node;
}

const Stmt *ParserCore::parseRaise() {
  const uint32_t begin = here();
  advance();
  const Expr *exception = startsExpression(kind()) ? parseExpression() : nullptr;
  const Expr *cause = exception && accept(TokenKind::From) ? parseExpression() : nullptr;
  auto *node = make<Raise>(begin);
  node->exc = exception;
  node->cause = cause;
  return node;
}

const Stmt *ParserCore::parseAssert() {
  const uint32_t begin = here();
  advance();
  const Expr *test = parseExpression();
  const Expr *message = accept(TokenKind::Comma) ? parseExpression() : nullptr;
  auto *node = make<Assert>(begin);
  node->test = test;
  node->msg = message;
  return node;
}

Identifier ParserCore::parseDottedName() {
  const Identifier first = expectName("the name of a module");
  if (!at(TokenKind::Dot))
    return first;
  std::string name(first);
  while (accept(TokenKind::Dot)) {
    name += '.';
    name += expectName("a name after '.'");
  }
  return arena_.intern(name);
}

const Alias *ParserCore::parseAlias(bool dotted) {
  const uint32_t begin = here();
  const Identifier name = dotted ? parseDottedName() : expectName("a name to import");
  Identifier asname;
  if (accept(TokenKind::As))
    asname = expectName("a name after 'as'");
  auto *alias = make<Alias>(begin);
  alias->name = name;
  alias->asname = asname;
  return alias;
}

const Stmt *ParserCore::parseImport() {
  const uint32_t begin = here();
  advance();
  std::vector<const Alias *> names;
  do
    names.push_back(parseAlias(true));
  while (accept(TokenKind::Comma));
  auto *node = make<Import>(begin);
  node->names = arena_.copy(names);
  return node;
}

const Stmt *ParserCore::parseImportFrom() {
  const uint32_t begin = here();
  advance();
  uint32_t level = 0;
  for (; at(TokenKind::Dot) || at(TokenKind::Ellipsis); advance())
    level += at(TokenKind::Dot) ? 1 : 3;
  Identifier module;
  if (level == 0 || at(TokenKind::Name))
    module = parseDottedName();
  expect(TokenKind::Import, "after the module");
  std::vector<const Alias *> names;
  if (at(TokenKind::Star)) {
    const uint32_t star = here();
    advance();
    auto *alias = make<Alias>(star);
    alias->name = arena_.intern("*");
    names.push_back(alias);
  } else if (accept(TokenKind::LeftParen)) {
    do {
      if (at(TokenKind::RightParen) && !names.empty())
        break;
      names.push_back(parseAlias(false));
    } while (accept(TokenKind::Comma));
    expect(TokenKind::RightParen, "to close the imported names");
  } else {
    do {
      if (at(TokenKind::Newline) && !names.empty())
        failHere("a trailing comma needs parentheses around the imported names");
      names.push_back(parseAlias(false));
    } while (accept(TokenKind::Comma));
  }
  auto *node = make<ImportFrom>(begin);
  node->module = module;
  node->names = arena_.copy(names);
  node->level = level;
  return node;
}

const Stmt *ParserCore::parseNames() {
  const uint32_t begin = here();
  const bool global = at(TokenKind::Global);
  advance();
  std::vector<Identifier> names;
  do
    names.push_back(expectName("a variable's name"));
  while (accept(TokenKind::Comma));
  const auto finish = [&]<class T>(T *node) {
    node->names = arena_.copy(names);
    return node;
  };
  if (global)
    return finish(make<Global>(begin));
  return finish(make<Nonlocal>(begin));
}

/// `type` is a name unless a name and then '=' or '[' follow.
bool ParserCore::atTypeAlias() const {
  if (!atWord("type") || nextKind() != TokenKind::Name)
    return false;
  const TokenKind third = tokens_[index_ + 2].kind;
  return third == TokenKind::Equal || third == TokenKind::LeftBracket;
}

const Stmt *ParserCore::parseTypeAlias() {
  const uint32_t begin = here();
  advance();
  const uint32_t nameBegin = here();
  const Identifier id = expectName("the name of the type alias");
  auto *name = make<Name>(nameBegin);
  name->id = id;
  name->ctx = ExprContext::Store;
  const auto params = parseTypeParams();
  expect(TokenKind::Equal, "after the name of the type alias");
  const Expr *value = parseExpression();
  auto *node = make<TypeAlias>(begin);
  node->name = name;
  node->typeParams = params;
  node->value = value;
  return node;
}

} // namespace tilewright::lang

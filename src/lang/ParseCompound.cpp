// Statements with blocks, but for match.
#include "ParserCore.h"

#include <fmt/format.h>

namespace tilewright::lang {

/// Null when the current token starts a simple statement.
const Stmt *ParserCore::parseCompound() {
  switch (kind()) {
  case TokenKind::Def:
    return parseFunction(here(), {}, false);
  case TokenKind::Class:
    return parseClass({});
  case TokenKind::If:
    return parseIf();
  case TokenKind::For:
    return parseFor(here(), false);
  case TokenKind::While:
    return parseWhile();
  case TokenKind::With:
    return parseWith(here(), false);
  case TokenKind::Try:
    return parseTry();
  case TokenKind::At:
    return parseDecorated();
  case TokenKind::Async:
    return parseAsync();
  case TokenKind::Name:
    return atMatchStatement() ? parseMatch() : nullptr;
  default:
    return nullptr;
  }
}

/// From the ':'. `header` is the offset of the statement that the block belongs to.
Body ParserCore::parseBlock(std::string_view what, uint32_t header) {
  if (!at(TokenKind::Colon))
    failHere(fmt::format("expected ':' after {}, found {}", what, found()),
             at(TokenKind::Equal) ? "to compare, write '=='" : "");
  advance();
  std::vector<const Stmt *> body;
  if (!accept(TokenKind::Newline)) {
    if (const Token &first = token(); first.kind == TokenKind::EndOfFile)
      failExpected("a statement");
    parseSimpleLine(body);
    return arena_.copy(body);
  }
  if (!accept(TokenKind::Indent)) {
    const SourceFile::Position position = source_.position(header);
    failHere(
        fmt::format("expected an indented block after {} (line {}), found {}", what, position.line, found()),
        "indent the block, or write 'pass' for an empty one");
  }
  while (!at(TokenKind::Dedent) && !at(TokenKind::EndOfFile))
    parseStatement(body);
  accept(TokenKind::Dedent);
  return arena_.copy(body);
}

Body ParserCore::parseElse(std::string_view what) {
  const uint32_t begin = here();
  if (!accept(TokenKind::Else))
    return {};
  return parseBlock(what, begin);
}

const Stmt *ParserCore::parseDecorated() {
  std::vector<const Expr *> decorators;
  while (accept(TokenKind::At)) {
    decorators.push_back(parseNamedExpression());
    if (!accept(TokenKind::Newline))
      failHere(fmt::format("expected the end of the line after the decorator, found {}", found()));
  }
  const auto list = arena_.copy(decorators);
  if (at(TokenKind::Class))
    return parseClass(list);
  const uint32_t begin = here();
  const bool isAsync = at(TokenKind::Async) && nextKind() == TokenKind::Def;
  if (isAsync)
    advance();
  if (!at(TokenKind::Def))
    failExpected("a function or a class after the decorator");
  return parseFunction(begin, list, isAsync);
}

const Stmt *ParserCore::parseAsync() {
  const uint32_t begin = here();
  advance();
  switch (kind()) {
  case TokenKind::Def:
    return parseFunction(begin, {}, true);
  case TokenKind::For:
    return parseFor(begin, true);
  case TokenKind::With:
    return parseWith(begin, true);
  default:
    failExpected("'def', 'for' or 'with' after 'async'");
  }
}

const Stmt *ParserCore::parseFunction(uint32_t begin, Seq<const Expr *> decorators, bool isAsync) {
  advance();
  const Identifier name = expectName("the name of the function");
  const auto typeParams = parseTypeParams();
  expect(TokenKind::LeftParen, "after the name of the function");
  const Arguments *args = parseParameters(TokenKind::RightParen);
  advance();
  const Expr *returns = accept(TokenKind::Arrow) ? parseExpression() : nullptr;
  const Body body = parseBlock("the head of the function", begin);
  const auto finish = [&](FunctionFields *node) {
    node->name = name;
    node->args = args;
    node->body = body;
    node->decoratorList = decorators;
    node->returns = returns;
    node->typeParams = typeParams;
    return node;
  };
  return isAsync ? finish(make<AsyncFunctionDef>(begin)) : finish(make<FunctionDef>(begin));
}

const Stmt *ParserCore::parseClass(Seq<const Expr *> decorators) {
  const uint32_t begin = here();
  advance();
  const Identifier name = expectName("the name of the class");
  const auto typeParams = parseTypeParams();
  std::vector<const Expr *> bases;
  std::vector<const Keyword *> keywords;
  if (accept(TokenKind::LeftParen)) {
    parseCallArguments(bases, keywords);
    expect(TokenKind::RightParen, "to close the bases of the class");
  }
  const Body body = parseBlock("the head of the class", begin);
  auto *node = make<ClassDef>(begin);
  node->name = name;
  node->bases = arena_.copy(bases);
  node->keywords = arena_.copy(keywords);
  node->body = body;
  node->decoratorList = decorators;
  node->typeParams = typeParams;
  return node;
}

const Stmt *ParserCore::parseIf() {
  struct Branch {
    uint32_t begin;
    const Expr *test;
    Body body;
  };
  std::vector<Branch> branches;
  do {
    if (branches.size() > kMaxElifs)
      failDepth();
    const uint32_t begin = here();
    const std::string_view what = branches.empty() ? "the condition of 'if'" : "the condition of 'elif'";
    advance();
    const Expr *test = parseNamedExpression();
    branches.push_back({begin, test, parseBlock(what, begin)});
  } while (at(TokenKind::Elif));
  Body orelse = parseElse("'else'");
  for (;; branches.pop_back()) {
    auto *node = make<If>(branches.back().begin);
    node->test = branches.back().test;
    node->body = branches.back().body;
    node->orelse = orelse;
    if (branches.size() == 1)
      return node;
    const Stmt *const nested = node;
    orelse = arena_.copy(Seq<const Stmt *>(&nested, 1));
  }
}

const Stmt *ParserCore::parseWhile() {
  const uint32_t begin = here();
  advance();
  const Expr *test = parseNamedExpression();
  const Body body = parseBlock("the condition of 'while'", begin);
  const Body orelse = parseElse("'else'");
  auto *node = make<While>(begin);
  node->test = test;
  node->body = body;
  node->orelse = orelse;
  return node;
}

const Stmt *ParserCore::parseFor(uint32_t begin, bool isAsync) {
  advance();
  const Expr *target = parseTargetList();
  expect(TokenKind::In, "after the target of 'for'");
  const Expr *iter = parseStarExpressions();
  const Body body = parseBlock("the head of 'for'", begin);
  const Body orelse = parseElse("'else'");
  const auto finish = [&](ForFields *node) {
    node->target = target;
    node->iter = iter;
    node->body = body;
    node->orelse = orelse;
    return node;
  };
  return isAsync ? finish(make<AsyncFor>(begin)) : finish(make<For>(begin));
}

/// At '(' behind `with`: do the parentheses hold the items, or do they belong to the first item's expression?
/// Items hold them when ':' follows the ')' and what is inside is not something that only one expression can
/// be: a tuple with a star, a generator expression, a yield or an assignment expression.
bool ParserCore::withItemsAreParenthesized() const {
  int depth = 0;
  bool onlyExpression =
      nextKind() == TokenKind::RightParen || nextKind() == TokenKind::Yield || nextKind() == TokenKind::Comma;
  bool itemStart = true, inLambda = false;
  for (uint32_t i = index_;; ++i) {
    switch (const TokenKind kind = tokens_[i].kind) {
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      ++depth;
      itemStart = depth == 1;
      continue;
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::RightBrace:
      if (--depth == 0)
        return tokens_[i + 1].kind == TokenKind::Colon && !onlyExpression;
      break;
    case TokenKind::Newline:
    case TokenKind::EndOfFile:
      return false;
    default:
      if (depth != 1)
        break;
      if (kind == TokenKind::Lambda)
        inLambda = true;
      else if (kind == TokenKind::Colon)
        inLambda = false;
      else if (kind == TokenKind::As)
        return true;
      else if (!inLambda && (kind == TokenKind::For || kind == TokenKind::ColonEqual ||
                             (kind == TokenKind::Star && itemStart)))
        onlyExpression = true;
      itemStart = kind == TokenKind::Comma;
      continue;
    }
    itemStart = false;
  }
}

const WithItem *ParserCore::parseWithItem() {
  auto *item = arena_.create<WithItem>();
  item->contextExpr = parseExpression();
  if (accept(TokenKind::As)) {
    const Expr *target = at(TokenKind::Star) ? parseStarExpression() : parseBinary(1);
    setContext(target, ExprContext::Store);
    item->optionalVars = target;
  }
  return item;
}

const Stmt *ParserCore::parseWith(uint32_t begin, bool isAsync) {
  advance();
  std::vector<const WithItem *> items;
  if (at(TokenKind::LeftParen) && withItemsAreParenthesized()) {
    advance();
    do {
      if (at(TokenKind::RightParen))
        break;
      items.push_back(parseWithItem());
    } while (accept(TokenKind::Comma));
    expect(TokenKind::RightParen, "to close the items of 'with'");
  } else {
    do
      items.push_back(parseWithItem());
    while (accept(TokenKind::Comma));
  }
  const Body body = parseBlock("the items of 'with'", begin);
  const auto finish = [&](WithFields *node) {
    node->items = arena_.copy(items);
    node->body = body;
    return node;
  };
  return isAsync ? finish(make<AsyncWith>(begin)) : finish(make<With>(begin));
}

const ExceptHandler *ParserCore::parseHandler(bool &star) {
  const uint32_t begin = here();
  advance();
  star = accept(TokenKind::Star);
  const Expr *type = nullptr;
  Identifier name;
  if (!at(TokenKind::Colon)) {
    const uint32_t typeBegin = here();
    type = parseExpression();
    if (at(TokenKind::Comma)) { // Python 3.14 needs no parentheses without `as`
      std::vector<const Expr *> types{type};
      while (accept(TokenKind::Comma) && startsExpression(kind()))
        types.push_back(parseExpression());
      auto *tuple = make<Tuple>(typeBegin);
      tuple->elts = arena_.copy(types);
      raiseHeight(tuple, tuple->elts);
      type = tuple;
      if (at(TokenKind::As))
        fail("several exception types before 'as' must be parenthesized", tuple->range);
    }
    if (accept(TokenKind::As))
      name = expectName("a name after 'as'");
  } else if (star) {
    failExpected("an exception type after 'except*'");
  }
  const Body body = parseBlock(star ? "'except*'" : "'except'", begin);
  auto *handler = make<ExceptHandler>(begin);
  handler->type = type;
  handler->name = name;
  handler->body = body;
  return handler;
}

const Stmt *ParserCore::parseTry() {
  const uint32_t begin = here();
  advance();
  const Body body = parseBlock("'try'", begin);
  std::vector<const ExceptHandler *> handlers;
  bool star = false;
  while (at(TokenKind::Except)) {
    const Token except = token();
    bool thisStar = false;
    handlers.push_back(parseHandler(thisStar));
    if (handlers.size() > 1 && thisStar != star)
      fail("'except' and 'except*' cannot be mixed in one 'try'", rangeOf(except));
    star = thisStar;
  }
  const Body orelse = handlers.empty() ? Body{} : parseElse("'else'");
  Body finalbody;
  if (at(TokenKind::Finally)) {
    const uint32_t finallyBegin = here();
    advance();
    finalbody = parseBlock("'finally'", finallyBegin);
  } else if (handlers.empty()) {
    failHere(fmt::format("expected 'except' or 'finally' after the block of 'try' (line {}), found {}",
                         source_.position(begin).line, found()));
  }
  const auto finish = [&](TryFields *node) {
    node->body = body;
    node->handlers = arena_.copy(handlers);
    node->orelse = orelse;
    node->finalbody = finalbody;
    return node;
  };
  return star ? finish(make<TryStar>(begin)) : finish(make<Try>(begin));
}

} // namespace tilewright::lang

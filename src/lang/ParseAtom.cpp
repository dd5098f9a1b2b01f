// Names, numbers, displays, comprehensions, calls and subscripts.
#include "Literals.h"
#include "ParserCore.h"

#include <fmt/format.h>

namespace tilewright::lang {

const Expr *ParserCore::parseAtom() {
  const uint32_t begin = here();
  const auto constant = [&](Constant::Value value) {
    advance();
    auto *node = make<Constant>(begin);
    node->value = value;
    return node;
  };
  switch (kind()) {
  case TokenKind::Name: {
    const Identifier id = identifier(token());
    advance();
    auto *node = make<Name>(begin);
    node->id = id;
    return node;
  }
  case TokenKind::Number:
    return parseNumber();
  case TokenKind::String:
  case TokenKind::FStringStart:
    return parseStrings();
  case TokenKind::None:
    return constant(NoneValue{});
  case TokenKind::True:
    return constant(true);
  case TokenKind::False:
    return constant(false);
  case TokenKind::Ellipsis:
    return constant(EllipsisValue{});
  case TokenKind::LeftParen:
    return parseParenthesized();
  case TokenKind::LeftBracket:
    return parseListDisplay();
  case TokenKind::LeftBrace:
    return parseBraceDisplay();
  case TokenKind::Equal:
    failHere("expected an expression, found '='", "to compare, write '=='");
  case TokenKind::Star:
    failHere("a starred expression cannot be used here");
  case TokenKind::Yield:
    failHere("expected an expression, found 'yield'", "put the yield in parentheses");
  default:
    failExpected("an expression");
  }
}

const Expr *ParserCore::parseNumber() {
  const Token number = token();
  Constant::Value value;
  if (const auto error = readNumber(textOf(number), arena_, value))
    fail(error->message, rangeOf(number));
  advance();
  auto *node = make<Constant>(number.begin);
  node->value = value;
  return node;
}

const Expr *ParserCore::parseParenthesized() {
  const uint32_t begin = here();
  advance();
  if (accept(TokenKind::RightParen))
    return make<Tuple>(begin);
  if (at(TokenKind::Yield)) {
    const Expr *value = parseYield();
    expect(TokenKind::RightParen, "after the yield expression");
    return value;
  }
  const Expr *first = parseStarNamedExpression();
  if (atComprehension()) {
    if (first->kind == ExprKind::Starred)
      fail("a comprehension cannot unpack with '*'", first->range);
    const auto generators = parseComprehensions();
    expect(TokenKind::RightParen, "to close the generator expression");
    auto *node = make<GeneratorExp>(begin);
    node->elt = first;
    node->generators = generators;
    raiseHeight(node, first);
    raiseHeight(node, generators);
    return node;
  }
  if (!at(TokenKind::Comma)) {
    if (!at(TokenKind::RightParen))
      failHere(fmt::format("expected ')' or ',', found {}", found()),
               startsExpression(kind()) ? "is a comma or an operator missing?" : "");
    if (first->kind == ExprKind::Starred)
      fail("a starred expression cannot be used here", first->range, "for a tuple of its items write (*x,)");
    advance();
    return first;
  }
  std::vector<const Expr *> items{first};
  while (accept(TokenKind::Comma) && !at(TokenKind::RightParen))
    items.push_back(parseStarNamedExpression());
  expect(TokenKind::RightParen, "to close the tuple");
  auto *node = make<Tuple>(begin);
  node->elts = arena_.copy(items);
  raiseHeight(node, node->elts);
  return node;
}

const Expr *ParserCore::parseListDisplay() {
  const uint32_t begin = here();
  advance();
  std::vector<const Expr *> items;
  if (!at(TokenKind::RightBracket)) {
    items.push_back(parseStarNamedExpression());
    if (atComprehension()) {
      if (items[0]->kind == ExprKind::Starred)
        fail("a comprehension cannot unpack with '*'", items[0]->range);
      const auto generators = parseComprehensions();
      expect(TokenKind::RightBracket, "to close the list comprehension");
      auto *node = make<ListComp>(begin);
      node->elt = items[0];
      node->generators = generators;
      raiseHeight(node, node->elt);
      raiseHeight(node, generators);
      return node;
    }
    while (accept(TokenKind::Comma) && !at(TokenKind::RightBracket))
      items.push_back(parseStarNamedExpression());
  }
  expect(TokenKind::RightBracket, "to close the list");
  auto *node = make<List>(begin);
  node->elts = arena_.copy(items);
  raiseHeight(node, node->elts);
  return node;
}

const Expr *ParserCore::parseBraceDisplay() {
  const uint32_t begin = here();
  advance();
  if (at(TokenKind::RightBrace) || at(TokenKind::DoubleStar))
    return parseDictDisplay(begin, nullptr);
  const uint32_t firstBegin = here();
  const Expr *first = parseStarNamedExpression();
  if (at(TokenKind::Colon)) {
    if (first->kind == ExprKind::Starred ||
        (first->kind == ExprKind::NamedExpr && first->range.begin == firstBegin))
      failHere("expected ',' or '}', found ':'", "put the key in parentheses");
    return parseDictDisplay(begin, first);
  }
  if (atComprehension()) {
    if (first->kind == ExprKind::Starred)
      fail("a comprehension cannot unpack with '*'", first->range);
    const auto generators = parseComprehensions();
    expect(TokenKind::RightBrace, "to close the set comprehension");
    auto *node = make<SetComp>(begin);
    node->elt = first;
    node->generators = generators;
    raiseHeight(node, first);
    raiseHeight(node, generators);
    return node;
  }
  std::vector<const Expr *> items{first};
  while (accept(TokenKind::Comma) && !at(TokenKind::RightBrace))
    items.push_back(parseStarNamedExpression());
  expect(TokenKind::RightBrace, "to close the set");
  auto *node = make<Set>(begin);
  node->elts = arena_.copy(items);
  raiseHeight(node, node->elts);
  return node;
}

/// Behind the '{', or at the ':' behind the first key where that was parsed already.
const Expr *ParserCore::parseDictDisplay(uint32_t begin, const Expr *firstKey) {
  std::vector<const Expr *> keys, values;
  while (!at(TokenKind::RightBrace)) {
    if (!firstKey && accept(TokenKind::DoubleStar)) {
      keys.push_back(nullptr);
      values.push_back(parseBinary(1));
      if (atComprehension())
        failHere("a dict comprehension cannot unpack with '**'");
    } else {
      keys.push_back(firstKey ? firstKey : parseExpression());
      firstKey = nullptr;
      expect(TokenKind::Colon, "after the key of a dict");
      values.push_back(parseExpression());
      if (keys.size() == 1 && atComprehension()) {
        const auto generators = parseComprehensions();
        expect(TokenKind::RightBrace, "to close the dict comprehension");
        auto *node = make<DictComp>(begin);
        node->key = keys[0];
        node->value = values[0];
        node->generators = generators;
        raiseHeight(node, {node->key, node->value});
        raiseHeight(node, generators);
        return node;
      }
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RightBrace, "to close the dict");
  auto *node = make<Dict>(begin);
  node->keys = arena_.copy(keys);
  node->values = arena_.copy(values);
  raiseHeight(node, node->keys);
  raiseHeight(node, node->values);
  return node;
}

Seq<const Comprehension *> ParserCore::parseComprehensions() {
  std::vector<const Comprehension *> generators;
  while (atComprehension()) {
    auto *generator = arena_.create<Comprehension>();
    generator->isAsync = accept(TokenKind::Async);
    advance();
    generator->target = parseTargetList();
    expect(TokenKind::In, "after the target of the comprehension");
    generator->iter = parseDisjunction();
    std::vector<const Expr *> ifs;
    while (accept(TokenKind::If))
      ifs.push_back(parseDisjunction());
    generator->ifs = arena_.copy(ifs);
    generators.push_back(generator);
  }
  return arena_.copy(generators);
}

const Expr *ParserCore::parseCall(uint32_t begin, const Expr *func) {
  std::vector<const Expr *> args;
  std::vector<const Keyword *> keywords;
  advance();
  parseCallArguments(args, keywords);
  expect(TokenKind::RightParen, "to close the call");
  auto *node = make<Call>(begin);
  node->func = func;
  node->args = arena_.copy(args);
  node->keywords = arena_.copy(keywords);
  raiseHeight(node, func);
  raiseHeight(node, node->args);
  for (const Keyword *keyword : keywords)
    raiseHeight(node, keyword->value);
  return node;
}

/// Behind the '(' of a call or of a class's bases; leaves the ')'.
void ParserCore::parseCallArguments(std::vector<const Expr *> &args, std::vector<const Keyword *> &keywords) {
  const uint32_t parenthesis = tokens_[index_ - 1].begin;
  bool unpackedMapping = false;
  while (!at(TokenKind::RightParen)) {
    const uint32_t begin = here();
    if (at(TokenKind::DoubleStar) || (at(TokenKind::Name) && nextKind() == TokenKind::Equal)) {
      Identifier name;
      if (at(TokenKind::Name)) {
        name = identifier(token());
        advance();
      } else {
        unpackedMapping = true;
      }
      advance();
      const Expr *value = parseExpression();
      if (atComprehension())
        failHere(fmt::format("expected ')' or ',', found {}", found()),
                 "put the generator expression in parentheses");
      auto *keyword = make<Keyword>(begin);
      keyword->arg = name;
      keyword->value = value;
      keywords.push_back(keyword);
    } else if (accept(TokenKind::Star)) {
      const Expr *value = parseExpression();
      auto *starred = make<Starred>(begin);
      starred->value = value;
      raiseHeight(starred, value);
      if (unpackedMapping)
        fail("'*' unpacking follows '**' unpacking", starred->range);
      args.push_back(starred);
    } else {
      const Expr *value = parseNamedExpression();
      if (at(TokenKind::Equal))
        fail("the name of a keyword argument must be a plain name", value->range, "did you mean '=='?");
      if (atComprehension()) {
        const auto generators = parseComprehensions();
        if (!args.empty() || !keywords.empty() || !at(TokenKind::RightParen))
          fail("a generator expression beside other arguments must be parenthesized", rangeFrom(begin));
        // CPython gives it the parentheses of the call.
        auto *node = make<GeneratorExp>(parenthesis);
        node->range.end = token().end;
        node->elt = value;
        node->generators = generators;
        raiseHeight(node, value);
        raiseHeight(node, generators);
        value = node;
      }
      if (!keywords.empty())
        fail(unpackedMapping ? "a positional argument follows '**' unpacking"
                             : "a positional argument follows a keyword argument",
             value->range);
      args.push_back(value);
    }
    if (!accept(TokenKind::Comma)) {
      if (!at(TokenKind::RightParen))
        failHere(fmt::format("expected ')' or ',', found {}", found()),
                 startsExpression(kind()) ? "is a comma or an operator missing?" : "");
      break;
    }
  }
}

const Expr *ParserCore::parseSubscript(uint32_t begin, const Expr *value) {
  advance();
  const uint32_t sliceBegin = here();
  const Expr *slice = parseSlice();
  if (at(TokenKind::Comma) || slice->kind == ExprKind::Starred) {
    std::vector<const Expr *> items{slice};
    while (accept(TokenKind::Comma) && !at(TokenKind::RightBracket))
      items.push_back(parseSlice());
    auto *tuple = make<Tuple>(sliceBegin);
    tuple->elts = arena_.copy(items);
    raiseHeight(tuple, tuple->elts);
    slice = tuple;
  }
  expect(TokenKind::RightBracket, "to close the subscript");
  auto *node = make<Subscript>(begin);
  node->value = value;
  node->slice = slice;
  raiseHeight(node, {value, slice});
  return node;
}

const Expr *ParserCore::parseSlice() {
  const uint32_t begin = here();
  const Expr *lower = nullptr;
  if (!at(TokenKind::Colon)) {
    lower = parseStarNamedExpression();
    if (!at(TokenKind::Colon))
      return lower;
    if (lower->kind == ExprKind::Starred ||
        (lower->kind == ExprKind::NamedExpr && lower->range.begin == begin))
      failHere("expected ']' or ',', found ':'");
  }
  const auto atBound = [&] {
    return !at(TokenKind::Colon) && !at(TokenKind::Comma) && !at(TokenKind::RightBracket);
  };
  advance();
  const Expr *upper = atBound() ? parseExpression() : nullptr;
  const Expr *step = nullptr;
  if (accept(TokenKind::Colon) && atBound())
    step = parseExpression();
  auto *node = make<Slice>(begin);
  node->lower = lower;
  node->upper = upper;
  node->step = step;
  raiseHeight(node, {lower, upper, step});
  return node;
}

} // namespace tilewright::lang

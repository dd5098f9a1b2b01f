// The match statement and its patterns.
#include "ParserCore.h"

#include <fmt/format.h>

namespace tilewright::lang {

/// `match` is an ordinary name unless its line ends in ':' and the first word of the block is `case`.
bool ParserCore::atMatchStatement() const {
  if (!atWord("match") || (!startsExpression(nextKind())))
    return false;
  uint32_t i = index_ + 1;
  while (tokens_[i].kind != TokenKind::Newline && tokens_[i].kind != TokenKind::EndOfFile)
    ++i;
  return tokens_[i - 1].kind == TokenKind::Colon && tokens_[i].kind == TokenKind::Newline &&
         tokens_[i + 1].kind == TokenKind::Indent && tokens_[i + 2].kind == TokenKind::Name &&
         textOf(tokens_[i + 2]) == "case";
}

const Stmt *ParserCore::parseMatch() {
  const uint32_t begin = here();
  advance();
  const uint32_t subjectBegin = here();
  const Expr *subject = parseStarNamedExpression();
  if (at(TokenKind::Comma)) {
    std::vector<const Expr *> items{subject};
    while (accept(TokenKind::Comma) && startsExpression(kind()))
      items.push_back(parseStarNamedExpression());
    auto *tuple = make<Tuple>(subjectBegin);
    tuple->elts = arena_.copy(items);
    raiseHeight(tuple, tuple->elts);
    subject = tuple;
  } else if (subject->kind == ExprKind::Starred) {
    fail("a starred expression cannot be used here", subject->range);
  }
  expect(TokenKind::Colon, "after the subject of 'match'");
  expect(TokenKind::Newline, "after the subject of 'match'");
  advance(); // the indent, see atMatchStatement
  std::vector<const MatchCase *> cases;
  do {
    if (!atWord("case"))
      failExpected("'case'");
    cases.push_back(parseCase());
  } while (!at(TokenKind::Dedent) && !at(TokenKind::EndOfFile));
  accept(TokenKind::Dedent);
  auto *node = make<Match>(begin);
  node->subject = subject;
  node->cases = arena_.copy(cases);
  return node;
}

const MatchCase *ParserCore::parseCase() {
  const uint32_t begin = here();
  advance();
  auto *matchCase = arena_.create<MatchCase>();
  matchCase->pattern = parsePatterns();
  if (accept(TokenKind::If))
    matchCase->guard = parseNamedExpression();
  matchCase->body = parseBlock("the pattern of 'case'", begin);
  return matchCase;
}

/// A pattern, or several without brackets: a sequence.
const Pattern *ParserCore::parsePatterns() {
  const uint32_t begin = here();
  const Pattern *first = parseStarPattern();
  if (!at(TokenKind::Comma)) {
    if (first->kind == PatternKind::MatchStar)
      fail("a star pattern must be part of a sequence", first->range);
    return first;
  }
  std::vector<const Pattern *> items{first};
  while (accept(TokenKind::Comma) && !at(TokenKind::Colon) && !at(TokenKind::If))
    items.push_back(parseStarPattern());
  auto *node = make<MatchSequence>(begin);
  node->patterns = arena_.copy(items);
  return node;
}

const Pattern *ParserCore::parseStarPattern() {
  if (!at(TokenKind::Star))
    return parseAsPattern();
  const uint32_t begin = here();
  advance();
  const Identifier name = expectName("a name after '*'");
  auto *node = make<MatchStar>(begin);
  if (name != "_")
    node->name = name;
  return node;
}

const Pattern *ParserCore::parseAsPattern() {
  const DepthGuard guard(*this);
  const uint32_t begin = here();
  const Pattern *pattern = parseOrPattern();
  if (!accept(TokenKind::As))
    return pattern;
  const SourceRange nameRange = rangeOf(token());
  const Identifier name = expectName("a name after 'as'");
  if (name == "_")
    fail("'_' cannot be the target of 'as'", nameRange);
  if (at(TokenKind::Dot) || at(TokenKind::LeftParen))
    fail("the target of 'as' must be a plain name", nameRange);
  auto *node = make<MatchAs>(begin);
  node->pattern = pattern;
  node->name = name;
  return node;
}

const Pattern *ParserCore::parseOrPattern() {
  const uint32_t begin = here();
  const Pattern *first = parseClosedPattern();
  if (!at(TokenKind::Pipe))
    return first;
  std::vector<const Pattern *> patterns{first};
  while (accept(TokenKind::Pipe))
    patterns.push_back(parseClosedPattern());
  auto *node = make<MatchOr>(begin);
  node->patterns = arena_.copy(patterns);
  return node;
}

const Pattern *ParserCore::parseClosedPattern() {
  const uint32_t begin = here();
  const auto value = [&](const Expr *expression) {
    auto *node = make<MatchValue>(begin);
    node->value = expression;
    return node;
  };
  const auto singleton = [&](Constant::Value constant) {
    advance();
    auto *node = make<MatchSingleton>(begin);
    node->value = constant;
    return node;
  };
  switch (kind()) {
  case TokenKind::None:
    return singleton(NoneValue{});
  case TokenKind::True:
    return singleton(true);
  case TokenKind::False:
    return singleton(false);
  case TokenKind::Number:
  case TokenKind::Minus:
    return value(parsePatternNumber());
  case TokenKind::String:
  case TokenKind::FStringStart: {
    const Expr *text = parseStrings();
    if (text->kind != ExprKind::Constant)
      fail("a pattern may only hold plain strings, not f-strings", text->range);
    return value(text);
  }
  case TokenKind::Name:
    return parseNameOrClassPattern();
  case TokenKind::LeftParen:
  case TokenKind::LeftBracket:
    return parseSequencePattern();
  case TokenKind::LeftBrace:
    return parseMappingPattern();
  default:
    failExpected("a pattern");
  }
}

/// `-1`, `2 + 3j`
const Expr *ParserCore::parsePatternNumber() {
  const uint32_t begin = here();
  const auto isImaginary = [](const Expr *number) {
    return std::holds_alternative<ImaginaryValue>(cast<Constant>(number)->value);
  };
  const bool negative = accept(TokenKind::Minus);
  if (!at(TokenKind::Number))
    failExpected("a number");
  const Expr *number = parseNumber();
  const bool imaginary = isImaginary(number);
  if (negative) {
    auto *node = make<UnaryOp>(begin);
    node->op = UnaryOperator::USub;
    node->operand = number;
    raiseHeight(node, number);
    number = node;
  }
  if (!at(TokenKind::Plus) && !at(TokenKind::Minus))
    return number;
  const BinaryOperator op = at(TokenKind::Plus) ? BinaryOperator::Add : BinaryOperator::Sub;
  advance();
  if (imaginary)
    fail("a complex number in a pattern starts with its real part", number->range);
  const SourceRange rightRange = rangeOf(token());
  const Expr *right = at(TokenKind::Number) ? parseNumber() : nullptr;
  if (!right || !isImaginary(right))
    fail("expected an imaginary number, such as 2j, in this pattern", rightRange);
  auto *node = make<BinOp>(begin);
  node->left = number;
  node->op = op;
  node->right = right;
  raiseHeight(node, {number, right});
  return node;
}

const Pattern *ParserCore::parseNameOrClassPattern() {
  const uint32_t begin = here();
  const Identifier id = expectName("a name");
  if (!at(TokenKind::Dot) && !at(TokenKind::LeftParen)) {
    auto *node = make<MatchAs>(begin);
    if (id != "_")
      node->name = id;
    return node;
  }
  auto *name = make<Name>(begin);
  name->id = id;
  const Expr *value = name;
  while (accept(TokenKind::Dot)) {
    const Identifier attr = expectName("a name after '.'");
    auto *attribute = make<Attribute>(begin);
    attribute->value = value;
    attribute->attr = attr;
    raiseHeight(attribute, value);
    value = attribute;
  }
  if (at(TokenKind::LeftParen))
    return parseClassPattern(begin, value);
  auto *node = make<MatchValue>(begin);
  node->value = value;
  return node;
}

const Pattern *ParserCore::parseClassPattern(uint32_t begin, const Expr *cls) {
  advance();
  std::vector<const Pattern *> patterns, keywordPatterns;
  std::vector<Identifier> names;
  while (!at(TokenKind::RightParen)) {
    if (at(TokenKind::Name) && nextKind() == TokenKind::Equal) {
      names.push_back(identifier(token()));
      advance();
      advance();
      keywordPatterns.push_back(parseAsPattern());
    } else {
      const Pattern *pattern = parseAsPattern();
      if (!names.empty())
        fail("a positional pattern follows a keyword pattern", pattern->range);
      patterns.push_back(pattern);
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RightParen, "to close the class pattern");
  auto *node = make<MatchClass>(begin);
  node->cls = cls;
  node->patterns = arena_.copy(patterns);
  node->kwdAttrs = arena_.copy(names);
  node->kwdPatterns = arena_.copy(keywordPatterns);
  return node;
}

const Pattern *ParserCore::parseSequencePattern() {
  const uint32_t begin = here();
  const bool parenthesized = at(TokenKind::LeftParen);
  const TokenKind close = parenthesized ? TokenKind::RightParen : TokenKind::RightBracket;
  advance();
  std::vector<const Pattern *> items;
  bool comma = false;
  while (!at(close)) {
    items.push_back(parseStarPattern());
    if (!accept(TokenKind::Comma))
      break;
    comma = true;
  }
  expect(close, "to close the pattern");
  if (parenthesized && items.size() == 1 && !comma) {
    if (items[0]->kind == PatternKind::MatchStar)
      fail("a star pattern must be part of a sequence", items[0]->range);
    return items[0];
  }
  auto *node = make<MatchSequence>(begin);
  node->patterns = arena_.copy(items);
  return node;
}

const Pattern *ParserCore::parseMappingPattern() {
  const uint32_t begin = here();
  advance();
  std::vector<const Expr *> keys;
  std::vector<const Pattern *> patterns;
  Identifier rest;
  while (!at(TokenKind::RightBrace)) {
    if (!rest.empty())
      failHere("'**' must come last in a mapping pattern");
    if (accept(TokenKind::DoubleStar)) {
      rest = expectName("a name after '**'");
    } else {
      const SourceRange start = rangeOf(token());
      const Pattern *key = parseClosedPattern();
      if (const auto *value = dynCast<MatchValue>(key)) {
        keys.push_back(value->value);
      } else if (const auto *singleton = dynCast<MatchSingleton>(key)) {
        auto *constant = arena_.create<Constant>();
        constant->range = singleton->range;
        constant->value = singleton->value;
        keys.push_back(constant);
      } else {
        fail("a key of a mapping pattern must be a literal or a dotted name", start);
      }
      expect(TokenKind::Colon, "after the key of the mapping pattern");
      patterns.push_back(parseAsPattern());
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  expect(TokenKind::RightBrace, "to close the mapping pattern");
  auto *node = make<MatchMapping>(begin);
  node->keys = arena_.copy(keys);
  node->patterns = arena_.copy(patterns);
  node->rest = rest;
  return node;
}

} // namespace tilewright::lang

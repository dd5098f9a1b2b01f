#include "ParserCore.h"
#include "Unicode.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::lang {

void ParserCore::expect(TokenKind expected, std::string_view context) {
  if (at(expected)) {
    advance();
    return;
  }
  failHere(fmt::format("expected '{}' {}, found {}", tokenText(expected), context, found()));
}

Identifier ParserCore::identifier(const Token &token) {
  const std::string_view text = textOf(token);
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return arena_.intern(normalizeIdentifier(text));
  return arena_.intern(text);
}

Identifier ParserCore::expectName(std::string_view what) {
  if (!at(TokenKind::Name)) {
    if (isKeyword(kind()))
      failHere(fmt::format("expected {}, but '{}' is a reserved word", what, tokenText(kind())));
    failExpected(what);
  }
  const Identifier name = identifier(token());
  advance();
  return name;
}

std::string ParserCore::found() const {
  if (hasFixedSpelling(kind()))
    return fmt::format("'{}'", tokenText(kind()));
  if (at(TokenKind::Name))
    return fmt::format("'{}'", textOf(token()));
  if (at(TokenKind::Number) || at(TokenKind::String))
    return fmt::format("a {}", tokenText(kind()));
  if (at(TokenKind::FStringStart))
    return "an f-string";
  return fmt::format("the {}", tokenText(kind()));
}

void ParserCore::raise(Diagnostic diagnostic) { throw SyntaxFailure{std::move(diagnostic), index_}; }

void ParserCore::fail(std::string message, SourceRange range, std::string help) {
  // What the lexer found here is the better explanation, and so is a bracket that swallowed the lines before.
  for (const LexError &error : stream_.errors) {
    if (error.token < index_)
      continue;
    if (error.token == index_ || (error.unclosedBracket && error.opener < here()))
      raise(error.diagnostic);
    break;
  }
  auto diagnostic = makeDiagnostic(Severity::Error, "lang.syntax", std::move(message), range);
  if (!help.empty())
    diagnostic.help(std::move(help));
  raise(std::move(diagnostic));
}

void ParserCore::failHere(std::string message, std::string help) {
  SourceRange range = rangeOf(token());
  if (range.begin == range.end && at(TokenKind::Newline) && lastEnd_ <= range.begin)
    range.begin = range.end = lastEnd_; // right behind the last word, not behind a comment
  fail(std::move(message), range, std::move(help));
}

void ParserCore::failExpected(std::string_view what) {
  failHere(fmt::format("expected {}, found {}", what, found()));
}

void ParserCore::failDepth() {
  raise(makeDiagnostic(Severity::Error, "lang.depth", "the source nests too deeply here", rangeOf(token())));
}

void ParserCore::raiseHeight(Expr *node, Seq<const Comprehension *> generators) {
  for (const Comprehension *generator : generators) {
    raiseHeight(node, {generator->target, generator->iter});
    raiseHeight(node, generator->ifs);
  }
}

void ParserCore::recover(uint32_t start, uint32_t failedAt) {
  int depth = 0;
  uint32_t next = start;
  for (; tokens_[next].kind != TokenKind::EndOfFile; ++next) {
    const TokenKind kind = tokens_[next].kind;
    const bool lineStart = next > start && (tokens_[next - 1].kind == TokenKind::Newline ||
                                            tokens_[next - 1].kind == TokenKind::Dedent);
    const bool continuesStatement = kind == TokenKind::Indent || kind == TokenKind::Dedent ||
                                    kind == TokenKind::Else || kind == TokenKind::Elif ||
                                    kind == TokenKind::Except || kind == TokenKind::Finally;
    if (next > failedAt && depth <= 0 && lineStart && !continuesStatement)
      break;
    depth += kind == TokenKind::Indent ? 1 : kind == TokenKind::Dedent ? -1 : 0;
  }
  index_ = next;
  depth_ = 0;
}

const Expr *ParserCore::parseLoneExpression() {
  const Expr *expression = parseStarExpressions();
  accept(TokenKind::Newline);
  if (!atEnd())
    failHere(fmt::format("expected the end of the expression, found {}", found()));
  return expression;
}

} // namespace tilewright::lang

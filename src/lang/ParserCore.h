#pragma once
#include "Lexer.h"
#include "tilewright/lang/Ast.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace tilewright::lang {

/// Thrown by the parser and caught in Parser.cpp: the way out of a broken statement. Never leaves this
/// module.
struct SyntaxFailure {
  Diagnostic diagnostic;
  uint32_t token = 0; ///< where the parser stood
};

/// How deep the parser's own recursion may go. With at most 100 indentation levels and 200 brackets (the
/// lexer's bounds, which are CPython's), only chains such as `lambda: lambda: ...` or `a if b else c if d
/// else ...` get here. One level takes at most about 2 kB of stack.
inline constexpr uint32_t kMaxRecursion = 700;
/// `elif` makes a tree as high as it is long; the parser itself loops.
inline constexpr size_t kMaxElifs = 2000;

/// A recursive-descent parser over the tokens of one file. One function a grammar rule; each leaves the token
/// behind what it parsed as the current one, or throws SyntaxFailure.
///
/// A node's range starts at the first token of its rule, taken before the first child is parsed (`(a) + b`
/// starts at the parenthesis though `a` does not), and ends where the last token that was consumed ends.
class ParserCore {
public:
  ParserCore(const SourceFile &source, AstArena &arena, const TokenStream &stream)
      : source_(source), text_(source.text()), arena_(arena), stream_(stream), tokens_(stream.tokens.data()) {
  }

  // Parser.cpp
  uint32_t position() const { return index_; }
  bool atEnd() const { return at(TokenKind::EndOfFile); }
  /// Moves to the start of the next top-level statement behind a failure in the one that began at token
  /// `start`.
  void recover(uint32_t start, uint32_t failedAt);
  const Expr *parseLoneExpression();

  // ParseStatement.cpp
  void parseStatement(std::vector<const Stmt *> &out);

private:
  const SourceFile &source_;
  std::string_view text_;
  AstArena &arena_;
  const TokenStream &stream_;
  const Token *tokens_;
  uint32_t index_ = 0;
  uint32_t lastEnd_ = 0; ///< end of the last token that is no Newline, Indent or Dedent
  uint32_t depth_ = 0;

  struct DepthGuard {
    explicit DepthGuard(ParserCore &parser) : parser(parser) {
      if (++parser.depth_ > kMaxRecursion)
        parser.failDepth();
    }
    ~DepthGuard() { --parser.depth_; }
    ParserCore &parser;
  };

  //===-- Tokens
  //--------------------------------------------------------------------------------------------===//
  const Token &token() const { return tokens_[index_]; }
  TokenKind kind() const { return tokens_[index_].kind; }
  TokenKind nextKind() const {
    return at(TokenKind::EndOfFile) ? TokenKind::EndOfFile : tokens_[index_ + 1].kind;
  }
  uint32_t here() const { return tokens_[index_].begin; }
  bool at(TokenKind kind) const { return tokens_[index_].kind == kind; }
  std::string_view textOf(const Token &token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  bool atWord(std::string_view softKeyword) const {
    return at(TokenKind::Name) && textOf(token()) == softKeyword;
  }
  void advance() {
    const Token &passed = tokens_[index_];
    if (passed.kind > TokenKind::Error)
      lastEnd_ = passed.end;
    if (passed.kind != TokenKind::EndOfFile)
      ++index_;
  }
  bool accept(TokenKind kind) {
    if (!at(kind))
      return false;
    advance();
    return true;
  }
  /// Consumes a token of that kind or fails with "expected 'x' CONTEXT, found y".
  void expect(TokenKind kind, std::string_view context);
  Identifier expectName(std::string_view what);
  Identifier identifier(const Token &token);

  //===-- Failing
  //-------------------------------------------------------------------------------------------===//
  [[noreturn]] void fail(std::string message, SourceRange range, std::string help = {});
  /// Fails at the current token.
  [[noreturn]] void failHere(std::string message, std::string help = {});
  [[noreturn]] void failExpected(std::string_view what);
  [[noreturn]] void failDepth();
  [[noreturn]] void raise(Diagnostic diagnostic);
  std::string found() const; ///< the current token as a message names it
  SourceRange rangeOf(const Token &token) const { return {&source_, token.begin, token.end}; }
  SourceRange rangeFrom(uint32_t begin) const { return {&source_, begin, lastEnd_}; }

  //===-- Nodes
  //---------------------------------------------------------------------------------------------===//
  template <class T> T *make(uint32_t begin) {
    T *node = arena_.create<T>();
    node->range = {&source_, begin, lastEnd_};
    return node;
  }
  /// Keeps `height` one above the highest child and within its bound.
  void raiseHeight(Expr *node, const Expr *child) {
    if (child && child->height >= node->height) {
      if (child->height >= kMaxExprHeight)
        failDepth();
      node->height = static_cast<uint16_t>(child->height + 1);
    }
  }
  void raiseHeight(Expr *node, Seq<const Expr *> children) {
    for (const Expr *child : children)
      raiseHeight(node, child);
  }
  void raiseHeight(Expr *node, Seq<const Comprehension *> generators);
  void raiseHeight(Expr *node, std::initializer_list<const Expr *> children) {
    for (const Expr *child : children)
      raiseHeight(node, child);
  }

  // ParseExpression.cpp
  static bool startsExpression(TokenKind kind);
  const Expr *parseExpression();
  const Expr *parseNamedExpression();
  const Expr *parseStarExpression();
  const Expr *parseStarNamedExpression();
  const Expr *parseStarExpressions();
  const Expr *parseYieldOrStarExpressions();
  const Expr *parseYield();
  const Expr *parseLambda();
  const Expr *parseDisjunction();
  const Expr *parseConjunction();
  const Expr *parseInversion();
  const Expr *parseComparison();
  const Expr *parseBinary(int minPrecedence);
  const Expr *parseFactor();
  const Expr *parsePower();
  const Expr *parsePrimary();
  const Expr *parseTargetList();
  /// Turns a parsed expression into the target of an assignment; `action` is "assign to" or "delete".
  void setContext(const Expr *target, ExprContext context, std::string_view action = "assign to");
  [[noreturn]] void failTarget(const Expr *target, std::string_view action);

  // ParseAtom.cpp
  const Expr *parseAtom();
  const Expr *parseParenthesized();
  const Expr *parseListDisplay();
  const Expr *parseBraceDisplay();
  const Expr *parseDictDisplay(uint32_t begin, const Expr *firstKey);
  const Expr *parseCall(uint32_t begin, const Expr *func);
  void parseCallArguments(std::vector<const Expr *> &args, std::vector<const Keyword *> &keywords);
  const Expr *parseSubscript(uint32_t begin, const Expr *value);
  const Expr *parseSlice();
  bool atComprehension() const {
    return at(TokenKind::For) || (at(TokenKind::Async) && nextKind() == TokenKind::For);
  }
  Seq<const Comprehension *> parseComprehensions();
  const Expr *parseNumber();

  // ParseString.cpp
  struct StringPieces;
  const Expr *parseStrings();
  void parsePlainString(StringPieces &pieces);
  void parseFormatted(StringPieces &pieces, bool isTemplate);
  void parseReplacementField(StringPieces &pieces, bool isTemplate, bool raw);
  const Expr *parseFormatSpec(bool raw);
  void addText(StringPieces &pieces, const Token &token, bool raw);

  // ParseParameters.cpp
  /// Parameters up to `terminator` (')' or ':' of a lambda), which is left.
  const Arguments *parseParameters(TokenKind terminator);
  const Arg *parseParameter(bool annotated, bool starAnnotation);
  Seq<const TypeParam *> parseTypeParams();

  // ParseStatement.cpp
  void parseSimpleLine(std::vector<const Stmt *> &out);
  const Stmt *parseSimpleStatement();
  const Stmt *parseExpressionStatement();
  const Stmt *parseAssignment(uint32_t begin, const Expr *first);
  const Stmt *parseAnnotation(uint32_t begin, const Expr *target);
  const Stmt *parseDelete();
  const Stmt *parseReturn();
  const Stmt *parseRaise();
  const Stmt *parseAssert();
  const Stmt *parseImport();
  const Stmt *parseImportFrom();
  const Stmt *parseNames();
  const Stmt *parseTypeAlias();
  Identifier parseDottedName();
  const Alias *parseAlias(bool dotted);
  bool atTypeAlias() const;

  // ParseCompound.cpp
  const Stmt *parseCompound();
  Body parseBlock(std::string_view what, uint32_t header);
  Body parseElse(std::string_view what);
  const Stmt *parseDecorated();
  const Stmt *parseFunction(uint32_t begin, Seq<const Expr *> decorators, bool isAsync);
  const Stmt *parseClass(Seq<const Expr *> decorators);
  const Stmt *parseIf();
  const Stmt *parseWhile();
  const Stmt *parseFor(uint32_t begin, bool isAsync);
  const Stmt *parseWith(uint32_t begin, bool isAsync);
  bool withItemsAreParenthesized() const;
  const WithItem *parseWithItem();
  const Stmt *parseTry();
  const ExceptHandler *parseHandler(bool &star);
  const Stmt *parseAsync();

  // ParsePattern.cpp
  bool atMatchStatement() const;
  const Stmt *parseMatch();
  const MatchCase *parseCase();
  const Pattern *parsePatterns();
  const Pattern *parseStarPattern();
  const Pattern *parseAsPattern();
  const Pattern *parseOrPattern();
  const Pattern *parseClosedPattern();
  const Pattern *parseNameOrClassPattern();
  const Pattern *parseClassPattern(uint32_t begin, const Expr *cls);
  const Pattern *parseMappingPattern();
  const Pattern *parseSequencePattern();
  const Expr *parsePatternNumber();
};

} // namespace tilewright::lang

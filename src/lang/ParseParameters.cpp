// The parameters of functions and lambdas, and type parameters.
#include "ParserCore.h"

#include <fmt/format.h>

namespace tilewright::lang {

const Arg *ParserCore::parseParameter(bool annotated, bool starAnnotation) {
  const uint32_t begin = here();
  const Identifier name = expectName("the name of a parameter");
  const Expr *annotation = nullptr;
  if (annotated && accept(TokenKind::Colon))
    annotation = starAnnotation ? parseStarExpression() : parseExpression();
  auto *arg = make<Arg>(begin);
  arg->arg = name;
  arg->annotation = annotation;
  return arg;
}

const Arguments *ParserCore::parseParameters(TokenKind terminator) {
  const bool annotated = terminator == TokenKind::RightParen;
  std::vector<const Arg *> positionalOnly, positional, keywordOnly;
  std::vector<const Expr *> defaults, keywordDefaults;
  auto *arguments = arena_.create<Arguments>();
  bool starSeen = false, slashSeen = false;
  const auto parseDefault = [&]() -> const Expr * {
    if (!accept(TokenKind::Equal))
      return nullptr;
    if (at(terminator) || at(TokenKind::Comma))
      failHere("expected the default value after '='");
    return parseExpression();
  };
  while (!at(terminator)) {
    if (arguments->kwarg)
      failHere("no parameter may follow '**' parameters");
    if (at(TokenKind::Slash)) {
      if (slashSeen)
        failHere("'/' appears twice in the parameters");
      if (starSeen)
        failHere("'/' must come before '*' in the parameters");
      if (positional.empty())
        failHere("at least one parameter must come before '/'");
      slashSeen = true;
      positionalOnly.swap(positional);
      advance();
    } else if (at(TokenKind::Star)) {
      if (starSeen)
        failHere("'*' appears twice in the parameters");
      starSeen = true;
      const Token star = token();
      advance();
      if (at(TokenKind::Name)) {
        arguments->vararg = parseParameter(annotated, true);
        if (at(TokenKind::Equal))
          failHere("a '*' parameter cannot have a default value");
      } else if (!at(TokenKind::Comma) || tokens_[index_ + 1].kind == terminator ||
                 tokens_[index_ + 1].kind == TokenKind::DoubleStar) {
        fail("a named parameter must follow a bare '*'", rangeOf(star));
      }
    } else if (accept(TokenKind::DoubleStar)) {
      arguments->kwarg = parseParameter(annotated, false);
      if (at(TokenKind::Equal))
        failHere("a '**' parameter cannot have a default value");
    } else {
      if (at(TokenKind::LeftParen))
        failHere("a parameter must be a plain name", "tuple parameters were Python 2");
      const Arg *arg = parseParameter(annotated, false);
      const Expr *value = parseDefault();
      if (starSeen) {
        keywordOnly.push_back(arg);
        keywordDefaults.push_back(value);
      } else {
        if (value)
          defaults.push_back(value);
        else if (!defaults.empty())
          fail("a parameter without a default value follows one with a default value", arg->range);
        positional.push_back(arg);
      }
    }
    if (!accept(TokenKind::Comma))
      break;
  }
  if (!at(terminator))
    failHere(fmt::format("expected '{}' or ',' in the parameters, found {}", tokenText(terminator), found()));
  arguments->posonlyargs = arena_.copy(positionalOnly);
  arguments->args = arena_.copy(positional);
  arguments->kwonlyargs = arena_.copy(keywordOnly);
  arguments->defaults = arena_.copy(defaults);
  arguments->kwDefaults = arena_.copy(keywordDefaults);
  return arguments;
}

Seq<const TypeParam *> ParserCore::parseTypeParams() {
  if (!accept(TokenKind::LeftBracket))
    return {};
  if (at(TokenKind::RightBracket))
    failHere("type parameters cannot be empty");
  std::vector<const TypeParam *> params;
  do {
    if (at(TokenKind::RightBracket))
      break;
    const uint32_t begin = here();
    const bool tuple = accept(TokenKind::Star);
    const bool spec = !tuple && accept(TokenKind::DoubleStar);
    const Identifier name = expectName("the name of a type parameter");
    const Expr *bound = nullptr, *defaultValue = nullptr;
    if (at(TokenKind::Colon)) {
      if (tuple || spec)
        failHere(fmt::format("a '{}' type parameter cannot have a bound", tuple ? "*" : "**"));
      advance();
      bound = parseExpression();
    }
    if (accept(TokenKind::Equal))
      defaultValue = tuple ? parseStarExpression() : parseExpression();
    const auto finish = [&]<class T>(T *param) {
      param->name = name;
      param->defaultValue = defaultValue;
      params.push_back(param);
      return param;
    };
    if (tuple)
      finish(make<TypeVarTuple>(begin));
    else if (spec)
      finish(make<ParamSpec>(begin));
    else
      finish(make<TypeVar>(begin))->bound = bound;
  } while (accept(TokenKind::Comma));
  expect(TokenKind::RightBracket, "to close the type parameters");
  return arena_.copy(params);
}

} // namespace tilewright::lang

// String literals: implicit concatenation, f-strings and t-strings.
#include "Literals.h"
#include "ParserCore.h"

#include <fmt/format.h>

namespace tilewright::lang {

/// The parts of adjacent string literals, in order. Neighbouring texts are merged as they come; an empty text
/// leaves no trace.
struct ParserCore::StringPieces {
  std::vector<const Expr *> values; ///< finished parts
  std::string text;                 ///< the text since the last finished part
  uint32_t textBegin = 0, textEnd = 0;
  bool textSeen = false;
  bool textIsUnicode = false; ///< the first literal of this text had the prefix u

  void add(uint32_t begin, uint32_t end, bool unicode) {
    if (!textSeen) {
      textSeen = true;
      textBegin = begin;
      textIsUnicode = unicode;
    }
    textEnd = end;
  }
  void flush(ParserCore &parser) {
    if (textSeen && !text.empty()) {
      auto *constant = parser.arena_.create<Constant>();
      constant->range = {&parser.source_, textBegin, textEnd};
      constant->value = StrValue{parser.arena_.copyText(text)};
      constant->unicodePrefix = textIsUnicode;
      values.push_back(constant);
    }
    text.clear();
    textSeen = false;
  }
};

const Expr *ParserCore::parseStrings() {
  const uint32_t begin = here();
  StringPieces pieces;
  const bool bytes = at(TokenKind::String) && shapeOf(textOf(token())).bytes;
  bool formatted = false, isTemplate = false, plain = false;
  while (at(TokenKind::String) || at(TokenKind::FStringStart)) {
    const StringShape shape = shapeOf(textOf(token()));
    if (shape.bytes != bytes)
      fail("cannot mix bytes and other strings in one literal", {&source_, begin, token().end});
    plain |= !shape.isTemplate;
    isTemplate |= shape.isTemplate;
    if (isTemplate && plain)
      fail("cannot mix t-strings and other strings in one literal", {&source_, begin, token().end});
    if (at(TokenKind::FStringStart)) {
      formatted = true;
      parseFormatted(pieces, shape.isTemplate);
    } else {
      parsePlainString(pieces);
    }
  }
  if (!formatted) {
    auto *node = make<Constant>(begin);
    const std::string_view text = arena_.copyText(pieces.text);
    if (bytes)
      node->value = BytesValue{text};
    else
      node->value = StrValue{text};
    node->unicodePrefix = pieces.textIsUnicode;
    return node;
  }
  pieces.flush(*this);
  const auto finish = [&]<class T>(T *node) {
    node->values = arena_.copy(pieces.values);
    raiseHeight(node, node->values);
    return node;
  };
  if (isTemplate)
    return finish(make<TemplateStr>(begin));
  return finish(make<JoinedStr>(begin));
}

void ParserCore::parsePlainString(StringPieces &pieces) {
  const Token literal = token();
  const std::string_view text = textOf(literal);
  const StringShape shape = shapeOf(text);
  const std::string_view content = text.substr(shape.contentBegin, shape.contentEnd - shape.contentBegin);
  if (const auto error = decodeText(content, shape.raw, shape.bytes, pieces.text)) {
    const uint32_t offset = literal.begin + static_cast<uint32_t>(shape.contentBegin);
    fail(error->message, {&source_, offset + static_cast<uint32_t>(error->begin),
                          offset + static_cast<uint32_t>(error->end)});
  }
  pieces.add(literal.begin, literal.end, shape.unicode);
  advance();
}

void ParserCore::addText(StringPieces &pieces, const Token &middle, bool raw) {
  if (const auto error = decodeText(textOf(middle), raw, false, pieces.text))
    fail(error->message, {&source_, middle.begin + static_cast<uint32_t>(error->begin),
                          middle.begin + static_cast<uint32_t>(error->end)});
  // Of a doubled brace the text holds one and the location both.
  const char last = text_[middle.end - 1];
  const bool doubled = (last == '{' || last == '}') && text_.substr(middle.end).starts_with(last);
  pieces.add(middle.begin, middle.end + (doubled ? 1 : 0), false);
}

void ParserCore::parseFormatted(StringPieces &pieces, bool isTemplate) {
  const bool raw = shapeOf(textOf(token())).raw;
  advance();
  while (!at(TokenKind::FStringEnd)) {
    if (at(TokenKind::FStringMiddle)) {
      addText(pieces, token(), raw);
      advance();
    } else if (at(TokenKind::LeftBrace)) {
      parseReplacementField(pieces, isTemplate, raw);
    } else {
      failExpected("the end of the f-string");
    }
  }
  advance();
}

void ParserCore::parseReplacementField(StringPieces &pieces, bool isTemplate, bool raw) {
  const uint32_t begin = here();
  advance();
  const uint32_t firstToken = index_;
  if (at(TokenKind::RightBrace) || at(TokenKind::Exclamation) || at(TokenKind::Colon) || at(TokenKind::Equal))
    failHere(fmt::format("f-string: expected an expression before '{}'", tokenText(kind())),
             at(TokenKind::RightBrace) ? "for a brace write '{{' or '}}'" : "");
  const Expr *value = parseYieldOrStarExpressions();
  const uint32_t valueEnd = here();
  const bool debug = accept(TokenKind::Equal);
  const uint32_t debugEnd = here();
  int conversion = -1;
  if (accept(TokenKind::Exclamation)) {
    if (here() != lastEnd_)
      failHere("f-string: the conversion must come right after '!'");
    const std::string_view letter = at(TokenKind::Name) ? textOf(token()) : "";
    if (letter != "s" && letter != "r" && letter != "a")
      failHere(fmt::format("f-string: expected the conversion 's', 'r' or 'a' after '!', found {}", found()));
    conversion = static_cast<unsigned char>(letter[0]);
    advance();
  }
  const Expr *spec = nullptr;
  if (at(TokenKind::Colon))
    spec = parseFormatSpec(raw);
  if (!at(TokenKind::RightBrace))
    failHere(fmt::format("f-string: expected '}}' after the expression, found {}", found()));
  advance();
  if (debug) {
    // `{x = }` also shows its own text: as written, but for comments.
    for (uint32_t i = firstToken; tokens_[i - 1].end < debugEnd; ++i) {
      const uint32_t gapBegin = tokens_[i - 1].end;
      const std::string_view gap = text_.substr(gapBegin, tokens_[i].begin - gapBegin);
      for (size_t at = 0; at < gap.size();) {
        const size_t hash = std::min(gap.find('#', at), gap.size());
        decodeText(gap.substr(at, hash - at), true, false, pieces.text);
        at = std::min(gap.find_first_of("\r\n", hash), gap.size());
      }
      if (tokens_[i].begin < debugEnd)
        decodeText(textOf(tokens_[i]), true, false, pieces.text);
    }
    pieces.add(begin + 1, debugEnd, false);
    if (conversion == -1 && !spec)
      conversion = 'r';
  }
  pieces.flush(*this);
  const auto finish = [&]<class T>(T *node) {
    node->value = value;
    node->conversion = conversion;
    node->formatSpec = spec;
    raiseHeight(node, {value, spec});
    pieces.values.push_back(node);
    return node;
  };
  if (isTemplate) {
    std::string_view written = text_.substr(begin + 1, valueEnd - begin - 1);
    while (!written.empty() && (written.back() == ' ' || written.back() == '\t' || written.back() == '\n'))
      written.remove_suffix(1);
    finish(make<Interpolation>(begin))->str = arena_.copyText(written);
  } else {
    finish(make<FormattedValue>(begin));
  }
}

/// From the ':'; leaves the '}'. A specifier is text even in a t-string, so its fields are those of an
/// f-string.
const Expr *ParserCore::parseFormatSpec(bool raw) {
  const DepthGuard guard(*this);
  const uint32_t begin = here();
  advance();
  StringPieces pieces;
  while (!at(TokenKind::RightBrace)) {
    if (at(TokenKind::FStringMiddle)) {
      addText(pieces, token(), raw);
      advance();
    } else if (at(TokenKind::LeftBrace)) {
      parseReplacementField(pieces, false, raw);
    } else {
      failExpected("the end of the format specifier");
    }
  }
  pieces.flush(*this);
  auto *node = make<JoinedStr>(begin);
  node->values = arena_.copy(pieces.values);
  raiseHeight(node, node->values);
  return node;
}

} // namespace tilewright::lang

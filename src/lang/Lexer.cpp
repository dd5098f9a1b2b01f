#include "Lexer.h"
#include "NumberScanner.h"
#include "Unicode.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::lang {

namespace {

constexpr uint32_t kTabWidth = 8; // CPython's TABSIZE
constexpr size_t kMaxErrors = 100;

enum : uint8_t { kWordStart = 1, kWord = 2, kDigit = 4 };
constexpr auto kCharClass = [] {
  std::array<uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    table[c] = (letter ? kWordStart | kWord : 0) | (digit ? kDigit | kWord : 0);
  }
  return table;
}();

bool is(char c, uint8_t classes) { return kCharClass[static_cast<unsigned char>(c)] & classes; }
bool isNewline(char c) { return c == '\n' || c == '\r'; }

/// Words that can only start a statement: met at the start of a line inside a bracket, the bracket was not
/// closed.
bool startsStatementOnly(TokenKind kind) {
  switch (kind) {
  case TokenKind::Assert:
  case TokenKind::Break:
  case TokenKind::Class:
  case TokenKind::Continue:
  case TokenKind::Def:
  case TokenKind::Del:
  case TokenKind::Elif:
  case TokenKind::Except:
  case TokenKind::Finally:
  case TokenKind::Global:
  case TokenKind::Import:
  case TokenKind::Nonlocal:
  case TokenKind::Pass:
  case TokenKind::Raise:
  case TokenKind::Return:
  case TokenKind::Try:
  case TokenKind::While:
  case TokenKind::With:
    return true;
  default:
    return false;
  }
}

/// Thrown and caught in this file: unwinds to the main loop, which resynchronizes.
struct LexFailure {
  Diagnostic diagnostic;
  uint32_t offset;
  uint32_t resumeAfter; ///< continue at a top-level statement behind this offset
  bool unclosedBracket = false;
};

class Lexer {
public:
  Lexer(const SourceFile &source, bool hasLines)
      : source_(source), text_(source.text().data()), size_(static_cast<uint32_t>(source.text().size())),
        hasLines_(hasLines), lineStart_(hasLines) {
    out_.tokens.reserve(size_ / 4 + 16);
    indents_.push_back({0, 0});
  }

  TokenStream run() {
    for (;;) {
      try {
        lexFile();
        return std::move(out_);
      } catch (LexFailure &failure) {
        recover(failure);
      }
    }
  }

private:
  struct Bracket {
    char open;
    bool field;  ///< the brace of a replacement field `{x}` of the innermost f-string
    bool inSpec; ///< ... and its format specifier has begun
    uint32_t offset;
  };
  struct FString {
    uint32_t offset;
    uint32_t brackets; ///< how many were open outside of it
    char quote;
    bool triple;
    bool raw;
  };
  struct Indentation {
    uint32_t column;    ///< tabs to the next multiple of eight
    uint32_t altColumn; ///< tabs as one: both must agree on the order, or tabs and spaces are mixed
  };

  const SourceFile &source_;
  const char *text_;
  uint32_t size_;
  bool hasLines_; ///< false: line breaks are blanks, as everywhere inside a bracket
  uint32_t pos_ = 0;
  bool lineStart_;
  bool inText_ = false; ///< inside the text of an f-string, not in one of its fields
  std::vector<Bracket> brackets_;
  std::vector<FString> fstrings_;
  std::vector<Indentation> indents_;
  TokenStream out_;

  /// The text ends in NUL and holds no other, so looking one past the end is safe and looks like no
  /// character.
  char peek(uint32_t ahead = 0) const { return pos_ + ahead < size_ ? text_[pos_ + ahead] : '\0'; }
  void push(TokenKind kind, uint32_t begin, uint32_t end) { out_.tokens.push_back({begin, end, kind}); }

  [[noreturn]] void fail(std::string message, uint32_t begin, uint32_t end, std::string help = {},
                         std::string_view code = "lang.syntax") {
    auto diagnostic = makeDiagnostic(Severity::Error, std::string(code), std::move(message),
                                     SourceRange{&source_, begin, end});
    if (!help.empty())
      diagnostic.help(std::move(help));
    throw LexFailure{std::move(diagnostic), begin, begin};
  }

  void skipNewline() {
    if (text_[pos_] == '\r' && pos_ + 1 < size_ && text_[pos_ + 1] == '\n')
      ++pos_;
    ++pos_;
  }
  void skipComment() {
    while (pos_ < size_ && !isNewline(text_[pos_]))
      ++pos_;
  }

  void lexFile() {
    for (;;) {
      if (inText_) {
        lexFStringText();
        continue;
      }
      if (lineStart_ && !lexIndentation())
        continue;
      if (!lexToken())
        return;
    }
  }

  /// Emits Indent or Dedents for the next line that holds anything; false when the line was blank.
  bool lexIndentation() {
    uint32_t column = 0, altColumn = 0, continued = 0;
    for (;; ++pos_) {
      const char c = peek();
      if (c == ' ') {
        ++column;
        ++altColumn;
      } else if (c == '\t') {
        column = (column / kTabWidth + 1) * kTabWidth;
        ++altColumn;
      } else if (c == '\f') {
        column = altColumn = 0;
      } else if (c == '\\' && isNewline(peek(1))) {
        // The first physical line of a split indentation decides.
        continued = continued ? continued : column;
        ++pos_;
        if (peek() == '\r' && peek(1) == '\n')
          ++pos_;
      } else {
        break;
      }
    }
    if (continued)
      column = altColumn = continued;
    if (peek() == '#')
      skipComment();
    if (isNewline(peek())) {
      skipNewline();
      return false;
    }
    lineStart_ = false;
    if (pos_ >= size_)
      return true;
    indentTo({column, altColumn});
    return true;
  }

  void indentTo(Indentation next) {
    const Indentation current = indents_.back();
    if (next.column == current.column) {
      if (next.altColumn != current.altColumn)
        failTabs();
      return;
    }
    if (next.column > current.column) {
      if (next.altColumn <= current.altColumn)
        failTabs();
      if (indents_.size() >= kMaxIndents)
        fail(fmt::format("too many levels of indentation (the limit is {})", kMaxIndents), pos_, pos_ + 1, {},
             "lang.depth");
      indents_.push_back(next);
      push(TokenKind::Indent, pos_, pos_);
      return;
    }
    // Errors come before the Dedents, so that they belong to the block that they break.
    size_t level = indents_.size() - 1;
    while (next.column < indents_[level].column)
      --level;
    if (next.column != indents_[level].column)
      fail("this line's indentation matches no outer block", pos_, lineEnd(pos_),
           fmt::format("indent it by {} or by {} columns", indents_[level].column,
                       indents_[level + 1].column));
    if (next.altColumn != indents_[level].altColumn)
      failTabs();
    for (; indents_.size() > level + 1; indents_.pop_back())
      push(TokenKind::Dedent, pos_, pos_);
  }
  [[noreturn]] void failTabs() {
    fail("inconsistent use of tabs and spaces in indentation", pos_, pos_ + 1, "indent with spaces only");
  }
  uint32_t lineEnd(uint32_t offset) const {
    while (offset < size_ && !isNewline(text_[offset]))
      ++offset;
    return offset;
  }

  void endFile() {
    if (!brackets_.empty())
      failUnclosed();
    if (!out_.tokens.empty() && out_.tokens.back().kind != TokenKind::Newline &&
        out_.tokens.back().kind != TokenKind::Dedent)
      push(TokenKind::Newline, pos_, pos_);
    for (; indents_.size() > 1; indents_.pop_back())
      push(TokenKind::Dedent, pos_, pos_);
    push(TokenKind::EndOfFile, pos_, pos_);
  }

  [[noreturn]] void failUnclosed() {
    const Bracket open = brackets_.back();
    auto diagnostic =
        makeDiagnostic(Severity::Error, "lang.syntax", fmt::format("'{}' was never closed", open.open),
                       SourceRange{&source_, open.offset, open.offset + 1});
    throw LexFailure{std::move(diagnostic), open.offset, open.offset, true};
  }

  /// Emits the error and goes on at the next line that looks like the start of a top-level statement.
  void recover(LexFailure &failure) {
    out_.errors.push_back({static_cast<uint32_t>(out_.tokens.size()), std::move(failure.diagnostic),
                           failure.unclosedBracket, failure.offset});
    push(TokenKind::Error, failure.offset, failure.offset);
    push(TokenKind::Newline, failure.offset, failure.offset);
    for (; indents_.size() > 1; indents_.pop_back())
      push(TokenKind::Dedent, failure.offset, failure.offset);
    brackets_.clear();
    fstrings_.clear();
    inText_ = false;
    lineStart_ = hasLines_;
    pos_ = out_.errors.size() >= kMaxErrors ? size_ : std::min(failure.resumeAfter, size_);
    while (pos_ < size_) {
      pos_ = lineEnd(pos_);
      if (pos_ < size_)
        skipNewline();
      if (is(peek(), kWordStart) || peek() == '@')
        break;
    }
  }

  /// One token in code (not in the text of an f-string); false at the end of the file.
  bool lexToken() {
    for (;;) { // blanks
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\f') {
        ++pos_;
      } else if (c == '#') {
        skipComment();
      } else if (isNewline(c)) {
        if (!brackets_.empty() || !hasLines_) {
          skipNewline();
          checkStillInBracket();
          continue;
        }
        push(TokenKind::Newline, pos_, pos_);
        skipNewline();
        lineStart_ = true;
        return true;
      } else if (c == '\\') {
        if (!isNewline(peek(1))) {
          if (pos_ + 1 >= size_)
            fail("the file ends after a line continuation '\\'", pos_, pos_ + 1);
          fail("unexpected character after the line continuation '\\'", pos_ + 1, pos_ + 2,
               "a '\\' outside of a string must be the last character of its line");
        }
        ++pos_;
        skipNewline();
        if (pos_ >= size_)
          fail("the file ends after a line continuation '\\'", pos_, pos_);
      } else {
        break;
      }
    }
    if (pos_ >= size_) {
      endFile();
      return false;
    }
    const char c = text_[pos_];
    if (is(c, kWordStart)) {
      lexWordOrString();
    } else if (is(c, kDigit) || (c == '.' && is(peek(1), kDigit))) {
      lexNumber();
    } else if (c == '"' || c == '\'') {
      lexString(pos_);
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      lexWord();
    } else {
      lexOperator();
    }
    return true;
  }

  /// Inside a bracket, at the start of a line: `def` and its like mean that the bracket was forgotten.
  void checkStillInBracket() {
    if (!is(peek(), kWordStart) || !fstrings_.empty() || brackets_.empty())
      return;
    uint32_t end = pos_;
    while (end < size_ && is(text_[end], kWord))
      ++end;
    const TokenKind kind = keywordKind({text_ + pos_, end - pos_});
    if (startsStatementOnly(kind) ||
        (kind == TokenKind::Async && source_.text().substr(end).starts_with(" def ")))
      failUnclosed();
  }

  /// A word, or a string behind one of the prefixes r, u, b, br, f, fr, t, tr (any case, any order).
  void lexWordOrString() {
    bool bytes = false, formatted = false, raw = false, unicode = false;
    for (uint32_t end = pos_; end < size_; ++end) {
      const char c = text_[end];
      if (c == '"' || c == '\'')
        return formatted ? startFString(end, raw) : lexString(end);
      const char lower = static_cast<char>(c | 0x20);
      const bool kindKnown = bytes || formatted || unicode;
      if (lower == 'r' && !raw && !unicode)
        raw = true;
      else if (lower == 'b' && !kindKnown)
        bytes = true;
      else if ((lower == 'f' || lower == 't') && !kindKnown)
        formatted = true;
      else if (lower == 'u' && !kindKnown && !raw)
        unicode = true;
      else
        break;
    }
    lexWord();
  }

  void lexWord() {
    const uint32_t begin = pos_;
    bool ascii = true;
    for (;;) {
      while (is(peek(), kWord))
        ++pos_;
      if (static_cast<unsigned char>(peek()) < 0x80)
        break;
      const CodePoint next = decodeUtf8(source_.text(), pos_);
      const bool fits = pos_ == begin ? isIdentifierStart(next.value) : isIdentifierContinue(next.value);
      if (!fits)
        failCharacter(next);
      ascii = false;
      pos_ += next.length;
    }
    const std::string_view word(text_ + begin, pos_ - begin);
    push(ascii ? keywordKind(word) : TokenKind::Name, begin, pos_);
  }

  [[noreturn]] void failCharacter(CodePoint c) {
    if (isPrintable(c.value))
      fail(fmt::format("invalid character '{}' (U+{:04X})", source_.text().substr(pos_, c.length), c.value),
           pos_, pos_ + c.length);
    fail(fmt::format("invalid non-printable character U+{:04X}", c.value), pos_,
         pos_ + std::max(c.length, 1u));
  }

  void lexNumber() {
    const ScannedNumber number = scanNumber(source_.text(), pos_);
    if (!number.error.empty())
      fail(number.error, number.errorBegin, number.errorEnd, number.help);
    push(TokenKind::Number, pos_, number.end);
    pos_ = number.end;
  }

  //===-- Strings
  //-------------------------------------------------------------------------------------------===//

  /// A plain string from pos_ (its prefix) whose opening quote is at `quoteAt`.
  void lexString(uint32_t quoteAt) {
    const uint32_t begin = pos_;
    const char quote = text_[quoteAt];
    pos_ = quoteAt;
    const bool triple = peek(1) == quote && peek(2) == quote;
    pos_ += triple ? 3 : 1;
    for (;;) {
      while (pos_ < size_ && text_[pos_] != quote && text_[pos_] != '\\' && !isNewline(text_[pos_]))
        ++pos_;
      if (pos_ >= size_ || (!triple && isNewline(text_[pos_])))
        failUnterminated(quoteAt, triple, "string");
      if (text_[pos_] == '\\') {
        ++pos_;
        if (pos_ < size_)
          isNewline(text_[pos_]) ? skipNewline() : void(++pos_);
      } else if (text_[pos_] == quote) {
        if (!triple) {
          ++pos_;
          break;
        }
        if (peek(1) == quote && peek(2) == quote) {
          pos_ += 3;
          break;
        }
        ++pos_;
      } else {
        ++pos_;
      }
    }
    push(TokenKind::String, begin, pos_);
  }

  [[noreturn]] void failUnterminated(uint32_t quoteAt, bool triple, std::string_view what) {
    pos_ = quoteAt;
    fail(fmt::format("unterminated {}{} literal", triple ? "triple-quoted " : "", what), quoteAt,
         quoteAt + (triple ? 3 : 1));
  }

  void startFString(uint32_t quoteAt, bool raw) {
    const uint32_t begin = pos_;
    pos_ = quoteAt;
    const char quote = text_[quoteAt];
    const bool triple = peek(1) == quote && peek(2) == quote;
    pos_ += triple ? 3 : 1;
    push(TokenKind::FStringStart, begin, pos_);
    fstrings_.push_back({quoteAt, static_cast<uint32_t>(brackets_.size()), quote, triple, raw});
    if (fstrings_.size() > kMaxBrackets)
      fail(fmt::format("f-strings nest too deeply (the limit is {})", kMaxBrackets), begin, pos_, {},
           "lang.depth");
    inText_ = true;
  }

  bool atClosingQuote(const FString &string) const {
    return peek() == string.quote && (!string.triple || (peek(1) == string.quote && peek(2) == string.quote));
  }

  /// The text of an f-string up to the next replacement field or the end of the string or of a format
  /// specifier.
  void lexFStringText() {
    const FString string = fstrings_.back();
    const bool inSpec = brackets_.size() > string.brackets;
    uint32_t begin = pos_;
    const auto flush = [&](uint32_t end) {
      if (end > begin)
        push(TokenKind::FStringMiddle, begin, end);
    };
    for (;;) {
      const char c = peek();
      if (pos_ >= size_ || (!string.triple && isNewline(c)))
        failUnterminated(string.offset, string.triple, "f-string");
      if (atClosingQuote(string)) {
        if (inSpec)
          fail("f-string: expected '}' after the format specifier", pos_, pos_ + 1);
        flush(pos_);
        const uint32_t end = pos_ + (string.triple ? 3 : 1);
        push(TokenKind::FStringEnd, pos_, end);
        pos_ = end;
        fstrings_.pop_back();
        inText_ = false;
        return;
      }
      if (c == '{') {
        if (!inSpec && peek(1) == '{') {
          flush(pos_ + 1);
          pos_ += 2;
          begin = pos_;
          continue;
        }
        flush(pos_);
        openBracket('{', TokenKind::LeftBrace, true);
        inText_ = false;
        return;
      }
      if (c == '}') {
        if (inSpec) {
          flush(pos_);
          closeBracket('}', TokenKind::RightBrace);
          return;
        }
        if (peek(1) != '}')
          fail("f-string: single '}' is not allowed", pos_, pos_ + 1, "write '}}' for a brace");
        flush(pos_ + 1);
        pos_ += 2;
        begin = pos_;
        continue;
      }
      if (c == '\\') {
        ++pos_;
        if (!string.raw && peek() == 'N' && peek(1) == '{') {
          while (pos_ < size_ && text_[pos_] != '}' && text_[pos_] != string.quote && !isNewline(text_[pos_]))
            ++pos_;
          if (peek() == '}')
            ++pos_;
        } else if (pos_ < size_ && peek() != '{' && peek() != '}') {
          isNewline(text_[pos_]) ? skipNewline() : void(++pos_);
        }
        continue;
      }
      ++pos_;
    }
  }

  //===-- Operators
  //-----------------------------------------------------------------------------------------===//

  void openBracket(char c, TokenKind kind, bool field) {
    if (brackets_.size() >= kMaxBrackets)
      fail(fmt::format("too many nested brackets (the limit is {})", kMaxBrackets), pos_, pos_ + 1, {},
           "lang.depth");
    brackets_.push_back({c, field, false, pos_});
    push(kind, pos_, pos_ + 1);
    ++pos_;
  }

  void closeBracket(char c, TokenKind kind) {
    const char open = c == ')' ? '(' : c == ']' ? '[' : '{';
    if (brackets_.empty() || (!fstrings_.empty() && brackets_.size() == fstrings_.back().brackets))
      fail(fmt::format("unmatched '{}'", c), pos_, pos_ + 1);
    const Bracket top = brackets_.back();
    if (top.open != open) {
      try {
        fail(fmt::format("'{}' does not close '{}'", c, top.open), pos_, pos_ + 1);
      } catch (LexFailure &failure) {
        failure.diagnostic.note(fmt::format("'{}' was opened here", top.open),
                                SourceRange{&source_, top.offset, top.offset + 1});
        throw;
      }
    }
    brackets_.pop_back();
    push(kind, pos_, pos_ + 1);
    ++pos_;
    if (top.field)
      inText_ = true;
  }

  void emit(TokenKind kind, uint32_t length) {
    push(kind, pos_, pos_ + length);
    pos_ += length;
  }

  /// `x`, `x=`: the two forms most operators have.
  void emitMaybeAssign(TokenKind plain, TokenKind assign) {
    peek(1) == '=' ? emit(assign, 2) : emit(plain, 1);
  }
  /// `x`, `xx`, `x=`, `xx=`.
  void emitMaybeDouble(TokenKind plain, TokenKind assign, TokenKind twice, TokenKind twiceAssign) {
    if (peek(1) != peek())
      return emitMaybeAssign(plain, assign);
    peek(2) == '=' ? emit(twiceAssign, 3) : emit(twice, 2);
  }

  void lexOperator() {
    using K = TokenKind;
    switch (const char c = text_[pos_]) {
    case '(':
      return openBracket(c, K::LeftParen, false);
    case '[':
      return openBracket(c, K::LeftBracket, false);
    case '{':
      return openBracket(c, K::LeftBrace, false);
    case ')':
      return closeBracket(c, K::RightParen);
    case ']':
      return closeBracket(c, K::RightBracket);
    case '}':
      return closeBracket(c, K::RightBrace);
    case ',':
      return emit(K::Comma, 1);
    case ';':
      return emit(K::Semicolon, 1);
    case '~':
      return emit(K::Tilde, 1);
    case ':':
      if (!brackets_.empty() && brackets_.back().field) {
        brackets_.back().inSpec = true;
        inText_ = true;
        return emit(K::Colon, 1);
      }
      return emitMaybeAssign(K::Colon, K::ColonEqual);
    case '.':
      return peek(1) == '.' && peek(2) == '.' ? emit(K::Ellipsis, 3) : emit(K::Dot, 1);
    case '=':
      return emitMaybeAssign(K::Equal, K::EqualEqual);
    case '!':
      return emitMaybeAssign(K::Exclamation, K::NotEqual);
    case '+':
      return emitMaybeAssign(K::Plus, K::PlusEqual);
    case '-':
      return peek(1) == '>' ? emit(K::Arrow, 2) : emitMaybeAssign(K::Minus, K::MinusEqual);
    case '*':
      return emitMaybeDouble(K::Star, K::StarEqual, K::DoubleStar, K::DoubleStarEqual);
    case '/':
      return emitMaybeDouble(K::Slash, K::SlashEqual, K::DoubleSlash, K::DoubleSlashEqual);
    case '<':
      return emitMaybeDouble(K::Less, K::LessEqual, K::LeftShift, K::LeftShiftEqual);
    case '>':
      return emitMaybeDouble(K::Greater, K::GreaterEqual, K::RightShift, K::RightShiftEqual);
    case '%':
      return emitMaybeAssign(K::Percent, K::PercentEqual);
    case '@':
      return emitMaybeAssign(K::At, K::AtEqual);
    case '&':
      return emitMaybeAssign(K::Ampersand, K::AmpersandEqual);
    case '|':
      return emitMaybeAssign(K::Pipe, K::PipeEqual);
    case '^':
      return emitMaybeAssign(K::Caret, K::CaretEqual);
    default:
      failCharacter(decodeUtf8(source_.text(), pos_));
    }
  }
};

} // namespace

TokenStream tokenize(const SourceFile &source) { return Lexer(source, true).run(); }

TokenStream tokenizeExpression(const SourceFile &source) { return Lexer(source, false).run(); }

} // namespace tilewright::lang

#include "SymText.h"

#include <charconv>
#include <fmt/format.h>

namespace tilewright {

namespace symbolic {

namespace {

constexpr int kMaxDepth = 256;

/// Recursive descent over Python's precedence: or, and, not, comparison, |, ^, &, shifts, sums, products,
/// minus.
class Parser {
public:
  Parser(SymContext &context, std::string_view text, const SymLookup &lookup)
      : context_(context), text_(text), lookup_(lookup) {}

  Expected<SymPrefix> prefix() {
    TW_TRY(const SymInt e, disjunction());
    return SymPrefix{e, end_};
  }

private:
  Unexpected error(const std::string &what) const {
    return fail(ErrorKind::User, "arg.syntax",
                fmt::format("{} at byte {} of \"{}\"", what, position_, text_));
  }

  void skipBlanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t'))
      ++position_;
  }
  static bool isNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || static_cast<unsigned char>(c) >= 0x80;
  }
  bool take(std::string_view token) {
    const size_t before = position_;
    skipBlanks();
    if (text_.substr(position_, token.size()) == token) {
      const bool word = isNameCharacter(token.back());
      const size_t next = position_ + token.size();
      if (!word || next >= text_.size() || !isNameCharacter(text_[next])) {
        position_ = end_ = next;
        return true;
      }
    }
    position_ = before;
    return false;
  }
  std::string_view takeName() {
    const size_t begin = position_;
    while (position_ < text_.size() && isNameCharacter(text_[position_]))
      ++position_;
    end_ = position_;
    return text_.substr(begin, position_ - begin);
  }

  Expected<SymInt> disjunction() {
    TW_TRY(SymInt left, conjunction());
    while (take("or")) {
      TW_TRY(const SymInt right, conjunction());
      left = context_.logicalOr(left, right);
    }
    return left;
  }
  Expected<SymInt> conjunction() {
    TW_TRY(SymInt left, negation());
    while (take("and")) {
      TW_TRY(const SymInt right, negation());
      left = context_.logicalAnd(left, right);
    }
    return left;
  }
  Expected<SymInt> negation() {
    if (take("not")) {
      if (++depth_ > kMaxDepth)
        return error("too deeply nested");
      TW_TRY(const SymInt inner, negation());
      --depth_;
      return context_.logicalNot(inner);
    }
    return comparison();
  }
  Expected<SymInt> comparison() {
    TW_TRY(const SymInt left, bitOr());
    for (const std::string_view token : {"<=", ">=", "==", "!=", "<", ">"}) {
      if ((token == "<" && peek("<<")) || (token == ">" && peek(">>")) || !take(token))
        continue;
      TW_TRY(const SymInt right, bitOr());
      if (token == "<=")
        return context_.le(left, right);
      if (token == ">=")
        return context_.le(right, left);
      if (token == "==")
        return context_.eq(left, right);
      if (token == "!=")
        return context_.logicalNot(context_.eq(left, right));
      return token == "<" ? context_.lt(left, right) : context_.lt(right, left);
    }
    return left;
  }
  bool peek(std::string_view token) {
    size_t at = position_;
    while (at < text_.size() && text_[at] == ' ')
      ++at;
    return text_.substr(at, token.size()) == token;
  }
  Expected<SymInt> bitOr() {
    TW_TRY(SymInt left, bitXor());
    while (take("|")) {
      TW_TRY(const SymInt right, bitXor());
      left = context_.bit(SymOp::BitOr, left, right);
    }
    return left;
  }
  Expected<SymInt> bitXor() {
    TW_TRY(SymInt left, bitAnd());
    while (take("^")) {
      TW_TRY(const SymInt right, bitAnd());
      left = context_.bit(SymOp::Xor, left, right);
    }
    return left;
  }
  Expected<SymInt> bitAnd() {
    TW_TRY(SymInt left, shift());
    while (take("&")) {
      TW_TRY(const SymInt right, shift());
      left = context_.bit(SymOp::BitAnd, left, right);
    }
    return left;
  }
  Expected<SymInt> shift() {
    TW_TRY(SymInt left, sum());
    for (;;) {
      const SymOp op = peek("<<") ? SymOp::Shl : SymOp::Shr;
      if (!take("<<") && !take(">>"))
        return left;
      TW_TRY(const SymInt right, sum());
      left = context_.bit(op, left, right);
    }
  }
  Expected<SymInt> sum() {
    TW_TRY(SymInt left, product());
    for (;;) {
      if (take("+")) {
        TW_TRY(const SymInt right, product());
        left = context_.add(left, right);
      } else if (take("-")) {
        TW_TRY(const SymInt right, product());
        left = context_.sub(left, right);
      } else
        return left;
    }
  }
  Expected<SymInt> product() {
    TW_TRY(SymInt left, unary());
    for (;;) {
      if (take("*")) {
        TW_TRY(const SymInt right, unary());
        left = context_.mul(left, right);
      } else if (take("//")) {
        TW_TRY(const SymInt right, unary());
        left = context_.floorDiv(left, right);
      } else if (take("%")) {
        TW_TRY(const SymInt right, unary());
        left = context_.mod(left, right);
      } else
        return left;
    }
  }
  Expected<SymInt> unary() {
    if (++depth_ > kMaxDepth)
      return error("too deeply nested");
    Expected<SymInt> result = unaryBody();
    --depth_;
    return result;
  }
  Expected<SymInt> unaryBody() {
    if (take("-")) {
      skipBlanks();
      if (text_.substr(position_).starts_with("9223372036854775808")) {
        position_ = end_ = position_ + 19;
        return context_.constant(INT64_MIN);
      }
      TW_TRY(const SymInt inner, unary());
      return context_.neg(inner);
    }
    return atom();
  }
  Expected<SymInt> atom() {
    skipBlanks();
    if (take("(")) {
      TW_TRY(const SymInt inner, disjunction());
      if (!take(")"))
        return error("expected ')'");
      return inner;
    }
    if (position_ >= text_.size())
      return error("expected an expression");
    if (text_[position_] >= '0' && text_[position_] <= '9') {
      int64_t value = 0;
      const auto [stop, status] =
          std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
      if (status != std::errc())
        return error("integer out of range");
      position_ = end_ = static_cast<size_t>(stop - text_.data());
      return context_.constant(value);
    }
    if (!isNameCharacter(text_[position_]))
      return error("expected an expression");
    const size_t begin = position_;
    const std::string_view name = takeName();
    if (position_ < text_.size() && text_[position_] == '(')
      return call(name);
    const SymInt found = lookup_(name);
    if (!found.valid()) {
      position_ = begin;
      return error(fmt::format("unknown name '{}'", name));
    }
    return found;
  }
  Expected<SymInt> call(std::string_view name) {
    take("(");
    std::vector<SymInt> arguments;
    do {
      TW_TRY(const SymInt argument, disjunction());
      arguments.push_back(argument);
    } while (take(","));
    if (!take(")"))
      return error("expected ')'");
    const auto wrongCount = [&] { return error(fmt::format("wrong number of arguments for '{}'", name)); };
    if (name == "min" || name == "max") {
      SymInt result = arguments[0];
      for (size_t i = 1; i < arguments.size(); ++i)
        result = name == "min" ? context_.min(result, arguments[i]) : context_.max(result, arguments[i]);
      return result;
    }
    if (name == "cdiv")
      return arguments.size() == 2 ? Expected<SymInt>(context_.cdiv(arguments[0], arguments[1]))
                                   : wrongCount();
    if (name == "select")
      return arguments.size() == 3
                 ? Expected<SymInt>(context_.select(arguments[0], arguments[1], arguments[2]))
                 : wrongCount();
    if (name == "next_power_of_2")
      return arguments.size() == 1 ? Expected<SymInt>(context_.nextPow2(arguments[0])) : wrongCount();
    return error(fmt::format("unknown function '{}'", name));
  }

  SymContext &context_;
  std::string_view text_;
  const SymLookup &lookup_;
  size_t position_ = 0;
  size_t end_ = 0; ///< past the last token that belongs to the expression
  int depth_ = 0;
};

} // namespace

Expected<SymPrefix> parseSymPrefix(SymContext &context, std::string_view text, const SymLookup &lookup) {
  return Parser(context, text, lookup).prefix();
}

} // namespace symbolic

Expected<SymInt> parseSymInt(SymContext &context, std::string_view text,
                             const std::function<SymInt(std::string_view)> &lookup) {
  TW_TRY(const symbolic::SymPrefix prefix, symbolic::parseSymPrefix(context, text, lookup));
  if (const size_t rest = text.find_first_not_of(" \t", prefix.length); rest != std::string_view::npos)
    return fail(ErrorKind::User, "arg.syntax",
                fmt::format("unexpected text at byte {} of \"{}\"", rest, text));
  return prefix.expression;
}

} // namespace tilewright

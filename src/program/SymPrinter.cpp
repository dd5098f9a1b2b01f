#include "SymText.h"

#include "SymSum.h"

#include <fmt/format.h>

namespace tilewright {

using namespace symbolic;

namespace {

/// How tightly the text of an expression holds together; a context asks for at least some level.
enum Level { kOr, kAnd, kNot, kCompare, kSum, kProduct, kAtom };

class Printer {
public:
  explicit Printer(const SymNames &names) : names_(names) {}

  std::string text(SymInt e, Level wanted) {
    const auto [body, level] = write(e);
    return level < wanted ? "(" + body + ")" : body;
  }

private:
  using Written = std::pair<std::string, Level>;

  Written write(SymInt e) {
    const auto operands = e.operands();
    switch (e.op()) {
    case SymOp::Constant:
      return {fmt::format("{}", e.node()->value), e.node()->value < 0 ? kProduct : kAtom};
    case SymOp::Symbol:
      return {names_ ? names_(e.symbolId()) : e.context().symbol(e.symbolId()).name, kAtom};
    case SymOp::Add:
      return writeSum(e);
    case SymOp::Mul:
      return {writeProduct(operands), kProduct};
    case SymOp::FloorDiv:
      return writeDivision(e);
    case SymOp::Mod:
      return {fmt::format("({} % {})", text(operands[0], kProduct), text(operands[1], kAtom)), kAtom};
    case SymOp::Min:
      return {"min(" + list(operands) + ")", kAtom};
    case SymOp::Max:
      return {"max(" + list(operands) + ")", kAtom};
    case SymOp::Select:
      return {"select(" + list(operands) + ")", kAtom};
    case SymOp::NextPow2:
      return {"next_power_of_2(" + list(operands) + ")", kAtom};
    case SymOp::Lt:
      return {fmt::format("{} < {}", text(operands[0], kSum), text(operands[1], kSum)), kCompare};
    case SymOp::Le:
      return {fmt::format("{} <= {}", text(operands[0], kSum), text(operands[1], kSum)), kCompare};
    case SymOp::Eq:
      return {fmt::format("{} == {}", text(operands[0], kSum), text(operands[1], kSum)), kCompare};
    case SymOp::And:
      return {join(operands, " and ", kNot), kAnd};
    case SymOp::Or:
      return {join(operands, " or ", kAnd), kOr};
    case SymOp::Not:
      if (operands[0].op() == SymOp::Eq)
        return {fmt::format("{} != {}", text(operands[0].operands()[0], kSum), text(operands[0].operands()[1], kSum)),
                kCompare};
      return {"not " + text(operands[0], kNot), kNot};
    case SymOp::Xor:
      return {fmt::format("({} ^ {})", text(operands[0], kAtom), text(operands[1], kAtom)), kAtom};
    case SymOp::Shl:
      return {fmt::format("({} << {})", text(operands[0], kAtom), text(operands[1], kAtom)), kAtom};
    case SymOp::Shr:
      return {fmt::format("({} >> {})", text(operands[0], kAtom), text(operands[1], kAtom)), kAtom};
    case SymOp::BitAnd:
      return {fmt::format("({} & {})", text(operands[0], kAtom), text(operands[1], kAtom)), kAtom};
    case SymOp::BitOr:
      return {fmt::format("({} | {})", text(operands[0], kAtom), text(operands[1], kAtom)), kAtom};
    }
    return {"?", kAtom};
  }

  std::string join(std::span<const SymInt> operands, std::string_view separator, Level level) {
    std::string out;
    for (SymInt operand : operands) {
      if (!out.empty())
        out += separator;
      out += text(operand, level);
    }
    return out;
  }
  std::string list(std::span<const SymInt> operands) { return join(operands, ", ", kOr); }

  std::string writeProduct(std::span<const SymInt> operands) {
    if (operands.size() > 1 && operands[0].isConstant(-1))
      return "-" + join(operands.subspan(1), "*", kAtom);
    // A negative constant may stand first without parentheses, nowhere else.
    std::string out;
    for (SymInt operand : operands) {
      if (!out.empty())
        out += "*";
      out += text(operand, out.empty() && operand.isConstant() ? kProduct : kAtom);
    }
    return out;
  }

  /// x + 1 is printed as cdiv(y, d) when it is (y - 1)//d + 1; larger constants around it stay a sum.
  Written writeSum(SymInt e) {
    const auto operands = e.operands();
    int64_t offset = operands.back().constant().value_or(0);
    std::string out;
    size_t written = 0;
    for (SymInt operand : operands) {
      if (operand.isConstant() && operand == operands.back()) // raw sums may hold constants elsewhere
        continue;
      std::string part;
      if (const auto ceiling = offset > 0 ? asCeiling(operand) : std::nullopt) {
        part = *ceiling;
        --offset;
      } else
        part = text(operand, kProduct);
      ++written;
      if (out.empty())
        out = part;
      else if (part.starts_with('-'))
        out += " - " + part.substr(1);
      else
        out += " + " + part;
    }
    if (offset != 0 || written == 0) {
      out += offset < 0 ? fmt::format(" - {}", -Wide(offset) > INT64_MAX ? std::string("9223372036854775808")
                                                                         : fmt::format("{}", -offset))
                        : fmt::format(" + {}", offset);
      ++written;
    }
    return {out, written == 1 ? kAtom : kSum};
  }

  /// (y - 1)//d, which is cdiv(y, d) - 1, as the text of that cdiv.
  std::optional<std::string> asCeiling(SymInt e) {
    if (e.op() != SymOp::FloorDiv || e.operands()[1].isConstant())
      return std::nullopt;
    const Sum numerator = sumOf(e.operands()[0]);
    if (!numerator.back().factors.empty() || numerator.back().coefficient != -1)
      return std::nullopt;
    SymContext &context = e.context();
    return fmt::format("cdiv({}, {})", text(context.add(e.operands()[0], context.constant(1)), kOr),
                       text(e.operands()[1], kOr));
  }

  Written writeDivision(SymInt e) {
    const SymInt a = e.operands()[0], b = e.operands()[1];
    const SymRange range = b.range();
    // (y + d - 1) // d, with a constant d or one that might be zero (else the d has left the numerator).
    const Sum difference = minus(plus(sumOf(a), {Term{1, {}}}), sumOf(b));
    const bool constantDivisor = b.isConstant() && *b.constant() > 1;
    if ((constantDivisor || (!b.isConstant() && range.min <= 0 && range.max >= 0)) &&
        difference.size() < sumOf(a).size() && !difference.empty()) {
      SymContext &context = e.context();
      const SymInt y = context.sub(context.add(a, context.constant(1)), b);
      if (context.cdiv(y, b) == e)
        return {fmt::format("cdiv({}, {})", text(y, kOr), text(b, kOr)), kAtom};
    }
    return {fmt::format("({} // {})", text(a, kProduct), text(b, kAtom)), kAtom};
  }

  const SymNames &names_;
};

} // namespace

std::string symbolic::symText(SymInt expression, const SymNames &names) {
  return expression.valid() ? Printer(names).text(expression, kOr) : std::string("?");
}

std::string toString(SymInt expression) {
  return symText(expression, {});
}

} // namespace tilewright

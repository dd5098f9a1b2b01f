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
        return {fmt::format("{} != {}", text(operands[0].operands()[0], kSum),
                            text(operands[0].operands()[1], kSum)),
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

  Written writeSum(SymInt e) {
    std::string out;
    for (SymInt operand : e.operands()) {
      const std::string part = text(operand, kProduct);
      if (out.empty())
        out = part;
      else if (part.starts_with('-'))
        out += " - " + part.substr(1);
      else
        out += " + " + part;
    }
    return {out, kSum};
  }

  /// cdiv(y, d) where it has the shape (y + d - 1) // d.
  Written writeDivision(SymInt e) {
    const SymInt a = e.operands()[0], d = e.operands()[1];
    SymContext &context = e.context();
    const SymInt y = context.sub(context.add(a, context.constant(1)), d);
    const bool shorter = sumOf(y).size() < sumOf(a).size();
    if (!y.isConstant() && shorter && context.cdiv(y, d) == e)
      return {fmt::format("cdiv({}, {})", text(y, kOr), text(d, kOr)), kAtom};
    return {fmt::format("({} // {})", text(a, kProduct), text(d, kAtom)), kAtom};
  }

  const SymNames &names_;
};

} // namespace

std::string symbolic::symText(SymInt expression, const SymNames &names) {
  return expression.valid() ? Printer(names).text(expression, kOr) : std::string("?");
}

std::string toString(SymInt expression) { return symText(expression, {}); }

} // namespace tilewright

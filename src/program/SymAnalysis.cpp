#include "SymContextImpl.h"

#include <algorithm>
#include <unordered_map>

namespace tilewright {

using namespace symbolic;

namespace {

void visit(SymInt e, std::unordered_set<const SymNode *> &seen, std::vector<uint32_t> &symbols) {
  if (!seen.insert(e.node()).second)
    return;
  if (e.isSymbol())
    symbols.push_back(e.symbolId());
  for (SymInt operand : e.operands())
    visit(operand, seen, symbols);
}

} // namespace

std::vector<uint32_t> symbolsOf(SymInt expression) {
  std::unordered_set<const SymNode *> seen;
  std::vector<uint32_t> symbols;
  visit(expression, seen, symbols);
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

bool mentions(SymInt expression, uint32_t symbolId) {
  const auto symbols = symbolsOf(expression);
  return std::binary_search(symbols.begin(), symbols.end(), symbolId);
}

SymInt SymContext::substitute(SymInt expression, const std::function<SymInt(uint32_t)> &replacement) {
  std::unordered_map<const SymNode *, SymInt> known;
  const auto rebuild = [&](const auto &self, SymInt e) -> SymInt {
    if (e.isConstant())
      return constant(e.node()->value); // also moves an expression from another context into this one
    if (const auto found = known.find(e.node()); found != known.end())
      return found->second;
    SymInt result;
    if (e.isSymbol()) {
      const SymInt replaced = replacement(e.symbolId());
      result = replaced.valid() ? replaced : e;
    } else {
      std::vector<SymInt> x;
      x.reserve(e.operands().size());
      for (SymInt operand : e.operands())
        x.push_back(self(self, operand));
      const auto fold = [&](SymInt (SymContext::*build)(SymInt, SymInt)) {
        SymInt total = x[0];
        for (size_t i = 1; i < x.size(); ++i)
          total = (this->*build)(total, x[i]);
        return total;
      };
      if (&e.context() == this && std::equal(x.begin(), x.end(), e.operands().begin()))
        result = e;
      else
        switch (e.op()) {
        case SymOp::Constant:
        case SymOp::Symbol:
          break;
        case SymOp::Add:
          result = fold(&SymContext::add);
          break;
        case SymOp::Mul:
          result = fold(&SymContext::mul);
          break;
        case SymOp::FloorDiv:
          result = floorDiv(x[0], x[1]);
          break;
        case SymOp::Mod:
          result = mod(x[0], x[1]);
          break;
        case SymOp::Min:
          result = fold(&SymContext::min);
          break;
        case SymOp::Max:
          result = fold(&SymContext::max);
          break;
        case SymOp::Select:
          result = select(x[0], x[1], x[2]);
          break;
        case SymOp::NextPow2:
          result = nextPow2(x[0]);
          break;
        case SymOp::Lt:
          result = lt(x[0], x[1]);
          break;
        case SymOp::Le:
          result = le(x[0], x[1]);
          break;
        case SymOp::Eq:
          result = eq(x[0], x[1]);
          break;
        case SymOp::And:
          result = fold(&SymContext::logicalAnd);
          break;
        case SymOp::Or:
          result = fold(&SymContext::logicalOr);
          break;
        case SymOp::Not:
          result = logicalNot(x[0]);
          break;
        case SymOp::Xor:
        case SymOp::Shl:
        case SymOp::Shr:
        case SymOp::BitAnd:
        case SymOp::BitOr:
          result = bit(e.op(), x[0], x[1]);
          break;
        }
    }
    known.emplace(e.node(), result);
    return result;
  };
  return rebuild(rebuild, expression);
}

std::optional<AffineForm> affineIn(SymInt expression, const std::function<bool(uint32_t)> &isIndex) {
  SymContext &context = expression.context();
  std::unordered_map<const SymNode *, bool> known;
  const auto mentionsIndex = [&](SymInt e) {
    if (const auto found = known.find(e.node()); found != known.end())
      return found->second;
    const auto symbols = symbolsOf(e);
    return known[e.node()] = std::any_of(symbols.begin(), symbols.end(), isIndex);
  };
  AffineForm form{context.constant(0), {}};
  for (const Term &term : sumOf(expression)) {
    if (!fits(term.coefficient))
      return std::nullopt;
    SymInt coefficient = context.constant(static_cast<int64_t>(term.coefficient));
    std::optional<uint32_t> index;
    for (SymInt factor : term.factors) {
      if (!mentionsIndex(factor)) {
        coefficient = context.mul(coefficient, factor);
        continue;
      }
      if (index || !factor.isSymbol())
        return std::nullopt;
      index = factor.symbolId();
    }
    if (!index) {
      form.constant = context.add(form.constant, coefficient);
      continue;
    }
    const auto found = std::find_if(form.terms.begin(), form.terms.end(),
                                    [&](const auto &known) { return known.first == *index; });
    if (found == form.terms.end())
      form.terms.emplace_back(*index, coefficient);
    else
      found->second = context.add(found->second, coefficient);
  }
  return form;
}

} // namespace tilewright

#include "Bounds.h"

#include "Monomials.h"

namespace tilewright::analysis {

namespace {

void conjuncts(SymInt condition, std::vector<SymInt> &out) {
  if (condition.op() == SymOp::And)
    for (SymInt operand : condition.operands())
      conjuncts(operand, out);
  else
    out.push_back(condition);
}

class BoundFinder {
public:
  explicit BoundFinder(Indices &indices) : indices_(indices), context_(indices.context()) {}

  /// excess <= 0 holds.
  void solve(SymInt excess, int depth = 0) {
    const auto monomials = monomialsOf(excess);
    if (depth < 6)
      for (const Monomial &monomial : monomials) {
        if (monomial.factors.size() != 1)
          continue;
        const SymInt atom = monomial.factors[0];
        const bool splits = (atom.op() == SymOp::Min && monomial.coefficient < 0) ||
                            (atom.op() == SymOp::Max && monomial.coefficient > 0);
        if (!splits)
          continue;
        const SymInt coefficient = context_.constant(monomial.coefficient);
        const SymInt rest = context_.sub(excess, context_.mul(coefficient, atom));
        for (SymInt operand : atom.operands())
          solve(context_.add(rest, context_.mul(coefficient, operand)), depth + 1);
        return;
      }

    std::vector<Monomial> position, free;
    Bound bound;
    int64_t laneCoefficient = 1;
    int lanes = 0;
    bool nonLinear = false;
    for (const Monomial &monomial : monomials) {
      const SymInt product = productOf(context_, monomial);
      if (!indices_.mentionsIndex(product)) {
        free.push_back(monomial);
        continue;
      }
      position.push_back(monomial);
      for (SymInt factor : monomial.factors)
        for (uint32_t symbol : indices_.symbolsIn(factor)) {
          const IndexSymbol &meaning = indices_.of(symbol);
          if (meaning.kind != IndexKind::Lane)
            continue;
          if (bound.lanes >> meaning.axis & 1)
            nonLinear = true; // the same lane twice
          bound.lanes |= 1u << meaning.axis;
          bound.lane = static_cast<int32_t>(meaning.axis);
          laneCoefficient = monomial.coefficient;
          nonLinear = nonLinear || !factor.isSymbol() || monomial.factors.size() != 1;
          ++lanes;
        }
    }
    if (position.empty())
      return;
    const SymInt freePart = sumOf(context_, free);
    if (indices_.laneAxesOf(freePart) != 0 || indices_.mentions(freePart, IndexKind::Carry))
      return;
    if (lanes > 1 || nonLinear) {
      bound.joint = true;
      bound.lane = -1;
      laneCoefficient = 1;
    } else if (lanes == 0) {
      laneCoefficient = position[0].coefficient;
      for (const Monomial &monomial : position)
        if (monomial.coefficient % laneCoefficient != 0)
          laneCoefficient = 1;
    }
    if (laneCoefficient <= 0)
      return; // a lower bound
    if (laneCoefficient != 1)
      for (Monomial &monomial : position) {
        if (monomial.coefficient % laneCoefficient != 0)
          return;
        monomial.coefficient /= laneCoefficient;
      }
    bound.position = sumOf(context_, position);
    bound.extent = context_.add(context_.floorDiv(context_.neg(freePart), context_.constant(laneCoefficient)),
                                context_.constant(1));
    found.push_back(bound);
  }

  std::vector<Bound> found;

private:
  Indices &indices_;
  SymContext &context_;
};

} // namespace

std::vector<Bound> boundsOf(Indices &indices, SymInt condition) {
  if (!condition.valid())
    return {};
  SymContext &context = indices.context();
  std::vector<SymInt> comparisons;
  conjuncts(condition, comparisons);
  BoundFinder finder(indices);
  for (SymInt comparison : comparisons) {
    if (comparison.op() != SymOp::Lt && comparison.op() != SymOp::Le)
      continue;
    SymInt excess = context.sub(comparison.operands()[0], comparison.operands()[1]);
    if (comparison.op() == SymOp::Lt)
      excess = context.add(excess, context.constant(1));
    finder.solve(excess);
  }
  return std::move(finder.found);
}

} // namespace tilewright::analysis

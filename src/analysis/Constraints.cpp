#include "Analysis.h"
#include "Monomials.h"

#include <algorithm>

namespace tilewright::analysis {

namespace {

class ConstraintFinder {
public:
  explicit ConstraintFinder(Analysis &analysis)
      : analysis_(analysis), indices_(analysis.indices()), context_(analysis.context()) {}

  void run() {
    for (const StaticRequirement &requirement : analysis_.program.requirements)
      add(requirement.code, requirement.condition, requirement.text, requirement.location.line());
    for (const PathCondition &path : analysis_.program.pathConditions)
      add("path.condition", path.condition, path.text, path.location.line());
    requireWholeParts();
    for (const Walk &walk : analysis_.walks) {
      requireCover(walk);
      requireWholeTiles(walk);
      readLoops(walk);
      readGrid(walk);
    }
  }

private:
  void add(std::string code, SymInt condition, std::string text, uint32_t line) {
    if (!condition.valid() || condition.isConstant(1))
      return;
    if (!analysis_.isLaunchTime(condition)) {
      analysis_.facts.diagnostics.push_back(
          makeDiagnostic(Severity::Remark, std::move(code),
                         "not checked, because it depends on values that only the kernel reads: " + text));
      return;
    }
    for (const Constraint &known : analysis_.facts.constraints)
      if (known.condition == condition)
        return;
    analysis_.facts.constraints.push_back({std::move(code), condition, std::move(text), line});
  }

  uint32_t lineOf(const Walk &walk) const {
    return analysis_.program.op(analysis_.trace.accesses[walk.access].op).location.line();
  }
  uint32_t lineOfLoop(const Walk::Step &step) const {
    return analysis_.program.op(analysis_.trace.loops[step.index].op).location.line();
  }
  bool isOpen(SymInt expression) { return expression.valid() && analysis_.mentionsOpen(expression); }

  void requireMultiple(std::string code, SymInt total, SymInt step, uint32_t line) {
    if (step.isConstant() || !step.valid() || !total.valid())
      return;
    add(std::move(code), context_.eq(context_.mod(total, step), context_.constant(0)),
        toString(total) + " % " + toString(step) + " == 0", line);
  }

  /// A tile that nothing moves along its axis must hold the whole axis, or the whole step between programs.
  void requireCover(const Walk &walk) {
    if (!walk.hasLanes() || !isOpen(walk.size) || isFirstTile(walk))
      return;
    SymInt need = coverOf(walk);
    for (SymInt inner : walk.innerExtents)
      if (need.valid() && analysis_.isLaunchTime(inner))
        need = context_.min(need, inner);
    if (!need.valid() || need == walk.size || sharesParameter(need, walk.size))
      return;
    // The first tile of an axis that a loop walks over is a look-ahead, not the whole.
    for (const Walk &other : analysis_.walks)
      if (other.axis >= 0 && other.axis == walk.axis && other.size == walk.size && (!other.loops.empty()))
        return;
    const SymInt reach = reachOf(analysis_, walk);
    add("oneshot.short", context_.le(need, reach), toString(reach) + " >= " + toString(need), lineOf(walk));
  }

  /// A tile of B // 4 elements is a part of something with B: what the division drops is never computed.
  void requireWholeParts() {
    for (const Value &value : analysis_.program.values)
      for (SymInt size : value.type.shape)
        for (const Monomial &monomial : monomialsOf(size))
          for (SymInt factor : monomial.factors)
            if (Division parts; asDivision(factor, parts) && !parts.ceiling && isOpen(parts.total))
              add("divide.floor", context_.eq(context_.mod(parts.total, parts.step), context_.constant(0)),
                  toString(parts.total) + " % " + toString(parts.step) + " == 0",
                  value.definingOp == kNone ? 0 : analysis_.program.op(value.definingOp).location.line());
  }

  bool sharesParameter(SymInt a, SymInt b) {
    for (const Parameter &parameter : analysis_.program.parameters)
      if (parameter.kind == Parameter::Kind::Open && parameter.symbol.valid() &&
          indices_.mentions(a, parameter.symbol) && indices_.mentions(b, parameter.symbol))
        return true;
    return false;
  }

  /// A block pointer that nothing moves, with the size of tiles that other accesses walk in: its first tile
  /// is wanted, and must exist.
  bool isFirstTile(const Walk &walk) {
    if (walk.source != Walk::Source::Declared || walk.masked || !walk.programs.empty() ||
        !walk.loops.empty() || walk.decodedStep.valid())
      return false;
    for (const ParameterFacts &facts : analysis_.facts.parameters) {
      const Parameter *parameter = analysis_.program.findParameter(facts.name);
      if (parameter && parameter->symbol.valid() && indices_.mentions(walk.size, parameter->symbol) &&
          !facts.hasRole(Role::OneShot) && (facts.hasRole(Role::Split) || facts.hasRole(Role::Tile)))
        return true;
    }
    return false;
  }

  /// Without a mask the last tile must end where the axis ends.
  void requireWholeTiles(const Walk &walk) {
    if (!walk.hasLanes() || walk.masked || !walk.extent.valid())
      return;
    if (isOpen(walk.size) && isFirstTile(walk)) {
      add("order.tile", context_.le(walk.size, walk.extent),
          toString(walk.size) + " <= " + toString(walk.extent), lineOf(walk));
      return;
    }
    SymInt step = walk.size;
    if (!walk.programs.empty() && !turnsOf(walk, walk.programs[0]).valid())
      step = walk.programs[0].amount;
    else if (walk.decodedStep.valid())
      step = walk.decodedStep;
    if (isOpen(step) && step != walk.extent)
      requireMultiple("divide.tail", walk.extent, step, lineOf(walk));
  }

  void readLoops(const Walk &walk) {
    for (const Walk::Step &step : walk.loops) {
      const LoopRecord &loop = analysis_.trace.loops[step.index];
      const SymInt total = loopExtent(analysis_.trace, loop);
      if (!total.valid() || !loop.step.valid())
        continue;
      const SymInt unit = divideExactly(step.amount, loop.step);
      if (!unit.valid())
        continue;
      // range(n // B) over blocks of B drops what is left over.
      Division blocks;
      if (asDivision(total, blocks) && blocks.step == unit && !blocks.ceiling && isOpen(unit)) {
        requireMultiple(analysis_.mentionsScalar(blocks.total) ? "divide.tail" : "divide.floor", blocks.total,
                        unit, lineOfLoop(step));
        continue;
      }
      // range(0, B, S) along a whole axis must reach its end.
      if (const SymInt reach = loopReach(analysis_.trace, step);
          walk.extent.valid() && walk.programs.empty() && !walk.decodedStep.valid() && isOpen(reach) &&
          reach != walk.extent && !sharesParameter(reach, walk.extent) &&
          !sharesParameter(reach, step.amount))
        add("oneshot.short", context_.le(walk.extent, reach),
            toString(reach) + " >= " + toString(walk.extent), lineOfLoop(step));
      // The loop walks inside a block that a program owns: pid*B + k*S, k*S < B.
      SymInt block;
      for (const Walk::Step &program : walk.programs)
        if (isOpen(program.amount) && program.amount != step.amount && !turnsOf(walk, program).valid())
          block = program.amount;
      if (!block.valid() || !isOpen(step.amount) || divideExactly(block, step.amount).valid())
        continue;
      const SymInt reach =
          asDivision(total, blocks) && blocks.step == unit ? blocks.total : context_.mul(total, unit);
      if (reach != block)
        continue;
      add("order.tile", context_.le(step.amount, block), toString(step.amount) + " <= " + toString(block),
          lineOfLoop(step));
      const bool endsWithBlock =
          std::find(walk.innerExtents.begin(), walk.innerExtents.end(), block) != walk.innerExtents.end();
      const bool repeatable = analysis_.facts.effects.atomics.empty() &&
                              analysis_.facts.effects.accumulates.empty() &&
                              (walk.axis < 0 || !analysis_.axisOf(walk).reduction);
      if (!endsWithBlock && !repeatable)
        requireMultiple("divide.floor", block, step.amount, lineOfLoop(step));
    }
  }

  /// A grid of n // B programs drops what is left over.
  void readGrid(const Walk &walk) {
    if (!analysis_.grid || !analysis_.grid->isSymbolic())
      return;
    for (const Walk::Step &step : walk.programs) {
      Division blocks;
      if (step.index < analysis_.grid->dims().size() &&
          asDivision(analysis_.grid->dims()[step.index], blocks) && blocks.step == step.amount &&
          !blocks.ceiling && isOpen(step.amount))
        requireMultiple("divide.tail", blocks.total, step.amount, lineOf(walk));
    }
  }

  Analysis &analysis_;
  Indices &indices_;
  SymContext &context_;
};

} // namespace

void findConstraints(Analysis &analysis) { ConstraintFinder(analysis).run(); }

} // namespace tilewright::analysis

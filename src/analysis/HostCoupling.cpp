#include "Analysis.h"
#include "Bounds.h"
#include "Monomials.h"

#include <algorithm>

namespace tilewright::analysis {

namespace {

class CouplingFinder {
public:
  explicit CouplingFinder(Analysis &analysis)
      : analysis_(analysis), indices_(analysis.indices()), context_(analysis.context()) {}

  void run() {
    for (const Walk &walk : analysis_.walks) {
      readBlockLoops(walk);
      readDecoding(walk);
      readTaskCount(walk);
      readGuards(walk);
    }
    readUnevenShares();
    readPartialResults();
    markDerivedParameters();
  }

private:
  std::vector<const Parameter *> openIn(SymInt expression) {
    std::vector<const Parameter *> open;
    for (const Parameter &parameter : analysis_.program.parameters)
      if (parameter.kind == Parameter::Kind::Open && parameter.symbol.valid() && expression.valid() &&
          indices_.mentions(expression, parameter.symbol))
        open.push_back(&parameter);
    return open;
  }

  void couple(const std::vector<const Parameter *> &open, const std::string &argument, const std::string &why,
              OpId op, const std::string &companion = {}) {
    for (const Parameter *parameter : open) {
      for (const HostCoupling &known : analysis_.facts.hostCoupled)
        if (known.parameter == parameter->name && known.argument == argument)
          return;
      Evidence evidence = analysis_.evidenceAt(op);
      analysis_.facts.hostCoupled.push_back({parameter->name, argument, why, evidence.line, companion});
      for (ParameterFacts &facts : analysis_.facts.parameters)
        if (facts.name == parameter->name) {
          if (!facts.hasRole(Role::HostCoupled))
            facts.roles.push_back(Role::HostCoupled);
          addEvidence(facts.evidence, evidence);
        }
    }
  }

  /// Whether a loop's count is of all blocks, not of those of one program.
  static bool countsAll(const Walk &walk) {
    return std::all_of(walk.programs.begin(), walk.programs.end(),
                       [&](const Walk::Step &program) { return turnsOf(walk, program).valid(); });
  }

  /// The number of blocks that cover the walk's axis, as a caller would write it.
  std::string blocksText(const Walk &walk, SymInt block) {
    return walk.extent.valid() && analysis_.isLaunchTime(walk.extent)
               ? "cdiv(" + toString(walk.extent) + ", " + toString(block) + ")"
               : std::string();
  }

  /// for i in range(.., n_blocks): ... i*B ...: the loop counts blocks of B up to an argument.
  void readBlockLoops(const Walk &walk) {
    for (const Walk::Step &step : walk.loops) {
      const LoopRecord &loop = analysis_.trace.loops[step.index];
      const SymInt total = loopExtent(analysis_.trace, loop);
      if (!total.valid() || !loop.step.valid())
        continue;
      const SymInt unit = divideExactly(step.amount, loop.step);
      if (!unit.valid())
        continue;
      const auto open = openIn(unit);
      const Parameter *count = open.empty() ? nullptr : analysis_.countNamed(total, {loop.op});
      // pid*(B*COUNT) + i*B: with a constexpr count the grid follows from both.
      const bool gridFollows =
          std::any_of(walk.programs.begin(), walk.programs.end(), [&](const Walk::Step &program) {
            return program.amount == context_.mul(total, step.amount);
          });
      if (count && (count->kind == Parameter::Kind::Scalar || !gridFollows))
        couple(open, count->name, "the loop counts up to " + count->name + " in blocks of " + toString(unit),
               loop.op, countsAll(walk) ? blocksText(walk, unit) : "");
    }
  }

  /// pid % tiles_n with steps of BLOCK_N: the number of tiles along N is an argument. In a loop over tiles_m
  /// * tiles_n tasks the other factor counts the tiles of task // tiles_n.
  void readDecoding(const Walk &walk) {
    if (!walk.decodedStep.valid() ||
        (walk.decoded.op() != SymOp::Mod && walk.decoded.op() != SymOp::FloorDiv))
      return;
    const auto open = openIn(walk.decodedStep);
    if (open.empty())
      return;
    const SymInt divisor = walk.decoded.operands()[1];
    std::vector<OpId> uses = opsWithValue(walk.decoded);
    const Parameter *count = nullptr;
    if (walk.decoded.op() == SymOp::Mod) {
      count = analysis_.countNamed(divisor, uses);
      counts_.push_back(count);
    } else {
      for (const LoopRecord &loop : analysis_.trace.loops)
        if (const SymInt total = loopExtent(analysis_.trace, loop);
            total.valid() && indices_.mentions(walk.decoded, loop.iteration)) {
          uses.push_back(loop.op);
          std::vector<const Parameter *> taken = counts_;
          taken.push_back(analysis_.countNamed(divisor, uses));
          const SymInt others = divideExactly(total, divisor);
          if (others.valid())
            count = analysis_.countNamed(others, uses, taken);
        }
    }
    if (count)
      couple(open, count->name,
             "program numbers are taken apart by " + count->name + ", the number of blocks of " +
                 toString(walk.decodedStep),
             analysis_.trace.accesses[walk.access].op, blocksText(walk, walk.decodedStep));
  }

  /// task % cdiv(n, B) in a loop over `tasks` tasks: how many there are follows from B.
  void readTaskCount(const Walk &walk) {
    if (!walk.decodedStep.valid() || !walk.decodedInLoop)
      return;
    for (const LoopRecord &loop : analysis_.trace.loops) {
      if (!indices_.mentions(walk.decoded, loop.iteration))
        continue;
      const SymInt total = loopExtent(analysis_.trace, loop);
      if (!total.valid() || !openIn(total).empty())
        continue;
      const auto open = openIn(divisorsIn(walk.decoded));
      const Parameter *count = open.empty() ? nullptr : analysis_.countNamed(total, {loop.op});
      if (count)
        couple(open, count->name,
               "the loop counts up to " + count->name + " tasks, some of them for each block", loop.op);
    }
  }

  /// What an expression is divided by, as one sum (to look for symbols in).
  SymInt divisorsIn(SymInt expression) {
    SymInt divisors = context_.constant(0);
    for (const Monomial &monomial : monomialsOf(expression))
      for (SymInt factor : monomial.factors)
        if (factor.op() == SymOp::Mod || factor.op() == SymOp::FloorDiv)
          divisors = context_.add(divisors, factor.operands()[1]);
    return divisors;
  }

  std::vector<OpId> opsWithValue(SymInt expression) {
    std::vector<OpId> ops;
    for (OpId id = 0; id < analysis_.program.ops.size(); ++id)
      for (ValueId result : analysis_.program.op(id).results)
        if (analysis_.trace.values[result].kind == IndexValue::Kind::Integer &&
            analysis_.trace.values[result].expr == expression)
          ops.push_back(id);
    return ops;
  }

  /// MORE if pid < count else MORE - 1, or n - (count - 1)*B if pid == count - 1 else B: which share a
  /// program has depends on how many programs there are.
  void readUnevenShares() {
    const Program &program = analysis_.program;
    for (const Op &op : program.ops) {
      if ((op.kind != OpKind::If && op.kind != OpKind::Select) || op.operands.empty())
        continue;
      const OpId condition = program.value(op.operands[0]).definingOp;
      if (condition == kNone || program.op(condition).kind != OpKind::Compare)
        continue;
      std::vector<const Parameter *> open;
      for (ValueId result : op.results)
        if (const IndexValue &value = analysis_.trace.values[result];
            value.kind == IndexValue::Kind::Integer && program.value(result).type.isScalar())
          for (const Parameter *parameter : openIn(value.expr))
            open.push_back(parameter);
      const auto &sides = program.op(condition).operands;
      for (size_t side = 0; side < 2 && !open.empty(); ++side) {
        const SymInt number = analysis_.trace.values[sides[side]].expr,
                     limit = analysis_.trace.values[sides[1 - side]].expr;
        if (!number.valid() || !number.isSymbol() || !indices_.mentions(number, IndexKind::ProgramId) ||
            !limit.valid() || !analysis_.isLaunchTime(limit))
          continue;
        const Parameter *count = analysis_.countNamed(limit, {condition});
        if (!count || limit.isConstant())
          if (const Parameter *next =
                  analysis_.countNamed(context_.add(limit, context_.constant(1)), {condition}))
            count = next;
        if (const Parameter *exact = analysis_.countNamed(limit, {condition});
            exact && (!limit.isConstant() || analysis_.isNamedAt(*exact, condition)))
          count = exact;
        if (count)
          couple(open, count->name, "the share of a program depends on its place among " + count->name,
                 condition);
      }
    }
  }

  /// A count that is itself an open parameter cannot be chosen by its own.
  void markDerivedParameters() {
    for (ParameterFacts &facts : analysis_.facts.parameters)
      for (const HostCoupling &coupling : analysis_.facts.hostCoupled)
        if (coupling.argument == facts.name) {
          facts.roles = {Role::HostCoupled};
          facts.confidence = Confidence::Likely;
        }
  }

  /// if pid >= n_blocks: return: programs are counted against an argument and scaled by B.
  void readGuards(const Walk &walk) {
    const AccessRecord &access = analysis_.trace.accesses[walk.access];
    if (!access.guard.valid() || walk.programs.empty())
      return;
    if (access.guard != guard_) {
      guard_ = access.guard;
      guardBounds_ = boundsOf(indices_, guard_);
    }
    for (const Bound &bound : guardBounds_)
      for (const Walk::Step &step : walk.programs) {
        const Parameter *count = analysis_.scalarNamed(bound.extent);
        if (count && bound.position == indices_.programIds()[step.index])
          couple(openIn(step.amount), count->name,
                 "programs are counted up to " + count->name + ", each with a block of " +
                     toString(step.amount),
                 access.op, blocksText(walk, step.amount));
      }
  }

  /// out[pid] beside in[pid*B + ...]: one result a block, so the length of `out` follows from B.
  void readPartialResults() {
    struct Split {
      uint32_t program;
      std::vector<const Parameter *> open;
    };
    std::vector<Split> splits;
    for (const Walk &walk : analysis_.walks) {
      if (!walk.hasLanes() || !walk.loops.empty())
        continue;
      for (const Walk::Step &step : walk.programs) {
        Split split{step.index, openIn(step.amount)};
        const auto known = std::find_if(splits.begin(), splits.end(), [&](const Split &other) {
          return other.program == split.program && other.open == split.open;
        });
        if (!split.open.empty() && known == splits.end())
          splits.push_back(std::move(split));
      }
    }
    for (uint32_t number = 0; number < analysis_.trace.accesses.size(); ++number) {
      const AccessRecord &access = analysis_.trace.accesses[number];
      if (!access.write || access.atomic || access.buffers.size() != 1)
        continue;
      for (const Split &split : splits)
        if (storesPerProgram(number, split.program, split.open)) {
          const std::string &buffer = analysis_.program.parameters[access.buffers[0]].name;
          couple(split.open, buffer,
                 "one result per program goes to " + buffer + ", so its length depends on the block size",
                 access.op);
        }
    }
  }

  bool storesPerProgram(uint32_t number, uint32_t programAxis, const std::vector<const Parameter *> &open) {
    const AccessRecord &access = analysis_.trace.accesses[number];
    const SymInt program = indices_.programIds()[programAxis];
    if (!program.valid() || indices_.mentionsUnknown(access.offset))
      return false;
    bool moves = false;
    for (const Monomial &monomial : monomialsOf(access.offset)) {
      const SymInt product = productOf(context_, monomial);
      if (!indices_.mentions(product, program))
        continue;
      moves = true;
      if (std::find(monomial.factors.begin(), monomial.factors.end(), program) == monomial.factors.end())
        return false;
      for (const Parameter *parameter : open)
        if (indices_.mentions(product, parameter->symbol))
          return false;
    }
    if (!moves)
      return false;
    for (const Parameter *parameter : open) {
      for (SymInt size : access.tileShape)
        if (indices_.mentions(size, parameter->symbol))
          return false;
    }
    return true;
  }

  Analysis &analysis_;
  Indices &indices_;
  SymContext &context_;
  std::vector<const Parameter *> counts_; ///< that tasks are taken apart by
  SymInt guard_;                          ///< the last one looked at, with its bounds
  std::vector<Bound> guardBounds_;
};

} // namespace

void findHostCoupling(Analysis &analysis) { CouplingFinder(analysis).run(); }

} // namespace tilewright::analysis

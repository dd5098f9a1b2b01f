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
      readGuards(walk);
    }
    readPartialResults();
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
              OpId op) {
    for (const Parameter *parameter : open) {
      for (const HostCoupling &known : analysis_.facts.hostCoupled)
        if (known.parameter == parameter->name && known.argument == argument)
          return;
      Evidence evidence = analysis_.evidenceAt(op);
      analysis_.facts.hostCoupled.push_back({parameter->name, argument, why, evidence.line});
      for (ParameterFacts &facts : analysis_.facts.parameters)
        if (facts.name == parameter->name) {
          if (!facts.hasRole(Role::HostCoupled))
            facts.roles.push_back(Role::HostCoupled);
          addEvidence(facts.evidence, evidence);
        }
    }
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
      const Parameter *count = analysis_.scalarNamed(total);
      if (count)
        couple(openIn(unit), count->name,
               "the loop counts up to " + count->name + " in blocks of " + toString(unit), loop.op);
    }
  }

  /// pid % tiles_n with steps of BLOCK_N: the number of tiles along N is an argument. In a loop over tiles_m
  /// * tiles_n tasks the other factor counts the tiles of task // tiles_n.
  void readDecoding(const Walk &walk) {
    if (!walk.decodedStep.valid() ||
        (walk.decoded.op() != SymOp::Mod && walk.decoded.op() != SymOp::FloorDiv))
      return;
    const SymInt divisor = walk.decoded.operands()[1];
    const Parameter *count = nullptr;
    if (walk.decoded.op() == SymOp::Mod)
      count = analysis_.scalarNamed(divisor);
    else
      for (const LoopRecord &loop : analysis_.trace.loops)
        if (const SymInt total = loopExtent(analysis_.trace, loop);
            total.valid() && indices_.mentions(walk.decoded, loop.iteration))
          count = analysis_.scalarNamed(divideExactly(total, divisor));
    if (count)
      couple(openIn(walk.decodedStep), count->name,
             "program numbers are taken apart by " + count->name + ", the number of blocks of " +
                 toString(walk.decodedStep),
             analysis_.trace.accesses[walk.access].op);
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
                 access.op);
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
    if (!program.valid() || !indices_.mentions(access.offset, program) ||
        indices_.mentionsUnknown(access.offset))
      return false;
    for (const Parameter *parameter : open) {
      if (indices_.mentions(access.offset, parameter->symbol))
        return false;
      for (SymInt size : access.tileShape)
        if (indices_.mentions(size, parameter->symbol))
          return false;
    }
    return true;
  }

  Analysis &analysis_;
  Indices &indices_;
  SymContext &context_;
  SymInt guard_; ///< the last one looked at, with its bounds
  std::vector<Bound> guardBounds_;
};

} // namespace

void findHostCoupling(Analysis &analysis) { CouplingFinder(analysis).run(); }

} // namespace tilewright::analysis

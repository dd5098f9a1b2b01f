#include "Analysis.h"
#include "Monomials.h"

#include <algorithm>

namespace tilewright::analysis {

namespace {

class RoleFinder {
public:
  RoleFinder(Analysis &analysis, const Parameter &parameter)
      : analysis_(analysis), indices_(analysis.indices()), context_(analysis.context()),
        parameter_(parameter), symbol_(parameter.symbol) {
    facts_.name = parameter.name;
  }

  ParameterFacts find() {
    for (const Walk &walk : analysis_.walks)
      readSteps(walk);
    for (const Walk &walk : analysis_.walks)
      readCover(walk);
    for (const Walk &walk : analysis_.walks)
      readReach(walk);
    for (const Walk &walk : analysis_.walks)
      reportOpenEnd(walk);
    if (facts_.roles.empty())
      readOccurrences();
    return std::move(facts_);
  }

private:
  bool in(SymInt expression) { return expression.valid() && indices_.mentions(expression, symbol_); }

  void add(Role role, const Walk *walk, Evidence evidence) {
    if (!facts_.hasRole(role))
      facts_.roles.push_back(role);
    addEvidence(facts_.evidence, std::move(evidence));
    if (!walk || walk->axis < 0)
      return;
    const uint32_t axis = static_cast<uint32_t>(walk->axis);
    if (std::find(facts_.axes.begin(), facts_.axes.end(), axis) == facts_.axes.end())
      facts_.axes.push_back(axis);
    auto &tiled = analysis_.facts.axes[axis].parameters;
    if (std::find(tiled.begin(), tiled.end(), facts_.name) == tiled.end())
      tiled.push_back(facts_.name);
  }

  /// The parameter scales what one program or one iteration moves on by.
  void readSteps(const Walk &walk) {
    bool countsPrograms = false;
    for (const Walk::Step &program : walk.programs) {
      const SymInt turns = turnsOf(walk, program);
      if (!in(program.amount)) {
        // pid*B + k*(B*P): P programs take turns, so P is their number.
        if (turns.valid() && in(turns)) {
          countsPrograms = true;
          add(Role::Split, &walk, withProgram("the number of programs that share this axis"));
        }
        continue;
      }
      if (turns.valid()) {
        add(Role::Tile, &walk, withProgram("programs take turns over the axis"));
        continue;
      }
      if (startsPastItsLoop(analysis_.trace, walk, program))
        continue;
      // pid*(rows*B) + k*B with a runtime count of rows: the caller decides how much a program does, not B
      // alone.
      const auto inLoop = std::find_if(walk.loops.begin(), walk.loops.end(),
                                       [&](const Walk::Step &loop) { return in(loop.amount); });
      if (inLoop != walk.loops.end())
        if (const SymInt count = divideExactly(program.amount, inLoop->amount);
            count.valid() && analysis_.mentionsScalar(count))
          continue;
      add(Role::Split, &walk, withProgram({}));
    }
    if (walk.decodedStep.valid() && in(walk.decodedStep)) {
      if (walk.decodedInLoop)
        add(Role::Tile, &walk, withProgram("tiles are handed out to programs in turn"));
      else
        add(Role::Split, &walk, withProgram({}));
    }
    for (const Walk::Step &loop : walk.loops)
      if (in(loop.amount) && !countsPrograms && !isPart(loop.amount))
        add(Role::Tile, &walk, analysis_.evidenceAt(analysis_.trace.loops[loop.index].op));
  }

  /// B // 2 in two steps: the block's parts, however large the block is.
  bool isPart(SymInt amount) {
    for (const Monomial &monomial : monomialsOf(amount))
      for (SymInt factor : monomial.factors)
        if (in(factor) && (factor.op() != SymOp::FloorDiv || !factor.operands()[1].isConstant()))
          return false;
    return true;
  }

  /// The parameter only says how wide a tile is: the tile must hold all there is, or it is a fixed chunk.
  void readCover(const Walk &walk) {
    if (!walk.hasLanes() || !in(walk.size))
      return;
    const auto steps = [&](const Walk &w) {
      const auto stepped = [&](const Walk::Step &step) { return in(step.amount); };
      return std::any_of(w.programs.begin(), w.programs.end(), stepped) ||
             std::any_of(w.loops.begin(), w.loops.end(), stepped) || in(w.decodedStep);
    };
    if (steps(walk))
      return;
    const OpId iota = tileOp();
    for (const Walk &other : analysis_.walks)
      if (other.axis >= 0 && other.axis == walk.axis && steps(other)) {
        addEvidence(facts_.evidence, analysis_.evidenceAt(iota, "also a first tile of the same axis"));
        return;
      }
    // A block pointer without boundary check does not claim to hold everything.
    if (walk.source == Walk::Source::Declared && !walk.masked &&
        (facts_.hasRole(Role::Split) || facts_.hasRole(Role::Tile))) {
      addEvidence(facts_.evidence, analysis_.evidenceAt(iota, "also a first tile"));
      return;
    }
    // An unrolled loop leaves its steps in the constant part of the address.
    if (isUnrolled(walk)) {
      add(Role::Tile, &walk, analysis_.evidenceAt(iota, "in an unrolled loop"));
      return;
    }
    const SymInt cover = coverOf(walk);
    if (cover.valid() && !in(cover)) {
      add(Role::OneShot, &walk, analysis_.evidenceAt(iota, "one tile for " + toString(cover)));
      return;
    }
    if (facts_.hasRole(Role::Split) || facts_.hasRole(Role::Tile))
      return;
    if (walk.masked || !walk.programs.empty() || !walk.loops.empty())
      facts_.confidence = Confidence::Likely;
    add(Role::Chunk, &walk, analysis_.evidenceAt(iota, "nothing in the kernel bounds this tile"));
    if (!facts_.hasRole(Role::OneShot))
      facts_.confidence = Confidence::Likely;
  }

  /// The parameter is how far a loop goes along an axis that no program shares: it must reach the end.
  void readReach(const Walk &walk) {
    if (!walk.extent.valid() || in(walk.extent) || !walk.programs.empty() || walk.decodedStep.valid())
      return;
    for (const Walk::Step &step : walk.loops) {
      const SymInt reach = loopReach(analysis_.trace, step);
      if (in(reach) && reach != walk.extent && !in(step.amount))
        add(Role::OneShot, &walk,
            analysis_.evidenceAt(analysis_.trace.loops[step.index].op,
                                 "the loop's end, for " + toString(walk.extent)));
    }
  }

  /// Without any bound nobody can tell whether the last tile ends where the data does.
  void reportOpenEnd(const Walk &walk) {
    if (walk.extent.valid() || walk.masked || !walk.hasLanes() || !in(walk.size) || reported_ ||
        (!facts_.hasRole(Role::Split) && !facts_.hasRole(Role::Tile)))
      return;
    reported_ = true;
    analysis_.unresolved("analysis.extent",
                         "neither a mask nor a loop nor the grid bounds this access: tiles of '" +
                             parameter_.name + "' must end exactly where the data ends",
                         analysis_.program.op(analysis_.trace.accesses[walk.access].op).location);
  }

  bool isUnrolled(const Walk &walk) { return reachOf(analysis_, walk) != walk.size; }

  /// No access is scaled by it. What else does it do?
  void readOccurrences() {
    OpId withProgram = kNone, inLoopBounds = kNone, inValue = kNone, inShape = kNone, inAttribute = kNone;
    const Program &program = analysis_.program;
    const auto first = [](OpId &slot, OpId id) {
      if (slot == kNone)
        slot = id;
    };
    for (OpId id = 0; id < program.ops.size(); ++id) {
      const Op &op = program.op(id);
      for (const auto &[key, attribute] : op.attributes.values())
        if (const auto *value = std::get_if<SymInt>(&attribute); value && value->valid() && in(*value))
          if (op.kind != OpKind::Constant && op.kind != OpKind::Iota)
            first(inAttribute, id);
      for (ValueId value : op.results) {
        const IndexValue &index = analysis_.trace.values[value];
        for (SymInt size : program.value(value).type.shape)
          if (in(size))
            first(inShape, id);
        if (!index.known() || !in(index.expr))
          continue;
        if (indices_.mentions(index.expr, IndexKind::ProgramId))
          first(withProgram, id);
        else
          first(inValue, id);
      }
      if ((op.kind == OpKind::For || op.kind == OpKind::While) && inLoopBounds == kNone)
        for (const LoopRecord &loop : analysis_.trace.loops)
          if (loop.op == id && loop.trip.valid() && in(loop.trip))
            inLoopBounds = id;
    }
    facts_.confidence = Confidence::Likely;
    if (withProgram != kNone || inAttribute != kNone) {
      add(Role::Schedule, nullptr,
          analysis_.evidenceAt(withProgram != kNone ? withProgram : inAttribute,
                               "changes which program does which tile, not what is computed"));
    } else if (inShape != kNone) {
      add(Role::Chunk, nullptr, analysis_.evidenceAt(inShape, "size of a tile that no access moves by it"));
      facts_.confidence = Confidence::Guess;
    } else if (inLoopBounds != kNone) {
      add(Role::Chunk, nullptr, analysis_.evidenceAt(inLoopBounds, "number of iterations"));
      facts_.confidence = Confidence::Guess;
    } else if (const PathCondition *path = pathCondition()) {
      add(Role::Flag, nullptr, {path->location.line(), path->text});
      facts_.confidence = Confidence::Proved;
    } else if (inValue != kNone && hasUse(inValue)) {
      add(Role::Chunk, nullptr, analysis_.evidenceAt(inValue, "its value takes part in the computation"));
      facts_.confidence = Confidence::Guess;
    } else {
      add(Role::Unused, nullptr, {parameter_.location.line(), "the kernel never uses " + parameter_.name});
      facts_.confidence = Confidence::Proved;
    }
    if (facts_.confidence == Confidence::Guess)
      analysis_.unresolved("analysis.role",
                           "the meaning of '" + parameter_.name +
                               "' could not be found: " + facts_.evidence.back().text,
                           parameter_.location);
  }

  /// A constant that nothing reads is not a use.
  bool hasUse(OpId id) {
    for (const Op &op : analysis_.program.ops)
      for (ValueId operand : op.operands)
        for (ValueId result : analysis_.program.op(id).results)
          if (operand == result)
            return true;
    return false;
  }

  const PathCondition *pathCondition() {
    for (const PathCondition &path : analysis_.program.pathConditions)
      if (in(path.condition))
        return &path;
    return nullptr;
  }

  OpId tileOp() {
    const Program &program = analysis_.program;
    OpId found = kNone;
    for (OpId id = 0; id < program.ops.size() && found == kNone; ++id)
      if (program.op(id).kind == OpKind::Iota)
        for (SymInt size : program.value(program.op(id).results[0]).type.shape)
          if (in(size))
            found = id;
    for (const Walk &walk : analysis_.walks) // block pointers have no iota
      if (found == kNone && walk.hasLanes() && in(walk.size))
        found = analysis_.trace.accesses[walk.access].op;
    return found;
  }

  /// The first op whose value combines the parameter with a program id.
  Evidence withProgram(std::string note) {
    if (!searched_) {
      searched_ = true;
      const Program &program = analysis_.program;
      for (OpId id = 0; id < program.ops.size() && combined_ == kNone; ++id)
        for (ValueId value : program.op(id).results) {
          const IndexValue &index = analysis_.trace.values[value];
          if (index.known() && in(index.expr) && indices_.mentions(index.expr, IndexKind::ProgramId))
            combined_ = id;
        }
      if (combined_ == kNone)
        combined_ = tileOp();
    }
    return analysis_.evidenceAt(combined_, std::move(note));
  }

  Analysis &analysis_;
  Indices &indices_;
  SymContext &context_;
  const Parameter &parameter_;
  SymInt symbol_;
  ParameterFacts facts_;
  bool reported_ = false;
  bool searched_ = false;
  OpId combined_ = kNone; ///< see withProgram
};

} // namespace

void findRoles(Analysis &analysis) {
  for (const Parameter &parameter : analysis.program.parameters)
    if (parameter.kind == Parameter::Kind::Open && parameter.symbol.valid())
      analysis.facts.parameters.push_back(RoleFinder(analysis, parameter).find());
}

} // namespace tilewright::analysis

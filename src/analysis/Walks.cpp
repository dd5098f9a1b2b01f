#include "Walks.h"

#include "Bounds.h"
#include "Monomials.h"

#include <algorithm>
#include <unordered_map>

namespace tilewright::analysis {

namespace {

constexpr int kMaxSteps =
    64; ///< program ids and loops that one address follows; more is no kernel that we know

/// How a lane occurs in an address.
struct LaneUse {
  SymInt coefficient; ///< elements per lane; invalid when the lane does not occur or only inside a division
  SymInt wrapped;     ///< the modulo atom that the lane goes through, if it does
};

class WalkFinder {
public:
  WalkFinder(Trace &trace, std::vector<Walk> &walks)
      : trace_(trace), indices_(trace.indices), context_(trace.indices.context()), walks_(walks) {}

  void visit(uint32_t number) {
    access_ = &trace_.accesses[number];
    number_ = number;
    rest_ = stripClamps(access_->offset);
    const auto bounds = boundsOf(indices_, access_->mask);
    guards_ = boundsOf(indices_, access_->guard);
    std::vector<Walk> open; // lanes whose position no bound tells
    for (uint32_t d = 0; d < access_->tileShape.size(); ++d) {
      const SymInt size = access_->tileShape[d];
      if (size.isConstant(1))
        continue;
      const SymInt lane = indices_.lane(d, size);
      const LaneUse use = useOf(lane);
      if (!use.coefficient.valid())
        continue;
      Walk walk;
      walk.access = number;
      walk.tileAxis = static_cast<int32_t>(d);
      walk.size = size;
      walk.stride = use.coefficient;
      walk.modular = use.wrapped.valid();
      takeBounds(walk, bounds);
      if (walk.position.valid()) {
        subtract(use.wrapped.valid() ? use.wrapped : walk.position, walk.stride);
        add(std::move(walk));
        continue;
      }
      if (use.wrapped.valid()) {
        walk.position = indexPart(use.wrapped.operands()[0]);
        walk.extent = use.wrapped.operands()[1];
        walk.source = Walk::Source::Modulo;
        walk.masked = true;
        subtract(use.wrapped, walk.stride);
        add(std::move(walk));
        continue;
      }
      if (d < access_->declaredExtent.size()) {
        walk.position = context_.add(indexPart(access_->declaredOffset[d]), lane);
        walk.extent = access_->declaredExtent[d];
        walk.source = Walk::Source::Declared;
        subtract(walk.position, walk.stride);
        add(std::move(walk));
        continue;
      }
      walk.position = lane;
      subtract(lane, walk.stride);
      open.push_back(std::move(walk));
    }
    attachToOpenLanes(open);
    for (Walk &walk : open)
      add(std::move(walk));
    addScalarWalks();
  }

private:
  void subtract(SymInt position, SymInt stride) {
    rest_ = context_.sub(rest_, context_.mul(stride, stripClamps(position)));
  }

  void add(Walk walk) {
    decompose(trace_, walk);
    walks_.push_back(std::move(walk));
  }

  /// min(pid*B, n - B) walks like pid*B.
  SymInt stripClamps(SymInt expr) {
    for (int round = 0; round < 3; ++round) {
      SymInt next = expr;
      for (const Monomial &monomial : monomialsOf(expr))
        for (SymInt factor : monomial.factors) {
          if ((factor.op() != SymOp::Min && factor.op() != SymOp::Max) || !indices_.mentionsIndex(factor))
            continue;
          SymInt moving;
          int count = 0;
          for (SymInt operand : factor.operands())
            if (indices_.mentionsIndex(operand)) {
              moving = operand;
              ++count;
            }
          if (count != 1)
            continue;
          Monomial others = monomial;
          others.factors.erase(std::find(others.factors.begin(), others.factors.end(), factor));
          next = context_.add(context_.sub(next, productOf(context_, monomial)),
                              context_.mul(productOf(context_, others), moving));
        }
      if (next == expr)
        break;
      expr = next;
    }
    return expr;
  }

  SymInt indexPart(SymInt expr) {
    SymInt part = context_.constant(0);
    for (const Monomial &monomial : monomialsOf(expr))
      if (const SymInt product = productOf(context_, monomial); indices_.mentionsIndex(product))
        part = context_.add(part, product);
    return part;
  }

  LaneUse useOf(SymInt lane) {
    LaneUse use;
    for (const Monomial &monomial : monomialsOf(rest_)) {
      for (SymInt factor : monomial.factors) {
        if (!indices_.mentions(factor, lane))
          continue;
        Monomial others = monomial;
        others.factors.erase(std::find(others.factors.begin(), others.factors.end(), factor));
        const SymInt coefficient = productOf(context_, others);
        if (indices_.mentionsIndex(coefficient))
          break;
        if (factor == lane)
          use.coefficient =
              use.coefficient.valid() ? context_.add(use.coefficient, coefficient) : coefficient;
        else if (factor.op() == SymOp::Mod && !use.wrapped.valid() && !use.coefficient.valid()) {
          use.coefficient = coefficient;
          use.wrapped = factor;
        }
        break;
      }
    }
    return use;
  }

  /// Of several bounds on one lane the one that follows the programs furthest gives position and extent; the
  /// others are ends of blocks inside it.
  void takeBounds(Walk &walk, const std::vector<Bound> &bounds) {
    const Bound *best = nullptr;
    // task*N + lane < total beside lane < N: the first one bounds tasks and lanes as one flat number.
    const auto isFlat = [&](const Bound &bound) {
      return std::any_of(bounds.begin(), bounds.end(), [&](const Bound &inner) {
        if (inner.lane != walk.tileAxis || inner.extent == bound.extent || inner.extent.isConstant() ||
            mentionsOpen(inner.extent))
          return false;
        const SymInt rows = context_.sub(bound.position, inner.position);
        // A program's own range (start + i < n, i < share) looks alike, but only programs move its start.
        return indices_.mentions(rows, IndexKind::Iteration) && divideExactly(rows, inner.extent).valid();
      });
    };
    const auto reach = [&](const Bound &bound) {
      int score = 0;
      for (uint32_t symbol : indices_.symbolsIn(bound.position))
        score += indices_.of(symbol).kind == IndexKind::ProgramId
                     ? 16
                     : indices_.of(symbol).kind == IndexKind::Iteration;
      return score;
    };
    for (const Bound &bound : bounds) {
      if (bound.joint && (bound.lanes >> walk.tileAxis & 1))
        walk.masked = true;
      if (bound.lane != walk.tileAxis)
        continue;
      walk.masked = true;
      if (isFlat(bound))
        continue;
      if (!best || reach(bound) > reach(*best) ||
          (reach(bound) == reach(*best) && bound.extent.weight() < best->extent.weight()))
        best = &bound;
    }
    if (!best)
      return;
    walk.position = stripClamps(best->position);
    walk.extent = best->extent;
    walk.source = Walk::Source::Mask;
    for (const Bound &bound : bounds)
      if (&bound != best && bound.lane == walk.tileAxis && bound.extent != best->extent && !isFlat(bound))
        walk.innerExtents.push_back(bound.extent);
  }

  /// Without a mask only the address tells which program ids and loops move a lane: a step belongs to the
  /// lane whose coefficient divides it, preferably by a multiple of the lane's tile size.
  void attachToOpenLanes(std::vector<Walk> &open) {
    if (open.empty())
      return;
    int attached = 0;
    for (bool progress = true; progress && attached < kMaxSteps; ++attached) {
      progress = false;
      for (const Monomial &monomial : monomialsOf(rest_)) {
        const SymInt product = productOf(context_, monomial);
        if (!indices_.mentionsIndex(product) || indices_.mentions(product, IndexKind::Lane))
          continue;
        Walk *owner = nullptr;
        SymInt steps;
        for (Walk &walk : open) {
          if (fillsRow(walk, open))
            continue;
          const SymInt quotient = divideExactly(product, walk.stride);
          // B*pid rows beside S rows in the tile: blocks of B of the same rows.
          const bool stepsOverRows =
              quotient.valid() && !walk.stride.isConstant(1) && mentionsOpen(outsideIndices(quotient));
          if (!quotient.valid() || (!stepsOverRows && !sharesSize(quotient, walk.size)))
            continue;
          if (!owner || walk.stride.weight() > owner->stride.weight()) {
            owner = &walk;
            steps = quotient;
          }
        }
        if (!owner)
          continue;
        owner->position = context_.add(owner->position, steps);
        rest_ = context_.sub(rest_, product);
        progress = true;
        break;
      }
    }
  }

  /// A lane of fixed size whose next element is the next row of another lane: nothing moves along it.
  bool fillsRow(const Walk &walk, const std::vector<Walk> &others) {
    return walk.size.isConstant() && std::any_of(others.begin(), others.end(), [&](const Walk &other) {
             return other.tileAxis != walk.tileAxis && other.stride == context_.mul(walk.stride, walk.size);
           });
  }

  bool mentionsOpen(SymInt expression) {
    const auto &symbols = indices_.symbolsIn(expression);
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](uint32_t id) { return context_.symbol(id).kind == SymbolKind::OpenParameter; });
  }

  /// The factors of a product that no index changes.
  SymInt outsideIndices(SymInt product) {
    SymInt fixed = context_.constant(1);
    for (const Monomial &monomial : monomialsOf(product))
      for (SymInt factor : monomial.factors)
        if (!indices_.mentionsIndex(factor))
          fixed = context_.mul(fixed, factor);
    return fixed;
  }

  /// The steps grow with the size; a size that only decides how a program id is taken apart does not count.
  bool sharesSize(SymInt steps, SymInt size) {
    if (divideExactly(steps, size).valid())
      return true;
    const auto &symbols = indices_.symbolsIn(size);
    for (const Monomial &monomial : monomialsOf(steps))
      for (SymInt factor : monomial.factors) {
        if (!factor.isSymbol() && indices_.mentionsIndex(factor))
          continue;
        const auto &mentioned = indices_.symbolsIn(factor);
        for (uint32_t id : symbols)
          if (std::binary_search(mentioned.begin(), mentioned.end(), id))
            return true;
      }
    return false;
  }

  /// What is left of the address moves without lanes: rows by program id, rows by loop index, decoded
  /// numbers.
  void addScalarWalks() {
    // A branch says what belongs together: row < n_rows with row = pid*ROWS + i.
    for (const Bound &bound : guards_) {
      if (bound.lanes != 0 || bound.joint)
        continue;
      SymInt stride;
      for (uint32_t id : indices_.symbolsIn(bound.position)) {
        const IndexKind kind = indices_.of(id).kind;
        if (kind != IndexKind::ProgramId && kind != IndexKind::Iteration)
          continue;
        const SymInt symbol = symbolOf(bound.position, id);
        const SymInt amount = linearCoefficient(bound.position, symbol),
                     found = linearCoefficient(rest_, symbol);
        stride = amount.valid() && found.valid() ? divideExactly(found, amount) : SymInt();
        break;
      }
      if (!stride.valid())
        continue;
      const SymInt left = context_.sub(rest_, context_.mul(stride, bound.position));
      bool claimed = true;
      for (uint32_t id : indices_.symbolsIn(bound.position))
        if (indices_.of(id).kind == IndexKind::ProgramId || indices_.of(id).kind == IndexKind::Iteration)
          claimed = claimed && !linearCoefficient(left, symbolOf(bound.position, id)).valid();
      if (!claimed)
        continue;
      Walk walk;
      walk.stride = stride;
      walk.position = bound.position;
      addScalar(std::move(walk));
    }
    // Loops whose index starts at a program id carry that program id along.
    for (uint32_t number = access_->loop; number != kNone; number = trace_.loops[number].parent) {
      const LoopRecord &loop = trace_.loops[number];
      const SymInt amount = linearCoefficient(rest_, loop.iteration);
      if (!amount.valid())
        continue;
      Walk walk;
      walk.stride = loop.step.valid() ? divideExactly(amount, loop.step) : amount;
      if (walk.stride.valid() && loop.lower.valid())
        walk.position = context_.add(indexPart(loop.lower), context_.mul(loop.step, loop.iteration));
      else {
        walk.position = loop.iteration;
        walk.stride = amount;
      }
      // pid*ROWS + i with i < ROWS: the program owns what the loop walks over.
      const SymInt total = loopExtent(trace_, loop);
      for (const SymInt program : indices_.programIds()) {
        const SymInt owned = program.valid() ? linearCoefficient(rest_, program) : SymInt();
        if (owned.valid() && total.valid() && owned == context_.mul(walk.stride, total) &&
            !indices_.mentions(walk.position, program))
          walk.position = context_.add(walk.position, context_.mul(total, program));
      }
      addScalar(std::move(walk));
    }
    struct Group {
      std::vector<SymInt> strides;
      std::vector<Monomial> monomials;
    };
    std::vector<Group> groups;
    for (const Monomial &monomial : monomialsOf(rest_)) {
      if (!indices_.mentionsIndex(productOf(context_, monomial)))
        continue;
      std::vector<SymInt> strides;
      bool plain = true;
      for (SymInt factor : monomial.factors) {
        if (indices_.mentionsIndex(factor))
          plain = plain && factor.isSymbol();
        else if (factor.isSymbol() && context_.symbol(factor.symbolId()).kind == SymbolKind::RuntimeScalar)
          strides.push_back(factor);
      }
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group &g) {
        return !plain && !strides.empty() && g.strides == strides;
      });
      if (group != groups.end())
        group->monomials.push_back(monomial);
      else
        groups.push_back({strides, {monomial}});
    }
    for (const Group &group : groups) {
      Monomial stride = commonFactor(group.monomials);
      std::erase_if(stride.factors, [&](SymInt factor) { return indices_.mentionsIndex(factor); });
      Walk walk;
      walk.stride = productOf(context_, stride);
      walk.position = divideExactly(sumOf(context_, group.monomials), walk.stride);
      if (walk.position.valid() && !indices_.mentions(walk.position, IndexKind::Lane))
        addScalar(std::move(walk));
    }
  }

  void addScalar(Walk walk) {
    walk.access = number_;
    walk.size = context_.constant(1);
    subtract(walk.position, walk.stride);
    for (const Bound &bound : guards_)
      if (bound.position == walk.position) {
        walk.extent = bound.extent;
        walk.source = Walk::Source::Guard;
        walk.masked = true;
      }
    add(std::move(walk));
  }

  static SymInt symbolOf(SymInt expression, uint32_t id) {
    if (expression.isSymbol())
      return expression.symbolId() == id ? expression : SymInt();
    for (SymInt operand : expression.operands())
      if (const SymInt found = symbolOf(operand, id); found.valid())
        return found;
    return {};
  }

  SymInt linearCoefficient(SymInt expression, SymInt symbol) {
    SymInt coefficient;
    for (const Monomial &monomial : monomialsOf(expression)) {
      const auto found = std::find(monomial.factors.begin(), monomial.factors.end(), symbol);
      if (found == monomial.factors.end())
        continue;
      Monomial others = monomial;
      others.factors.erase(others.factors.begin() + (found - monomial.factors.begin()));
      const SymInt product = productOf(context_, others);
      if (indices_.mentionsIndex(product))
        return {};
      coefficient = coefficient.valid() ? context_.add(coefficient, product) : product;
    }
    return coefficient;
  }

  Trace &trace_;
  Indices &indices_;
  SymContext &context_;
  std::vector<Walk> &walks_;
  const AccessRecord *access_ = nullptr;
  uint32_t number_ = 0;
  SymInt rest_; ///< the part of the address that no walk has claimed yet
  std::vector<Bound> guards_;
};

/// Extents of walks without a mask: the loop that moves them knows how far it goes.
void takeLoopExtent(Trace &trace, Walk &walk) {
  if (walk.extent.valid() || walk.loops.size() != 1)
    return;
  // A loop inside the block of one program says how large the block is, not where the axis ends.
  const SymInt lower = trace.loops[walk.loops[0].index].lower;
  const bool startsAtProgram = lower.valid() && trace.indices.mentions(lower, IndexKind::ProgramId);
  for (const Walk::Step &program : walk.programs)
    if (!startsAtProgram && !turnsOf(walk, program).valid())
      return;
  walk.extent = loopReach(trace, walk.loops[0]);
  if (walk.extent.valid())
    walk.source = Walk::Source::Loop;
}

/// What a number that programs or iterations change passes through before it becomes a position, taken off:
///
///     (B*task + c) % n               walks in steps of B, wrapped
///     B*pid if pid < c else ...      walks in steps of B, in that branch
///
/// Other factors are left alone: pid % tiles is a decoded number.
std::vector<Monomial> stepsOf(Indices &indices, SymInt position, int depth = 0) {
  SymContext &context = indices.context();
  const auto isOpen = [&](SymInt expression) {
    const auto &symbols = indices.symbolsIn(expression);
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](uint32_t id) { return context.symbol(id).kind == SymbolKind::OpenParameter; });
  };
  const auto movesByOpenSteps = [&](SymInt expression) {
    bool moves = false;
    for (const Monomial &monomial : monomialsOf(expression)) {
      if (!indices.mentionsIndex(productOf(context, monomial)))
        continue;
      moves = true;
      bool plain = true, open = false;
      for (SymInt factor : monomial.factors) {
        plain = plain && (factor.isSymbol() || !indices.mentionsIndex(factor));
        open = open || (!indices.mentionsIndex(factor) && isOpen(factor));
      }
      if (!plain || !open)
        return false;
    }
    return moves;
  };
  std::vector<Monomial> steps;
  for (const Monomial &monomial : monomialsOf(position)) {
    SymInt inner;
    Monomial others = monomial;
    if (depth < 4)
      for (size_t i = 0; i < monomial.factors.size() && !inner.valid(); ++i) {
        const SymInt factor = monomial.factors[i];
        if (factor.op() == SymOp::Mod && movesByOpenSteps(factor.operands()[0]))
          inner = factor.operands()[0];
        else if ((factor.op() == SymOp::Select || factor.op() == SymOp::Min || factor.op() == SymOp::Max) &&
                 !indices.mentions(factor, IndexKind::Lane)) {
          const auto branches = factor.operands();
          for (size_t k = factor.op() == SymOp::Select; k < branches.size() && !inner.valid(); ++k)
            if (movesByOpenSteps(branches[k]))
              inner = branches[k];
        }
        if (inner.valid())
          others.factors.erase(others.factors.begin() + static_cast<std::ptrdiff_t>(i));
      }
    if (!inner.valid()) {
      steps.push_back(monomial);
      continue;
    }
    for (Monomial &step : stepsOf(indices, inner, depth + 1)) {
      if (!indices.mentionsIndex(productOf(context, step)))
        continue;
      step.factors.insert(step.factors.end(), others.factors.begin(), others.factors.end());
      step.coefficient *= others.coefficient;
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

} // namespace

namespace {

/// Whether an index changes the value itself, not only which branch of a select is taken.
bool movesOutsideConditions(Indices &indices, SymInt expression) {
  if (!indices.mentionsIndex(expression))
    return false;
  if (expression.isSymbol())
    return true;
  const auto operands = expression.operands();
  for (size_t i = expression.op() == SymOp::Select; i < operands.size(); ++i)
    if (movesOutsideConditions(indices, operands[i]))
      return true;
  return false;
}

} // namespace

void decompose(Trace &trace, Walk &walk) {
  Indices &indices = trace.indices;
  SymContext &context = indices.context();
  const auto addStep = [&](std::vector<Walk::Step> &steps, uint32_t index, SymInt amount) {
    for (Walk::Step &step : steps)
      if (step.index == index) {
        step.amount = context.add(step.amount, amount);
        return;
      }
    steps.push_back({index, amount});
  };
  std::vector<Monomial> decoded;
  std::vector<std::pair<SymInt, Monomial>> plain; // symbol, monomial
  for (const Monomial &monomial : stepsOf(indices, walk.position)) {
    SymInt index;
    int moving = 0;
    for (SymInt factor : monomial.factors)
      if (indices.mentionsIndex(factor)) {
        index = factor;
        ++moving;
      }
    if (moving == 1 && index.isSymbol()) {
      if (indices.of(index.symbolId()).kind != IndexKind::Lane)
        plain.emplace_back(index, monomial);
    } else if (moving > 0 && !indices.mentions(productOf(context, monomial), IndexKind::Lane) &&
               movesOutsideConditions(indices, productOf(context, monomial)))
      decoded.push_back(monomial);
  }
  // pid - (pid // n)*n is a decoded number as a whole.
  SymInt decodedSum = sumOf(context, decoded);
  for (const auto &[symbol, monomial] : plain) {
    if (!decoded.empty() && indices.mentions(decodedSum, symbol)) {
      decoded.push_back(monomial);
      continue;
    }
    Monomial amount = monomial;
    amount.factors.erase(std::find(amount.factors.begin(), amount.factors.end(), symbol));
    const IndexSymbol &meaning = indices.of(symbol.symbolId());
    if (meaning.kind == IndexKind::ProgramId) {
      addStep(walk.programs, meaning.axis, productOf(context, amount));
      continue;
    }
    for (uint32_t number = 0; number < trace.loops.size(); ++number)
      if (trace.loops[number].op == meaning.op)
        addStep(walk.loops, number, productOf(context, amount));
  }
  if (decoded.empty())
    return;
  Monomial step = commonFactor(decoded);
  std::erase_if(step.factors, [&](SymInt factor) { return indices.mentionsIndex(factor); });
  walk.decodedStep = productOf(context, step);
  walk.decoded = divideExactly(sumOf(context, decoded), walk.decodedStep);
  bool fromProgram = false;
  for (uint32_t symbol : indices.symbolsIn(sumOf(context, decoded))) {
    const IndexSymbol &meaning = indices.of(symbol);
    if (meaning.kind == IndexKind::ProgramId && !fromProgram) {
      walk.decodedProgram = meaning.axis;
      fromProgram = true;
    }
  }
  walk.decodedInLoop = indices.mentions(sumOf(context, decoded), IndexKind::Iteration);
}

SymInt turnsOf(const Walk &walk, const Walk::Step &program) {
  for (const Walk::Step &loop : walk.loops)
    if (const SymInt turns = divideExactly(loop.amount, program.amount);
        turns.valid() && !turns.isConstant(1))
      return turns;
  return {};
}

SymInt loopExtent(Trace &trace, const LoopRecord &loop) {
  Indices &indices = trace.indices;
  SymContext &context = indices.context();
  if (!loop.lower.valid())
    return loop.trip.valid() && !indices.mentionsIndex(loop.trip) ? loop.trip : SymInt();
  SymInt start = context.constant(0);
  for (const Monomial &monomial : monomialsOf(loop.lower))
    if (const SymInt product = productOf(context, monomial); !indices.mentionsIndex(product))
      start = context.add(start, product);
  SymInt end = loop.upper;
  if (end.op() == SymOp::Min)
    for (SymInt operand : end.operands())
      if (!indices.mentionsIndex(operand))
        end = operand;
  if (indices.mentionsIndex(end) || indices.mentions(end, IndexKind::Carry) ||
      indices.mentions(start, IndexKind::Carry))
    return {};
  return context.sub(end, start);
}

SymInt loopReach(Trace &trace, const Walk::Step &step) {
  const LoopRecord &loop = trace.loops[step.index];
  const SymInt total = loopExtent(trace, loop);
  if (!total.valid() || !loop.step.valid())
    return {};
  const SymInt unit = divideExactly(step.amount, loop.step);
  if (!unit.valid())
    return {};
  Division blocks;
  if (asDivision(total, blocks) && blocks.step == unit)
    return blocks.total;
  return trace.indices.context().mul(total, unit);
}

bool startsPastItsLoop(Trace &trace, const Walk &walk, const Walk::Step &program) {
  return walk.extent.valid() && !turnsOf(walk, program).valid() &&
         std::any_of(walk.loops.begin(), walk.loops.end(), [&](const Walk::Step &loop) {
           return loop.amount == program.amount && loopReach(trace, loop) == walk.extent;
         });
}

std::vector<Walk> findWalks(Trace &trace) {
  std::vector<Walk> walks;
  WalkFinder finder(trace, walks);
  for (uint32_t i = 0; i < trace.accesses.size(); ++i)
    finder.visit(i);
  // An access without a mask shares the extent of one that moves alike and has one.
  std::unordered_map<const SymNode *, SymInt> extentAt;
  for (const Walk &walk : walks)
    if (walk.extent.valid())
      extentAt.emplace(walk.position.node(), walk.extent);
  for (Walk &walk : walks)
    if (const auto found = extentAt.find(walk.position.node());
        !walk.extent.valid() && found != extentAt.end()) {
      walk.extent = found->second;
      walk.source = Walk::Source::SamePosition;
    }
  for (Walk &walk : walks)
    takeLoopExtent(trace, walk);
  return walks;
}

} // namespace tilewright::analysis

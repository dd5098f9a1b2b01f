#include "Analysis.h"
#include "Monomials.h"

#include <algorithm>

namespace tilewright {

std::string_view name(Role role) {
  switch (role) {
  case Role::Split:
    return "split";
  case Role::Tile:
    return "tile";
  case Role::OneShot:
    return "one-shot";
  case Role::Schedule:
    return "schedule";
  case Role::Chunk:
    return "chunk";
  case Role::HostCoupled:
    return "host-coupled";
  case Role::Flag:
    return "flag";
  case Role::Unused:
    return "unused";
  }
  return "";
}

bool ParameterFacts::hasRole(Role role) const {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

const ParameterFacts *KernelFacts::find(std::string_view parameter) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterFacts &facts) { return facts.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

KernelFacts analyze(const Program &program, const Grid *grid) {
  analysis::Analysis state(program, grid);
  analysis::takeGridExtents(state);
  analysis::findAxes(state);
  analysis::findReductions(state);
  analysis::findEffects(state);
  analysis::findWork(state);
  analysis::findRoles(state);
  analysis::findHostCoupling(state);
  analysis::findConstraints(state);
  analysis::inferGrid(state);
  state.facts.accesses = analysis::accessMaps(state.trace, state.walks);
  for (AccessMap &access : state.facts.accesses)
    access.evidence = state.evidenceAt(access.op);
  state.facts.programIds = state.indices().programIds();
  state.facts.programCounts = state.indices().programCounts();
  return std::move(state.facts);
}

namespace analysis {

Analysis::Analysis(const Program &program, const Grid *grid)
    : program(program), grid(grid), trace(analysis::trace(program)), walks(findWalks(trace)) {
  facts.kernel = program.kernel;
  facts.diagnostics = trace.diagnostics;
}

Evidence Analysis::evidenceAt(OpId op, std::string note) const {
  Evidence evidence;
  if (op == kNone)
    return {0, std::move(note)};
  const SourceRange &where = program.op(op).location;
  evidence.line = where.line();
  std::string_view text = where.text();
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
    text.remove_suffix(1);
  evidence.text = std::string(text);
  if (!note.empty())
    evidence.text += evidence.text.empty() ? note : " (" + note + ")";
  return evidence;
}

void Analysis::unresolved(std::string code, std::string message, SourceRange where) {
  facts.status = KernelFacts::Status::Partial;
  facts.diagnostics.push_back(makeDiagnostic(Severity::Warning, std::move(code), std::move(message),
                                             where.valid() ? std::optional(where) : std::nullopt));
}

bool Analysis::mentionsScalar(SymInt expression) {
  for (uint32_t symbol : indices().symbolsIn(expression))
    if (context().symbol(symbol).kind == SymbolKind::RuntimeScalar)
      return true;
  return false;
}

bool Analysis::mentionsOpen(SymInt expression) {
  for (const Parameter &parameter : program.parameters)
    if (parameter.kind == Parameter::Kind::Open && parameter.symbol.valid() &&
        indices().mentions(expression, parameter.symbol))
      return true;
  return false;
}

bool Analysis::isLaunchTime(SymInt expression) {
  return !indices().mentionsIndex(expression) && !indices().mentionsUnknown(expression) &&
         !indices().mentions(expression, IndexKind::ProgramCount);
}

const Parameter *Analysis::scalarNamed(SymInt symbol) const {
  if (!symbol.valid() || !symbol.isSymbol())
    return nullptr;
  for (const Parameter &parameter : program.parameters)
    if (parameter.kind == Parameter::Kind::Scalar && parameter.symbol == symbol)
      return &parameter;
  return nullptr;
}

SymInt coverOf(const Walk &walk) {
  if (walk.programs.empty() && walk.loops.empty() && !walk.decodedStep.valid())
    return walk.extent;
  if (walk.loops.empty() && walk.programs.size() == 1 && !walk.decodedStep.valid())
    return walk.programs[0].amount;
  if (walk.programs.empty() && walk.loops.size() == 1 && !walk.decodedStep.valid())
    return walk.loops[0].amount;
  return {};
}

SymInt constantPart(Analysis &analysis, const Walk &walk) {
  SymContext &context = analysis.context();
  SymInt constant = context.constant(0);
  for (const Monomial &monomial : monomialsOf(analysis.trace.accesses[walk.access].offset)) {
    const SymInt product = productOf(context, monomial);
    if (analysis.indices().mentionsUnknown(product))
      return {};
    if (!analysis.indices().mentionsIndex(product))
      constant = context.add(constant, product);
  }
  return constant;
}

SymInt reachOf(Analysis &analysis, const Walk &walk) {
  SymContext &context = analysis.context();
  SymInt reach = walk.size;
  if (!walk.stride.isConstant(1))
    return reach;
  const auto [first, last] = analysis.piecesAt(walk.position);
  for (auto piece = first; piece != last; ++piece) {
    const Walk &other = analysis.walks[piece->second];
    const SymInt start = constantPart(analysis, other);
    if (other.size == walk.size && other.stride.isConstant(1) && start.valid() &&
        analysis.mentionsOpen(start))
      reach = context.max(reach, context.add(start, other.size));
  }
  return reach;
}

std::pair<Analysis::Pieces::const_iterator, Analysis::Pieces::const_iterator>
Analysis::piecesAt(SymInt position) {
  if (pieces_.empty())
    for (size_t i = 0; i < walks.size(); ++i)
      if (walks[i].hasLanes())
        pieces_.emplace(walks[i].position.node(), i);
  return pieces_.equal_range(position.node());
}

void addEvidence(std::vector<Evidence> &list, Evidence evidence) {
  for (const Evidence &known : list)
    if (known.line == evidence.line && known.text == evidence.text)
      return;
  list.push_back(std::move(evidence));
}

} // namespace analysis

} // namespace tilewright

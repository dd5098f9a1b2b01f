#include "Analysis.h"

#include <algorithm>
#include <cctype>

namespace tilewright::analysis {

namespace {

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether a source text uses the name as a word of its own.
bool mentionsName(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !isNamePart(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !isNamePart(text[at + name.size()]);
    if (begins && ends)
      return true;
  }
  return false;
}

} // namespace

/// A constexpr that the launch gave is a plain number in the Program. The source says which one it was: the
/// ops that use the number and those that make their operands have the expressions as text.
std::vector<const Parameter *> Analysis::fixedCandidates(SymInt number, const std::vector<OpId> &uses) {
  std::vector<const Parameter *> equal, named;
  const auto value = number.valid() ? number.constant() : std::nullopt;
  if (!value || *value <= 1)
    return {};
  for (const Parameter &parameter : program.parameters) {
    const int64_t *fixed =
        parameter.kind == Parameter::Kind::Fixed ? std::get_if<int64_t>(&parameter.fixed) : nullptr;
    if (fixed && *fixed == *value)
      equal.push_back(&parameter);
  }
  for (const Parameter *parameter : equal)
    if (std::any_of(uses.begin(), uses.end(), [&](OpId use) { return isNamedAt(*parameter, use); }))
      named.push_back(parameter);
  std::vector<const Parameter *> &found = named.empty() ? equal : named;
  if (found.size() > 1)
    std::stable_sort(found.begin(), found.end(), [&](const Parameter *a, const Parameter *b) {
      return shapesNaming(*a, number) > shapesNaming(*b, number);
    });
  return found;
}

bool Analysis::isNamedAt(const Parameter &parameter, OpId use) const {
  const auto says = [&](OpId op) {
    std::string_view text = program.op(op).location.text();
    if (program.op(op).kind == OpKind::For || program.op(op).kind == OpKind::While)
      text = text.substr(0, text.find('\n'));
    return mentionsName(text, parameter.name);
  };
  if (says(use))
    return true;
  const auto &operands = program.op(use).operands;
  return std::any_of(operands.begin(), operands.end(), [&](ValueId operand) {
    const OpId made = program.value(operand).definingOp;
    return made != kNone && program.op(made).regions.empty() && says(made);
  });
}

/// How many different tl.arange, tl.zeros or tl.full calls with that length name the parameter.
size_t Analysis::shapesNaming(const Parameter &parameter, SymInt size) const {
  std::vector<std::string_view> texts;
  for (const Op &op : program.ops)
    for (ValueId result : op.results) {
      const bool makesTile = op.kind == OpKind::Iota ||
                             (op.kind == OpKind::Splat && isFloat(program.value(op.operands[0]).type.dtype));
      if (!makesTile)
        continue;
      const auto &shape = program.value(result).type.shape;
      if (std::find(shape.begin(), shape.end(), size) == shape.end())
        continue;
      const std::string_view text = op.location.text();
      if (std::find(texts.begin(), texts.end(), text) == texts.end() && mentionsName(text, parameter.name))
        texts.push_back(text);
    }
  return texts.size();
}

const Parameter *Analysis::countNamed(SymInt count, const std::vector<OpId> &uses,
                                      const std::vector<const Parameter *> &taken) {
  if (const Parameter *scalar = scalarNamed(count))
    return scalar;
  if (count.valid() && count.isSymbol())
    for (const Parameter &parameter : program.parameters)
      if (parameter.kind == Parameter::Kind::Open && parameter.symbol == count)
        return &parameter;
  const auto candidates = fixedCandidates(count, uses);
  for (const Parameter *candidate : candidates)
    if (std::find(taken.begin(), taken.end(), candidate) == taken.end())
      return candidate;
  return candidates.empty() ? nullptr : candidates.front();
}

} // namespace tilewright::analysis

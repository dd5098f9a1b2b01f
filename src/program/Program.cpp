#include "tilewright/program/Program.h"

#include <array>
#include <cassert>
#include <fmt/format.h>

namespace tilewright {

namespace {

constexpr std::array kOpNames = {
#define OP(name, text, operands, results, traits) std::string_view(text),
#include "tilewright/program/Ops.def"
};

} // namespace

std::string_view name(OpKind kind) { return kOpNames[static_cast<size_t>(kind)]; }

std::optional<OpKind> parseOpKind(std::string_view text) {
  for (size_t i = 0; i < kOpNames.size(); ++i)
    if (kOpNames[i] == text)
      return static_cast<OpKind>(i);
  return std::nullopt;
}

const Attribute *Attributes::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

int64_t Attributes::integerOr(std::string_view name, int64_t otherwise) const {
  const Attribute *attribute = find(name);
  if (!attribute)
    return otherwise;
  if (const auto *integer = std::get_if<int64_t>(attribute))
    return *integer;
  if (const auto *flag = std::get_if<bool>(attribute))
    return *flag;
  if (const auto *sym = std::get_if<SymInt>(attribute))
    return sym->valid() ? sym->constant().value_or(otherwise) : otherwise;
  return otherwise;
}

int64_t Attributes::integer(std::string_view name) const {
  assert(has(name) && "attribute that the verifier guarantees");
  return integerOr(name, 0);
}

bool Attributes::flag(std::string_view name) const { return integerOr(name, 0) != 0; }

std::string Attributes::text(std::string_view name) const {
  const Attribute *attribute = find(name);
  const auto *text = attribute ? std::get_if<std::string>(attribute) : nullptr;
  return text ? *text : std::string();
}

double Attributes::number(std::string_view name) const {
  const Attribute *attribute = find(name);
  const auto *number = attribute ? std::get_if<double>(attribute) : nullptr;
  return number ? *number : static_cast<double>(integerOr(name, 0));
}

SymInt Attributes::sym(std::string_view name) const {
  const Attribute *attribute = find(name);
  const auto *sym = attribute ? std::get_if<SymInt>(attribute) : nullptr;
  return sym ? *sym : SymInt();
}

const std::vector<int64_t> &Attributes::integers(std::string_view name) const {
  static const std::vector<int64_t> kEmpty;
  const Attribute *attribute = find(name);
  const auto *integers = attribute ? std::get_if<std::vector<int64_t>>(attribute) : nullptr;
  return integers ? *integers : kEmpty;
}

const std::vector<SymInt> &Attributes::syms(std::string_view name) const {
  static const std::vector<SymInt> kEmpty;
  const Attribute *attribute = find(name);
  const auto *syms = attribute ? std::get_if<std::vector<SymInt>>(attribute) : nullptr;
  return syms ? *syms : kEmpty;
}

const Parameter *Program::findParameter(std::string_view name) const {
  for (const Parameter &parameter : parameters)
    if (parameter.name == name)
      return &parameter;
  return nullptr;
}

const Parameter *Program::parameterOf(ValueId value) const {
  for (const Parameter &parameter : parameters)
    if (parameter.value == value && value != kNone)
      return &parameter;
  return nullptr;
}

Expected<SymValues> Program::bind(const Config &config) const {
  SymValues values;
  for (const Parameter &parameter : parameters) {
    if (parameter.kind != Parameter::Kind::Open)
      continue;
    const auto value = config.integer(parameter.name);
    if (!value)
      return fail(ErrorKind::User, "space.missing",
                  config.contains(parameter.name)
                      ? fmt::format("{} must be an integer, not {}", parameter.name,
                                    toString(*config.find(parameter.name)))
                      : fmt::format("the configuration gives no value for {}", parameter.name));
    values.set(parameter.symbol.symbolId(), *value);
  }
  return values;
}

ValueId ProgramBuilder::addArgument(RegionId region, Type type, std::string name) {
  const ValueId id = static_cast<ValueId>(program_.values.size());
  auto &arguments = program_.regions[region].arguments;
  Value value;
  value.type = std::move(type);
  value.owner = region;
  value.index = static_cast<uint32_t>(arguments.size());
  value.name = std::move(name);
  program_.values.push_back(std::move(value));
  arguments.push_back(id);
  return id;
}

RegionId ProgramBuilder::newRegion(OpId parent) {
  program_.regions.push_back({{}, {}, parent});
  return static_cast<RegionId>(program_.regions.size() - 1);
}

OpId ProgramBuilder::create(OpKind kind, std::vector<ValueId> operands, std::vector<Type> resultTypes,
                            Attributes attributes, SourceRange location) {
  const OpId id = static_cast<OpId>(program_.ops.size());
  Op op{kind, std::move(operands), {}, {}, std::move(attributes), location};
  for (uint32_t index = 0; index < resultTypes.size(); ++index) {
    Value value;
    value.type = std::move(resultTypes[index]);
    value.definingOp = id;
    value.index = index;
    if (kind == OpKind::Constant && value.type.kind == Type::Kind::Value && isInteger(value.type.dtype))
      value.sym = op.attributes.sym("value");
    op.results.push_back(static_cast<ValueId>(program_.values.size()));
    program_.values.push_back(std::move(value));
  }
  program_.ops.push_back(std::move(op));
  if (!open_.empty())
    program_.regions[open_.back()].ops.push_back(id);
  return id;
}

} // namespace tilewright

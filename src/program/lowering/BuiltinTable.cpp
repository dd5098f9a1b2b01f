#include "Builtins.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>

namespace tilewright::lowering {

namespace {

struct UnsupportedName {
  std::string_view name, reason;
};
constexpr UnsupportedName kUnsupported[] = {
#define UNSUPPORTED(name, reason) {name, reason},
#include "Unsupported.def"
};

/// A row with its parameter list taken apart.
struct ParsedRow {
  const Builtin *row = nullptr;
  std::vector<std::string_view> names;
  std::vector<bool> optional;
  size_t positional = 0; ///< how many may be given by position
  bool takesRest = false;
};

ParsedRow parseRow(const Builtin &row) {
  ParsedRow parsed;
  parsed.row = &row;
  bool keywordOnly = false;
  for (std::string_view text = row.parameters; !text.empty();) {
    const size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    while (!item.empty() && item.front() == ' ')
      item.remove_prefix(1);
    if (item.empty())
      continue;
    if (item[0] == '*') {
      keywordOnly = true;
      parsed.takesRest |= item.size() > 1;
      continue;
    }
    const bool optional = item.back() == '=';
    if (optional)
      item.remove_suffix(1);
    parsed.names.push_back(item);
    parsed.optional.push_back(optional);
    if (!keywordOnly)
      ++parsed.positional;
  }
  return parsed;
}

using Table = std::unordered_map<std::string_view, ParsedRow>;

const Table &table() {
  static const Table kTable = [] {
    Table built;
    for (const auto rows :
         {programBuiltins(), shapeBuiltins(), memoryBuiltins(), blockBuiltins(), mathBuiltins(),
          combineBuiltins(), dotBuiltins(), sortBuiltins(), randomBuiltins(), libraryBuiltins(),
          scalarBuiltins(), targetBuiltins(), indexedBuiltins(), pythonBuiltins()})
      for (const Builtin &row : rows)
        built.emplace(row.name, parseRow(row));
    return built;
  }();
  return kTable;
}

const ParsedRow *findRow(std::string_view name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : &found->second;
}

} // namespace

const Builtin *findBuiltin(std::string_view name) {
  if (const ParsedRow *row = findRow(name))
    return row->row;
  // tl.math.exp is tl.exp, and libdevice has some of tl's names too.
  constexpr std::string_view kMath = "math.";
  if (name.substr(0, kMath.size()) == kMath)
    return findBuiltin(name.substr(kMath.size()));
  // Functions of libdevice that older versions kept in tl or tl.math.
  const ParsedRow *row =
      name.find('.') == std::string_view::npos ? findRow(fmt::format("math.{}", name)) : nullptr;
  return row ? row->row : nullptr;
}

const Builtin *findMethod(const Type &type, std::string_view name) {
  if (type.kind == Type::Kind::Descriptor) {
    const ParsedRow *row = findRow(fmt::format("descriptor.{}", name));
    return row ? row->row : nullptr;
  }
  const ParsedRow *row = findRow(name);
  return row && row->row->method ? row->row : nullptr;
}

std::string_view unsupportedReason(std::string_view name) {
  constexpr std::string_view kMath = "math.";
  if (name.substr(0, kMath.size()) == kMath)
    name.remove_prefix(kMath.size());
  for (const UnsupportedName &entry : kUnsupported)
    if (entry.name == name)
      return entry.reason;
  return {};
}

FrontValue callBuiltin(FunctionLowerer &function, const Builtin &row,
                       const FunctionLowerer::CallArguments &arguments) {
  const ParsedRow &parsed = *findRow(row.name);
  BuiltinCall call(function, std::string(row.name), arguments.range, arguments.nameRange);
  LoweringContext &c = function.context();
  call.parameters = parsed.names;
  call.bound.resize(parsed.names.size());
  call.ranges.resize(parsed.names.size());
  const std::string spelled(arguments.nameRange.text());
  for (size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < parsed.positional) {
      call.bound[i] = arguments.positional[i];
      call.ranges[i] = arguments.positionalRanges[i];
    } else if (parsed.takesRest) {
      call.rest.push_back(arguments.positional[i]);
    } else {
      c.fail(arguments.positionalRanges[i], "lower.call",
             fmt::format("{} takes at most {} positional arguments, but {} were given", spelled,
                         parsed.positional, arguments.positional.size()));
    }
  }
  for (size_t i = 0; i < arguments.keywords.size(); ++i) {
    const auto &[name, value] = arguments.keywords[i];
    const auto parameter = std::find(parsed.names.begin(), parsed.names.end(), name);
    if (parameter == parsed.names.end())
      c.fail(arguments.keywordRanges[i], "lower.call",
             fmt::format("{} has no parameter '{}'", spelled, name));
    const size_t at = parameter - parsed.names.begin();
    if (call.bound[at])
      c.fail(arguments.keywordRanges[i], "lower.call",
             fmt::format("{} got several values for '{}'", spelled, name));
    call.bound[at] = value;
    call.ranges[at] = arguments.keywordRanges[i];
  }
  for (size_t i = 0; i < parsed.names.size(); ++i)
    if (!call.bound[i] && !parsed.optional[i])
      c.fail(arguments.range, "lower.call",
             fmt::format("{} is called without its argument '{}'", spelled, parsed.names[i]));
  c.here = arguments.range;
  return row.lower(call);
}

ValueId BuiltinCall::tensor(size_t i) {
  if (!at(i).isRuntime() && !at(i).isNumber())
    failArgument(i, "a tensor or a number");
  return emit.toTensor(at(i));
}

ValueId BuiltinCall::floating(size_t i) {
  const ValueId value = tensor(i);
  const Type &type = c.typeOf(value);
  if (type.kind != Type::Kind::Value || !isFloat(type.dtype) || bitWidth(type.dtype) < 16)
    failArgument(i, "a floating-point tensor");
  return value;
}

bool BuiltinCall::flag(size_t i, bool otherwise) {
  if (!bound[i])
    return otherwise;
  if (at(i).isRuntime())
    failArgument(i, "a constexpr bool");
  return c.truth(at(i), where(i));
}

int64_t BuiltinCall::integer(size_t i, int64_t otherwise) {
  if (!has(i))
    return otherwise;
  if (!at(i).isIntegral())
    failArgument(i, "a constexpr integer");
  return c.concrete(at(i), where(i));
}

SymInt BuiltinCall::extent(const FrontValue &value, const SourceRange &where) {
  if (!value.isIntegral())
    c.failType(
        where,
        value.isRuntime()
            ? fmt::format("a shape must be made of constexpr integers, but '{}' is only known at run time",
                          where.text())
            : fmt::format("a shape must be made of constexpr integers, not {}", emit.typeName(value)));
  return value.sym;
}

std::string BuiltinCall::text(size_t i, const std::string &otherwise) {
  if (!has(i))
    return otherwise;
  if (!at(i).is(FrontKind::String))
    failArgument(i, "a string");
  return at(i).text;
}

DType BuiltinCall::dtype(size_t i) {
  const Type type = typeArgument(i);
  if (type.kind != Type::Kind::Value)
    failArgument(i, "a dtype that is not a pointer");
  return type.dtype;
}

Type BuiltinCall::typeArgument(size_t i) {
  if (at(i).is(FrontKind::String)) {
    const std::string &text = at(i).text;
    const bool pointer = !text.empty() && text[0] == '*';
    if (const auto dtype = parseTritonDType(pointer ? text.substr(1) : text))
      return pointer ? Type::pointer(*dtype) : Type::scalar(*dtype);
    if (const auto dtype = parseDType(pointer ? text.substr(1) : text))
      return pointer ? Type::pointer(*dtype) : Type::scalar(*dtype);
  }
  if (!at(i).is(FrontKind::TypeObject))
    failArgument(i, "a dtype");
  return at(i).type.withShape({});
}

int64_t BuiltinCall::axis(size_t i, size_t rank) {
  const int64_t axis = integer(i, 0), n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n)
    c.fail(where(i), "lower.shape", fmt::format("invalid axis {}; expected {} <= axis < {}", axis, -n, n));
  return axis < 0 ? axis + n : axis;
}

std::vector<FrontValue> BuiltinCall::sequence(size_t i) {
  std::vector<FrontValue> items;
  if (bound[i] && at(i).is(FrontKind::Tuple) && rest.empty())
    return *at(i).items;
  if (bound[i])
    items.push_back(at(i));
  items.insert(items.end(), rest.begin(), rest.end());
  return items;
}

Emitter::Shape BuiltinCall::shape(const std::vector<FrontValue> &extents, const SourceRange &where) {
  Emitter::Shape shape;
  for (const FrontValue &e : extents)
    shape.push_back(extent(e, where));
  return shape;
}

void BuiltinCall::failArgument(size_t i, const std::string &expected) {
  c.failType(where(i), fmt::format("argument '{}' of {} must be {}, not {}", parameters[i], nameRange.text(),
                                   expected, emit.typeName(at(i))));
}

} // namespace tilewright::lowering

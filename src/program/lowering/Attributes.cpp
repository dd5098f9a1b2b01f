#include "Builtins.h"
#include "FunctionLowerer.h"
#include "HostFunctions.h"
#include "StringMethods.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

FrontValue shapeTuple(LoweringContext &c, const std::vector<SymInt> &shape) {
  std::vector<FrontValue> items;
  for (SymInt extent : shape)
    items.push_back(c.integer(extent, c.here));
  return FrontValue::tuple(std::move(items));
}

Type scalarOf(const Type &type) { return type.withShape({}); }

/// `dtype.is_fp16()` and its kin, by the name behind `is_`.
std::optional<bool> typePredicate(std::string_view name, const Type &type) {
  const bool pointer = type.isPointer();
  const DType d = type.dtype;
  const auto value = [&](bool answer) { return !pointer && answer; };
  if (name == "is_ptr")
    return pointer;
  if (name == "is_block")
    return !type.shape.empty();
  if (name == "is_const" || name == "is_void")
    return false;
  if (name == "is_floating")
    return value(isFloat(d));
  if (name == "is_standard_floating")
    return value(isFloat(d) && bitWidth(d) >= 16);
  if (name == "is_int")
    return value(isInteger(d));
  if (name == "is_int_signed")
    return value(isInteger(d) && isSigned(d));
  if (name == "is_int_unsigned")
    return value(isInteger(d) && !isSigned(d));
  if (name == "is_bool")
    return value(d == DType::Int1);
  if (name == "is_fp8")
    return value(isFloat(d) && bitWidth(d) == 8);
  if (startsWith(name, "is_"))
    if (const auto dtype = parseTritonDType(name.substr(3)))
      return value(d == *dtype);
  return std::nullopt;
}

} // namespace

FrontValue FunctionLowerer::attribute(const FrontValue &object, std::string_view name,
                                      const SourceRange &range) {
  const auto missing = [&]() -> FrontValue {
    c.fail(range, "lower.name", fmt::format("{} has no attribute '{}'", describe(object), name));
  };
  switch (object.kind) {
  case FrontKind::Module:
    if (object.record) {
      const auto field = object.record->find(name);
      return field == object.record->end() ? missing() : field->second;
    }
    if (object.scope) {
      const Meaning member = ModuleScope::member({Meaning::Kind::Scope, {}, object.scope, nullptr}, name);
      if (member.kind == Meaning::Kind::Unknown)
        return missing();
      return valueOfMeaning(member, name, range, true);
    }
    return valueOfPath(object.text + "." + std::string(name));
  case FrontKind::Foreign:
    if (auto known = foreignValue(object.text + "." + std::string(name)))
      return *std::move(known);
    return FrontValue::named(FrontKind::Foreign, object.text + "." + std::string(name));
  case FrontKind::Builtin:
    return FrontValue::named(FrontKind::Builtin, object.text + "." + std::string(name));
  case FrontKind::Runtime: {
    const Type &type = c.typeOf(object.value);
    if (name == "dtype") // a block pointer's is the pointer's, a descriptor's the element's
      return FrontValue::typeObject(type.kind == Type::Kind::BlockPointer  ? Type::pointer(type.dtype)
                                    : type.kind > Type::Kind::BlockPointer ? Type::scalar(type.dtype)
                                                                           : scalarOf(type));
    if (name == "block_type" && type.kind == Type::Kind::Descriptor)
      return FrontValue::typeObject(Type::tile(type.dtype, type.shape));
    if (name == "type")
      return FrontValue::typeObject(type);
    if (name == "shape" || name == "block_shape")
      return shapeTuple(c, type.shape);
    if (name == "numel")
      return c.integer(emit.elementCount(type.shape), range);
    if (name == "T") {
      if (type.rank() != 2)
        c.fail(range, "lower.shape", fmt::format("T needs a tile of rank 2, not {}", describe(object)));
      return FrontValue::runtime(emit.permute(object.value, {1, 0}));
    }
    if (!findMethod(type, name))
      return missing();
    return FrontValue::method(object, std::string(name));
  }
  case FrontKind::TypeObject: {
    const Type &type = object.type;
    if (type.kind == Type::Kind::BlockPointer && (name == "scalar" || name == "element_ty"))
      return FrontValue::typeObject(name == "scalar" ? Type::pointer(type.dtype)
                                                     : Type::tile(type.dtype, type.shape));
    if (name == "value") // of the constexpr around it
      return object;
    if (name == "scalar" || (name == "element_ty" && !type.shape.empty()))
      return FrontValue::typeObject(scalarOf(type));
    if (name == "element_ty" && type.isPointer())
      return FrontValue::typeObject(Type::scalar(type.dtype));
    if (name == "shape")
      return shapeTuple(c, type.shape);
    if (name == "numel")
      return c.integer(emit.elementCount(type.shape), range);
    if (name == "primitive_bitwidth" || name == "int_bitwidth" || name == "itemsize") {
      const int64_t bits = type.isPointer() ? 64 : bitWidth(type.dtype);
      return c.integer(name == "itemsize" ? (bits + 7) / 8 : bits);
    }
    if (name == "name")
      return FrontValue::string(std::string(tritonName(type.dtype)));
    if (typePredicate(name, type) || name == "get_int_max_value" || name == "get_int_min_value")
      return FrontValue::method(object, std::string(name));
    return missing();
  }
  case FrontKind::Tuple: {
    if (object.fields) {
      const auto field = std::find(object.fields->begin(), object.fields->end(), name);
      if (field != object.fields->end())
        return (*object.items)[field - object.fields->begin()];
    }
    if (auto method = recordMethod(object, name))
      return *std::move(method);
    if (name == "index" || name == "count" || name == "value")
      return name == "value" ? object : FrontValue::method(object, std::string(name));
    return missing();
  }
  default:
    // A constexpr: its value is itself, whatever it is.
    if (name == "value")
      return object;
    if (object.is(FrontKind::None) || object.isNumber() || object.is(FrontKind::String)) {
      if (name == "dtype" && object.isNumber())
        return FrontValue::typeObject(Type::scalar(emit.numberType(object)));
      if (name == "to" || name == "bit_length" || (object.is(FrontKind::String) && isStringMethod(name)))
        return FrontValue::method(object, std::string(name));
    }
    return missing();
  }
}

FrontValue FunctionLowerer::subscript(const FrontValue &object, const FrontValue &index,
                                      const SourceRange &range) {
  if (object.is(FrontKind::Tuple)) {
    const int64_t size = static_cast<int64_t>(object.items->size());
    if (index.isIntegral()) {
      int64_t at = c.concrete(index, range);
      if (at < -size || at >= size)
        c.fail(range, "lower.shape", fmt::format("tuple index {} out of range for {} items", at, size));
      return (*object.items)[at < 0 ? at + size : at];
    }
    if (index.is(FrontKind::Slice)) {
      const auto bound = [&](size_t i, int64_t otherwise) {
        const FrontValue &b = (*index.items)[i];
        if (b.isNone())
          return otherwise;
        if (!b.isIntegral())
          c.failType(range, "a tuple's slice needs constexpr integers");
        const int64_t at = c.concrete(b, range);
        return i == 2 ? at : std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
      };
      const int64_t step = bound(2, 1);
      if (step != 1 && step != -1)
        c.unsupported(range, "a tuple's slice with a step");
      std::vector<FrontValue> items;
      if (step == 1)
        for (int64_t i = bound(0, 0); i < bound(1, size); ++i)
          items.push_back((*object.items)[i]);
      else if ((*index.items)[0].isNone() && (*index.items)[1].isNone())
        items.assign(object.items->rbegin(), object.items->rend());
      else
        c.unsupported(range, "a tuple's slice with bounds and a step");
      return FrontValue::tuple(std::move(items));
    }
    c.failType(range, fmt::format("a tuple's index must be a constexpr integer, not {}", describe(index)));
  }
  if (object.is(FrontKind::String) && index.isIntegral()) {
    const int64_t size = static_cast<int64_t>(object.text.size()), at = c.concrete(index, range);
    if (at < -size || at >= size)
      c.fail(range, "lower.shape", "string index out of range");
    return FrontValue::string(std::string(1, object.text[at < 0 ? at + size : at]));
  }
  if (!object.isRuntime())
    c.failType(range, fmt::format("{} cannot be subscripted", describe(object)));
  // A tile: `None` makes an axis, `:` keeps one.
  const std::vector<FrontValue> parts =
      index.is(FrontKind::Tuple) ? *index.items : std::vector<FrontValue>{index};
  const size_t rank = c.typeOf(object.value).rank();
  ValueId value = object.value;
  if (c.typeOf(value).kind >= Type::Kind::BlockPointer)
    c.failType(range, fmt::format("{} cannot be subscripted", describe(object)));
  size_t kept = 0;
  for (size_t axis = 0; axis < parts.size(); ++axis) {
    if (parts[axis].isNone()) {
      value = emit.expandDims(value, static_cast<int64_t>(axis));
      continue;
    }
    const bool whole =
        parts[axis].is(FrontKind::Slice) && std::all_of(parts[axis].items->begin(), parts[axis].items->end(),
                                                        [](const FrontValue &v) { return v.isNone(); });
    if (!whole)
      c.unsupported(
          range,
          fmt::format("unsupported tensor index: a tile of type {} takes only ':' and 'None'",
                      describe(object)),
          "tl.gather, a mask with tl.where and a sum, or a pointer do what an element access would");
    if (++kept > rank)
      c.fail(range, "lower.shape", fmt::format("too many indices for tensor of rank {}", rank));
  }
  return FrontValue::runtime(value);
}

/// Calls on a type object: predicates and limits.
std::optional<FrontValue> callTypeMethod(LoweringContext &c, const FrontValue &self, std::string_view name) {
  if (const auto answer = typePredicate(name, self.type))
    return c.boolean(*answer);
  const DType dtype = self.type.dtype;
  if (!self.type.isPointer() && isInteger(dtype) && bitWidth(dtype) - isSigned(dtype) < 64) {
    const int64_t high = static_cast<int64_t>((uint64_t(1) << (bitWidth(dtype) - isSigned(dtype))) - 1);
    if (name == "get_int_max_value")
      return c.integer(high);
    if (name == "get_int_min_value")
      return c.integer(isSigned(dtype) ? -high - 1 : 0);
  }
  return std::nullopt;
}

} // namespace tilewright::lowering

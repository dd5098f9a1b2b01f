#include "Emitter.h"

#include <bit>
#include <fmt/format.h>
#include <numeric>

namespace tilewright::lowering {

namespace {
constexpr int64_t kMaxTileElements = 1048576; // TRITON_MAX_TENSOR_NUMEL of triton.language 3.9
} // namespace

bool Emitter::sameExtent(SymInt a, SymInt b) {
  if (a == b)
    return true;
  if (a.isConstant() && b.isConstant())
    return false;
  if (c.sameExtents.count({a, b}) || c.syms.provablyEqual(a, b))
    return true;
  if (c.valueOf(a, c.here) != c.valueOf(b, c.here))
    return false;
  c.require(c.syms.eq(a, b), "lower.shape", fmt::format("{} must equal {}", toString(a), toString(b)), c.here,
            "");
  c.sameExtents.insert({a, b});
  return true;
}

bool Emitter::sameShape(const Shape &a, const Shape &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!sameExtent(a[i], b[i]))
      return false;
  return true;
}

std::string Emitter::shapeText(const Shape &shape) {
  std::string text = "[";
  for (SymInt extent : shape)
    text += (text.size() > 1 ? ", " : "") + toString(extent);
  return text + "]";
}

SymInt Emitter::elementCount(const Shape &shape) {
  SymInt count = c.syms.constant(1);
  for (SymInt extent : shape)
    count = c.syms.mul(count, extent);
  return count;
}

void Emitter::checkTileShape(const Shape &shape) {
  if (c.checkedShapes.count(shape))
    return; // every rule was met and recorded before
  for (SymInt extent : shape) {
    if (const auto constant = extent.constant();
        constant && *constant > 0 && std::has_single_bit(static_cast<uint64_t>(*constant)))
      continue;
    const std::string text = toString(extent);
    if (c.valueOf(extent, c.here) <= 0)
      c.fail(c.here, "lower.shape",
             fmt::format("a tile's extent must be at least 1, but {} is {}", text, c.valueOf(extent, c.here)),
             extent.isConstant() ? SymInt() : c.syms.lt(c.syms.constant(0), extent));
    c.require(c.syms.eq(c.syms.nextPow2(extent), extent), "shape.pow2",
              fmt::format("{} must be a power of two", text), c.here,
              fmt::format("shape element {} must be a power of 2", text));
  }
  const SymInt count = elementCount(shape);
  if (const auto constant = count.constant(); !constant || *constant > kMaxTileElements)
    c.require(c.syms.le(count, c.syms.constant(kMaxTileElements)), "shape.numel",
              fmt::format("a tile has at most {} elements: {} <= {}", kMaxTileElements, toString(count),
                          kMaxTileElements),
              c.here,
              fmt::format("numel ({}) exceeds triton maximum tensor numel ({})", toString(count),
                          kMaxTileElements));
  c.checkedShapes.insert(shape); // not before: a rule that fails must fail again
}

ValueId Emitter::splat(ValueId scalar, const Shape &shape) {
  if (shape.empty())
    return scalar;
  return c.create(OpKind::Splat, {scalar}, c.typeOf(scalar).withShape(shape));
}

ValueId Emitter::expandDims(ValueId value, int64_t axis) {
  const Type from = c.typeOf(value);
  Shape shape = from.shape;
  if (axis < 0 || axis > static_cast<int64_t>(shape.size()))
    c.fail(c.here, "lower.shape", fmt::format("invalid axis {} for a tile of rank {}", axis, shape.size()));
  shape.insert(shape.begin() + axis, c.syms.constant(1));
  if (from.shape.empty())
    return splat(value, shape);
  Attributes attributes;
  attributes.set("axis", axis);
  return c.create(OpKind::ExpandDims, {value}, from.withShape(std::move(shape)), std::move(attributes));
}

ValueId Emitter::broadcastTo(ValueId value, const Shape &shape) {
  const Type from = c.typeOf(value);
  if (from.shape.empty())
    return splat(value, shape);
  if (from.shape.size() != shape.size())
    c.fail(c.here, "lower.shape",
           fmt::format("cannot broadcast, rank mismatch: {}, {}", shapeText(from.shape), shapeText(shape)));
  bool grows = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (from.shape[i] == shape[i])
      continue;
    if (from.shape[i].isConstant(1)) {
      grows = true;
      continue;
    }
    if (!sameExtent(from.shape[i], shape[i]))
      c.fail(
          c.here, "lower.shape",
          fmt::format(
              "cannot broadcast, the expanded size of the tensor ({}) must match the existing size ({}) at "
              "non-singleton dimension {}: {}, {}",
              toString(shape[i]), toString(from.shape[i]), i, shapeText(from.shape), shapeText(shape)),
          from.shape[i].isConstant() && shape[i].isConstant() ? SymInt()
                                                              : c.syms.eq(from.shape[i], shape[i]));
    grows = true;
  }
  if (!grows)
    return value;
  checkTileShape(shape);
  // Extents that are equal by requirement only still need one spelling; a reshape gives it.
  Shape spelled = from.shape;
  bool respelled = false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!spelled[i].isConstant(1) && spelled[i] != shape[i]) {
      spelled[i] = shape[i];
      respelled = true;
    }
  if (respelled)
    value = c.create(OpKind::Reshape, {value}, from.withShape(spelled));
  return spelled == shape ? value : c.create(OpKind::Broadcast, {value}, from.withShape(shape));
}

std::pair<ValueId, ValueId> Emitter::broadcast(ValueId a, ValueId b) {
  const bool aTile = !c.typeOf(a).shape.empty(), bTile = !c.typeOf(b).shape.empty();
  if (!aTile && !bTile)
    return {a, b};
  if (!aTile)
    return {splat(a, c.typeOf(b).shape), b};
  if (!bTile)
    return {a, splat(b, c.typeOf(a).shape)};
  while (c.typeOf(a).shape.size() < c.typeOf(b).shape.size())
    a = expandDims(a, 0);
  while (c.typeOf(b).shape.size() < c.typeOf(a).shape.size())
    b = expandDims(b, 0);
  const Shape left = c.typeOf(a).shape, right = c.typeOf(b).shape;
  if (left == right)
    return {a, b};
  Shape shape;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].isConstant(1))
      shape.push_back(right[i]);
    else if (right[i].isConstant(1) || sameExtent(left[i], right[i]))
      shape.push_back(left[i]);
    else if (!left[i].isConstant() && c.valueOf(left[i], c.here) == 1 &&
             c.decide(c.syms.eq(left[i], c.syms.constant(1)), true, c.here))
      return broadcast(reshape(a,
                               [&] {
                                 Shape s = left;
                                 s[i] = c.syms.constant(1);
                                 return s;
                               }()),
                       b);
    else if (!right[i].isConstant() && c.valueOf(right[i], c.here) == 1 &&
             c.decide(c.syms.eq(right[i], c.syms.constant(1)), true, c.here))
      return broadcast(a, reshape(b, [&] {
                         Shape s = right;
                         s[i] = c.syms.constant(1);
                         return s;
                       }()));
    else
      c.fail(c.here, "lower.shape",
             fmt::format("cannot make shapes compatible: incompatible dimensions at index {}: {} and {}", i,
                         toString(left[i]), toString(right[i])),
             left[i].isConstant() && right[i].isConstant() ? SymInt() : c.syms.eq(left[i], right[i]));
  }
  return {broadcastTo(a, shape), broadcastTo(b, shape)};
}

ValueId Emitter::reshape(ValueId value, const Shape &shape, bool reorder) {
  const Type from = c.typeOf(value);
  if (from.shape == shape)
    return value;
  if (!sameExtent(elementCount(from.shape), elementCount(shape)))
    c.fail(c.here, "lower.shape",
           fmt::format("reshape() cannot change total number of elements in tensor: {} to {}",
                       shapeText(from.shape), shapeText(shape)),
           c.syms.eq(elementCount(from.shape), elementCount(shape)).isConstant()
               ? SymInt()
               : c.syms.eq(elementCount(from.shape), elementCount(shape)));
  if (from.shape.empty())
    return splat(value, shape);
  Attributes attributes;
  if (reorder)
    attributes.set("reorder", true);
  return c.create(OpKind::Reshape, {value}, from.withShape(shape), std::move(attributes));
}

ValueId Emitter::permute(ValueId value, const std::vector<int64_t> &order) {
  const Type from = c.typeOf(value);
  std::vector<bool> seen(from.shape.size());
  if (order.size() != from.shape.size())
    c.fail(c.here, "lower.shape",
           fmt::format("permute dims must have the same length as input shape, got {} and {}",
                       from.shape.size(), order.size()));
  Shape shape;
  for (int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<int64_t>(seen.size()) || seen[axis])
      c.fail(c.here, "lower.shape", "permute dims must be a permutation of 0, 1, ..., n-1");
    seen[axis] = true;
    shape.push_back(from.shape[axis]);
  }
  Attributes attributes;
  attributes.set("order", order);
  return c.create(OpKind::Permute, {value}, from.withShape(std::move(shape)), std::move(attributes));
}

ValueId Emitter::unsplat(ValueId value) {
  const Type type = c.typeOf(value);
  if (type.shape.empty())
    return value;
  if (!sameExtent(elementCount(type.shape), c.syms.constant(1)))
    c.fail(c.here, "lower.shape", "only a tile of one element can become a scalar");
  // Reducing the only element away leaves it; Programs need no operation of its own for that.
  Attributes attributes;
  attributes.set("axis", int64_t(0));
  attributes.set("kind", std::string(isFloat(type.dtype) || type.isPointer() ? "max" : "or"));
  const ValueId flat = reshape(value, {c.syms.constant(1)});
  return c.create(OpKind::Reduce, {flat}, type.withShape({}), std::move(attributes));
}

} // namespace tilewright::lowering

#include "SymContextImpl.h"

#include <algorithm>
#include <cassert>

namespace tilewright {

SymOp SymInt::op() const { return node_->op; }
bool SymInt::isConstant() const { return node_->op == SymOp::Constant; }
std::optional<int64_t> SymInt::constant() const {
  return node_->op == SymOp::Constant ? std::optional(node_->value) : std::nullopt;
}
uint32_t SymInt::symbolId() const {
  assert(isSymbol());
  return static_cast<uint32_t>(node_->value);
}
std::span<const SymInt> SymInt::operands() const { return node_->operands; }
SymRange SymInt::range() const { return node_->range; }
int64_t SymInt::divisor() const { return node_->divisor; }
uint32_t SymInt::weight() const { return node_->weight; }
SymContext &SymInt::context() const { return *node_->context; }
bool operator<(SymInt a, SymInt b) {
  if (!a.valid() || !b.valid())
    return !a.valid() && b.valid();
  return a.node_->id < b.node_->id;
}

size_t SymContext::Impl::Hash::operator()(const Key &key) const {
  uint64_t hash =
      (static_cast<uint64_t>(key.op) + 1) * 0x9e3779b97f4a7c15ull ^ static_cast<uint64_t>(key.value);
  for (SymInt operand : key.operands) {
    hash ^= operand.node()->id + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdull;
    hash ^= hash >> 33;
  }
  return static_cast<size_t>(hash);
}

bool SymContext::Impl::Equal::same(const Key &a, const Key &b) {
  return a.op == b.op && a.value == b.value &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end());
}

SymInt SymContext::Impl::intern(SymOp op, int64_t value, std::vector<SymInt> operands) {
  const SymNode *node = nullptr;
  {
    std::lock_guard lock(mutex);
    if (const auto found = table.find(Key{op, value, operands}); found != table.end())
      node = *found;
    else {
      const symbolic::Facts facts = symbolic::factsOf(op, value, operands);
      nodes.push_back({op, static_cast<uint32_t>(nodes.size()), value, facts.range, facts.divisor,
                       facts.weight, std::move(operands), &context, nullptr});
      node = &nodes.back();
      table.insert(node);
    }
  }
  const bool known =
      node->range.min == node->range.max && node->range.min != INT64_MIN && node->range.max != INT64_MAX;
  if (op != SymOp::Constant && op != SymOp::Symbol && known)
    return constant(node->range.min);
  return SymInt(node);
}

SymContext::SymContext() : impl_(std::make_unique<Impl>(*this)) {}
SymContext::~SymContext() = default;

SymInt SymContext::newSymbol(SymbolKind kind, std::string name, SymRange range, int64_t divisor) {
  std::lock_guard lock(impl_->mutex);
  const uint32_t id = static_cast<uint32_t>(impl_->symbols.size());
  divisor = std::max<int64_t>(divisor, 1);
  impl_->symbols.push_back({id, kind, std::move(name), range, divisor});
  impl_->nodes.push_back({SymOp::Symbol,
                          static_cast<uint32_t>(impl_->nodes.size()),
                          id,
                          range,
                          divisor,
                          1,
                          {},
                          this,
                          &impl_->symbols.back()});
  impl_->table.insert(&impl_->nodes.back());
  return SymInt(&impl_->nodes.back());
}

const Symbol &SymContext::symbol(uint32_t id) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->symbols[id];
}

uint32_t SymContext::symbolCount() const {
  std::lock_guard lock(impl_->mutex);
  return static_cast<uint32_t>(impl_->symbols.size());
}

SymInt SymContext::constant(int64_t value) { return impl_->constant(value); }

} // namespace tilewright

#include "tilewright/dispatch/DispatchTable.h"

#include <algorithm>
#include <bit>

namespace tilewright {

struct DispatchTable::Slot {
  uint64_t hash;
  std::vector<uint64_t> key;
  DispatchEntry entry;
};

struct DispatchTable::Table {
  std::vector<const Slot *> buckets; ///< power of two, at most half full
  std::vector<const Slot *> live;
};

namespace {

/// Mixes words as splitmix64 does; quality matters little, speed for a handful of words does.
uint64_t hashOf(std::span<const uint64_t> key) noexcept {
  uint64_t hash = 0x9E3779B97F4A7C15ull * (key.size() + 1);
  for (const uint64_t word : key) {
    hash ^= word;
    hash *= 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 29;
  }
  return hash;
}

} // namespace

DispatchTable::DispatchTable() : current_(nullptr) { clear(); }
DispatchTable::~DispatchTable() = default;

const DispatchEntry *DispatchTable::find(std::span<const uint64_t> key) const noexcept {
  const Table *table = current_.load(std::memory_order_acquire);
  const uint64_t hash = hashOf(key);
  const size_t mask = table->buckets.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot *slot = table->buckets[i];
    if (!slot)
      return nullptr;
    if (slot->hash == hash && std::ranges::equal(slot->key, key))
      return &slot->entry;
  }
}

const DispatchEntry *DispatchTable::insert(std::span<const uint64_t> key, DispatchEntry entry) {
  std::scoped_lock lock(mutex_);
  auto slot = std::make_unique<Slot>(Slot{hashOf(key), {key.begin(), key.end()}, std::move(entry)});
  auto next = std::make_unique<Table>();
  for (const Slot *other : current_.load(std::memory_order_relaxed)->live)
    if (other->key != slot->key)
      next->live.push_back(other);
  next->live.push_back(slot.get());
  next->buckets.resize(std::bit_ceil(next->live.size() * 2 + 1));
  const size_t mask = next->buckets.size() - 1;
  for (const Slot *each : next->live) {
    size_t i = each->hash & mask;
    while (next->buckets[i])
      i = (i + 1) & mask;
    next->buckets[i] = each;
  }
  const DispatchEntry *stored = &slot->entry;
  slots_.push_back(std::move(slot));
  current_.store(next.get(), std::memory_order_release);
  tables_.push_back(std::move(next));
  return stored;
}

void DispatchTable::clear() {
  std::scoped_lock lock(mutex_);
  auto empty = std::make_unique<Table>();
  empty->buckets.resize(1);
  current_.store(empty.get(), std::memory_order_release);
  tables_.push_back(std::move(empty));
}

size_t DispatchTable::size() const { return current_.load(std::memory_order_acquire)->live.size(); }

} // namespace tilewright

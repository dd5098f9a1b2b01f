#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace tilewright::lang {

/// Where the nodes of one syntax tree live. Nodes are trivially destructible, so the whole tree is freed at
/// once and no node ever dies before its Module.
///
/// Invariant: two equal names interned in one arena share their characters, so `a.data() == b.data()` decides
/// equality; comparing the views with == is right as well and works across modules.
class AstArena {
public:
  AstArena() = default;
  AstArena(const AstArena &) = delete;
  AstArena &operator=(const AstArena &) = delete;

  template <class T> T *create() {
    static_assert(std::is_trivially_destructible_v<T>, "the arena never runs destructors");
    return new (memory_.allocate(sizeof(T), alignof(T))) T();
  }

  template <class T> std::span<const T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty())
      return {};
    auto *target = static_cast<T *>(memory_.allocate(items.size_bytes(), alignof(T)));
    std::memcpy(target, items.data(), items.size_bytes());
    return {target, items.size()};
  }
  template <class T> std::span<const T> copy(const std::vector<T> &items) {
    return copy(std::span<const T>(items));
  }

  /// The characters live as long as the arena; never null, even for an empty text.
  std::string_view copyText(std::string_view text) {
    auto *target = static_cast<char *>(memory_.allocate(text.size() + 1, 1));
    std::memcpy(target, text.data(), text.size());
    target[text.size()] = '\0';
    return {target, text.size()};
  }

  std::string_view intern(std::string_view name) {
    if (const auto found = names_.find(name); found != names_.end())
      return *found;
    return *names_.insert(copyText(name)).first;
  }

private:
  std::pmr::monotonic_buffer_resource memory_{16 * 1024};
  std::unordered_set<std::string_view> names_;
};

} // namespace tilewright::lang

#pragma once
#include "tilewright/support/Expected.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace tilewright {

/// One setting of a configuration: a tile size, a flag, a compile option.
using ConfigValue = std::variant<bool, int64_t, double, std::string>;
std::string toString(const ConfigValue &value);

/// One point of the search space: values for the kernel's open parameters and for compile options
/// (`num_warps`, `multibuffer`, the CPU schedule's `cpu_threads`, ...), ordered by name so that equal
/// configurations print and hash alike.
///
///     BLOCK_K=32,BLOCK_M=64,num_warps=4
class Config {
public:
  using Map = std::map<std::string, ConfigValue, std::less<>>;

  Config() = default;
  explicit Config(Map values) : values_(std::move(values)) {}

  void set(std::string name, ConfigValue value) { values_[std::move(name)] = std::move(value); }
  const ConfigValue *find(std::string_view name) const;
  /// The value as an integer (a bool counts as 0 or 1); nothing when absent or of another kind.
  std::optional<int64_t> integer(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const Map &values() const { return values_; }
  bool empty() const { return values_.empty(); }

  /// "A=1,B=true"; the inverse of `parse`.
  std::string toString() const;
  /// Reads "A=1,B=true,C=fast"; integers, decimal floats, true/false (any case), the rest as text.
  static Expected<Config> parse(std::string_view text);

  friend bool operator==(const Config &, const Config &) = default;
  friend bool operator<(const Config &a, const Config &b) { return a.values_ < b.values_; }

private:
  Map values_;
};

} // namespace tilewright

#pragma once
#include "tilewright/program/Type.h"
#include "tilewright/support/Config.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tilewright {

/// A dense or strided tensor argument. Shape in elements, strides in elements (row-major when left empty).
struct TensorSpec {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::optional<std::pair<int64_t, int64_t>> valueRange; ///< inclusive, for index tensors

  int64_t elementCount() const; ///< product of the shape
  int64_t byteExtent() const;   ///< bytes from the first to past the last element
  friend bool operator==(const TensorSpec &, const TensorSpec &) = default;
};

struct NoneValue {
  friend bool operator==(const NoneValue &, const NoneValue &) = default;
};
using ArgumentValue = std::variant<NoneValue, bool, int64_t, double, std::string, DType, TensorSpec>;
std::string toString(const ArgumentValue &value); ///< "f32[4096,3000]", "3000", "1e-06", "None", "true"

struct Argument {
  std::string name;
  ArgumentValue value;
};
/// Reads `-a`'s form: "x=f32[98432]", "idx=i64[1000]:0..4095", "n=98432", "eps=1e-6", "y=None", "FLAG=true",
/// "ACT=\"relu\"" or ACT=relu (text), "OUT=dtype:bf16" (a dtype constexpr).
Expected<Argument> parseArgument(std::string_view text);

/// The facts of one launch that lowering and generation may use: arguments by name (runtime and constexpr).
/// What is absent is unknown (`analyze` without arguments) or open (a constexpr without value or default).
struct LaunchArguments {
  std::vector<Argument> values;
  const ArgumentValue *find(std::string_view name) const;
  void set(std::string name, ArgumentValue value);
};

} // namespace tilewright

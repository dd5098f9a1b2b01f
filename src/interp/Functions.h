#pragma once
#include <cstddef>
#include <string_view>

namespace tilewright::interp {

/// A function of the math library, computed in double and rounded once to the result's dtype: for f32 and
/// narrower that is the correctly rounded value in all but a few hard cases.
struct LibraryFunction {
  std::string_view name;
  size_t operands;
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
  double (*ternary)(double, double, double) = nullptr;
};

/// Finds "exp", "pow", ... and their libdevice spellings "__nv_expf"; null when there is none.
const LibraryFunction *findFunction(std::string_view name);

} // namespace tilewright::interp

#pragma once
#include <cstddef>
#include <string_view>

namespace tilewright::interp {

inline constexpr size_t kMostOperands = 4;

/// A function of the math library, computed in double and rounded once to the result's dtype: for f32 and
/// narrower that is the correctly rounded value in all but a few hard cases. Where f32 is not a rounding of
/// the f64 function (the next float, directed rounding), `single` computes it.
struct LibraryFunction {
  std::string_view name;
  size_t operands;
  double (*call)(const double *);
  double (*single)(const double *) = nullptr;
};

/// Finds "exp", "pow", ... and their libdevice spellings "__nv_expf"; null when there is none.
const LibraryFunction *findFunction(std::string_view name);

} // namespace tilewright::interp

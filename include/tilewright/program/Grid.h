#pragma once
#include "tilewright/program/Program.h"

#include <array>
#include <functional>

namespace tilewright {

/// How many programs a launch starts, as a function of the configuration. Three forms:
///  - symbolic: read from a Python expression over arguments and open parameters,
///    "(cdiv(n, BLOCK),)", "lambda meta: (triton.cdiv(M, meta['BLOCK_M']) * triton.cdiv(N,
///    meta['BLOCK_N']),)";
///  - fixed numbers;
///  - a callback (a Python callable whose source cannot be read), asked once per configuration.
class Grid {
public:
  using Callback = std::function<Expected<std::array<int64_t, 3>>(const Config &)>;

  static Grid fixed(std::array<int64_t, 3> dims);
  static Grid callback(Callback callback);
  /// `symbolic[axis]` is valid for each of 1..3 axes; expressions over the Program's symbols.
  static Grid symbolic(std::vector<SymInt> dims, std::string text);

  bool isSymbolic() const { return !dims_.empty(); }
  bool isFixed() const { return fixed_.has_value(); }
  bool isCallback() const { return static_cast<bool>(callback_); }
  const std::vector<SymInt> &dims() const { return dims_; }
  const std::string &text() const { return text_; }

  /// Grid dimensions (padded with 1) for a configuration. `values` holds open parameters and runtime scalars.
  Expected<std::array<int64_t, 3>> evaluate(const Config &config, const SymValues &values) const;

private:
  std::vector<SymInt> dims_;
  std::string text_;
  std::optional<std::array<int64_t, 3>> fixed_;
  Callback callback_;
};

/// Reads a grid expression. Names are parameters of the Program (fixed ones by value) or, for tensors,
/// nothing: `x.shape[0]` and `x.numel()` resolve against the launch arguments. `cdiv`, `triton.cdiv`, `min`,
/// `max`, `//`, `%`, `next_power_of_2`, conditional expressions and `lambda meta:` with `meta["NAME"]` are
/// understood.
Expected<Grid> parseGrid(std::string_view text, const Program &program, const LaunchArguments &arguments);

/// Values of the Program's runtime integer scalars from the launch arguments, and of open parameters from a
/// configuration. Scalars with a companion expression get its value instead.
Expected<SymValues> bindLaunch(const Program &program, const LaunchArguments &arguments,
                               const Config &config);

} // namespace tilewright

#include "tilewright/program/Grid.h"

#include <fmt/format.h>

namespace tilewright {

Grid Grid::fixed(std::array<int64_t, 3> dims) {
  Grid grid;
  grid.fixed_ = dims;
  grid.text_ = fmt::format("({}, {}, {})", dims[0], dims[1], dims[2]);
  return grid;
}

Grid Grid::callback(Callback callback) {
  Grid grid;
  grid.callback_ = std::move(callback);
  grid.text_ = "a callable";
  return grid;
}

Grid Grid::symbolic(std::vector<SymInt> dims, std::string text) {
  Grid grid;
  grid.dims_ = std::move(dims);
  grid.text_ = std::move(text);
  return grid;
}

Expected<std::array<int64_t, 3>> Grid::evaluate(const Config &config, const SymValues &values) const {
  std::array<int64_t, 3> result{1, 1, 1};
  if (fixed_)
    result = *fixed_;
  else if (callback_) {
    TW_TRY(result, callback_(config));
  } else if (dims_.empty())
    return fail(ErrorKind::User, "grid.missing", "there is no grid");
  for (size_t axis = 0; axis < dims_.size(); ++axis) {
    const auto value = tilewright::evaluate(dims_[axis], values);
    if (!value) {
      for (uint32_t symbol : symbolsOf(dims_[axis]))
        if (!values.get(symbol))
          return fail(ErrorKind::User, "arg.missing",
                      fmt::format("the grid {} needs a value for {}", text_,
                                  dims_[axis].context().symbol(symbol).name));
      return fail(ErrorKind::User, "grid.syntax",
                  fmt::format("axis {} of the grid {} has no value here: a division by zero or an overflow",
                              axis, text_));
    }
    result[axis] = *value;
  }
  for (int64_t dim : result)
    if (dim < 0)
      return fail(ErrorKind::User, "grid.empty",
                  fmt::format("the grid {} is ({}, {}, {}) for {}: an axis is negative", text_, result[0],
                              result[1], result[2], config.toString()));
  return result;
}

Expected<SymValues> bindLaunch(const Program &program, const LaunchArguments &arguments,
                               const Config &config) {
  TW_TRY(SymValues values, program.bind(config));
  for (const Parameter &parameter : program.parameters) {
    if (parameter.kind != Parameter::Kind::Scalar || !parameter.symbol.valid())
      continue;
    const ArgumentValue *value = arguments.find(parameter.name);
    if (!value)
      continue;
    if (const auto *integer = std::get_if<int64_t>(value))
      values.set(parameter.symbol.symbolId(), *integer);
    else if (const auto *flag = std::get_if<bool>(value))
      values.set(parameter.symbol.symbolId(), *flag);
    else
      return fail(ErrorKind::User, "arg.type",
                  fmt::format("{} must be an integer, not {}", parameter.name, toString(*value)));
  }
  for (const Parameter &parameter : program.parameters) {
    if (!parameter.companion.valid() || !parameter.symbol.valid())
      continue;
    const auto value = evaluate(parameter.companion, values);
    if (!value)
      return fail(ErrorKind::User, "hint.value",
                  fmt::format("the companion {} = {} has no value for {}", parameter.name,
                              toString(parameter.companion), config.toString()));
    values.set(parameter.symbol.symbolId(), *value);
  }
  return values;
}

} // namespace tilewright

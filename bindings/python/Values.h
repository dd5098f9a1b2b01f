#pragma once
#include "tilewright/tilewright.h"

#include <nanobind/nanobind.h>

namespace tilewright::python {

namespace nb = nanobind;

/// Raised as tilewright.UserError, RefusalError, UnavailableError or InternalError; the translator is in
/// Module.cpp.
struct EngineError : std::exception {
  explicit EngineError(Error error) : error(std::move(error)), text(render(this->error)) {}
  const char *what() const noexcept override { return text.c_str(); }
  Error error;
  std::string text;
};

/// The value, or the error thrown as EngineError.
template <class T> T valueOrThrow(Expected<T> result) {
  if (!result)
    throw EngineError(std::move(result).error());
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
}

/// None, bool, int, float, str, ("dtype", name) or ("tensor", dtype, shape, strides in elements).
ArgumentValue argumentFrom(nb::handle value);
/// {name: bool | int | float | str}
Config configFrom(nb::handle value);
nb::dict toPython(const Config &config);
/// An integer, or a sequence of one to three.
std::array<int64_t, 3> gridFrom(nb::handle value);
/// {"arguments": [(name, value)], "grid": str | (int, ...) | callable, "key": [str], "target": str,
///  "hints": {name: [value]}, "configs": [dict], "only_configs": bool}; all but "arguments" may be absent.
Problem problemFrom(nb::handle value);
/// [(name, (address, bytes)) | (name, int) | (name, float)]
std::vector<RuntimeArgument> buffersFrom(nb::handle value);

nb::dict toPython(const TuneResult &result);
nb::dict toPython(const KernelPlan &plan);

} // namespace tilewright::python

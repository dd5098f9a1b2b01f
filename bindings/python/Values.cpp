#include "Values.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tilewright::python {

namespace {

DType dtypeFrom(const std::string &text) {
  if (auto dtype = parseDType(text))
    return *dtype;
  if (auto dtype = parseTritonDType(text))
    return *dtype;
  throw EngineError(
      Error(ErrorKind::User, "arg.type", fmt::format("'{}' is not an element type that kernels know", text)));
}

ConfigValue configValueFrom(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value))
    return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value))
    return nb::cast<int64_t>(value);
  if (nb::isinstance<nb::float_>(value))
    return nb::cast<double>(value);
  return nb::cast<std::string>(nb::str(value));
}

nb::object valueToPython(const ConfigValue &value) {
  return std::visit([](const auto &each) -> nb::object { return nb::cast(each); }, value);
}

nb::object item(const nb::dict &values, const char *name) {
  return values.contains(name) ? nb::object(values[name]) : nb::none();
}

std::vector<std::string> stringsFrom(nb::handle list) {
  std::vector<std::string> out;
  for (nb::handle each : list)
    out.push_back(nb::cast<std::string>(each));
  return out;
}

/// A Python callable as a grid; asked with the configuration as a dict, under the GIL. The engine copies and
/// drops it on threads that do not hold the GIL, so the reference to the callable is counted apart and
/// released under it.
Grid::Callback callbackFrom(nb::object callable) {
  const std::shared_ptr<PyObject> shared(callable.release().ptr(), [](PyObject *object) {
    nb::gil_scoped_acquire gil;
    Py_DECREF(object);
  });
  return [shared](const Config &config) -> Expected<std::array<int64_t, 3>> {
    nb::gil_scoped_acquire gil;
    try {
      return gridFrom(nb::handle(shared.get())(toPython(config)));
    } catch (const EngineError &error) {
      return Unexpected(error.error);
    } catch (const std::exception &error) {
      return fail(ErrorKind::User, "grid.syntax",
                  fmt::format("the grid function failed for {}: {}", config.toString(), error.what()));
    }
  };
}

nb::list rejectionsToPython(const std::vector<Rejection> &rejections) {
  nb::list out;
  for (const auto &rejection : rejections) {
    nb::dict entry;
    entry["config"] = toPython(rejection.config);
    entry["code"] = rejection.code;
    entry["text"] = rejection.text;
    out.append(entry);
  }
  return out;
}

nb::dict countsToPython(const std::map<std::string, int64_t> &counts) {
  nb::dict out;
  for (const auto &[code, count] : counts)
    out[code.c_str()] = count;
  return out;
}

} // namespace

std::array<int64_t, 3> gridFrom(nb::handle value) {
  std::array<int64_t, 3> out{1, 1, 1};
  const auto axis = [](nb::handle size) {
    const nb::object index = nb::steal(PyNumber_Index(size.ptr()));
    if (!index.is_valid())
      throw nb::python_error();
    return nb::cast<int64_t>(index);
  };
  if (PyIndex_Check(value.ptr())) {
    out[0] = axis(value);
    return out;
  }
  size_t count = 0;
  for (nb::handle each : value) {
    if (count == 3)
      throw EngineError(Error(ErrorKind::User, "grid.syntax", "a grid has at most three dimensions"));
    out[count++] = axis(each);
  }
  return out;
}

ArgumentValue argumentFrom(nb::handle value) {
  if (value.is_none())
    return NoneValue{};
  if (nb::isinstance<nb::bool_>(value))
    return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value))
    return nb::cast<int64_t>(value);
  if (nb::isinstance<nb::float_>(value))
    return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value))
    return nb::cast<std::string>(value);
  const auto tuple = nb::cast<nb::tuple>(value);
  const auto kind = nb::cast<std::string>(tuple[0]);
  if (kind == "dtype")
    return dtypeFrom(nb::cast<std::string>(tuple[1]));
  TensorSpec tensor;
  tensor.dtype = dtypeFrom(nb::cast<std::string>(tuple[1]));
  tensor.shape = nb::cast<std::vector<int64_t>>(tuple[2]);
  tensor.strides = nb::cast<std::vector<int64_t>>(tuple[3]);
  return tensor;
}

Config configFrom(nb::handle value) {
  Config out;
  for (auto [name, each] : nb::cast<nb::dict>(value))
    out.set(nb::cast<std::string>(name), configValueFrom(each));
  return out;
}

nb::dict toPython(const Config &config) {
  nb::dict out;
  for (const auto &[name, value] : config.values())
    out[name.c_str()] = valueToPython(value);
  return out;
}

Problem problemFrom(nb::handle value) {
  const auto values = nb::cast<nb::dict>(value);
  Problem out;
  for (nb::handle each : item(values, "arguments")) {
    const auto pair = nb::cast<nb::tuple>(each);
    out.arguments.set(nb::cast<std::string>(pair[0]), argumentFrom(pair[1]));
  }
  if (const nb::object grid = item(values, "grid"); !grid.is_none()) {
    if (nb::isinstance<nb::str>(grid))
      out.grid = nb::cast<std::string>(grid);
    else if (PyCallable_Check(grid.ptr()))
      out.gridCallback = callbackFrom(grid);
    else
      out.fixedGrid = gridFrom(grid);
  }
  if (const nb::object key = item(values, "key"); !key.is_none())
    out.key = stringsFrom(key);
  if (const nb::object target = item(values, "target"); !target.is_none())
    out.target = nb::cast<std::string>(target);
  if (const nb::object hints = item(values, "hints"); !hints.is_none())
    for (auto [name, list] : nb::cast<nb::dict>(hints)) {
      auto &wanted = out.hints.values[nb::cast<std::string>(name)];
      for (nb::handle each : list)
        wanted.push_back(configValueFrom(each));
    }
  if (const nb::object configs = item(values, "configs"); !configs.is_none())
    for (nb::handle each : configs)
      out.configs.push_back(configFrom(each));
  if (const nb::object only = item(values, "only_configs"); !only.is_none())
    out.onlyConfigs = nb::cast<bool>(only);
  return out;
}

std::vector<RuntimeArgument> buffersFrom(nb::handle value) {
  std::vector<RuntimeArgument> out;
  for (nb::handle each : value) {
    const auto pair = nb::cast<nb::tuple>(each);
    RuntimeArgument argument;
    argument.name = nb::cast<std::string>(pair[0]);
    const nb::handle what = pair[1];
    if (nb::isinstance<nb::tuple>(what)) {
      const auto memory = nb::cast<nb::tuple>(what);
      argument.memory = {reinterpret_cast<std::byte *>(nb::cast<uintptr_t>(memory[0])),
                         nb::cast<size_t>(memory[1])};
    } else if (nb::isinstance<nb::float_>(what)) {
      argument.number = nb::cast<double>(what);
    } else {
      argument.integer = nb::cast<int64_t>(what);
      argument.number = static_cast<double>(argument.integer);
    }
    out.push_back(std::move(argument));
  }
  return out;
}

nb::dict toPython(const TuneResult &result) {
  nb::dict out;
  out["config"] = toPython(result.best);
  out["time_ns"] = result.timeNs;
  out["method"] = std::string(store::toString(result.method));
  out["rule"] = result.rule;
  out["cached"] = result.cached;
  out["wall_seconds"] = result.wallSeconds;
  out["rejected"] = countsToPython(result.rejectedByCode);
  out["store_problem"] = result.storeProblem ? nb::cast(render(*result.storeProblem)) : nb::none();
  nb::list trials;
  for (const auto &trial : result.trials) {
    nb::dict entry;
    entry["config"] = toPython(trial.candidate.config);
    entry["status"] = std::string(store::toString(trial.status));
    entry["code"] = trial.code;
    entry["text"] = trial.text;
    entry["time_ns"] = trial.timeNs;
    entry["predicted_ns"] = trial.prediction.timeNs;
    entry["samples_ns"] = trial.samplesNs;
    trials.append(entry);
  }
  out["trials"] = trials;
  return out;
}

nb::dict toPython(const KernelPlan &plan) {
  nb::dict out;
  nb::list ranked;
  for (const auto &entrant : plan.ranked) {
    nb::dict entry;
    entry["config"] = toPython(entrant.planned.candidate.config);
    entry["predicted_ns"] = entrant.planned.prediction.timeNs;
    entry["bound"] = std::string(entrant.planned.prediction.bound);
    entry["grid"] = nb::make_tuple(entrant.planned.candidate.grid[0], entrant.planned.candidate.grid[1],
                                   entrant.planned.candidate.grid[2]);
    entry["bytes"] = countsToPython(entrant.planned.candidate.bytes);
    entry["generated"] = entrant.planned.candidate.origin == Origin::Generated;
    ranked.append(entry);
  }
  out["target"] = plan.target->name;
  out["candidates"] = ranked;
  out["rejected"] = rejectionsToPython(plan.rejected);
  out["rejected_by_code"] = countsToPython(plan.rejectedByCode);
  out["considered"] = plan.considered;
  out["empty_reason"] = plan.emptyReason ? nb::cast(render(*plan.emptyReason)) : nb::none();
  return out;
}

} // namespace tilewright::python

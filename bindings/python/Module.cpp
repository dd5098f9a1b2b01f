#include "Values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tilewright::python {

namespace {

/// Compiled code for one configuration and the grid that goes with it.
class Launchable {
public:
  explicit Launchable(std::shared_ptr<const CompiledKernel> kernel) : kernel_(std::move(kernel)) {}

  /// `words`: runtime arguments in the kernel's order: addresses, integers, or floats.
  void launch(nb::list words, int64_t x, int64_t y, int64_t z) const {
    constexpr size_t kInline = 64;
    uint64_t inlineWords[kInline];
    std::vector<uint64_t> heapWords;
    const size_t count = nb::len(words);
    uint64_t *out = inlineWords;
    if (count > kInline) {
      heapWords.resize(count);
      out = heapWords.data();
    }
    for (size_t i = 0; i < count; ++i) {
      PyObject *word = PyList_GET_ITEM(words.ptr(), static_cast<Py_ssize_t>(i));
      if (PyFloat_Check(word))
        out[i] = std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(word));
      else
        out[i] = PyLong_AsUnsignedLongLongMask(word);
    }
    if (PyErr_Occurred())
      throw nb::python_error();
    Expected<void> done;
    {
      nb::gil_scoped_release release;
      done = kernel_->launch({out, count}, {x, y, z});
    }
    valueOrThrow(std::move(done));
  }
  std::string digest() const { return std::string(kernel_->contentDigest()); }

private:
  std::shared_ptr<const CompiledKernel> kernel_;
};

nb::dict tune(const Kernel &kernel, nb::handle problemValue, nb::handle buffersValue, nb::dict settingsValue, nb::object progress) {
  const Problem problem = problemFrom(problemValue);
  const auto buffers = buffersFrom(buffersValue);
  TuneSettings settings;
  const auto number = [&](const char *name, double otherwise) {
    return settingsValue.contains(name) ? nb::cast<double>(settingsValue[name]) : otherwise;
  };
  settings.options.budgetSeconds = number("budget_seconds", 0);
  settings.options.compileThreads = static_cast<uint32_t>(number("compile_threads", 0));
  settings.keep = static_cast<size_t>(number("keep", 0));
  settings.ignoreRemembered = number("ignore_remembered", 0) != 0;
  if (number("in_memory", 0) != 0)
    settings.store = store::Store::inMemory();
  if (!progress.is_none())
    settings.options.onProgress = [&progress](const tuner::Progress &now) {
      nb::gil_scoped_acquire gil;
      try {
        progress(now.phase == tuner::Phase::Compile ? "compile" : now.phase == tuner::Phase::Race ? "race" : "done", now.total, now.compiled,
                 now.checked, now.failed, now.racing, now.bestNs, now.elapsedSeconds);
      } catch (nb::python_error &error) {
        error.discard_as_unraisable("tilewright progress callback");
      }
    };
  Expected<TuneResult> result;
  {
    nb::gil_scoped_release release;
    result = kernel.tune(problem, buffers, settings);
  }
  return toPython(valueOrThrow(std::move(result)));
}

/// What a launch needs to know of the lowered kernel: runtime parameters in order, and what is open or fixed.
nb::dict describe(const Kernel &kernel, nb::handle problemValue, nb::handle configValue) {
  const Problem problem = problemFrom(problemValue);
  const Path path = valueOrThrow(kernel.analyze(problem, configFrom(configValue)));
  nb::dict out;
  nb::list runtime, open;
  for (const ValueId id : path.program->body().arguments)
    if (const Parameter *parameter = path.program->parameterOf(id))
      runtime.append(parameter->name);
  for (const auto &parameter : path.program->parameters)
    if (parameter.kind == Parameter::Kind::Open)
      open.append(parameter.name);
  out["runtime"] = runtime;
  out["open"] = open;
  out["writes"] = path.facts->effects.writes;
  return out;
}

} // namespace

} // namespace tilewright::python

NB_MODULE(_core, module) {
  using namespace tilewright;
  using namespace tilewright::python;
  module.doc() = "The Tilewright engine. Use the package `tilewright`, not this module.";
  module.attr("__version__") = std::string(version());

  static PyObject *errorType = PyErr_NewException("tilewright._core.EngineError", PyExc_RuntimeError, nullptr);
  module.attr("EngineError") = nb::borrow(errorType);
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *) {
        try {
          std::rethrow_exception(pointer);
        } catch (const EngineError &error) {
          static const char *const kinds[] = {"user", "refusal", "unavailable", "internal"};
          const nb::tuple arguments =
              nb::make_tuple(error.text, error.error.code, kinds[static_cast<int>(error.error.kind)], error.error.message);
          PyErr_SetObject(errorType, arguments.ptr());
        }
      },
      nullptr);

  nb::class_<Launchable>(module, "Launchable")
      .def("launch", &Launchable::launch, nb::arg("words"), nb::arg("x"), nb::arg("y") = 1, nb::arg("z") = 1,
           "Runs the whole grid on the given addresses and scalars; releases the GIL.")
      .def_prop_ro("digest", &Launchable::digest);

  nb::class_<Kernel>(module, "Kernel")
      .def_static(
          "from_source",
          [](const std::string &path, const std::string &text, const std::string &name) {
            return valueOrThrow(Kernel::fromSource(std::make_shared<const SourceFile>(path, text), name));
          },
          nb::arg("path"), nb::arg("text"), nb::arg("name"))
      .def_prop_ro("name", &Kernel::name)
      .def_prop_ro("path", &Kernel::path)
      .def("describe", &describe, nb::arg("problem"), nb::arg("config") = nb::dict())
      .def("plan", [](const Kernel &kernel, nb::handle problem) { return toPython(valueOrThrow(kernel.plan(problemFrom(problem)))); })
      .def("tune", &tune, nb::arg("problem"), nb::arg("buffers"), nb::arg("settings") = nb::dict(), nb::arg("progress") = nb::none())
      .def("compile",
           [](const Kernel &kernel, nb::handle problemValue, nb::handle configValue) {
             const Problem problem = problemFrom(problemValue);
             const Config config = configFrom(configValue);
             Expected<std::shared_ptr<const CompiledKernel>> compiled;
             {
               nb::gil_scoped_release release;
               compiled = kernel.compile(problem, config);
             }
             return Launchable(valueOrThrow(std::move(compiled)));
           })
      .def(
          "explain",
          [](const Kernel &kernel, nb::handle problem, nb::object config) {
            auto opened = store::Store::openOrInMemory();
            return valueOrThrow(kernel.explain(problemFrom(problem), config.is_none() ? std::nullopt : std::optional(configFrom(config)), opened.store));
          },
          nb::arg("problem"), nb::arg("config") = nb::none());
}

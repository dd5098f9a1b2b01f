#include "Values.h"

#include <algorithm>
#include <bit>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <set>

namespace tilewright::python {

namespace {

/// What one runtime argument is to the compiled code.
enum class WordKind : uint8_t { Pointer, WrittenPointer, Integer, Float };

[[noreturn]] void throwUser(const char *code, std::string message) {
  throw EngineError(Error(ErrorKind::User, code, std::move(message)));
}

/// The address that an argument stands for: an integer as it is, None as null, what exports a buffer by its
/// buffer, a tensor by data_ptr(), and what NumPy cannot export (bfloat16 of ml_dtypes) by its array
/// interface.
uint64_t addressOf(PyObject *value, const std::string &name, bool written) {
  if (value == Py_None)
    return 0;
  if (PyLong_Check(value))
    return PyLong_AsUnsignedLongLongMask(value);
  Py_buffer buffer;
  if (PyObject_CheckBuffer(value)) {
    if (PyObject_GetBuffer(value, &buffer, written ? PyBUF_STRIDES | PyBUF_WRITABLE : PyBUF_STRIDES) == 0) {
      const auto address = reinterpret_cast<uint64_t>(buffer.buf);
      PyBuffer_Release(&buffer);
      return address;
    }
    PyErr_Clear();
  }
  const nb::handle handle(value);
  if (nb::hasattr(handle, "__array_interface__")) {
    const nb::object memory = handle.attr("__array_interface__")["data"];
    if (written && nb::cast<bool>(memory[1]))
      throwUser("arg.type", "the kernel writes to '" + name + "', which is read-only");
    return nb::cast<uint64_t>(memory[0]);
  }
  return nb::cast<uint64_t>(handle.attr("data_ptr")());
}

/// Compiled code for one configuration, and the kinds of its runtime arguments. Neither the arguments' shapes
/// nor the values of scalars are part of the code.
class Launchable {
public:
  Launchable(std::shared_ptr<const CompiledKernel> kernel, const Path &path) : kernel_(std::move(kernel)) {
    const auto &written = path.facts->effects.writes;
    for (const ValueId id : path.program->body().arguments) {
      const Parameter *parameter = path.program->parameterOf(id);
      const Type &type = path.program->value(id).type;
      names_.push_back(parameter ? parameter->name : std::string());
      if (type.isPointer())
        kinds_.push_back(std::find(written.begin(), written.end(), names_.back()) != written.end()
                             ? WordKind::WrittenPointer
                             : WordKind::Pointer);
      else
        kinds_.push_back(isFloat(type.dtype) ? WordKind::Float : WordKind::Integer);
    }
  }

  /// `values`: runtime arguments in the order of `names`; `grid`: an integer or one to three of them.
  void launch(const nb::list &values, nb::handle grid) const {
    constexpr size_t kInline = 64;
    uint64_t inlineWords[kInline];
    std::vector<uint64_t> heapWords;
    const size_t count = kinds_.size();
    if (nb::len(values) != count)
      throwUser("arg.missing", "the compiled kernel takes " + std::to_string(count) + " runtime arguments");
    uint64_t *words = inlineWords;
    if (count > kInline) {
      heapWords.resize(count);
      words = heapWords.data();
    }
    for (size_t i = 0; i < count; ++i)
      words[i] = wordOf(PyList_GET_ITEM(values.ptr(), static_cast<Py_ssize_t>(i)), i);
    const std::array<int64_t, 3> dims = gridFrom(grid);
    if (dims[0] == 0 || dims[1] == 0 || dims[2] == 0)
      return; // as Triton does: a grid without programs launches nothing
    Expected<void> done;
    {
      nb::gil_scoped_release release;
      done = kernel_->launch({words, count}, dims);
    }
    valueOrThrow(std::move(done));
  }
  std::string digest() const { return std::string(kernel_->contentDigest()); }
  const std::vector<std::string> &names() const { return names_; }

private:
  uint64_t wordOf(PyObject *value, size_t i) const {
    switch (kinds_[i]) {
    case WordKind::Pointer:
    case WordKind::WrittenPointer:
      return addressOf(value, names_[i], kinds_[i] == WordKind::WrittenPointer);
    case WordKind::Float: {
      const double number = PyFloat_AsDouble(value);
      if (number == -1.0 && PyErr_Occurred())
        throw nb::python_error();
      return std::bit_cast<uint64_t>(number);
    }
    case WordKind::Integer: {
      const uint64_t word = PyLong_AsUnsignedLongLongMask(value);
      if (word == UINT64_MAX && PyErr_Occurred())
        throw nb::python_error();
      return word;
    }
    }
    return 0;
  }

  std::shared_ptr<const CompiledKernel> kernel_;
  std::vector<std::string> names_;
  std::vector<WordKind> kinds_;
};

nb::dict tune(const Kernel &kernel, nb::handle problemValue, nb::handle buffersValue, nb::dict settingsValue,
              nb::object progress) {
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
        progress(now.phase == tuner::Phase::Compile ? "compile"
                 : now.phase == tuner::Phase::Race  ? "race"
                                                    : "done",
                 now.total, now.compiled, now.checked, now.failed, now.racing, now.bestNs,
                 now.elapsedSeconds);
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
  // Runtime integers that some rule of correctness mentions: a choice holds only as long as the rule does.
  std::set<std::string> guarded;
  for (const auto &constraint : path.facts->constraints)
    if (constraint.condition.valid())
      for (const uint32_t id : symbolsOf(constraint.condition))
        if (const Symbol &symbol = path.program->symbols->symbol(id);
            symbol.kind == SymbolKind::RuntimeScalar)
          guarded.insert(symbol.name);
  nb::list guards;
  for (const auto &name : guarded)
    guards.append(name);
  out["guards"] = guards;
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
  nb::set_leak_warnings(false); // kernels of a module live until the interpreter ends
  module.doc() = "The Tilewright engine. Use the package `tilewright`, not this module.";
  module.attr("__version__") = std::string(version());

  static PyObject *errorType =
      PyErr_NewException("tilewright._core.EngineError", PyExc_RuntimeError, nullptr);
  module.attr("EngineError") = nb::borrow(errorType);
  nb::register_exception_translator(
      [](const std::exception_ptr &pointer, void *) {
        try {
          std::rethrow_exception(pointer);
        } catch (const EngineError &error) {
          static const char *const kinds[] = {"user", "refusal", "unavailable", "internal"};
          const nb::tuple arguments = nb::make_tuple(
              error.text, error.error.code, kinds[static_cast<int>(error.error.kind)], error.error.message);
          PyErr_SetObject(errorType, arguments.ptr());
        }
      },
      nullptr);

  nb::class_<Launchable>(module, "Launchable")
      .def("launch", &Launchable::launch, nb::arg("values"), nb::arg("grid"),
           "Runs the whole grid on the arguments `values`, in the order of `names`; releases the GIL.")
      .def_prop_ro("names", &Launchable::names)
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
      .def("plan",
           [](const Kernel &kernel, nb::handle problemValue) {
             const Problem problem = problemFrom(problemValue);
             Expected<KernelPlan> plan;
             {
               nb::gil_scoped_release release;
               plan = kernel.plan(problem);
             }
             return toPython(valueOrThrow(std::move(plan)));
           })
      .def("tune", &tune, nb::arg("problem"), nb::arg("buffers"), nb::arg("settings") = nb::dict(),
           nb::arg("progress") = nb::none())
      .def("compile",
           [](const Kernel &kernel, nb::handle problemValue, nb::handle configValue) {
             const Problem problem = problemFrom(problemValue);
             const Config config = configFrom(configValue);
             Expected<std::shared_ptr<const CompiledKernel>> compiled;
             Expected<Path> path;
             {
               nb::gil_scoped_release release;
               compiled = kernel.compile(problem, config);
               if (compiled)
                 path = kernel.analyze(problem, config);
             }
             auto code = valueOrThrow(std::move(compiled));
             return Launchable(std::move(code), valueOrThrow(std::move(path)));
           })
      .def(
          "explain",
          [](const Kernel &kernel, nb::handle problemValue, nb::object configValue) {
            const Problem problem = problemFrom(problemValue);
            const auto config = configValue.is_none() ? std::nullopt : std::optional(configFrom(configValue));
            Expected<std::string> text;
            {
              nb::gil_scoped_release release;
              text = kernel.explain(problem, config, store::Store::openOrInMemory().store);
            }
            return valueOrThrow(std::move(text));
          },
          nb::arg("problem"), nb::arg("config") = nb::none());
}

#include "Call.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace tilewright::cli {

namespace {

double elementAt(const std::byte *memory, DType dtype, size_t index) {
  const std::byte *at = memory + index * byteSize(dtype);
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return static_cast<double>(value);
  };
  switch (dtype) {
  case DType::Float64:
    return read(double{});
  case DType::Float32:
    return read(float{});
  case DType::Float16:
    return read(_Float16{});
  case DType::BFloat16: {
    uint16_t bits;
    std::memcpy(&bits, at, 2);
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  case DType::Int64:
    return read(int64_t{});
  case DType::Int32:
    return read(int32_t{});
  case DType::Int16:
    return read(int16_t{});
  case DType::Int8:
    return read(int8_t{});
  case DType::UInt64:
    return read(uint64_t{});
  case DType::UInt32:
    return read(uint32_t{});
  case DType::UInt16:
    return read(uint16_t{});
  default:
    return read(uint8_t{});
  }
}

struct Difference {
  size_t differing = 0;
  double worst = 0; ///< relative to max(1, |expected|)
  std::string where;
};

/// Float results may differ by the order of additions; this is the room for it, relative to max(1,
/// |expected|).
double toleranceOf(DType dtype) {
  switch (dtype) {
  case DType::Float64:
    return 1e-10;
  case DType::Float32:
    return 1e-4;
  case DType::Float16:
    return 5e-3;
  case DType::BFloat16:
    return 3e-2;
  default:
    return isFloat(dtype) ? 0.15 : 0;
  }
}

void compare(Difference &out, const RuntimeArgument &got, const RuntimeArgument &expected, DType dtype) {
  const double tolerance = toleranceOf(dtype);
  for (size_t i = 0; i < got.memory.size() / byteSize(dtype); ++i) {
    const double a = elementAt(got.memory.data(), dtype, i);
    const double b = elementAt(expected.memory.data(), dtype, i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    const double error = std::abs(a - b) / std::max(1.0, std::abs(b));
    if (!(error <= tolerance) && out.differing++ == 0)
      out.where = fmt::format("{}[{}]: {} here, {} in the interpreter", got.name, i, a, b);
    out.worst = std::isnan(error) ? INFINITY : std::max(out.worst, error);
  }
}

} // namespace

int runCommand(const Call &call, const std::string &check) {
  auto kernel = call.load();
  if (!kernel)
    return report(kernel.error(), call.json);
  auto problem = call.problem();
  if (!problem)
    return report(problem.error(), call.json);
  if (problem->configs.size() > 1) {
    // `-c A=1 -c B=2` means one configuration here.
    Config joined;
    for (const auto &config : problem->configs)
      for (const auto &[name, value] : config.values())
        joined.set(name, value);
    problem->configs = {joined};
  }
  const Config config = problem->configs.empty() ? Config() : problem->configs.front();
  const bool interpreted = call.target == "interp";
  if (interpreted)
    problem->target = "cpu";
  else if (call.target != "cpu")
    return report(Error(ErrorKind::User, "target.unknown",
                        fmt::format("'run' knows the targets cpu and interp, not {}", call.target)),
                  call.json);

  auto path = kernel->analyze(*problem, config);
  if (!path)
    return report(path.error(), call.json);
  if (auto bound = path->program->bind(config); !bound)
    return report(bound.error(), call.json);
  auto buffers = SampleBuffers::make(*path->program, problem->arguments);
  if (!buffers)
    return report(buffers.error(), call.json);
  const auto begin = std::chrono::steady_clock::now();
  auto done = interpreted ? kernel->interpret(*problem, config, buffers->view())
                          : kernel->run(*problem, config, buffers->view());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!done)
    return report(done.error(), call.json);
  nlohmann::json out{{"kernel", kernel->name()},
                     {"config", toJson(config)},
                     {"target", call.target},
                     {"wallSeconds", seconds}};
  int status = kDone;
  if (check == "interp") {
    auto reference = SampleBuffers::make(*path->program, problem->arguments);
    if (auto interpretedToo = kernel->interpret(*problem, config, reference->view()); !interpretedToo)
      return report(interpretedToo.error(), call.json);
    Difference difference;
    for (size_t i = 0; i < buffers->view().size(); ++i)
      if (const auto *tensor = std::get_if<TensorSpec>(problem->arguments.find(buffers->view()[i].name)))
        compare(difference, buffers->view()[i], reference->view()[i], tensor->dtype);
    out["check"] = {
        {"against", "interp"}, {"differing", difference.differing}, {"worstRelative", difference.worst}};
    if (difference.differing) {
      out["check"]["first"] = difference.where;
      std::fputs(fmt::format("error: {} elements differ from the interpreter; first {} [wrong-result]\n",
                             difference.differing, difference.where)
                     .c_str(),
                 stderr);
      status = kWorkFailed;
    }
    if (!call.json)
      fmt::print("{} with {}: {} the interpreter (largest relative difference {:.2g})\n", kernel->name(),
                 config.toString(), difference.differing ? "DIFFERS from" : "agrees with", difference.worst);
  } else if (!call.json) {
    fmt::print("{} with {}: ran on {}, {:.3f} s with compilation\n", kernel->name(), config.toString(),
               call.target, seconds);
  }
  if (call.json)
    fmt::print("{}\n", out.dump());
  return status;
}

} // namespace tilewright::cli

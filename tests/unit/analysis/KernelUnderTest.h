#pragma once
#include "tilewright/analysis/KernelFacts.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/program/Lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {

/// A kernel written in the test, lowered and analysed. The source gets one line with the imports in front, so
/// the kernel's own first line is line 2. Roles, axes, constraints and effects come back as short text:
///
///     roles()        "BLOCK split n, SUB tile n"
///     axes()         "n contiguous, K reduction contiguous"
///     constraints()  "divide.tail: n % BLOCK == 0"
struct KernelUnderTest {
  Program program;
  std::optional<Grid> grid;
  KernelFacts facts;
  std::string failure;

  /// `arguments` in the command line's form ("x=f32[1024]", "n=1024"); `gridText` may be empty.
  explicit KernelUnderTest(std::string_view source, const std::vector<std::string> &arguments = {},
                           std::string_view gridText = {}) {
    prepare(source, arguments, gridText);
  }

  std::string roles() const {
    std::string out;
    for (const ParameterFacts &parameter : facts.parameters) {
      out += (out.empty() ? "" : ", ") + parameter.name;
      for (size_t i = 0; i < parameter.roles.size(); ++i)
        out += (i ? "+" : " ") + std::string(name(parameter.roles[i]));
      for (uint32_t axis : parameter.axes)
        out += " " + facts.axes[axis].name;
    }
    return out;
  }
  std::string axes() const {
    std::string out;
    for (const Axis &axis : facts.axes) {
      out += (out.empty() ? "" : ", ") + axis.name;
      if (axis.extent.valid() && toString(axis.extent) != axis.name)
        out += "=" + toString(axis.extent);
      out += axis.reduction ? " reduction" : "";
      out += axis.contiguous ? " contiguous" : "";
    }
    return out;
  }
  std::string constraints() const {
    std::string out;
    for (const Constraint &constraint : facts.constraints)
      if (constraint.code.find("shape.") != 0)
        out += (out.empty() ? "" : ", ") + constraint.code + ": " + constraint.text;
    return out;
  }
  std::string couplings() const {
    std::string out;
    for (const HostCoupling &coupling : facts.hostCoupled)
      out += (out.empty() ? "" : ", ") + coupling.parameter + "->" + coupling.argument;
    return out;
  }
  std::string inferredGrid() const {
    std::string out;
    for (SymInt dim : facts.inferredGrid)
      out += (out.empty() ? "" : ", ") + (dim.valid() ? toString(dim) : "?");
    return out;
  }
  bool ok() const { return facts.status == KernelFacts::Status::Ok; }
  std::string text() const { return failure.empty() ? print(facts) : failure; }

private:
  void prepare(std::string_view source, const std::vector<std::string> &arguments,
               std::string_view gridText) {
    const auto file = std::make_shared<const SourceFile>(
        "kernel.py", "import triton; import triton.language as tl; from triton.language import libdevice\n" +
                         std::string(source));
    auto module = lang::parse(file);
    if (!module)
      return fail(module.error());
    LaunchArguments launch;
    for (const std::string &text : arguments) {
      auto argument = parseArgument(text);
      if (!argument)
        return fail(argument.error());
      launch.set(argument->name, argument->value);
    }
    const auto kernels = kernelsOf(*module);
    if (kernels.empty()) {
      failure = "no kernel";
      ADD_FAILURE() << failure;
      return;
    }
    auto lowered = lower(*module, kernels.back().name, launch);
    if (!lowered)
      return fail(lowered.error());
    program = *std::move(lowered);
    if (!gridText.empty()) {
      auto parsed = parseGrid(gridText, program, launch);
      if (!parsed)
        return fail(parsed.error());
      grid = *std::move(parsed);
    }
    facts = analyze(program, grid ? &*grid : nullptr);
  }

  void fail(const Error &error) {
    failure = render(error);
    ADD_FAILURE() << failure;
  }
};

} // namespace tilewright

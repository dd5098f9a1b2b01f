#include "tilewright/tilewright.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tilewright;
using testing::HasSubstr;

namespace {

constexpr const char *kSource = R"(
import triton
import triton.language as tl

@triton.jit
def scale(x, y, n, factor, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)

@triton.jit
def branchy(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if B >= 64:
        tl.store(x + i, 1.0, mask=i < n)
    else:
        tl.store(x + i, 2.0, mask=i < n)
)";

Kernel kernelNamed(std::string_view name, const char *source = kSource) {
  auto kernel = Kernel::fromSource(std::make_shared<const SourceFile>("kernels.py", source), name);
  EXPECT_TRUE(kernel) << render(kernel.error());
  return *std::move(kernel);
}

Problem problemWith(std::initializer_list<const char *> arguments, std::string grid = "(cdiv(n, B),)") {
  Problem problem;
  for (const char *text : arguments)
    problem.arguments.values.push_back(*parseArgument(text));
  problem.grid = std::move(grid);
  return problem;
}

const Problem kScale = problemWith({"x=f32[1000]", "y=f32[1000]", "n=1000", "factor=0.5"});

} // namespace

TEST(Kernel, NamesTheKernelsOfTheFileWhenAskedForAnother) {
  auto kernel = Kernel::fromSource(std::make_shared<const SourceFile>("kernels.py", kSource), "nothing");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, "lower.no-kernel");
  EXPECT_THAT(kernel.error().message, HasSubstr("scale"));
  EXPECT_EQ(Kernel::load("/no/such/file.py", "k").error().code, "io.read");
}

TEST(Kernel, PlansFeasibleCandidatesInOrder) {
  auto plan = kernelNamed("scale").plan(kScale);
  ASSERT_TRUE(plan) << render(plan.error());
  ASSERT_FALSE(plan->ranked.empty());
  double last = 0;
  for (const auto &entrant : plan->ranked) {
    EXPECT_GE(entrant.planned.prediction.timeNs, last);
    last = entrant.planned.prediction.timeNs;
    const auto b = *entrant.planned.candidate.config.integer("B");
    EXPECT_EQ(entrant.planned.candidate.grid[0], (1000 + b - 1) / b);
  }
}

TEST(Kernel, PlansEveryPathWithItsOwnProgram) {
  auto plan = kernelNamed("branchy").plan(problemWith({"x=f32[1000]", "n=1000"}));
  ASSERT_TRUE(plan) << render(plan.error());
  std::map<const Program *, std::vector<int64_t>> byProgram;
  for (const auto &entrant : plan->ranked)
    byProgram[entrant.program.get()].push_back(*entrant.planned.candidate.config.integer("B"));
  ASSERT_EQ(byProgram.size(), 2u);
  for (const auto &[program, values] : byProgram)
    for (const int64_t value : values)
      EXPECT_EQ(value >= 64, values.front() >= 64);
}

TEST(Kernel, InterpretsAConfiguration) {
  const Kernel kernel = kernelNamed("scale");
  auto path = kernel.analyze(kScale);
  ASSERT_TRUE(path);
  auto buffers = SampleBuffers::make(*path->program, kScale.arguments);
  ASSERT_TRUE(buffers);
  const Config config(Config::Map{{"B", int64_t{64}}});
  auto done = kernel.interpret(kScale, config, buffers->view());
  ASSERT_TRUE(done) << render(done.error());
  const auto *x = reinterpret_cast<const float *>(buffers->view()[0].memory.data());
  const auto *y = reinterpret_cast<const float *>(buffers->view()[1].memory.data());
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(y[i], x[i] * 0.5f);
}

TEST(Kernel, SaysWhichArgumentIsMissingOrUnknown) {
  const Kernel kernel = kernelNamed("scale");
  auto missing = kernel.plan(problemWith({"x=f32[1000]", "y=f32[1000]", "n=1000"}));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "arg.missing");
  EXPECT_THAT(render(missing.error()), HasSubstr("factor"));
  auto unknown = kernel.plan(problemWith({"x=f32[1000]", "y=f32[1000]", "n=1000", "factor=0.5", "m=3"}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "arg.unknown");
}

TEST(Kernel, ReportsAHelpfulReasonForAFixedGrid) {
  Problem problem = kScale;
  problem.fixedGrid = {{10, 1, 1}};
  auto plan = kernelNamed("scale").plan(problem);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->emptyReason);
  EXPECT_EQ(plan->emptyReason->code, "grid.fixed");
}

TEST(Kernel, KeysIgnoreLayoutAndCommentsButNotMeaning) {
  const auto key = [](const char *source) {
    return kernelNamed("k", source).tuningKey(problemWith({"x=f32[64]", "n=64"})).value().kernelIdentity;
  };
  constexpr const char *kPlain =
      "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n    i = "
      "tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(x + i, 1.0, mask=i < n)\n";
  constexpr const char *kMoved = "# moved\nimport triton\n\n\nimport triton.language as tl\n@triton.jit\ndef "
                                 "k(x, n, B: tl.constexpr):\n    # comment\n    i = (tl.program_id(0) * B\n  "
                                 "       + tl.arange(0, B))\n\n    tl.store(x + i, 1.0, mask=i < n)\n";
  constexpr const char *kOther =
      "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n    i = "
      "tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(x + i, 2.0, mask=i < n)\n";
  EXPECT_EQ(key(kPlain), key(kMoved));
  EXPECT_NE(key(kPlain), key(kOther));
}

TEST(Kernel, ExplainsACandidateThatWasNeverGenerated) {
  const Kernel kernel = kernelNamed("scale");
  auto story = kernel.explain(kScale, Config(Config::Map{{"B", int64_t{48}}}));
  ASSERT_TRUE(story) << render(story.error());
  EXPECT_THAT(*story, HasSubstr("shape.pow2"));
}

TEST(Kernel, ABrokenFunctionDoesNotHideTheOthers) {
  const std::string source = std::string(kSource) + "\n@triton.jit\ndef broken(x:\n    pass\n";
  EXPECT_EQ(kernelNamed("scale", source.c_str()).name(), "scale");
  auto broken = Kernel::fromSource(std::make_shared<const SourceFile>("kernels.py", source), "broken");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, "lang.syntax");
}

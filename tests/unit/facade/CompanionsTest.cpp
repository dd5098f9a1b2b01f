// Arguments that the caller computes from a tuned parameter, declared as companions.
#include "tilewright/tilewright.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tilewright;

namespace {

constexpr const char *kSource = R"(
import triton
import triton.language as tl

@triton.jit
def fill(x, n, blocks, B: tl.constexpr):
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        i = block * B + tl.arange(0, B)
        tl.store(x + i, 7.0, mask=i < n)
)";

Kernel fill() {
  auto kernel = Kernel::fromSource(std::make_shared<const SourceFile>("fill.py", kSource), "fill");
  EXPECT_TRUE(kernel) << render(kernel.error());
  return *std::move(kernel);
}

/// A launch of 1000 elements whose own count of blocks, 1, fits no configuration but the largest.
Problem launch(const char *companion) {
  Problem problem;
  for (const char *text : {"x=f32[1000]", "n=1000", "blocks=1"})
    problem.arguments.values.push_back(*parseArgument(text));
  problem.grid = "(4,)";
  if (companion)
    problem.hints.companions["blocks"] = companion;
  return problem;
}

int64_t written(const Problem &problem, int64_t block) {
  const Kernel kernel = fill();
  Config config;
  config.set("B", block);
  auto path = kernel.analyze(problem, config);
  EXPECT_TRUE(path) << render(path.error());
  auto buffers = SampleBuffers::make(*path->program, problem.arguments);
  EXPECT_TRUE(buffers) << render(buffers.error());
  auto done = kernel.interpret(problem, config, buffers->view());
  EXPECT_TRUE(done) << render(done.error());
  int64_t count = 0;
  for (const RuntimeArgument &argument : buffers->view())
    if (argument.name == "x")
      for (size_t i = 0; i < 1000; ++i) {
        float value = 0;
        std::memcpy(&value, argument.memory.data() + 4 * i, sizeof value);
        count += value == 7.0f;
      }
  return count;
}

} // namespace

TEST(Companions, AreComputedForTheConfigurationThatRuns) {
  EXPECT_EQ(written(launch("cdiv(n, B)"), 64), 1000);
  EXPECT_EQ(written(launch("cdiv(n, B)"), 256), 1000);
  EXPECT_EQ(written(launch("1"), 64), 64);
}

TEST(Companions, LetTheBlockBeTuned) {
  Problem problem = launch(nullptr);
  problem.arguments.values.back() = *parseArgument("blocks=16");
  const auto refused = fill().plan(problem);
  ASSERT_TRUE(refused) << render(refused.error());
  ASSERT_TRUE(refused->emptyReason);
  EXPECT_EQ(refused->emptyReason->code, "host.coupled");
  EXPECT_NE(render(*refused->emptyReason).find("companions.blocks=cdiv(n, B)"), std::string::npos)
      << render(*refused->emptyReason);

  const auto plan = fill().plan(launch("cdiv(n, B)"));
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_GT(plan->ranked.size(), 2u);
}

TEST(Companions, ThatMeanNothingAreUserErrors) {
  for (const auto &[name, text, code] :
       {std::tuple("nothing", "cdiv(n, B)", "hint.unknown"), std::tuple("x", "cdiv(n, B)", "hint.value"),
        std::tuple("blocks", "blocks + B", "hint.value"), std::tuple("blocks", "cdiv(n,", "grid.syntax")}) {
    Problem problem = launch(nullptr);
    problem.hints.companions[name] = text;
    const auto plan = fill().plan(problem);
    ASSERT_FALSE(plan) << name;
    EXPECT_EQ(plan.error().code, code) << render(plan.error());
  }
}

TEST(Companions, CannotBeMeasuredYet) {
  const Problem problem = launch("cdiv(n, B)");
  auto path = fill().analyze(problem);
  ASSERT_TRUE(path) << render(path.error());
  auto buffers = SampleBuffers::make(*path->program, problem.arguments);
  ASSERT_TRUE(buffers) << render(buffers.error());
  const auto tuned = fill().tune(problem, buffers->view());
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().code, "host.coupled");
}

#include "tilewright/lang/Parser.h"
#include "tilewright/model/Plan.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/support/Files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tilewright {
namespace {

struct Case {
  const char *file, *kernel;
  std::vector<std::string> arguments;
  const char *grid;
  size_t parameters;
};

const Case kCases[] = {
    {"vector_add.py",
     "vector_add",
     {"x=f32[98432]", "y=f32[98432]", "out=f32[98432]", "n_elements=98432"},
     "(cdiv(n_elements, BLOCK),)",
     1},
    {"softmax.py",
     "softmax_one_shot",
     {"x=f32[4096,781]", "y=f32[4096,781]", "x_row_stride=781", "y_row_stride=781", "n_cols=781"},
     "(4096,)",
     1},
    {"softmax.py",
     "softmax_online",
     {"x=f32[4096,3000]", "y=f32[4096,3000]", "x_row_stride=3000", "y_row_stride=3000", "n_rows=4096",
      "n_cols=3000"},
     "(cdiv(n_rows, ROWS),)",
     2},
    {"layer_norm.py",
     "layer_norm",
     {"x=f32[4096,1000]", "y=f32[4096,1000]", "weight=f32[1000]", "bias=f32[1000]", "row_stride=1000",
      "n_rows=4096", "n_cols=1000", "eps=1e-5"},
     "(cdiv(n_rows, ROWS),)",
     2},
    {"matmul.py",
     "matmul",
     {"a=f16[512,512]", "b=f16[512,512]", "c=f16[512,512]", "M=512", "N=512", "K=512", "stride_am=512",
      "stride_ak=1", "stride_bk=512", "stride_bn=1", "stride_cm=512", "stride_cn=1"},
     "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)",
     4},
};

/// A kernel of examples/, lowered for one launch.
struct Example {
  Program program;
  KernelFacts facts;
  LaunchArguments arguments;
  std::optional<Grid> grid;

  explicit Example(const Case &each) { load(each); }

  void load(const Case &each) {
    const auto source = readSourceFile(std::string(TILEWRIGHT_SOURCE_DIR) + "/examples/" + each.file);
    if (!source) {
      problem(source.error());
      return;
    }
    auto module = lang::parse(*source);
    if (!module) {
      problem(module.error());
      return;
    }
    for (const std::string &text : each.arguments) {
      const auto argument = parseArgument(text);
      arguments.set(argument->name, argument->value);
    }
    auto lowered = lower(*module, each.kernel, arguments);
    if (!lowered) {
      problem(lowered.error());
      return;
    }
    program = *std::move(lowered);
    auto parsed = parseGrid(each.grid, program, arguments);
    if (!parsed) {
      problem(parsed.error());
      return;
    }
    grid = *std::move(parsed);
    facts = analyze(program, &*grid);
  }
  void problem(const Error &error) { ADD_FAILURE() << render(error); }
};

TEST(ExampleKernels, EveryTargetGetsAListAndEveryCandidateStands) {
  for (const Case &each : kCases)
    for (const char *target : {"cpu", "ascend910b1", "ascend950pr_9589", "cuda-h200"}) {
      SCOPED_TRACE(fmt::format("{} on {}", each.kernel, target));
      const Example example(each);
      ASSERT_TRUE(example.grid);
      const Target device = *findTarget(target);
      const SpaceRequest request{example.program, example.facts, device, example.arguments, *example.grid};
      const CandidateSpace space = generate(request);
      ASSERT_FALSE(space.candidates.empty())
          << (space.emptyReason ? render(*space.emptyReason) : "no reason");
      EXPECT_FALSE(space.emptyReason);
      if (std::string(target) == "cpu") {
        EXPECT_LE(space.candidates.size(), 150u);
      }
      if (std::string(target) == "cpu" && each.parameters == 2) {
        EXPECT_GE(space.candidates.size(), 20u);
      }
      for (const Candidate &candidate : space.candidates) {
        ASSERT_TRUE(judge(request, candidate.config)) << candidate.config.toString();
        const auto values = bindLaunch(example.program, example.arguments, candidate.config);
        ASSERT_TRUE(values);
        for (const Constraint &constraint : example.facts.constraints)
          if (constraint.code != "shape.pow2" || device.powerOfTwoTiles) {
            EXPECT_EQ(evaluate(constraint.condition, *values), 1)
                << candidate.config.toString() << " breaks " << constraint.text;
          }
      }
      const Plan plan = rank(request, space);
      EXPECT_EQ(plan.ranked.size(), space.candidates.size());
    }
}

TEST(ExampleKernels, OneShotTileCoversTheRow) {
  const Example example(kCases[1]);
  ASSERT_TRUE(example.grid);
  const Target cpu = *findTarget("cpu");
  const SpaceRequest request{example.program, example.facts, cpu, example.arguments, *example.grid};
  const CandidateSpace space = generate(request);
  ASSERT_EQ(space.candidates.size(), 1u);
  EXPECT_EQ(space.candidates[0].config.integer("BLOCK"), 1024);
  const auto verdict = judge(request, *Config::parse("BLOCK=512"));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, "oneshot.short");
  EXPECT_EQ(verdict.error().text, "BLOCK must cover all of n_cols: 512 < 781");
}

TEST(ExampleKernels, CubeBuffersAreExact) {
  const Example example(kCases[4]);
  ASSERT_TRUE(example.grid);
  const Target ascend = *findTarget("ascend910b1");
  const SpaceRequest request{example.program, example.facts, ascend, example.arguments, *example.grid};
  const auto judged = judge(request, *Config::parse("BLOCK_M=128,BLOCK_N=128,BLOCK_K=64,GROUP_SIZE_M=4"));
  ASSERT_TRUE(judged) << judged.error().text;
  EXPECT_EQ(judged->bytes.at("l0c"), 128 * 128 * 4);
  EXPECT_EQ(judged->bytes.at("l1"), (128 + 128) * 64 * 2 * 2);
  const auto large = judge(request, *Config::parse("BLOCK_M=256,BLOCK_N=256,BLOCK_K=64,GROUP_SIZE_M=4"));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, "capacity.l0c");
}

} // namespace
} // namespace tilewright

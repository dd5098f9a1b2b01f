#include "../space/SpaceFixture.h"
#include "tilewright/lang/Parser.h"
#include "tilewright/model/Plan.h"
#include "tilewright/program/Lowering.h"
#include "tilewright/support/Files.h"

#include <fmt/format.h>

/// What must hold of any cost model of a device, whatever its constants: better hardware is never slower, and
/// known effects point the known way.
namespace tilewright {
namespace {

/// A kernel of benchmarks/space/kernels for one launch.
struct Launch {
  Program program;
  KernelFacts facts;
  LaunchArguments arguments;
  std::optional<Grid> grid;
  Target target;

  Launch(const std::string &file, const std::string &kernel, const std::vector<std::string> &values,
         const std::string &gridText, const std::string &targetName) {
    const auto source =
        readSourceFile(std::string(TILEWRIGHT_SOURCE_DIR) + "/benchmarks/space/kernels/" + file);
    EXPECT_TRUE(source) << file;
    auto module = lang::parse(*source);
    EXPECT_TRUE(module) << file;
    for (const std::string &text : values) {
      const auto argument = parseArgument(text);
      EXPECT_TRUE(argument) << text;
      arguments.set(argument->name, argument->value);
    }
    auto lowered = lower(*module, kernel, arguments);
    EXPECT_TRUE(lowered) << render(lowered.error());
    program = *std::move(lowered);
    auto parsed = parseGrid(gridText, program, arguments);
    EXPECT_TRUE(parsed) << gridText;
    grid = *std::move(parsed);
    facts = analyze(program, &*grid);
    target = *findTarget(targetName);
  }
  SpaceRequest request() const { return {program, facts, target, arguments, *grid}; }
  double ns(const std::string &config) const {
    const auto candidate = judge(request(), *Config::parse(config));
    EXPECT_TRUE(candidate) << config << (candidate ? "" : ": " + candidate.error().text);
    return candidate ? predict(request(), *candidate).timeNs : 0;
  }
};

Launch matmul(int64_t m, int64_t n, int64_t k, const std::string &target = "cuda-h200") {
  return {"matmul.py",
          "matmul",
          {fmt::format("a=f16[{},{}]", m, k), fmt::format("b=f16[{},{}]", k, n),
           fmt::format("c=f16[{},{}]", m, n), fmt::format("M={}", m), fmt::format("N={}", n),
           fmt::format("K={}", k), fmt::format("stride_a={}", k), fmt::format("stride_b={}", n),
           fmt::format("stride_c={}", n)},
          "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)",
          target};
}
Launch softmax(int64_t m, int64_t n, const std::string &target = "cuda-h200") {
  return {"softmax.py",
          "softmax",
          {fmt::format("src=f16[{},{}]", m, n), fmt::format("dst=f16[{},{}]", m, n), fmt::format("M={}", m),
           fmt::format("N={}", n), fmt::format("stride={}", n)},
          "(cdiv(M, BLOCK_M),)",
          target};
}

const std::vector<std::string> kSoftmaxConfigs = {
    "BLOCK_M=1,BLOCK_N=4096,STAGES=1,num_warps=4", "BLOCK_M=4,BLOCK_N=256,STAGES=1,num_warps=1",
    "BLOCK_M=16,BLOCK_N=128,STAGES=4,num_warps=8", "BLOCK_M=64,BLOCK_N=16,STAGES=2,num_warps=16"};

TEST(Laws, MoreBandwidthIsNeverSlower) {
  for (const char *target : {"cuda-h200", "ascend910b1"}) {
    Launch slow = softmax(4096, 4096, target);
    Launch fast = softmax(4096, 4096, target);
    for (MemorySpace &space : fast.target.memory) {
      space.readBytesPerNs *= 2;
      for (auto &[cores, rate] : space.readByActiveCores)
        rate *= 2;
    }
    for (const std::string &config :
         {std::string("BLOCK_M=1,BLOCK_N=4096,STAGES=1"), std::string("BLOCK_M=8,BLOCK_N=256,STAGES=1")})
      EXPECT_LE(fast.ns(config), slow.ns(config)) << target << " " << config;
  }
}

TEST(Laws, ShorterLatenciesAndMoreUnitsAreNeverSlower) {
  const Launch base = softmax(4096, 4096);
  for (const char *rate : {"memory_latency_ns", "barrier_ns", "shuffle_ns", "instruction_ns", "program_ns",
                           "block_dispatch_ns", "warp_dispatch_ns", "launch_ns"}) {
    Launch better = softmax(4096, 4096);
    ASSERT_TRUE(better.target.rates.contains(rate)) << rate;
    better.target.rates[rate].value /= 2;
    for (const std::string &config : kSoftmaxConfigs)
      EXPECT_LE(better.ns(config), base.ns(config)) << rate << " " << config;
  }
}

TEST(Laws, MoreWorkTakesLonger) {
  const std::string config = "BLOCK_M=128,BLOCK_N=128,BLOCK_K=64,GROUP_M=8,num_warps=8,num_stages=3";
  EXPECT_LT(matmul(2048, 2048, 1024).ns(config), matmul(2048, 2048, 4096).ns(config));
  EXPECT_LT(matmul(2048, 2048, 1024).ns(config), matmul(4096, 4096, 1024).ns(config));
}

TEST(Laws, StridesThatSixteenDividesAreFaster) {
  // Nothing can be proved of 1001 or 4004: single elements instead of vectors, no asynchronous copies.
  const std::string config = "BLOCK_M=4,BLOCK_N=1024,STAGES=1,num_warps=4";
  EXPECT_LT(softmax(4096, 4096).ns(config), softmax(4096, 4095).ns(config));
}

TEST(Laws, TilesThatOverflowTheRegistersLose) {
  const Launch launch = softmax(4096, 16384);
  EXPECT_LT(launch.ns("BLOCK_M=1,BLOCK_N=4096,STAGES=1,num_warps=8"),
            launch.ns("BLOCK_M=4,BLOCK_N=16384,STAGES=1,num_warps=4"));
}

TEST(Laws, TinyProgramsPayForTheirDispatch) {
  const Launch launch = softmax(65536, 256);
  EXPECT_LT(launch.ns("BLOCK_M=4,BLOCK_N=256,STAGES=1,num_warps=1"),
            launch.ns("BLOCK_M=1,BLOCK_N=256,STAGES=1,num_warps=16"));
}

TEST(Laws, MatrixUnitsWantLargeTiles) {
  const Launch launch = matmul(4096, 4096, 4096);
  EXPECT_LT(launch.ns("BLOCK_M=128,BLOCK_N=256,BLOCK_K=64,GROUP_M=8,num_warps=8,num_stages=3"),
            0.5 * launch.ns("BLOCK_M=32,BLOCK_N=32,BLOCK_K=32,GROUP_M=8,num_warps=4,num_stages=3"));
}

TEST(Laws, SharedMemoryOfPipelinedOperandsIsExact) {
  const Launch launch = matmul(1024, 1024, 1024);
  const auto bytes = [&](const std::string &config) {
    const auto candidate = judge(launch.request(), *Config::parse(config));
    return candidate ? candidate->bytes.at("shared") : -1;
  };
  // Warp group instructions: a buffer a stage. Others: one less.
  EXPECT_EQ(bytes("BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,GROUP_M=8,num_warps=4,num_stages=3"), 49152);
  EXPECT_EQ(bytes("BLOCK_M=16,BLOCK_N=128,BLOCK_K=64,GROUP_M=1,num_warps=4,num_stages=3"), 36864);
  EXPECT_EQ(bytes("BLOCK_M=256,BLOCK_N=256,BLOCK_K=128,GROUP_M=8,num_warps=8,num_stages=4"), -1);
  // Odd sizes: four bytes cannot be copied at a time, so nothing is pipelined and the depth is nothing.
  const Launch odd = matmul(1000, 1001, 999);
  const auto deep =
      judge(odd.request(),
            *Config::parse("BLOCK_M=256,BLOCK_N=256,BLOCK_K=128,GROUP_M=8,num_warps=8,num_stages=4"));
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->bytes.at("shared"), (256 + 256) * 128 * 2);
}

TEST(Laws, DepthsThatNothingUsesComeLast) {
  Launch launch = matmul(1000, 1001, 999);
  SpaceRequest request = launch.request();
  request.onlyUserConfigs = true;
  for (const int stages : {1, 2, 3, 4})
    for (const int columns : {64, 128})
      request.userConfigs.push_back(*Config::parse(fmt::format(
          "BLOCK_M=64,BLOCK_N={},BLOCK_K=32,GROUP_M=8,num_warps=4,num_stages={}", columns, stages)));
  const Plan plan = rank(request, generate(request));
  ASSERT_EQ(plan.ranked.size(), 8u);
  for (size_t i = 0; i < plan.ranked.size(); ++i)
    EXPECT_EQ(plan.ranked[i].repeats, i >= 2) << i;
  EXPECT_NE(plan.ranked[0].candidate.config.integer("BLOCK_N"),
            plan.ranked[1].candidate.config.integer("BLOCK_N"));
}

TEST(Laws, CausalLoopsCountWithTheirAverage) {
  // The first program's loop over earlier keys is empty; the kernel's time must not be that of the first one.
  const auto attention = [](int64_t s) {
    const std::string shape = fmt::format("f16[16,{},64]", s);
    return Launch{"attention.py",
                  "attention",
                  {"q=" + shape, "k=" + shape, "v=" + shape, "out=" + shape, fmt::format("S={}", s),
                   "scale=0.125", "D=64"},
                  "(cdiv(S, BLOCK_M), 16)",
                  "cuda-h200"};
  };
  const std::string config = "BLOCK_M=64,BLOCK_N=64,num_warps=4,num_stages=3";
  EXPECT_GT(attention(8192).ns(config), 2.5 * attention(4096).ns(config));
}

TEST(Laws, AscendRowsOffABlockAreDear) {
  const auto columns = [](const std::string &config) {
    return Launch{"ascend_reductions.py",
                  "column_mean",
                  {"src=f32[1024,4096]", "dst=f32[4096]", "M=1024", "N=4096"},
                  "(cdiv(N, BN),)",
                  "ascend910b4"}
        .ns(config);
  };
  EXPECT_GT(columns("BM=128,BN=103"), 1.5 * columns("BM=128,BN=128"));
}

TEST(Laws, ProgramCountsReachTripCounts) {
  // A share per program: forty programs do it about forty times as fast as one.
  const auto add = [](int64_t programs) {
    return Launch{"ascend_streams.py",
                  "add_shares",
                  {"left=f16[67108864]", "right=f16[67108864]", "total=f16[67108864]", "n=67108864"},
                  fmt::format("({},)", programs),
                  "ascend910b1"}
        .ns("TILE=16384");
  };
  EXPECT_GT(add(1), 10 * add(48));
  EXPECT_LT(add(48), add(24));
}

} // namespace
} // namespace tilewright

/// Generated CPU code against peers, in one process and interleaved: medians and ratios.
///
///     TILEWRIGHT_THREADS=1 OPENBLAS_NUM_THREADS=1 build/release/bin/cpu_ratios [--quick]
///
/// Prints one line a figure: ours, peer, ratio (ours / peer; for GFLOPS peer / ours), target.
#include "Peers.h"

#include "tilewright/backend/LoadBackend.h"
#include "tilewright/tilewright.h"

#include <algorithm>
#include <cblas.h>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <string_view>

using namespace tilewright;

namespace {

/// The peers for the instruction set that we generate code for.
bool avx2Only() {
  const char *isa = std::getenv("TILEWRIGHT_CPU_ISA");
  return isa && std::string_view(isa) == "avx2";
}

using Clock = std::chrono::steady_clock;

double nowNs() { return std::chrono::duration<double, std::nano>(Clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Medians of two activities timed in turns, each repeated to at least `minNs` a sample.
std::pair<double, double> interleaved(const std::function<void()> &ours, const std::function<void()> &peer,
                                      int rounds = 15, double minNs = 2e6) {
  const auto repeats = [&](const std::function<void()> &work) {
    work();
    const double begin = nowNs();
    work();
    return std::max(1, static_cast<int>(minNs / std::max(1.0, nowNs() - begin)));
  };
  const int ourRepeats = repeats(ours), peerRepeats = repeats(peer);
  std::vector<double> ourTimes, peerTimes;
  for (int round = 0; round < rounds; ++round) {
    double begin = nowNs();
    for (int i = 0; i < ourRepeats; ++i)
      ours();
    ourTimes.push_back((nowNs() - begin) / ourRepeats);
    begin = nowNs();
    for (int i = 0; i < peerRepeats; ++i)
      peer();
    peerTimes.push_back((nowNs() - begin) / peerRepeats);
  }
  return {median(ourTimes), median(peerTimes)};
}

template <class T> T orDie(Expected<T> result) {
  if (!result) {
    fmt::print(stderr, "{}", render(result.error()));
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
}

struct Case {
  std::string file, kernel, grid;
  std::vector<std::string> arguments;
};

/// A tuned (or given) configuration, compiled, with its own buffers.
struct Ready {
  Problem problem;
  Config config;
  std::shared_ptr<const CompiledKernel> compiled;
  SampleBuffers buffers;
  std::vector<uint64_t> words;
  std::array<int64_t, 3> grid{1, 1, 1};
  void launch() const { orDie(compiled->launch(words, grid)); }
  float *memory(size_t index) const { return reinterpret_cast<float *>(buffers.view()[index].memory.data()); }
};

Problem problemOf(const Case &each) {
  Problem problem;
  for (const auto &argument : each.arguments)
    problem.arguments.values.push_back(orDie(parseArgument(argument)));
  problem.grid = each.grid;
  return problem;
}

Ready prepare(const Case &each, std::optional<Config> config) {
  const Kernel kernel = orDie(Kernel::load(TILEWRIGHT_SOURCE_DIR "/examples/" + each.file, each.kernel));
  Ready out{problemOf(each), {}, nullptr, {}, {}, {}};
  const Path base = orDie(kernel.analyze(out.problem));
  out.buffers = orDie(SampleBuffers::make(*base.program, out.problem.arguments));
  if (!config) {
    TuneSettings settings;
    settings.store = store::Store::inMemory();
    config = orDie(kernel.tune(out.problem, out.buffers.view(), settings)).best;
  }
  out.config = *config;
  out.compiled = orDie(kernel.compile(out.problem, *config));
  const Path path = orDie(kernel.analyze(out.problem, *config));
  const SymValues values = orDie(bindLaunch(*path.program, out.problem.arguments, *config));
  out.grid = orDie(path.grid->evaluate(*config, values));
  for (const ValueId id : path.program->body().arguments) {
    const Parameter *parameter = path.program->parameterOf(id);
    for (const auto &argument : out.buffers.view())
      if (argument.name == parameter->name)
        out.words.push_back(parameter->type.isPointer() ? reinterpret_cast<uint64_t>(argument.memory.data())
                            : isFloat(parameter->type.dtype) ? std::bit_cast<uint64_t>(argument.number)
                                                             : static_cast<uint64_t>(argument.integer));
  }
  return out;
}

void line(std::string_view what, std::string_view ours, std::string_view peer, double ratio,
          std::string_view target, bool met) {
  fmt::print("{:<44} {:>14} {:>14} {:>8.2f}  {:<12} {}\n", what, ours, peer, ratio, target,
             met ? "met" : "MISSED");
}

void vectorAdd(int64_t count) {
  const auto n = std::to_string(count);
  Ready ready = prepare({"vector_add.py",
                         "vector_add",
                         "(cdiv(n_elements, BLOCK),)",
                         {"x=f32[" + n + "]", "y=f32[" + n + "]", "out=f32[" + n + "]", "n_elements=" + n}},
                        std::nullopt);
  const auto [ours, peer] = interleaved([&] { ready.launch(); },
                                        [&] {
                                          (avx2Only() ? peers_avx2::vectorAdd : peers::vectorAdd)(
                                              ready.memory(0), ready.memory(1), ready.memory(2), count);
                                        });
  line(fmt::format("vector add {} ({})", count, ready.config.toString()),
       fmt::format("{:.2f} us", ours / 1e3), fmt::format("{:.2f} us", peer / 1e3), ours / peer, "<= 1.30",
       ours / peer <= 1.3);
}

void softmax(const char *kernel, int64_t rows, int64_t cols) {
  const auto shape = fmt::format("f32[{},{}]", rows, cols);
  const bool online = std::string_view(kernel) == "softmax_online";
  Case each{"softmax.py",
            kernel,
            online ? "(cdiv(n_rows, ROWS),)" : fmt::format("({},)", rows),
            {"x=" + shape, "y=" + shape, fmt::format("x_row_stride={}", cols),
             fmt::format("y_row_stride={}", cols), fmt::format("n_cols={}", cols)}};
  if (online)
    each.arguments.push_back(fmt::format("n_rows={}", rows));
  Ready ready = prepare(each, std::nullopt);
  const auto against = [&](const char *what, void (*peerRows)(const float *, float *, int64_t, int64_t)) {
    const auto [ours, peer] =
        interleaved([&] { ready.launch(); }, [&] { peerRows(ready.memory(0), ready.memory(1), rows, cols); });
    line(fmt::format("{} {}x{} ({}){}", kernel, rows, cols, ready.config.toString(), what),
         fmt::format("{:.1f} us", ours / 1e3), fmt::format("{:.1f} us", peer / 1e3), ours / peer, "<= 1.30",
         ours / peer <= 1.3);
  };
  against("", avx2Only() ? peers_avx2::softmaxRows : peers::softmaxRows);
  if (online)
    against(" | two passes by hand", avx2Only() ? peers_avx2::softmaxOnline : peers::softmaxOnline);
}

void matmul(int64_t size) {
  const auto n = std::to_string(size), shape = "f32[" + n + "," + n + "]";
  Ready ready =
      prepare({"matmul.py",
               "matmul",
               "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)",
               {"a=" + shape, "b=" + shape, "c=" + shape, "M=" + n, "N=" + n, "K=" + n, "stride_am=" + n,
                "stride_ak=1", "stride_bk=" + n, "stride_bn=1", "stride_cm=" + n, "stride_cn=1"}},
              std::nullopt);
  std::vector<float> c(static_cast<size_t>(size * size));
  const int s = static_cast<int>(size);
  const auto [ours, peer] = interleaved([&] { ready.launch(); },
                                        [&] {
                                          cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s, s, s, 1,
                                                      ready.memory(0), s, ready.memory(1), s, 0, c.data(), s);
                                        },
                                        9, 2e7);
  const double flops =
      2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  line(fmt::format("f32 matmul {} ({})", size, ready.config.toString()),
       fmt::format("{:.1f} GF/s", flops / ours), fmt::format("{:.1f} GF/s", flops / peer), peer / ours,
       ">= 0.70", peer / ours >= 0.7);
}

/// Median compile time (code generation to object code, in this process) of one configuration.
double compileMs(const Case &each, const Config &config) {
  const Kernel kernel = orDie(Kernel::load(TILEWRIGHT_SOURCE_DIR "/examples/" + each.file, each.kernel));
  const Problem problem = problemOf(each);
  const auto backend = orDie(loadBackend("cpu"));
  const Path path = orDie(kernel.analyze(problem, config));
  Candidate candidate;
  candidate.config = config;
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const double begin = nowNs();
    orDie(backend->compile(*path.program, candidate, problem.arguments));
    times.push_back((nowNs() - begin) / 1e6);
  }
  return median(times);
}

void compileTime(const Case &each, const Config &small, const Config &large) {
  const double smallMs = compileMs(each, small), largeMs = compileMs(each, large);
  line(fmt::format("compile {}: {} | {}", each.kernel, large.toString(), small.toString()),
       fmt::format("{:.1f} ms", largeMs), fmt::format("{:.1f} ms", smallMs), largeMs / smallMs,
       "<=1.5, <=60ms", largeMs / smallMs <= 1.5 && largeMs <= 60 && smallMs <= 60);
}

void relaunch() {
  Ready ready = prepare({"vector_add.py",
                         "vector_add",
                         "(cdiv(n_elements, BLOCK),)",
                         {"x=f32[64]", "y=f32[64]", "out=f32[64]", "n_elements=64"}},
                        Config(Config::Map{{"BLOCK", int64_t{64}}}));
  const auto [ours, peer] = interleaved([&] { ready.launch(); },
                                        [&] {
                                          (avx2Only() ? peers_avx2::vectorAdd : peers::vectorAdd)(
                                              ready.memory(0), ready.memory(1), ready.memory(2), 64);
                                        });
  line("relaunch, 1 program (peer: direct call)", fmt::format("{:.0f} ns", ours),
       fmt::format("{:.0f} ns", peer), ours / 5000, "<= 5 us", ours <= 5000);
}

} // namespace

int main(int argc, char **argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  fmt::print("{}; OpenBLAS kernel {}, {} threads\n", probeCpu().description, openblas_get_corename(),
             openblas_get_num_threads());
  fmt::print("{:<44} {:>14} {:>14} {:>8}  {:<12}\n", "figure", "ours", "peer", "ratio", "target");
  relaunch();
  const Case add{"vector_add.py",
                 "vector_add",
                 "(cdiv(n_elements, BLOCK),)",
                 {"x=f32[98432]", "y=f32[98432]", "out=f32[98432]", "n_elements=98432"}};
  compileTime(add, Config(Config::Map{{"BLOCK", int64_t{64}}}),
              Config(Config::Map{{"BLOCK", int64_t{65536}}}));
  const Case shot{"softmax.py",
                  "softmax_one_shot",
                  "(64,)",
                  {"x=f32[64,60]", "y=f32[64,60]", "x_row_stride=60", "y_row_stride=60", "n_cols=60"}};
  compileTime(shot, Config(Config::Map{{"BLOCK", int64_t{64}}}),
              Config(Config::Map{{"BLOCK", int64_t{65536}}}));
  const Case norm{"layer_norm.py",
                  "layer_norm",
                  "(cdiv(n_rows, ROWS),)",
                  {"x=f32[64,60]", "y=f32[64,60]", "weight=f32[60]", "bias=f32[60]", "row_stride=60",
                   "n_rows=64", "n_cols=60", "eps=1e-5"}};
  compileTime(norm, Config(Config::Map{{"ROWS", int64_t{1}}, {"COLS", int64_t{64}}}),
              Config(Config::Map{{"ROWS", int64_t{1}}, {"COLS", int64_t{65536}}}));
  const Case mm{"matmul.py",
                "matmul",
                "(cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N),)",
                {"a=f32[512,512]", "b=f32[512,512]", "c=f32[512,512]", "M=512", "N=512", "K=512",
                 "stride_am=512", "stride_ak=1", "stride_bk=512", "stride_bn=1", "stride_cm=512",
                 "stride_cn=1"}};
  compileTime(mm,
              Config(Config::Map{{"BLOCK_M", int64_t{16}},
                                 {"BLOCK_N", int64_t{16}},
                                 {"BLOCK_K", int64_t{16}},
                                 {"GROUP_SIZE_M", int64_t{8}}}),
              Config(Config::Map{{"BLOCK_M", int64_t{256}},
                                 {"BLOCK_N", int64_t{256}},
                                 {"BLOCK_K", int64_t{256}},
                                 {"GROUP_SIZE_M", int64_t{8}}}));
  for (const int64_t count :
       quick ? std::vector<int64_t>{98432} : std::vector<int64_t>{4096, 98432, 1 << 20, 1 << 24})
    vectorAdd(count);
  for (const int64_t cols :
       quick ? std::vector<int64_t>{781} : std::vector<int64_t>{128, 781, 1024, 3000, 8192}) {
    softmax("softmax_one_shot", 1024, cols);
    softmax("softmax_online", 1024, cols);
  }
  for (const int64_t size : quick ? std::vector<int64_t>{512} : std::vector<int64_t>{512, 768, 1000, 1024})
    matmul(size);
  return 0;
}

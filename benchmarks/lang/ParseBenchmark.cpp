// Parser throughput over real files: bytes per second of source text.
//
//   lang_benchmark                                   the Python standard library found under
//   /usr/lib/python3.* TILEWRIGHT_BENCH_SOURCES=folder lang_benchmark   every *.py below a folder
#include "tilewright/lang/Dump.h"
#include "tilewright/lang/Parser.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tilewright;
namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxBytes = 16 << 20; // enough to leave every cache

std::vector<SourceFilePtr> loadSources() {
  std::vector<fs::path> roots;
  if (const char *folder = std::getenv("TILEWRIGHT_BENCH_SOURCES")) {
    roots.emplace_back(folder);
  } else {
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator("/usr/lib", ignored))
      if (entry.path().filename().string().starts_with("python3."))
        roots.push_back(entry.path());
  }
  std::vector<SourceFilePtr> sources;
  size_t bytes = 0;
  for (const fs::path &root : roots)
    for (const auto &entry :
         fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied)) {
      if (bytes > kMaxBytes || entry.path().extension() != ".py" || !entry.is_regular_file())
        continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      std::string text{std::istreambuf_iterator<char>(stream), {}};
      bytes += text.size();
      auto source = std::make_shared<const SourceFile>(entry.path().string(), std::move(text));
      if (lang::parse(source))
        sources.push_back(std::move(source));
    }
  return sources;
}

const std::vector<SourceFilePtr> &sources() {
  static const std::vector<SourceFilePtr> loaded = loadSources();
  return loaded;
}

template <class Work> void overAllSources(benchmark::State &state, Work work) {
  size_t bytes = 0;
  for (const auto &source : sources())
    bytes += source->text().size();
  if (bytes == 0)
    return state.SkipWithError("no Python files found; set TILEWRIGHT_BENCH_SOURCES");
  for (auto _ : state)
    for (const auto &source : sources())
      work(source);
  state.SetBytesProcessed(static_cast<int64_t>(bytes * state.iterations()));
  state.counters["files"] = static_cast<double>(sources().size());
}

void parseFiles(benchmark::State &state) {
  overAllSources(state, [](const SourceFilePtr &source) { benchmark::DoNotOptimize(lang::parse(source)); });
}
BENCHMARK(parseFiles)->Unit(benchmark::kMillisecond);

void parseAndDump(benchmark::State &state) {
  overAllSources(state, [](const SourceFilePtr &source) {
    benchmark::DoNotOptimize(lang::dump(*lang::parse(source), true));
  });
}
BENCHMARK(parseAndDump)->Unit(benchmark::kMillisecond);

/// A kernel-sized text: what one `tilewright analyze` pays.
void parseKernel(benchmark::State &state) {
  std::string text =
      "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, y_ptr, n, BLOCK: "
      "tl.constexpr):\n    pid = tl.program_id(0)\n";
  for (int i = 0; i < 40; ++i)
    text += "    offs = pid * BLOCK + tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + offs, mask=offs < n, "
            "other=0.0)\n";
  const auto source = std::make_shared<const SourceFile>("kernel.py", text);
  for (auto _ : state)
    benchmark::DoNotOptimize(lang::parse(source));
  state.SetBytesProcessed(static_cast<int64_t>(text.size() * state.iterations()));
}
BENCHMARK(parseKernel)->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();

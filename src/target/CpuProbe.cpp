#include "CpuRates.h"

#include "tilewright/support/Files.h"
#include "tilewright/support/Hash.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sched.h>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace tilewright {

namespace {

constexpr const char *kCpuFolder = "/sys/devices/system/cpu";

std::string firstLine(const std::string &path) {
  auto text = readFile(path);
  if (!text)
    return {};
  return text->substr(0, text->find('\n'));
}

/// "0-3,8" as a set.
std::set<int> cpuList(std::string_view text) {
  std::set<int> out;
  std::stringstream parts{std::string(text)};
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0, last = 0;
    const int read = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    for (int cpu = first; read >= 1 && cpu <= (read == 2 ? last : first); ++cpu)
      out.insert(cpu);
  }
  return out;
}

std::set<int> allowedCpus() {
  std::set<int> out;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed))
        out.insert(cpu);
  if (out.empty())
    for (unsigned cpu = 0; cpu < std::max(1u, std::thread::hardware_concurrency()); ++cpu)
      out.insert(static_cast<int>(cpu));
  return out;
}

/// "32K", "16384K", "32M" in bytes.
int64_t byteCount(const std::string &text) {
  int64_t number = 0;
  const auto [stop, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad != std::errc())
    return 0;
  const char unit = stop < text.data() + text.size() ? *stop : 'B';
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

struct CpuIdentity {
  std::string model;    ///< "AMD EPYC 9654", as the kernel names it
  std::string stepping; ///< family/model/stepping, or implementer/part
  std::set<std::string> features;
};

CpuIdentity identity() {
  CpuIdentity out;
  auto text = readFile("/proc/cpuinfo");
  std::stringstream lines(text ? *text : std::string());
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (!out.features.empty())
        break; // the first processor is enough
      continue;
    }
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : std::string();
    if (key == "model name")
      out.model = value;
    else if (key == "cpu family" || key == "model" || key == "stepping" || key == "CPU implementer" ||
             key == "CPU part")
      out.stepping += (out.stepping.empty() ? "" : "/") + value;
    else if (key == "flags" || key == "Features") {
      std::stringstream words(value);
      for (std::string word; words >> word;)
        out.features.insert(word);
    }
  }
  if (out.model.empty())
    out.model = "unknown CPU";
  return out;
}

CpuVectors vectorsOf(const CpuIdentity &cpu) {
  const auto has = [&](const char *feature) { return cpu.features.contains(feature); };
  CpuVectors detected = CpuVectors::Sse2;
  if (has("asimd"))
    detected = CpuVectors::Neon;
  else if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    detected = CpuVectors::Avx512;
  else if (has("avx2") && has("fma"))
    detected = CpuVectors::Avx2;
  // The back end honours the same restriction; the description must speak of the code that will run.
  const char *wanted = std::getenv("TILEWRIGHT_CPU_ISA");
  const std::string_view restriction = wanted ? wanted : "";
  if (restriction == "sse2" && detected != CpuVectors::Neon)
    return CpuVectors::Sse2;
  if (restriction == "avx2" && detected == CpuVectors::Avx512)
    return CpuVectors::Avx2;
  return detected;
}

/// Data and unified caches of the first allowed CPU, smallest first; a shared one counts with this process's
/// share.
std::vector<MemorySpace> caches(const std::set<int> &allowed) {
  std::vector<MemorySpace> out;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("{}/cpu{}/cache/index{}/", kCpuFolder, *allowed.begin(), index);
    const std::string level = firstLine(folder + "level"), type = firstLine(folder + "type");
    const int64_t bytes = byteCount(firstLine(folder + "size"));
    if (level.empty() || bytes <= 0 || type == "Instruction")
      continue;
    int64_t sharers = 0;
    for (const int cpu : cpuList(firstLine(folder + "shared_cpu_list")))
      sharers += allowed.contains(cpu);
    MemorySpace space;
    space.name = level == "1" ? "l1d" : "l" + level;
    space.bytes = bytes / std::max<int64_t>(1, sharers);
    space.alignmentBytes = std::max<int64_t>(1, byteCount(firstLine(folder + "coherency_line_size")));
    space.source = fmt::format("/sys/devices/system/cpu: {} KiB shared by {} of the allowed CPUs",
                               bytes / 1024, sharers);
    out.push_back(std::move(space));
  }
  if (out.empty())
    out = {{.name = "l1d", .bytes = 32 << 10, .alignmentBytes = 64, .source = "assumed: /sys says nothing"},
           {.name = "l2", .bytes = 512 << 10, .alignmentBytes = 64, .source = "assumed: /sys says nothing"},
           {.name = "l3", .bytes = 4 << 20, .alignmentBytes = 64, .source = "assumed: /sys says nothing"}};
  std::stable_sort(out.begin(), out.end(),
                   [](const MemorySpace &a, const MemorySpace &b) { return a.bytes < b.bytes; });
  return out;
}

/// TILEWRIGHT_THREADS limits the launch pool; the description follows it.
int64_t threadsUsed(const std::set<int> &allowed) {
  if (const char *wanted = std::getenv("TILEWRIGHT_THREADS"))
    if (const long count = std::strtol(wanted, nullptr, 10); count > 0 && count < 4096)
      return count;
  return static_cast<int64_t>(allowed.size());
}

double clockGhz(int cpu) {
  const std::string kilohertz = firstLine(fmt::format("{}/cpu{}/cpufreq/cpuinfo_max_freq", kCpuFolder, cpu));
  return kilohertz.empty() ? 0 : std::strtod(kilohertz.c_str(), nullptr) / 1e6;
}

} // namespace

Target probeCpu() {
  const auto allowed = allowedCpus();
  const CpuIdentity cpu = identity();
  const CpuVectors vectors = vectorsOf(cpu);

  Target out;
  out.name = "cpu";
  out.kind = TargetKind::Cpu;
  out.cores = threadsUsed(allowed);
  out.maxPrograms = INT32_MAX;
  out.clockGhz = clockGhz(*allowed.begin());
  out.vectorBytes = vectorBytes(vectors);
  out.powerOfTwoTiles = true;
  out.description =
      fmt::format("{}, {} thread{}, {}", cpu.model, out.cores, out.cores == 1 ? "" : "s", name(vectors));
  out.memory = caches(allowed);
  out.memory.push_back({.name = "dram",
                        .bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE),
                        .alignmentBytes = 64,
                        .source = "sysconf"});
  addCpuRates(out, vectors);

  ContentHasher features;
  for (const auto &feature : cpu.features)
    features.add(feature);
  std::string sizes;
  for (const auto &space : out.memory)
    if (space.name != "dram")
      sizes += fmt::format(";{}={}K", space.name, space.bytes / 1024);
  out.fingerprint = fmt::format("cpu:{};{};{};features={};threads={}{}", cpu.model, cpu.stepping,
                                name(vectors), features.digest().substr(0, 12), out.cores, sizes);
  return out;
}

} // namespace tilewright

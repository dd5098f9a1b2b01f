#include "CpuRates.h"

namespace tilewright {

namespace {

constexpr const char *kMeasured =
    "measured on one thread of a Zen 4 virtual machine with AVX-512: masked vector add "
    "in L1, L2, L3 and DRAM sizes, f32 matrix product with an 8x32 register tile, polynomial exp, all from "
    "loops "
    "written for the purpose; no benchmark of this project repeats it yet";
constexpr const char *kAssumed = "order of magnitude, not measured yet";
constexpr const char *kScaled = "scaled from the AVX-512 figure by vector width and FMA ports; not measured";

struct Rates {
  double f32FlopsPerNs;    ///< multiply-adds count two
  double vectorOpNs;       ///< one native vector through one arithmetic instruction
  double transcendentalNs; ///< one native vector of f32 through exp, log, tanh, ...
  double l1BytesPerNs, l2BytesPerNs, l3BytesPerNs, dramBytesPerNs;
};

constexpr Rates ratesOf(CpuVectors vectors) {
  switch (vectors) {
  case CpuVectors::Avx512:
    return {110, 0.27, 3.7, 240, 90, 40, 14};
  case CpuVectors::Avx2:
    return {55, 0.27, 3.0, 150, 70, 35, 14};
  case CpuVectors::Neon:
    return {45, 0.17, 3.0, 90, 60, 30, 20};
  case CpuVectors::Sse2:
    return {14, 0.27, 3.0, 80, 50, 30, 14};
  }
  return {};
}

} // namespace

std::string_view name(CpuVectors vectors) {
  switch (vectors) {
  case CpuVectors::Sse2:
    return "sse2";
  case CpuVectors::Avx2:
    return "avx2";
  case CpuVectors::Avx512:
    return "avx512";
  case CpuVectors::Neon:
    return "neon";
  }
  return "sse2";
}

int64_t vectorBytes(CpuVectors vectors) {
  return vectors == CpuVectors::Avx512 ? 64 : vectors == CpuVectors::Avx2 ? 32 : 16;
}

void addCpuRates(Target &target, CpuVectors vectors) {
  const Rates rates = ratesOf(vectors);
  const char *source = vectors == CpuVectors::Avx512 ? kMeasured : kScaled;
  for (auto &space : target.memory) {
    const double bandwidth = space.name == "l1d"  ? rates.l1BytesPerNs
                             : space.name == "l2" ? rates.l2BytesPerNs
                             : space.name == "l3" ? rates.l3BytesPerNs
                                                  : rates.dramBytesPerNs;
    space.readBytesPerNs = bandwidth;
    space.writeBytesPerNs = bandwidth / 2; // a written line is read first
    space.source += std::string("; bandwidth ") + source;
  }
  target.rates = {
      {"f32_flops_per_ns_per_core", {rates.f32FlopsPerNs, source}},
      {"vector_op_ns", {rates.vectorOpNs, source}},
      {"transcendental_ns_per_vector", {rates.transcendentalNs, source}},
      {"divide_ns_per_vector", {rates.vectorOpNs * 8, source}},
      {"gather_ns_per_element", {0.6, kAssumed}},
      {"atomic_ns_per_element", {6, kAssumed}},
      {"run_start_ns",
       {2.5, "entering one innermost vector loop and its masked tail: " + std::string(kAssumed)}},
      {"trip_ns", {4, "one iteration of a loop around tiles: " + std::string(kAssumed)}},
      {"program_ns", {12, "one program of the grid inside compiled code: " + std::string(kAssumed)}},
      {"launch_ns", {1500, "one launch on the calling thread: " + std::string(kAssumed)}},
      {"thread_launch_ns", {4000, "waking the other threads of a launch: " + std::string(kAssumed)}},
  };
}

} // namespace tilewright

#include "tilewright/backend/cpu/CpuIsa.h"

#include <cstdlib>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>
#include <map>
#include <string_view>

namespace tilewright::cpu {

namespace {

CpuIsa detected() {
  const auto hostFeatures = llvm::sys::getHostCPUFeatures();
  std::map<std::string, bool> features; // sorted: the text is part of store keys
  for (const auto &feature : hostFeatures)
    features.emplace(feature.getKey().str(), feature.getValue());
  const auto has = [&](const char *name) {
    const auto found = features.find(name);
    return found != features.end() && found->second;
  };

  CpuIsa isa;
  isa.cpu = llvm::sys::getHostCPUName().str();
  for (const auto &[name, enabled] : features)
    isa.features.append(isa.features.empty() ? "" : ",").append(enabled ? "+" : "-").append(name);
  // BW, DQ and VL: without them half of the vector operations would be split or emulated.
  isa.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  isa.vectorBytes = isa.avx512 ? 64 : has("avx2") ? 32 : 16;
  isa.vectorRegisters = isa.avx512 ? 32 : 16;
  isa.fma = has("fma");
  isa.f16Conversion = has("f16c");
  isa.bf16 = has("avx512bf16");
  return isa;
}

CpuIsa restrictedToAvx2() {
  return {.cpu = "x86-64-v3",
          .features = "+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe",
          .vectorBytes = 32,
          .vectorRegisters = 16,
          .fma = true,
          .avx512 = false,
          .f16Conversion = true,
          .bf16 = false};
}

CpuIsa restrictedToSse2() {
  return {.cpu = "x86-64",
          .features = "+sse2",
          .vectorBytes = 16,
          .vectorRegisters = 16,
          .fma = false,
          .avx512 = false,
          .f16Conversion = false,
          .bf16 = false};
}

} // namespace

CpuIsa hostIsa() {
  CpuIsa host = detected();
  const char *wanted = std::getenv("TILEWRIGHT_CPU_ISA");
  const std::string_view restriction = wanted ? wanted : "";
  if (restriction == "sse2")
    return restrictedToSse2();
  if (restriction == "avx2" && host.vectorBytes >= 32)
    return restrictedToAvx2();
  return host;
}

} // namespace tilewright::cpu

// The one symbol that LoadBackend.cpp asks libtilewright_cpu.so for.
#include "tilewright/backend/cpu/CpuBackend.h"

extern "C" __attribute__((visibility("default"))) tilewright::Backend *tilewrightCreateBackend() {
  return tilewright::cpu::makeCpuBackend().release();
}

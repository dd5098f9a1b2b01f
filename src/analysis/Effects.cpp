#include "Analysis.h"

#include <algorithm>

namespace tilewright::analysis {

/// Buffers in the order of the kernel's parameters. A buffer that is both read and written counts as
/// accumulated into, whatever the order and the addresses are: a trial run on it may change what the next one
/// sees.
void findEffects(Analysis &analysis) {
  const size_t count = analysis.program.parameters.size();
  std::vector<bool> reads(count), writes(count), atomics(count);
  for (const AccessRecord &access : analysis.trace.accesses) {
    const SourceRange where = analysis.program.op(access.op).location;
    std::vector<uint32_t> buffers = access.buffers;
    if (buffers.empty()) {
      analysis.unresolved("analysis.address",
                          access.write ? "this writes through an address that no pointer argument leads to"
                                       : "this reads through an address that no pointer argument leads to",
                          where);
      continue;
    }
    for (uint32_t buffer : buffers) {
      reads[buffer] = reads[buffer] || access.read;
      writes[buffer] = writes[buffer] || access.write;
      atomics[buffer] = atomics[buffer] || access.atomic;
    }
  }
  Effects &effects = analysis.facts.effects;
  for (size_t i = 0; i < count; ++i) {
    const std::string &name = analysis.program.parameters[i].name;
    if (reads[i])
      effects.reads.push_back(name);
    if (writes[i])
      effects.writes.push_back(name);
    if (reads[i] && writes[i])
      effects.accumulates.push_back(name);
    if (atomics[i])
      effects.atomics.push_back(name);
  }
}

} // namespace tilewright::analysis

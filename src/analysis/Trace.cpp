#include "Trace.h"

#include "Tracer.h"

#include <algorithm>

namespace tilewright::analysis {

std::vector<OpId> Trace::loopChain(uint32_t innermost) const {
  std::vector<OpId> chain;
  for (uint32_t loop = innermost; loop != kNone; loop = loops[loop].parent)
    chain.push_back(loops[loop].op);
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool Trace::isData(ValueId value) {
  if (program.value(value).type.kind != Type::Kind::Value)
    return false;
  return !values[value].known() || indices.mentionsUnknown(values[value].expr);
}

Trace trace(const Program &program) {
  Trace result(program);
  Tracer(program, result).run();
  return result;
}

} // namespace tilewright::analysis

#include "Analysis.h"

#include "tilewright/program/OpTraits.h"

#include <algorithm>
#include <array>

namespace tilewright::analysis {

namespace {

/// Functions that cost many instructions, on any target.
bool isTranscendental(const std::string &function) {
  constexpr std::array<std::string_view, 9> kCheap = {"neg",   "not",   "abs",  "floor", "ceil",
                                                      "round", "trunc", "sqrt", "rsqrt"};
  return std::find(kCheap.begin(), kCheap.end(), function) == kCheap.end() && function != "sqrt_rn";
}

} // namespace

/// One item an op that works on tiles of data. Position arithmetic is left out: it is linear in the lanes and
/// costs a register, not a pass over the tile.
void findWork(Analysis &analysis) {
  const Program &program = analysis.program;
  for (OpId id = 0; id < program.ops.size(); ++id) {
    const Op &op = program.op(id);
    if (!traitsOf(op.kind).work || op.results.empty() || op.operands.empty())
      continue;
    const Type &result = program.value(op.results[0]).type;
    const Type &operand = program.value(op.operands[0]).type;
    WorkItem item;
    item.op = id;
    item.dtype = operand.dtype;
    item.shape = result.shape;
    item.loops = analysis.trace.loopChain(analysis.trace.loopOf[id]);
    switch (op.kind) {
    case OpKind::Dot:
      item.kind = WorkItem::Kind::Dot;
      if (result.shape.size() >= 2 && operand.shape.size() >= 2)
        item.shape.push_back(operand.shape.back());
      break;
    case OpKind::DotScaled:
      item.kind = WorkItem::Kind::Dot;
      break;
    case OpKind::Reduce:
      item.kind = WorkItem::Kind::Reduce;
      item.shape = operand.shape;
      break;
    case OpKind::Scan:
      item.kind = WorkItem::Kind::Scan;
      break;
    case OpKind::Sort:
    case OpKind::TopK:
    case OpKind::Map:
    case OpKind::Histogram:
    case OpKind::Gather:
    case OpKind::InlineAsm:
    case OpKind::ExternCall:
      item.kind = WorkItem::Kind::Other;
      break;
    case OpKind::Binary:
      item.kind = WorkItem::Kind::Transcendental;
      break;
    case OpKind::Unary:
      item.kind = isTranscendental(op.attributes.text("function")) ? WorkItem::Kind::Transcendental
                                                                   : WorkItem::Kind::Elementwise;
      break;
    default:
      item.dtype = result.dtype == DType::Int1 ? operand.dtype : result.dtype;
      break;
    }
    if (item.shape.empty() || !analysis.trace.isData(op.results[0]))
      continue;
    analysis.facts.work.push_back(std::move(item));
  }
}

} // namespace tilewright::analysis

#include "Memory.h"

namespace tilewright::interp {

namespace {

BufferId join(BufferId a, BufferId b) {
  return a == kNoBuffer ? b : b == kNoBuffer || a == b ? a : kAnyBuffer;
}

class Origins {
public:
  explicit Origins(const Program &program) : program_(program), origin_(program.values.size(), kNoBuffer) {}

  std::vector<BufferId> operator()() {
    BufferId next = 0;
    for (ValueId argument : program_.body().arguments)
      if (program_.value(argument).type.isPointer())
        origin_[argument] = next++;
    // Loops carry pointers around: repeat until nothing changes. Each value can rise only twice.
    do {
      changed_ = false;
      for (const Op &op : program_.ops)
        visit(op);
    } while (changed_);
    return std::move(origin_);
  }

private:
  void raise(ValueId value, BufferId origin) {
    const BufferId joined = join(origin_[value], origin);
    changed_ |= joined != origin_[value];
    origin_[value] = joined;
  }

  const Op *yieldOf(RegionId region) const {
    const auto &ops = program_.region(region).ops;
    const Op *last = ops.empty() ? nullptr : &program_.op(ops.back());
    return last && last->kind == OpKind::Yield ? last : nullptr;
  }

  void visit(const Op &op) {
    switch (op.kind) {
    case OpKind::For:
    case OpKind::While: {
      const size_t first = op.kind == OpKind::For ? 3 : 0, firstArgument = op.kind == OpKind::For ? 1 : 0;
      const Op *yield = yieldOf(op.regions.back());
      for (size_t i = 0; i < op.results.size(); ++i) {
        raise(op.results[i], origin_[op.operands[first + i]]);
        if (yield)
          raise(op.results[i], origin_[yield->operands[i]]);
        for (RegionId region : op.regions)
          raise(program_.region(region).arguments[firstArgument + i], origin_[op.results[i]]);
      }
      return;
    }
    case OpKind::If:
      for (RegionId region : op.regions)
        if (const Op *yield = yieldOf(region))
          for (size_t i = 0; i < op.results.size(); ++i)
            raise(op.results[i], origin_[yield->operands[i]]);
      return;
    case OpKind::Load:
    case OpKind::BlockLoad:
    case OpKind::DescriptorLoad:
      for (ValueId result : op.results)
        if (program_.value(result).type.kind != Type::Kind::Value)
          raise(result, kAnyBuffer);
      return;
    case OpKind::Bitcast:
      if (program_.value(op.results[0]).type.isPointer())
        raise(op.results[0],
              program_.value(op.operands[0]).type.isPointer() ? origin_[op.operands[0]] : kAnyBuffer);
      return;
    case OpKind::Select:
      if (program_.value(op.results[0]).type.isPointer())
        raise(op.results[0], join(origin_[op.operands[1]], origin_[op.operands[2]]));
      return;
    default:
      for (ValueId result : op.results) {
        const Type &type = program_.value(result).type;
        if (type.kind == Type::Kind::Value)
          continue;
        for (ValueId operand : op.operands)
          if (program_.value(operand).type.kind != Type::Kind::Value)
            raise(result, origin_[operand]);
      }
    }
  }

  const Program &program_;
  std::vector<BufferId> origin_;
  bool changed_ = false;
};

} // namespace

std::vector<BufferId> pointerOrigins(const Program &program) { return Origins(program)(); }

} // namespace tilewright::interp

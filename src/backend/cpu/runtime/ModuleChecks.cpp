#include "ModuleChecks.h"

#include <fmt/format.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Matchers.h>

namespace tilewright::cpu {

namespace {

/// 64 bytes of i8 lanes beside their i64 offsets are 8 registers: the widest mixture that a native-width loop
/// needs.
constexpr int64_t kMaxRegistersPerRow = 8;
/// Spill slots and small lookup buffers, never tiles: those live in the scratch arena.
constexpr int64_t kMaxStackBytes = 32 * 1024;

template <class T> std::string printed(T &&object) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  object.print(stream);
  return text;
}

/// Why the type is too wide, or empty.
std::string tooWide(mlir::Type type, const CpuIsa &isa) {
  const auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  if (!vector || vector.getRank() == 0)
    return {};
  if (vector.isScalable())
    return "scalable vectors are not supported";
  // Indices and the addresses of gathers are 64 bits wide.
  const int64_t elementBits = vector.getElementType().isIntOrFloat() ? vector.getElementTypeBitWidth() : 64;
  const int64_t registerBits = int64_t{8} * isa.vectorBytes;
  const int64_t rowBits = vector.getShape().back() * elementBits;
  if (rowBits > kMaxRegistersPerRow * registerBits)
    return fmt::format("a row of {} bits in registers of {}", rowBits, registerBits);
  if (vector.getNumElements() * elementBits > int64_t{isa.vectorRegisters} * registerBits)
    return fmt::format("{} bits in a file of {} registers", vector.getNumElements() * elementBits,
                       isa.vectorRegisters);
  return {};
}

} // namespace

Expected<void> checkVectorWidths(mlir::ModuleOp module, const CpuIsa &isa) {
  std::string problem;
  module.walk([&](mlir::Operation *op) {
    for (const mlir::Type type : op->getResultTypes()) {
      if (const auto why = tooWide(type, isa); !why.empty()) {
        problem = fmt::format("{} makes a value of type {}: {}", op->getName().getStringRef().str(),
                              printed(type), why);
        return mlir::WalkResult::interrupt();
      }
    }
    return mlir::WalkResult::advance();
  });
  if (!problem.empty())
    return fail(ErrorKind::Internal, "internal", "generated CPU code is not in native vectors: " + problem);
  return {};
}

Expected<void> checkLlvmDialect(mlir::ModuleOp module) {
  std::string problem;
  module.walk([&](mlir::Operation *op) {
    if (op == module.getOperation())
      return mlir::WalkResult::advance();
    if (!mlir::isa<mlir::LLVM::LLVMDialect>(op->getDialect())) {
      problem = fmt::format("{} has no lowering", op->getName().getStringRef().str());
      return mlir::WalkResult::interrupt();
    }
    if (auto slot = mlir::dyn_cast<mlir::LLVM::AllocaOp>(op)) {
      mlir::APInt count;
      const auto type = slot.getElemType();
      const int64_t elementBytes = type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 7) / 8 : 64;
      if (!mlir::matchPattern(slot.getArraySize(), mlir::m_ConstantInt(&count)))
        problem = "a stack slot of dynamic size";
      else if (count.getSExtValue() * elementBytes > kMaxStackBytes)
        problem = fmt::format("a stack slot of {} bytes; tiles belong in the scratch arena",
                              count.getSExtValue() * elementBytes);
      if (!problem.empty())
        return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  if (!problem.empty())
    return fail(ErrorKind::Internal, "internal", "generated CPU code cannot be lowered: " + problem);
  return {};
}

} // namespace tilewright::cpu

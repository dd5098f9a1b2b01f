// The KernelSpan function: arguments from the frame, a loop over the linearised grid, one program an
// iteration.
#include "EmitElementwise.h"
#include "KernelEmitter.h"

#include <fmt/format.h>

namespace tilewright::cpu {

namespace arith = mlir::arith;
namespace llvmir = mlir::LLVM;

namespace {

constexpr int64_t kArenaAlignment = 64;
/// Native vectors may be read past the end of the last buffer.
constexpr int64_t kArenaTail = 512;
constexpr int64_t kLargestArena = int64_t{1} << 30;

} // namespace

void registerCpuDialects(mlir::MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, mlir::func::FuncDialect, llvmir::LLVMDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
}

KernelEmitter::KernelEmitter(mlir::MLIRContext &context, const BoundProgram &program, const CpuIsa &isa)
    : e_(context, program, isa), p_(program), lanes_(e_), access_(program), plan_(program, access_),
      evaluator_(e_, lanes_, access_), nests_(e_, lanes_, access_, evaluator_, plan_) {}

void KernelEmitter::emitArguments(mlir::Value frame) {
  mlir::OpBuilder &b = e_.builder;
  const mlir::Value arguments = llvmir::LoadOp::create(b, e_.loc, e_.pointerType(), frame, 8);
  for (int axis = 0; axis < 3; ++axis) {
    const mlir::Value address = llvmir::GEPOp::create(b, e_.loc, e_.pointerType(), b.getI64Type(), frame,
                                                      llvm::ArrayRef<llvmir::GEPArg>{1 + axis});
    grid_[axis] = llvmir::LoadOp::create(b, e_.loc, b.getI64Type(), address, 8);
  }
  const auto &values = p_.program().body().arguments;
  for (size_t index = 0; index < values.size(); ++index) {
    const Type &type = p_.value(values[index]).type;
    const mlir::Value address =
        llvmir::GEPOp::create(b, e_.loc, e_.pointerType(), b.getI64Type(), arguments,
                              llvm::ArrayRef<llvmir::GEPArg>{static_cast<int32_t>(index)});
    if (type.isPointer()) {
      Lane lane = lanes_.affine(e_.index(0), e_.index(0), type.dtype, 0);
      lane.kind = Type::Kind::Pointer;
      lane.pointer = llvmir::LoadOp::create(b, e_.loc, e_.pointerType(), address, 8);
      evaluator_.setScalar(values[index], lane);
      continue;
    }
    if (isFloat(type.dtype)) {
      const mlir::Value number = llvmir::LoadOp::create(b, e_.loc, b.getF64Type(), address, 8);
      const mlir::Value narrowed = emitCast(e_, nullptr, DType::Float64, type.dtype, number);
      evaluator_.setScalar(values[index], lanes_.uniform(narrowed, type.dtype));
      continue;
    }
    const mlir::Value number = llvmir::LoadOp::create(b, e_.loc, b.getI64Type(), address, 8);
    const mlir::Type element = e_.elementType(type.dtype);
    const mlir::Value narrowed =
        element.isInteger(64) ? number : arith::TruncIOp::create(b, e_.loc, element, number).getResult();
    evaluator_.setScalar(values[index], lanes_.uniform(narrowed, type.dtype));
  }
}

Expected<EmittedModule> KernelEmitter::emit() {
  mlir::OpBuilder &b = e_.builder;
  EmittedModule result;
  result.module = mlir::ModuleOp::create(e_.loc, p_.program().kernel);
  result.entry = p_.program().kernel;
  b.setInsertionPointToStart(result.module->getBody());
  const mlir::Type i64 = b.getI64Type(), i32 = b.getI32Type(), pointer = e_.pointerType();
  auto function = mlir::func::FuncOp::create(b, e_.loc, result.entry,
                                             b.getFunctionType({pointer, i64, i64, pointer}, {i32}));
  function.setArgAttr(3, llvmir::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  function.setArgAttr(3, llvmir::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(kArenaAlignment));
  function.setArgAttr(0, llvmir::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  mlir::Block *entry = function.addEntryBlock();
  e_.entryBlock = entry;
  e_.scratchBase = entry->getArgument(3);
  b.setInsertionPointToEnd(entry);

  bool hasAssertions = false;
  for (OpId id = 0; id < p_.program().ops.size(); ++id)
    hasAssertions |= p_.regionOf(id) != kNone && p_.op(id).kind == OpKind::DeviceAssert;
  if (hasAssertions) {
    failureSlot_ = e_.scratch.allocate(4);
    llvmir::StoreOp::create(b, e_.loc, e_.constant(i32, int64_t{0}), e_.scratchAt(failureSlot_), 4);
  }
  emitArguments(entry->getArgument(0));
  auto programs =
      mlir::scf::ForOp::create(b, e_.loc, entry->getArgument(1), entry->getArgument(2), e_.index(1));
  b.setInsertionPoint(programs.getBody()->getTerminator());
  const mlir::Value pid = programs.getInductionVar();
  const mlir::Value plane = arith::DivUIOp::create(b, e_.loc, pid, grid_[0]);
  const mlir::Value ids[3] = {arith::RemUIOp::create(b, e_.loc, pid, grid_[0]),
                              arith::RemUIOp::create(b, e_.loc, plane, grid_[1]),
                              arith::DivUIOp::create(b, e_.loc, plane, grid_[1])};
  for (OpId id = 0; id < p_.program().ops.size(); ++id) {
    const Op &op = p_.op(id);
    if (p_.regionOf(id) == kNone || (op.kind != OpKind::ProgramId && op.kind != OpKind::ProgramCount))
      continue;
    const int64_t axis = op.attributes.integer("axis");
    const mlir::Value wide = op.kind == OpKind::ProgramId ? ids[axis] : grid_[axis];
    const DType dtype = p_.value(op.results[0]).type.dtype;
    const mlir::Type element = e_.elementType(dtype);
    evaluator_.setScalar(op.results[0],
                         lanes_.uniform(element.isInteger(64)
                                            ? wide
                                            : arith::TruncIOp::create(b, e_.loc, element, wide).getResult(),
                                        dtype));
  }
  emitRegion(0);
  b.setInsertionPointAfter(programs);
  mlir::Value status = e_.constant(i32, int64_t{0});
  if (hasAssertions)
    status = llvmir::LoadOp::create(b, e_.loc, i32, e_.scratchAt(failureSlot_), 4);
  mlir::func::ReturnOp::create(b, e_.loc, mlir::ValueRange{status});

  if (e_.refusal())
    return Unexpected(*e_.refusal());
  result.scratchBytes = e_.scratch.peakBytes() + kArenaTail;
  if (result.scratchBytes > kLargestArena)
    return fail(ErrorKind::Refusal, "compile.unsupported",
                fmt::format("the tiles of one program take {} MiB of scratch memory, more than the {} MiB "
                            "that the CPU back end gives a thread",
                            result.scratchBytes >> 20, kLargestArena >> 20));
  result.assertions = std::move(assertions_);
  result.remarks = std::move(e_.remarks);
  return result;
}

Expected<EmittedModule> emitModule(mlir::MLIRContext &context, const Program &program, const Config &config,
                                   const LaunchArguments &, const CpuIsa &isa) {
  registerCpuDialects(context);
  TW_TRY(const BoundProgram bound, BoundProgram::create(program, config));
  TW_TRY(EmittedModule emitted, KernelEmitter(context, bound, isa).emit());
  std::string complaints;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    if (complaints.size() < 4096)
      complaints += diagnostic.str() + "; ";
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(*emitted.module)))
    return fail(ErrorKind::Internal, "internal", "the CPU back end emitted an invalid module: " + complaints);
  return emitted;
}

} // namespace tilewright::cpu

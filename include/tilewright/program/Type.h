#pragma once
#include "tilewright/program/SymInt.h"

#include <string>
#include <vector>

namespace tilewright {

/// Element types, with Triton's names (`fp32`, `int1`, ...) in text. Signedness is part of the type, as in
/// Triton's front end.
enum class DType : uint8_t {
  Int1,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Fp8E4M3,
  Fp8E5M2,
  Fp8E4B15,
  Fp8E4B8,
  Fp8E5B16, // tl.float8e4nv, e5, e4b15, e4b8, e5b16
  BFloat16,
  Float16,
  Float32,
  Float64,
  Void,
};
std::string_view
name(DType dtype); ///< "i32", "u8", "i1", "f32", "bf16", "f8e4m3", ...: the text form of Programs and `-a`
std::optional<DType> parseDType(std::string_view text);
/// Reads Triton's spelling: "float32", "fp32", "int1", "float8e4nv", "bfloat16", "uint8".
std::optional<DType> parseTritonDType(std::string_view text);
std::string_view tritonName(DType dtype); ///< "fp32", "int1", "uint8", "fp8e4nv", as Triton prints it
uint32_t bitWidth(DType dtype);           ///< primitive bits: 1 for Int1
uint32_t byteSize(DType dtype);           ///< in memory: 1 for Int1
bool isFloat(DType dtype);
bool isInteger(DType dtype); ///< incl. Int1
bool isSigned(DType dtype);  ///< signed integers (not Int1) and floats

/// The type of an SSA value. A scalar has an empty shape; a tile has one SymInt per axis. Pointers carry
/// their pointee in `dtype`. Block pointers and tensor descriptors are opaque handles to `shape`-sized blocks
/// of `dtype`.
struct Type {
  enum class Kind : uint8_t { Value, Pointer, BlockPointer, Descriptor };
  Kind kind = Kind::Value;
  DType dtype = DType::Void;
  std::vector<SymInt> shape;

  static Type scalar(DType dtype) { return {Kind::Value, dtype, {}}; }
  static Type tile(DType dtype, std::vector<SymInt> shape) { return {Kind::Value, dtype, std::move(shape)}; }
  static Type pointer(DType pointee, std::vector<SymInt> shape = {}) {
    return {Kind::Pointer, pointee, std::move(shape)};
  }
  bool isTile() const { return !shape.empty() && (kind == Kind::Value || kind == Kind::Pointer); }
  bool isScalar() const { return shape.empty(); }
  bool isPointer() const { return kind == Kind::Pointer; }
  size_t rank() const { return shape.size(); }
  Type withShape(std::vector<SymInt> newShape) const { return {kind, dtype, std::move(newShape)}; }
  Type withDType(DType other) const { return {kind, other, shape}; }
  friend bool operator==(const Type &, const Type &) = default;
};
/// "f32", "ptr<f16>", "tile<BLOCK_M x BLOCK_N x f32>", "tile<64 x ptr<i8>>", "blockptr<M x N x f32>".
std::string toString(const Type &type);

} // namespace tilewright

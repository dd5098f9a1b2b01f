#include "tilewright/program/Type.h"

#include "SymText.h"

#include <array>

namespace tilewright {

namespace {

struct Spelling {
  DType dtype;
  std::string_view name;   ///< in Programs and arguments
  std::string_view triton; ///< as Triton prints it
  uint32_t bits;
};

constexpr std::array kSpellings = {
    Spelling{DType::Int1, "i1", "int1", 1},           Spelling{DType::Int8, "i8", "int8", 8},
    Spelling{DType::Int16, "i16", "int16", 16},       Spelling{DType::Int32, "i32", "int32", 32},
    Spelling{DType::Int64, "i64", "int64", 64},       Spelling{DType::UInt8, "u8", "uint8", 8},
    Spelling{DType::UInt16, "u16", "uint16", 16},     Spelling{DType::UInt32, "u32", "uint32", 32},
    Spelling{DType::UInt64, "u64", "uint64", 64},     Spelling{DType::Fp8E4M3, "f8e4m3", "fp8e4nv", 8},
    Spelling{DType::Fp8E5M2, "f8e5m2", "fp8e5", 8},   Spelling{DType::Fp8E4B15, "f8e4b15", "fp8e4b15", 8},
    Spelling{DType::Fp8E4B8, "f8e4b8", "fp8e4b8", 8}, Spelling{DType::Fp8E5B16, "f8e5b16", "fp8e5b16", 8},
    Spelling{DType::BFloat16, "bf16", "bf16", 16},    Spelling{DType::Float16, "f16", "fp16", 16},
    Spelling{DType::Float32, "f32", "fp32", 32},      Spelling{DType::Float64, "f64", "fp64", 64},
    Spelling{DType::Void, "void", "void", 0},
};

struct Alias {
  std::string_view text;
  DType dtype;
};

/// Names of `tl.<dtype>` and of torch, beyond the ones that Triton prints.
constexpr std::array kAliases = {
    Alias{"float16", DType::Float16},
    Alias{"half", DType::Float16},
    Alias{"bfloat16", DType::BFloat16},
    Alias{"float32", DType::Float32},
    Alias{"float", DType::Float32},
    Alias{"float64", DType::Float64},
    Alias{"double", DType::Float64},
    Alias{"bool", DType::Int1},
    Alias{"float8e4nv", DType::Fp8E4M3},
    Alias{"float8e5", DType::Fp8E5M2},
    Alias{"float8e4b15", DType::Fp8E4B15},
    Alias{"float8e4b8", DType::Fp8E4B8},
    Alias{"float8e5b16", DType::Fp8E5B16},
    Alias{"float8_e4m3fn", DType::Fp8E4M3},
    Alias{"float8_e5m2", DType::Fp8E5M2},
    Alias{"float8_e4m3fnuz", DType::Fp8E4B8},
    Alias{"float8_e5m2fnuz", DType::Fp8E5B16},
};

const Spelling &spelling(DType dtype) { return kSpellings[static_cast<size_t>(dtype)]; }

std::string elementText(const Type &type) {
  const std::string element(name(type.dtype));
  return type.kind == Type::Kind::Pointer ? "ptr<" + element + ">" : element;
}

} // namespace

std::string_view name(DType dtype) { return spelling(dtype).name; }
std::string_view tritonName(DType dtype) { return spelling(dtype).triton; }
uint32_t bitWidth(DType dtype) { return spelling(dtype).bits; }
uint32_t byteSize(DType dtype) { return (spelling(dtype).bits + 7) / 8; }

std::optional<DType> parseDType(std::string_view text) {
  for (const Spelling &entry : kSpellings)
    if (entry.name == text)
      return entry.dtype;
  return std::nullopt;
}

std::optional<DType> parseTritonDType(std::string_view text) {
  for (const Spelling &entry : kSpellings)
    if (entry.triton == text)
      return entry.dtype;
  for (const Alias &alias : kAliases)
    if (alias.text == text)
      return alias.dtype;
  return std::nullopt;
}

bool isFloat(DType dtype) { return dtype >= DType::Fp8E4M3 && dtype <= DType::Float64; }
bool isInteger(DType dtype) { return dtype <= DType::UInt64; }
bool isSigned(DType dtype) { return (dtype >= DType::Int8 && dtype <= DType::Int64) || isFloat(dtype); }

std::string symbolic::typeText(const Type &type, const SymNames &names) {
  if (type.shape.empty() && (type.kind == Type::Kind::Value || type.kind == Type::Kind::Pointer))
    return elementText(type);
  std::string out = type.kind == Type::Kind::BlockPointer ? "blockptr<"
                    : type.kind == Type::Kind::Descriptor ? "descriptor<"
                                                          : "tile<";
  for (SymInt dimension : type.shape)
    out += symText(dimension, names) + " x ";
  return out + elementText(type) + ">";
}

std::string toString(const Type &type) { return symbolic::typeText(type, {}); }

} // namespace tilewright

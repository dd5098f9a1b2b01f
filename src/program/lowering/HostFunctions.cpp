#include "HostFunctions.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace tilewright::lowering {

namespace {

/// "float16" of `torch.float16`, `numpy.float16`, `jax.numpy.float16`.
std::optional<DType> dtypeOf(const FrontValue &value) {
  if (value.is(FrontKind::TypeObject) && value.type.isScalar() && !value.type.isPointer())
    return value.type.dtype;
  if (!value.is(FrontKind::Foreign))
    return std::nullopt;
  const std::string name = value.text.substr(value.text.rfind('.') + 1);
  if (name == "half")
    return DType::Float16;
  if (name == "float" || name == "single")
    return DType::Float32;
  if (name == "double")
    return DType::Float64;
  if (name == "float8_e4m3fn")
    return DType::Fp8E4M3;
  if (name == "float8_e5m2")
    return DType::Fp8E5M2;
  if (name == "float8_e4m3fnuz")
    return DType::Fp8E4B8;
  if (name == "float8_e5m2fnuz")
    return DType::Fp8E5B16;
  return parseTritonDType(name);
}

FrontValue record(std::vector<FrontValue> items, std::vector<std::string> names) {
  FrontValue value = FrontValue::tuple(std::move(items));
  value.fields = std::make_shared<const std::vector<std::string>>(std::move(names));
  return value;
}

struct FloatLimits {
  DType dtype;
  double largest, smallestNormal, epsilon;
};

/// IEEE 754 and the OCP fp8 formats; the fnuz ones have no negative zero and one more exponent.
constexpr std::array<FloatLimits, 8> kFloats = {{
    {DType::Float16, 65504.0, 0x1p-14, 0x1p-10},
    {DType::BFloat16, 0x1.FEp127, 0x1p-126, 0x1p-7},
    {DType::Float32, 0x1.FFFFFEp127, 0x1p-126, 0x1p-23},
    {DType::Float64, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 0x1p-52},
    {DType::Fp8E4M3, 448.0, 0x1p-6, 0x1p-3},
    {DType::Fp8E5M2, 57344.0, 0x1p-14, 0x1p-2},
    {DType::Fp8E4B8, 240.0, 0x1p-7, 0x1p-3},
    {DType::Fp8E5B16, 57344.0, 0x1p-15, 0x1p-2},
}};

std::optional<FrontValue> floatLimits(LoweringContext &c, DType dtype) {
  for (const FloatLimits &row : kFloats)
    if (row.dtype == dtype)
      return record({FrontValue::floating(row.largest), FrontValue::floating(-row.largest),
                     FrontValue::floating(row.epsilon), FrontValue::floating(row.smallestNormal),
                     FrontValue::floating(row.smallestNormal), c.integer(bitWidth(dtype))},
                    {"max", "min", "eps", "tiny", "smallest_normal", "bits"});
  return std::nullopt;
}

std::optional<FrontValue> integerLimits(LoweringContext &c, DType dtype) {
  if (!isInteger(dtype) || dtype == DType::UInt64)
    return std::nullopt;
  const uint32_t bits = bitWidth(dtype);
  const bool isUnsigned = !isSigned(dtype);
  const int64_t largest = static_cast<int64_t>((uint64_t(1) << (isUnsigned ? bits : bits - 1)) - 1);
  return record({c.integer(largest), c.integer(isUnsigned ? 0 : -largest - 1), c.integer(bits)},
                {"max", "min", "bits"});
}

} // namespace

std::optional<FrontValue> foreignValue(const std::string &path) {
  if (path == "triton.__version__") // the language that this front end follows
    return FrontValue::string("3.9.0");
  const size_t dot = path.rfind('.');
  const std::string module = path.substr(0, dot), name = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (module != "math" && module != "numpy" && module != "torch")
    return std::nullopt;
  if (name == "pi")
    return FrontValue::floating(std::numbers::pi);
  if (name == "e")
    return FrontValue::floating(std::numbers::e);
  if (name == "inf")
    return FrontValue::floating(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return FrontValue::floating(std::numeric_limits<double>::quiet_NaN());
  return std::nullopt;
}

std::optional<FrontValue> callForeign(LoweringContext &c, const std::string &path,
                                      const std::vector<FrontValue> &arguments, const SourceRange &range) {
  if ((path == "os.environ.get" || path == "os.getenv") && !arguments.empty()) // nothing is set
    return arguments.size() > 1 ? arguments[1] : FrontValue::none();
  const size_t dot = path.rfind('.');
  const std::string module = path.substr(0, dot), name = dot == std::string::npos ? "" : path.substr(dot + 1);
  if (module != "math" && module != "numpy" && module != "torch")
    return std::nullopt;
  if (name == "finfo" || name == "iinfo") {
    const auto dtype = arguments.size() == 1 ? dtypeOf(arguments[0]) : std::nullopt;
    if (!dtype)
      return std::nullopt;
    return name == "finfo" ? floatLimits(c, *dtype) : integerLimits(c, *dtype);
  }
  std::vector<double> numbers;
  for (const FrontValue &argument : arguments) {
    if (!argument.isNumber())
      return std::nullopt;
    numbers.push_back(argument.is(FrontKind::Float) ? argument.number
                                                    : static_cast<double>(c.concrete(argument, range)));
  }
  struct Unary {
    std::string_view name;
    double (*function)(double);
  };
  static constexpr std::array<Unary, 7> kUnary = {{{"log", std::log},
                                                   {"log2", std::log2},
                                                   {"log10", std::log10},
                                                   {"sqrt", std::sqrt},
                                                   {"exp", std::exp},
                                                   {"exp2", std::exp2},
                                                   {"fabs", std::fabs}}};
  if (numbers.size() == 1) {
    for (const Unary &row : kUnary)
      if (row.name == name)
        return FrontValue::floating(row.function(numbers[0]));
    if ((name == "ceil" || name == "floor") && module == "math" && std::fabs(numbers[0]) < 9e18)
      return c.integer(static_cast<int64_t>(name == "ceil" ? std::ceil(numbers[0]) : std::floor(numbers[0])));
  }
  if (numbers.size() == 2 && name == "pow")
    return FrontValue::floating(std::pow(numbers[0], numbers[1]));
  if (numbers.size() == 2 && name == "log")
    return FrontValue::floating(std::log(numbers[0]) / std::log(numbers[1]));
  return std::nullopt;
}

} // namespace tilewright::lowering

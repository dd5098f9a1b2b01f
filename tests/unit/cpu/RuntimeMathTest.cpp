#include "HandWrittenModule.h"

#include <functional>
#include <limits>

using namespace tilewright;
using namespace tilewright::cpu;

namespace {

/// y[i] = op(x[i]), 16 lanes at a time.
std::string unaryText(std::string_view op, std::string_view element) {
  std::string text = R"(
  func.func @kernel(%frame: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) -> i32 {
    %arguments = llvm.load %frame : !llvm.ptr -> !llvm.ptr
    %x = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
    %slot = llvm.getelementptr %arguments[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %y = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : i64
    %lanes = arith.constant 16 : i64
    scf.for %pid = %begin to %end step %c1 : i64 {
      %offset = arith.muli %pid, %lanes : i64
      %from = llvm.getelementptr %x[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, T
      %to = llvm.getelementptr %y[%offset] : (!llvm.ptr, i64) -> !llvm.ptr, T
      %v = llvm.load %from {alignment = 2 : i64} : !llvm.ptr -> vector<16xT>
      %r = OP %v : vector<16xT>
      llvm.store %r, %to {alignment = 2 : i64} : vector<16xT>, !llvm.ptr
    }
    %ok = arith.constant 0 : i32
    return %ok : i32
  })";
  for (size_t at; (at = text.find("OP")) != std::string::npos;)
    text.replace(at, 2, op);
  for (const char *place : {", T\n", "xT>"}) {
    for (size_t at; (at = text.find(place)) != std::string::npos;)
      text.replace(text.find('T', at), 1, element);
  }
  return text;
}

/// Numbers of every magnitude and both signs, dense where functions bend, and the special ones.
std::vector<float> inputs() {
  std::vector<float> out;
  for (int exponent = -149; exponent < 128; ++exponent) {
    for (const float fraction : {1.0f, 1.1f, 1.37f, 1.5f, 1.77f, 1.99f})
      out.insert(out.end(), {std::ldexp(fraction, exponent), -std::ldexp(fraction, exponent)});
  }
  for (int i = -4000; i < 4000; ++i)
    out.push_back(static_cast<float>(i) * 0.03f);
  const float inf = std::numeric_limits<float>::infinity();
  out.insert(out.end(), {0.0f, -0.0f, inf, -inf, std::numeric_limits<float>::quiet_NaN()});
  // Where results of exp and exp2 stop being finite or normal, number by number.
  for (const float edge : {88.7228317f, -87.3365402f, 128.0f, -126.0f, 0.34657359f, 0.5f}) {
    float up = edge, down = edge;
    for (int i = 0; i < 40; ++i) {
      out.insert(out.end(), {up, down});
      up = std::nextafter(up, inf), down = std::nextafter(down, -inf);
    }
  }
  for (const uint32_t payload : {0x7fc00001u, 0xffc00155u, 0x7fffffffu, 0xffc00000u})
    out.push_back(std::bit_cast<float>(payload));
  while (out.size() % 16 != 0)
    out.push_back(1.0f);
  return out;
}

double ulpsApart(float got, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(got) || std::isnan(rounded))
    return std::isnan(got) && std::isnan(rounded) ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(rounded))
    return got == rounded ? 0 : std::abs(exact) > 3.4e38 && std::abs(got) > 3.4e38 ? 1 : INFINITY;
  if (got == 0 && std::abs(exact) < std::numeric_limits<float>::min())
    return 0; // subnormal results may become zero
  const double spacing = std::ldexp(
      1.0, std::max(std::ilogb(std::max(std::abs(rounded), std::numeric_limits<float>::min())), -126) - 23);
  return std::abs(got - exact) / spacing;
}

struct Function {
  const char *op;
  double (*exact)(double);
  double maxUlps;
};

} // namespace

class RuntimeMath : public testing::TestWithParam<Function> {};

TEST_P(RuntimeMath, IsCloseToTheExactValueEverywhere) {
  const auto [op, exact, maxUlps] = GetParam();
  for (const char *wanted : {"", "avx2", "sse2"}) {
    setenv("TILEWRIGHT_CPU_ISA", wanted, 1);
    const CpuIsa isa = hostIsa();
    unsetenv("TILEWRIGHT_CPU_ISA");
    const auto kernel = loadText(unaryText(op, "f32"), isa);
    ASSERT_TRUE(kernel) << render(kernel.error());
    const auto x = inputs();
    std::vector<float> y(x.size());
    ASSERT_TRUE(launch(**kernel, {const_cast<float *>(x.data()), y.data()},
                       {static_cast<int64_t>(x.size() / 16), 1, 1}));
    double worst = 0;
    size_t worstAt = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (const double apart = ulpsApart(y[i], exact(x[i])); apart > worst) {
        worst = apart;
        worstAt = i;
      }
    }
    EXPECT_LE(worst, maxUlps) << op << "(" << x[worstAt] << ") = " << y[worstAt] << " instead of "
                              << exact(x[worstAt]) << " for \"" << wanted << '"';
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, RuntimeMath,
    testing::Values(Function{"math.exp", std::exp, 2}, Function{"math.exp2", std::exp2, 2},
                    Function{"math.expm1", std::expm1, 4}, Function{"math.log", std::log, 2},
                    Function{"math.log2", std::log2, 3}, Function{"math.log1p", std::log1p, 3},
                    Function{"math.tanh", std::tanh, 4}, Function{"math.erf", std::erf, 4},
                    Function{"math.sin", std::sin, 2}, Function{"math.cos", std::cos, 2},
                    Function{"math.sqrt", std::sqrt, 1}, Function{"math.floor", std::floor, 0},
                    Function{"math.ceil", std::ceil, 0}, Function{"math.atan", std::atan, 3},
                    Function{"math.log10", std::log10, 3}, Function{"math.roundeven", std::nearbyint, 0},
                    Function{"math.tan", std::tan, 3}),
    [](const auto &info) { return std::string(info.param.op).substr(5); });

TEST(RuntimeMathShortFloats, AreComputedInF32AndRoundedOnce) {
  for (const char *type : {"f16", "bf16"}) {
    for (const char *wanted : {"", "avx2", "sse2"}) {
      setenv("TILEWRIGHT_CPU_ISA", wanted, 1);
      const CpuIsa isa = hostIsa();
      unsetenv("TILEWRIGHT_CPU_ISA");
      const auto kernel = loadText(unaryText("math.exp", type), isa);
      ASSERT_TRUE(kernel) << type << wanted << ": " << render(kernel.error());
      const bool half = std::string_view(type) == "f16";
      const uint16_t one = half ? 0x3c00 : 0x3f80, e = half ? 0x4170 : 0x402e; // e rounded to nearest
      std::vector<uint16_t> x(16, one), y(16);
      ASSERT_TRUE(launch(**kernel, {x.data(), y.data()}, {1, 1, 1}));
      EXPECT_EQ(y[0], e) << type << " " << wanted;
      EXPECT_EQ(y[15], e) << type << " " << wanted;
    }
  }
}

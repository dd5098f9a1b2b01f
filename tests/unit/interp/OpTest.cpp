#include "KernelRun.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace tilewright;
using tilewright::testing::KernelRun;

namespace {

/// Runs one operation on whole buffers: `ops` computes %r (of type `out`) from %a and %b, tiles of `in`.
template <class In, class Out>
std::vector<Out> apply(const std::string &in, const std::string &out, const std::string &ops,
                       std::vector<In> a, std::vector<In> b = {}) {
  const std::string n = std::to_string(a.size());
  b.resize(a.size());
  std::vector<Out> r(a.size());
  const auto tile = [&](const std::string &element) { return "tile<" + n + " x " + element + ">"; };
  const auto pointer = [&](const std::string &name, const std::string &element) {
    return "%p" + name + " = splat %" + name + " : " + tile("ptr<" + element + ">") + "\n%q" + name +
           " = addptr %p" + name + ", %offs : " + tile("ptr<" + element + ">") + "\n";
  };
  std::string text = "kernel @k(%x: ptr<" + in + ">, %y: ptr<" + in + ">, %out: ptr<" + out + ">) {\n";
  text += "%offs = iota {start = 0, end = " + n + "} : " + tile("i32") + "\n";
  text += pointer("x", in) + "%a = load %qx : " + tile(in) + "\n";
  text += pointer("y", in) + "%b = load %qy : " + tile(in) + "\n";
  std::string body = ops;
  for (size_t at; (at = body.find("IN")) != std::string::npos;)
    body.replace(at, 2, tile(in));
  for (size_t at; (at = body.find("OUT")) != std::string::npos;)
    body.replace(at, 3, tile(out));
  text += body + "\n" + pointer("out", out) + "store %qout, %r\n}";
  KernelRun(text).buffer("x", a).buffer("y", b).buffer("out", r).run();
  return r;
}

template <class T>
std::vector<T> same(const std::string &dtype, const std::string &op, std::vector<T> a, std::vector<T> b) {
  return apply<T, T>(dtype, dtype, "%r = " + op + " %a, %b : IN", std::move(a), std::move(b));
}
template <class T>
std::vector<T> unary(const std::string &dtype, const std::string &function, std::vector<T> a) {
  return apply<T, T>(dtype, dtype, "%r = unary %a {function = \"" + function + "\"} : IN", std::move(a));
}
template <class In, class Out>
std::vector<Out> cast(const std::string &in, const std::string &out, std::vector<In> a) {
  return apply<In, Out>(in, out, "%r = cast %a : OUT", std::move(a));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Ops, IntegersWrap) {
  EXPECT_EQ(same<int32_t>("i32", "add", {INT32_MAX, -1}, {1, 1}), (std::vector<int32_t>{INT32_MIN, 0}));
  EXPECT_EQ(same<int8_t>("i8", "mul", {100, -128}, {3, -1}), (std::vector<int8_t>{44, -128}));
  EXPECT_EQ(same<uint8_t>("u8", "sub", {0, 5}, {1, 5}), (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(same<int64_t>("i64", "add", {INT64_MAX}, {1}), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(unary<int16_t>("i16", "neg", {INT16_MIN, 4}), (std::vector<int16_t>{INT16_MIN, -4}));
  EXPECT_EQ(unary<int32_t>("i32", "abs", {INT32_MIN, -4}), (std::vector<int32_t>{INT32_MIN, 4}));
}

TEST(Ops, DivisionTruncates) {
  EXPECT_EQ(same<int32_t>("i32", "div", {7, -7, 7, -7, INT32_MIN, 5}, {2, 2, -2, -2, -1, 0}),
            (std::vector<int32_t>{3, -3, -3, 3, INT32_MIN, 0}));
  EXPECT_EQ(same<int32_t>("i32", "rem", {7, -7, 7, -7, INT32_MIN, 5}, {2, 2, -2, -2, -1, 0}),
            (std::vector<int32_t>{1, -1, 1, -1, 0, 5}));
  EXPECT_EQ(same<uint64_t>("u64", "div", {UINT64_MAX}, {2}), (std::vector<uint64_t>{UINT64_MAX / 2}));
  EXPECT_EQ(same<uint64_t>("u64", "rem", {UINT64_MAX}, {10}), (std::vector<uint64_t>{5}));
  EXPECT_EQ(same<float>("f32", "rem", {7.5f, -7.5f}, {2, 2}), (std::vector<float>{1.5f, -1.5f}));
}

TEST(Ops, ShiftsPastTheWidthLeaveTheSign) {
  EXPECT_EQ(same<int32_t>("i32", "shl", {1, 1, 1, 3}, {31, 32, -1, 4}),
            (std::vector<int32_t>{INT32_MIN, 0, 0, 48}));
  EXPECT_EQ(same<int32_t>("i32", "shr", {-8, -8, 8, -8}, {1, 32, 40, -1}),
            (std::vector<int32_t>{-4, -1, 0, -1}));
  EXPECT_EQ(same<uint32_t>("u32", "shr", {0x80000000u, 1}, {31, 32}), (std::vector<uint32_t>{1, 0}));
}

TEST(Ops, UnsignedComparesAsUnsigned) {
  EXPECT_EQ(same<uint64_t>("u64", "max", {UINT64_MAX, 1}, {1, 2}), (std::vector<uint64_t>{UINT64_MAX, 2}));
  EXPECT_EQ(same<int64_t>("i64", "max", {-1, 1}, {1, 2}), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ((apply<uint64_t, int8_t>("u64", "i1", "%r = compare %a, %b {predicate = \"gt\"} : OUT",
                                     {UINT64_MAX}, {1})),
            (std::vector<int8_t>{1}));
  EXPECT_EQ(same<uint32_t>("u32", "mulhi", {0xffffffffu}, {0xffffffffu}),
            (std::vector<uint32_t>{0xfffffffeu}));
  EXPECT_EQ(same<int32_t>("i32", "mulhi", {-1}, {2}), (std::vector<int32_t>{1})); // umulhi: the bits count
}

TEST(Ops, MinMaxAndNan) {
  const auto propagating = [](const std::string &op) {
    return apply<float, float>("f32", "f32", "%r = " + op + " %a, %b {propagate_nan = true} : IN",
                               {kNan, 1, 3}, {2, kNan, 4});
  };
  EXPECT_EQ(same<float>("f32", "max", {kNan, 1, 3}, {2, kNan, 4}), (std::vector<float>{2, 1, 4}));
  EXPECT_EQ(same<float>("f32", "min", {kNan, 1, 3}, {2, kNan, 4}), (std::vector<float>{2, 1, 3}));
  EXPECT_TRUE(std::isnan(propagating("max")[0]) && std::isnan(propagating("max")[1]));
  EXPECT_EQ(propagating("min")[2], 3);
}

TEST(Ops, ComparisonsAreOrderedExceptNotEqual) {
  const auto compare = [](const std::string &predicate) {
    return apply<float, int8_t>("f32", "i1", "%r = compare %a, %b {predicate = \"" + predicate + "\"} : OUT",
                                {1, kNan, 2, 2}, {2, kNan, 2, 1});
  };
  EXPECT_EQ(compare("lt"), (std::vector<int8_t>{1, 0, 0, 0}));
  EXPECT_EQ(compare("le"), (std::vector<int8_t>{1, 0, 1, 0}));
  EXPECT_EQ(compare("gt"), (std::vector<int8_t>{0, 0, 0, 1}));
  EXPECT_EQ(compare("ge"), (std::vector<int8_t>{0, 0, 1, 1}));
  EXPECT_EQ(compare("eq"), (std::vector<int8_t>{0, 0, 1, 0}));
  EXPECT_EQ(compare("ne"), (std::vector<int8_t>{1, 1, 0, 1}));
}

TEST(Ops, CastsFromFloats) {
  EXPECT_EQ((cast<float, int32_t>("f32", "i32", {1.9f, -1.9f, 3e9f, -3e9f, kNan})),
            (std::vector<int32_t>{1, -1, INT32_MAX, INT32_MIN, 0}));
  EXPECT_EQ((cast<float, uint8_t>("f32", "u8", {255.5f, 300, -1})), (std::vector<uint8_t>{255, 255, 0}));
  EXPECT_EQ((cast<float, int8_t>("f32", "i1", {0.25f, 0, -0.0f, kNan})), (std::vector<int8_t>{1, 0, 0, 1}));
  EXPECT_EQ((cast<double, float>("f64", "f32", {1e300, 0.1})), (std::vector<float>{kInf, 0.1f}));
  EXPECT_EQ((cast<double, uint64_t>("f64", "u64", {1e19, 2e19})),
            (std::vector<uint64_t>{10000000000000000000u, UINT64_MAX}));
}

TEST(Ops, CastsFromIntegers) {
  EXPECT_EQ((cast<int32_t, int8_t>("i32", "i8", {300, -1})), (std::vector<int8_t>{44, -1}));
  EXPECT_EQ((cast<int8_t, uint32_t>("i8", "u32", {-1})), (std::vector<uint32_t>{UINT32_MAX}));
  EXPECT_EQ((cast<uint8_t, int32_t>("u8", "i32", {255})), (std::vector<int32_t>{255}));
  EXPECT_EQ((cast<uint64_t, float>("u64", "f32", {UINT64_MAX})),
            (std::vector<float>{18446744073709551616.f}));
  EXPECT_EQ((cast<int32_t, int8_t>("i32", "i1", {2, 0})), (std::vector<int8_t>{1, 0}));
  EXPECT_EQ((cast<int64_t, float>("i64", "f32", {16777217})), (std::vector<float>{16777216.f}));
}

/// The compiler's own half type, which has nothing to do with ours.
TEST(Ops, HalfMatchesTheCompiler) {
  std::vector<float> values{0,     -0.0f,    1,        65504,    65519.9f, 65520,     1e9f,
                            -kInf, 5.96e-8f, 2.98e-8f, 2.99e-8f, 6.1e-5f,  6.097e-5f, 1e-10f};
  uint32_t state = 12345;
  for (int i = 0; i < 4000; ++i) {
    state = state * 1664525u + 1013904223u;
    const float value = std::bit_cast<float>((state & 0x807fffffu) | ((96u + state / 7 % 50u) << 23));
    values.push_back(value);
  }
  const auto halves = cast<float, uint16_t>("f32", "f16", values);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto wanted = static_cast<_Float16>(values[i]);
    ASSERT_EQ(halves[i], std::bit_cast<uint16_t>(wanted)) << values[i];
  }
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  const auto floats = cast<uint16_t, float>("f16", "f32", all);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto wanted = static_cast<float>(std::bit_cast<_Float16>(all[i]));
    if (std::isnan(wanted))
      ASSERT_TRUE(std::isnan(floats[i]));
    else
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(wanted)) << i;
  }
}

TEST(Ops, BFloatRoundsToNearestEven) {
  const std::vector<float> values{1.0f, 1.00390625f, 1.01171875f, 3.4e38f, kInf, -2.5f, 1e-40f, 1.0039063f};
  const auto rounded = cast<float, uint16_t>("f32", "bf16", values);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(values[i]);
    EXPECT_EQ(rounded[i], (bits + 0x7fff + (bits >> 16 & 1)) >> 16) << values[i];
  }
  const auto truncated =
      apply<float, uint16_t>("f32", "bf16", "%r = cast %a {rounding = \"rtz\"} : OUT", values);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(truncated[i], std::bit_cast<uint32_t>(values[i]) >> 16) << values[i];
  // 256 + 1 is a tie in bf16 (8 bits of significand) and goes to 256.
  EXPECT_EQ(same<uint16_t>("bf16", "add", {0x4380}, {0x3f80}), (std::vector<uint16_t>{0x4380}));
}

TEST(Ops, EightBitFloats) {
  const auto e4m3 =
      cast<float, uint8_t>("f32", "f8e4m3", {1, 448, 1000, -0.001953125f, 0.0009765625f, kNan, 1.0625f, 464});
  EXPECT_EQ(e4m3, (std::vector<uint8_t>{0x38, 0x7e, 0x7e, 0x81, 0, 0x7f, 0x38, 0x7e}));
  const auto e5m2 = cast<float, uint8_t>("f32", "f8e5m2", {1, 57344, 1e9f, kInf, 1.1f});
  EXPECT_EQ(e5m2, (std::vector<uint8_t>{0x3c, 0x7b, 0x7b, 0x7b, 0x3c}));
  EXPECT_EQ((cast<uint8_t, float>("f8e4m3", "f32", {0x38, 0x7e, 0x01, 0x80})),
            (std::vector<float>{1, 448, 0.001953125f, -0.0f}));
  EXPECT_EQ((cast<uint8_t, float>("f8e4b8", "f32", {0x40, 0x7f})), (std::vector<float>{1, 240}));
  EXPECT_EQ((cast<uint8_t, float>("f8e5b16", "f32", {0x40, 0x7f})), (std::vector<float>{1, 57344}));
  for (const char *dtype : {"f8e4m3", "f8e5m2", "f8e4b8", "f8e5b16"}) {
    std::vector<uint8_t> all(256);
    for (size_t i = 0; i < 256; ++i)
      all[i] = static_cast<uint8_t>(i);
    const auto floats = cast<uint8_t, float>(dtype, "f32", all);
    const auto back = cast<float, uint8_t>("f32", dtype, floats);
    for (size_t i = 0; i < 256; ++i)
      if (std::isfinite(floats[i])) { // infinity saturates
        EXPECT_EQ(back[i], all[i]) << dtype;
      }
  }
}

TEST(Ops, BitcastKeepsBits) {
  EXPECT_EQ((apply<float, int32_t>("f32", "i32", "%r = bitcast %a : OUT", {1, -0.0f})),
            (std::vector<int32_t>{0x3f800000, INT32_MIN}));
  EXPECT_EQ((apply<uint16_t, int16_t>("bf16", "i16", "%r = bitcast %a : OUT", {0xff80})),
            (std::vector<int16_t>{-128}));
}

TEST(Ops, MathFunctions) {
  const std::vector<float> x{0.5f, 1.25f, 2, 0.125f};
  const std::pair<const char *, double (*)(double)> functions[] = {
      {"exp", std::exp},
      {"exp2", std::exp2},
      {"log", std::log},
      {"log2", std::log2},
      {"sqrt", std::sqrt},
      {"sqrt_rn", std::sqrt},
      {"sin", std::sin},
      {"cos", std::cos},
      {"tanh", std::tanh},
      {"erf", std::erf},
      {"floor", std::floor},
      {"ceil", std::ceil},
      {"log1p", std::log1p},
      {"expm1", std::expm1},
      {"rsqrt", [](double v) { return 1 / std::sqrt(v); }},
      {"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"trunc", std::trunc},
      {"round", std::round}};
  for (const auto &[name, reference] : functions) {
    const auto got = unary<float>("f32", name, x);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(got[i], static_cast<float>(reference(x[i]))) << name;
  }
  EXPECT_EQ(unary<double>("f64", "exp", {0.3})[0], std::exp(0.3));
  EXPECT_EQ(
      (apply<float, float>("f32", "f32", "%r = binary %a, %b {function = \"pow\"} : IN", {2, 9}, {10, 0.5f})),
      (std::vector<float>{1024, 3}));
  EXPECT_EQ((apply<float, float>(
                "f32", "f32", "%r = extern_call %a {symbol = \"__nv_sqrtf\", library = \"\"} : IN", {9, 16})),
            (std::vector<float>{3, 4}));
  EXPECT_EQ((apply<float, float>("f32", "f32", "%r = fma %a, %a, %b : IN", {3, 4}, {1, -1})),
            (std::vector<float>{10, 15}));
  EXPECT_EQ((apply<float, float>("f32", "f32", "%r = clamp %a, %b, %a : IN", {3, 4}, {5, -1})),
            (std::vector<float>{3, 4}));
  const auto inverse = unary<double>("f64", "erfinv", {0.5, -0.999999, 1e-8, 0.0, 1.0});
  EXPECT_NEAR(inverse[0], 0.47693627620446987, 1e-15);
  EXPECT_NEAR(std::erf(inverse[1]), -0.999999, 1e-15);
  EXPECT_NEAR(std::erf(inverse[2]), 1e-8, 1e-16);
  EXPECT_EQ(inverse[3], 0);
  EXPECT_TRUE(std::isinf(inverse[4]));
  EXPECT_EQ(unary<uint32_t>("u32", "popc", {255}), (std::vector<uint32_t>{8}));
  EXPECT_EQ(unary<int32_t>("i32", "not", {0}), (std::vector<int32_t>{-1}));
}

TEST(Ops, MaskedLoadsTakeOther) {
  const std::string ops = R"(%zero = constant {value = 0} : i32
    %z = splat %zero : tile<4 x i32>
    %two = constant {value = 2} : i32
    %t = splat %two : tile<4 x i32>
    %m = compare %offs, %t {predicate = "lt"} : tile<4 x i1>
    %r = load %qx, %m)";
  EXPECT_EQ((apply<int32_t, int32_t>("i32", "i32", ops + ", %b : IN", {1, 2, 3, 4}, {5, 6, 7, 8})),
            (std::vector<int32_t>{1, 2, 7, 8}));
  EXPECT_EQ((apply<int32_t, int32_t>("i32", "i32", ops + " : IN", {1, 2, 3, 4})),
            (std::vector<int32_t>{1, 2, 0, 0}));
}

TEST(Ops, BoolsAreBytesInMemory) {
  EXPECT_EQ((apply<uint8_t, int32_t>("i1", "i32", "%r = cast %a : OUT", {0, 1, 7})),
            (std::vector<int32_t>{0, 1, 1}));
  EXPECT_EQ((apply<uint8_t, uint8_t>("i1", "i1", "%r = unary %a {function = \"not\"} : IN", {0, 1, 7})),
            (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_EQ(same<uint8_t>("i1", "and", {0, 1, 1}, {1, 1, 0}), (std::vector<uint8_t>{0, 1, 0}));
}

TEST(Ops, Shapes) {
  const auto run = [](const std::string &ops, size_t n = 6) {
    std::vector<int32_t> in(n);
    for (size_t i = 0; i < n; ++i)
      in[i] = static_cast<int32_t>(i);
    return apply<int32_t, int32_t>("i32", "i32", ops, in);
  };
  EXPECT_EQ(run("%m = reshape %a : tile<2 x 3 x i32>\n%t = permute %m {order = [1, 0]} : tile<3 x 2 x i32>\n"
                "%r = reshape %t : tile<6 x i32>"),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(run("%m = reshape %a : tile<3 x 2 x i32>\n%s, %t = split %m : tile<3 x i32>, tile<3 x i32>\n"
                "%r = cat %t, %s : tile<6 x i32>"),
            (std::vector<int32_t>{1, 3, 5, 0, 2, 4}));
  EXPECT_EQ(
      run("%m = reshape %a : tile<2 x 3 x i32>\n%s = reduce %m {axis = 0, kind = \"sum\"} : tile<3 x i32>\n"
          "%e = expand_dims %s {axis = 0} : tile<1 x 3 x i32>\n%q = broadcast %e : tile<2 x 3 x i32>\n"
          "%r = reshape %q : tile<6 x i32>"),
      (std::vector<int32_t>{3, 5, 7, 3, 5, 7}));
  EXPECT_EQ(
      run("%m = reshape %a : tile<2 x 3 x i32>\n%s = reduce %m {axis = 1, kind = \"max\"} : tile<2 x i32>\n"
          "%e = expand_dims %s {axis = 1} : tile<2 x 1 x i32>\n%q = broadcast %e : tile<2 x 3 x i32>\n"
          "%r = reshape %q : tile<6 x i32>"),
      (std::vector<int32_t>{2, 2, 2, 5, 5, 5}));
  EXPECT_EQ(
      run("%m = reshape %a : tile<2 x 3 x i32>\n%s = reduce %m {axis = 1, kind = \"min\"} : tile<2 x i32>\n"
          "%t = reduce %m {axis = 1, kind = \"prod\"} : tile<2 x i32>\n%j = join %s, %t : tile<2 x 2 x i32>\n"
          "%f = reshape %j : tile<4 x i32>\n%i2 = iota {start = 0, end = 2} : tile<2 x i32>\n"
          "%g = gather %f, %i2 {axis = 0} : tile<2 x i32>\n%r = cat %f, %g : tile<6 x i32>"),
      (std::vector<int32_t>{0, 0, 3, 60, 0, 0}));
}

TEST(Ops, ArgReductionsAndTies) {
  const auto arg = [](const std::string &kind, const std::string &left) {
    return apply<float, int32_t>("f32", "i32",
                                 "%v, %i = reduce %a, %offs {axis = 0, kind = \"" + kind +
                                     "\", tie_left = " + left + "} : f32, i32\n%r = splat %i : OUT",
                                 {3, 1, 7, 1, 7, 2})[0];
  };
  EXPECT_EQ(arg("argmax", "true"), 2);
  EXPECT_EQ(arg("argmin", "true"), 1);
  EXPECT_EQ(arg("argmax", "false"), 4);
  EXPECT_EQ(arg("argmin", "false"), 3);
}

TEST(Ops, ReductionKinds) {
  const auto total = [](const std::string &kind, std::vector<int32_t> values) {
    return apply<int32_t, int32_t>(
        "i32", "i32", "%s = reduce %a {axis = 0, kind = \"" + kind + "\"} : i32\n%r = splat %s : OUT",
        std::move(values))[0];
  };
  EXPECT_EQ(total("sum", {INT32_MAX, 1, 1}), INT32_MIN + 1);
  EXPECT_EQ(total("xor", {5, 3, 9}), 15);
  EXPECT_EQ(total("and", {7, 14, 6}), 6);
  EXPECT_EQ(total("or", {1, 8}), 9);
  EXPECT_EQ(total("prod", {3, -4}), -12);
  EXPECT_EQ((apply<float, float>("f32", "f32",
                                 "%s = reduce %a {axis = 0, kind = \"max\"} : f32\n%r = splat %s : OUT",
                                 {kNan, 2, 1})[0]),
            2);
  EXPECT_TRUE(std::isnan(apply<float, float>(
      "f32", "f32",
      "%s = reduce %a {axis = 0, kind = \"max\", propagate_nan = true} : f32\n%r = splat %s : OUT",
      {1, kNan, 2})[0]));
}

TEST(Ops, Scans) {
  const std::vector<int32_t> values{1, 2, 3, 4};
  EXPECT_EQ((apply<int32_t, int32_t>("i32", "i32", "%r = scan %a {axis = 0, kind = \"sum\"} : OUT", values)),
            (std::vector<int32_t>{1, 3, 6, 10}));
  EXPECT_EQ((apply<int32_t, int32_t>(
                "i32", "i32", "%r = scan %a {axis = 0, kind = \"sum\", reverse = true} : OUT", values)),
            (std::vector<int32_t>{10, 9, 7, 4}));
  EXPECT_EQ((apply<int32_t, int32_t>("i32", "i32", "%r = scan %a {axis = 0, kind = \"prod\"} : OUT", values)),
            (std::vector<int32_t>{1, 2, 6, 24}));
  EXPECT_EQ((apply<int32_t, int32_t>("i32", "i32",
                                     "%r = scan %a {axis = 0, kind = \"\"} : OUT { (%s: i32, %t: i32)\n"
                                     "%d = sub %s, %t : i32\nyield %d\n}",
                                     values)),
            (std::vector<int32_t>{1, -1, -4, -8}));
}

TEST(Ops, SortAndHistogram) {
  EXPECT_EQ(
      (apply<float, float>("f32", "f32", "%r = sort %a {axis = 0, descending = false} : OUT", {3, -1, 2, 0})),
      (std::vector<float>{-1, 0, 2, 3}));
  EXPECT_EQ(
      (apply<float, float>("f32", "f32", "%r = sort %a {axis = 0, descending = true} : OUT", {3, -1, 2, 0})),
      (std::vector<float>{3, 2, 0, -1}));
  EXPECT_EQ((apply<int32_t, int32_t>("i32", "i32", "%r = histogram %a {bins = 4} : OUT", {1, 1, 3, 9})),
            (std::vector<int32_t>{0, 2, 0, 1}));
}

TEST(Ops, APointerTileOfOneCanBecomeAScalar) {
  EXPECT_EQ((apply<float, float>(
                "f32", "f32",
                "%i = iota {start = 2, end = 3} : tile<1 x i32>\n%p = splat %x : tile<1 x ptr<f32>>\n"
                "%q = addptr %p, %i : tile<1 x ptr<f32>>\n"
                "%s = reduce %q {axis = 0, kind = \"max\"} : ptr<f32>\n%v = load %s : f32\n"
                "%r = splat %v : OUT",
                {1, 2, 3, 4})[1]),
            3);
}

TEST(Ops, IntegerDotWraps) {
  EXPECT_EQ((apply<int8_t, int32_t>("i8", "i32",
                                    "%m = reshape %a : tile<2 x 2 x i8>\n%n = reshape %b : tile<2 x 2 x i8>\n"
                                    "%z = constant {value = 1} : i32\n%c = splat %z : tile<2 x 2 x i32>\n"
                                    "%d = dot %m, %n, %c : tile<2 x 2 x i32>\n%r = reshape %d : OUT",
                                    {100, 100, 1, 2}, {100, 1, 100, -1})),
            (std::vector<int32_t>{20001, 1, 301, 0}));
}

TEST(Ops, UnknownFunctionsAreRefused) {
  std::vector<float> x(1);
  const auto done =
      KernelRun("kernel @k(%x: ptr<f32>) {\n%a = load %x : f32\n%r = unary %a {function = \"frob\"} : f32\n}")
          .buffer("x", x)
          .tryRun();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "compile.unsupported");
  EXPECT_EQ(done.error().kind, ErrorKind::Refusal);
  EXPECT_NE(done.error().message.find("frob"), std::string::npos);
}

} // namespace

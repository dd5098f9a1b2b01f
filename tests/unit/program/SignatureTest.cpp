#include "tilewright/program/Signature.h"

#include <gtest/gtest.h>

using namespace tilewright;

namespace {

TEST(Signature, ReadsArguments) {
  const std::pair<const char *, const char *> cases[] = {
      {"x=f32[98432]", "f32[98432]"},
      {"w = bf16[4096, 1024]", "bf16[4096,1024]"},
      {"idx=i64[1000]:0..4095", "i64[1000]:0..4095"},
      {"x=fp16[4,8]{16,1}", "f16[4,8]{16,1}"},
      {"s=f32[]", "f32[]"},
      {"n=98432", "98432"},
      {"n=-1", "-1"},
      {"eps=1e-6", "1e-06"},
      {"eps=2.0", "2.0"},
      {"y=None", "None"},
      {"FLAG=true", "true"},
      {"FLAG=False", "false"},
      {"ACT=\"re lu\"", "\"re lu\""},
      {"ACT=relu", "\"relu\""},
      {"OUT=dtype:bf16", "dtype:bf16"},
      {"OUT=tl.float16", "dtype:f16"},
  };
  for (const auto &[text, value] : cases) {
    const auto argument = parseArgument(text);
    ASSERT_TRUE(argument) << text << argument.error().message;
    EXPECT_EQ(toString(argument->value), value);
    const auto again = parseArgument("a=" + toString(argument->value));
    ASSERT_TRUE(again) << value;
    EXPECT_EQ(again->value, argument->value);
  }
}

TEST(Signature, RefusesWhatItCannotRead) {
  for (const char *text :
       {"x", "=3", "x=", "x=f99[4]", "x=f32[4", "x=f32[a]", "x=f32[-1]", "x=f32[4]{1,2}", "x=f32[4]{1",
        "x=i32[4]:3", "x=i32[4]:5..1", "x=f32[4]zzz", "x=\"abc", "x=dtype:foo"}) {
    const auto argument = parseArgument(text);
    ASSERT_FALSE(argument) << text;
    EXPECT_EQ(argument.error().code, "arg.syntax");
    EXPECT_NE(argument.error().message.find(text), std::string::npos);
  }
}

TEST(Signature, TensorExtents) {
  EXPECT_EQ((TensorSpec{DType::Float32, {4, 8}}).byteExtent(), 128);
  EXPECT_EQ((TensorSpec{DType::Float16, {4, 8}, {16, 1}}).byteExtent(), 2 * (3 * 16 + 7 + 1));
  EXPECT_EQ((TensorSpec{DType::Float16, {0, 8}}).byteExtent(), 0);
  EXPECT_EQ((TensorSpec{DType::Float16, {}}).byteExtent(), 2);
  EXPECT_EQ((TensorSpec{DType::Int1, {5}}).byteExtent(), 5);
  EXPECT_EQ((TensorSpec{DType::Float64, {INT64_MAX, 4}}).byteExtent(), INT64_MAX);
}

TEST(Types, SpellingsReadBack) {
  for (int i = 0; i <= static_cast<int>(DType::Void); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parseDType(name(dtype)), dtype);
    EXPECT_EQ(parseTritonDType(tritonName(dtype)), dtype);
  }
  EXPECT_EQ(parseTritonDType("float8e4nv"), DType::Fp8E4M3);
  EXPECT_EQ(byteSize(DType::Int1), 1u);
  EXPECT_EQ(bitWidth(DType::BFloat16), 16u);
  EXPECT_FALSE(isSigned(DType::Int1));
  EXPECT_TRUE(isInteger(DType::Int1));
  EXPECT_TRUE(isFloat(DType::Fp8E4M3));
}

} // namespace

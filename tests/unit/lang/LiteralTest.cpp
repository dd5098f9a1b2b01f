#include "TestSource.h"

#include <cmath>

namespace tilewright::lang {
namespace {

/// Keeps the module alive beside the constant.
struct Literal {
  explicit Literal(std::string text) : module(parsed(std::move(text))) {
    if (!module.body.empty())
      constant = dynCast<Constant>(cast<ExprStmt>(module.body[0])->value);
  }
  Module module;
  const Constant *constant = nullptr;
  const Constant *operator->() const { return constant; }
};

TEST(LangLiteral, Integers) {
  EXPECT_EQ(*Literal("0")->asInt(), 0);
  EXPECT_EQ(*Literal("1_000_000")->asInt(), 1000000);
  EXPECT_EQ(*Literal("0x7fff_ffff_ffff_ffff")->asInt(), INT64_MAX);
  EXPECT_EQ(*Literal("0B101")->asInt(), 5);
  EXPECT_EQ(*Literal("0o_777")->asInt(), 511);
  EXPECT_EQ(*Literal("00_0")->asInt(), 0);
}

TEST(LangLiteral, IntegersBeyond64BitsKeepTheirDigits) {
  const Literal power("0x1_0000_0000_0000_0000");
  EXPECT_EQ(std::get<BigIntValue>(power->value).digits, "18446744073709551616");
  const Literal first("9223372036854775808");
  EXPECT_EQ(std::get<BigIntValue>(first->value).digits, "9223372036854775808");
  const Literal padded("0xffffffffffffffffffffffffffffffff");
  EXPECT_EQ(std::get<BigIntValue>(padded->value).digits, "340282366920938463463374607431768211455");
}

TEST(LangLiteral, Floats) {
  EXPECT_EQ(*Literal("1e-3")->asFloat(), 1e-3);
  EXPECT_EQ(*Literal("1_0.2_5")->asFloat(), 10.25);
  EXPECT_EQ(*Literal(".5")->asFloat(), 0.5);
  EXPECT_TRUE(std::isinf(*Literal("1e999999999999999999999")->asFloat()));
  EXPECT_EQ(*Literal("1e-999999999999999999999")->asFloat(), 0.0);
  EXPECT_EQ(std::get<ImaginaryValue>(Literal("2.5j")->value).imag, 2.5);
  EXPECT_FALSE(Literal("1.0")->asInt());
}

TEST(LangLiteral, Strings) {
  EXPECT_EQ(*Literal(R"('a\n\t\\\'\x41\u00e9\U0001F600\101\
b\q')")
                 ->asStr(),
            "a\n\t\\'A\xc3\xa9\xf0\x9f\x98\x80"
            "Ab\\q");
  EXPECT_EQ(*Literal(R"(r'\n' 'x' """y""")")->asStr(), "\\nxy");
  EXPECT_EQ(*Literal("'''a\r\nb\rc'''")->asStr(), "a\nb\nc");
  EXPECT_EQ(
      *Literal(R"('\N{latin small letter a}\N{BULLET}\N{HANGUL SYLLABLE GAG}\N{CJK UNIFIED IDEOGRAPH-4E00}')")
           ->asStr(),
      "a\xe2\x80\xa2\xea\xb0\x81\xe4\xb8\x80");
  EXPECT_EQ(*Literal(R"('\ud800')")->asStr(), "\xed\xa0\x80");
  EXPECT_EQ(std::get<BytesValue>(Literal(R"(b'\xff\u1' rB'\x')")->value).bytes, "\xff\\u1\\x");
  EXPECT_TRUE(Literal("u'x'")->unicodePrefix);
}

TEST(LangLiteral, ReprIsPythons) {
  EXPECT_EQ(dumpOf(R"("it's" '"' '\0\x7f\xad\ud800')"),
            R"x(Expr(value=Constant(value='it\'s"\x00\x7f\xad\ud800')))x");
  EXPECT_EQ(dumpOf("1e16, 1e15, 123456.0, 1e-4, 1e-5, 0.1, 1e22, 5e-324"),
            "Expr(value=Tuple(elts=[Constant(value=1e+16), Constant(value=1000000000000000.0), "
            "Constant(value=123456.0), "
            "Constant(value=0.0001), Constant(value=1e-05), Constant(value=0.1), Constant(value=1e+22), "
            "Constant(value=5e-324)], ctx=Load()))");
}

} // namespace
} // namespace tilewright::lang

#include "tilewright/program/SymInt.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>

using namespace tilewright;

namespace {

class SymIntTest : public ::testing::Test {
protected:
  SymInt symbol(const std::string &name, SymRange range = {}, int64_t divisor = 1) {
    return named[name] = context.newSymbol(SymbolKind::RuntimeScalar, name, range, divisor);
  }
  SymInt c(int64_t value) { return context.constant(value); }
  /// Parses over the symbols made so far.
  SymInt e(const std::string &text) {
    auto parsed = parseSymInt(context, text, [&](std::string_view name) {
      const auto found = named.find(std::string(name));
      return found == named.end() ? SymInt() : found->second;
    });
    EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().message);
    return parsed ? *parsed : SymInt();
  }

  void SetUp() override {
    symbol("B", {1, INT64_MAX});
    symbol("M", {0, INT64_MAX});
    symbol("N", {1, INT64_MAX});
    symbol("x");
    symbol("y");
    symbol("n16", {0, INT64_MAX}, 16);
    symbol("small", {0, 7});
    symbol("pid", {0, INT32_MAX});
  }

  SymContext context;
  std::map<std::string, SymInt> named;
};

TEST_F(SymIntTest, EqualExpressionsAreOneNode) {
  EXPECT_EQ(e("x + x"), e("2*x"));
  EXPECT_EQ(e("x + y - x"), e("y"));
  EXPECT_EQ(e("(M + 1)*B"), e("B + B*M"));
  EXPECT_EQ(e("(x + y)*(x - y)"), e("x*x - y*y"));
  EXPECT_EQ(e("x - x"), c(0));
  EXPECT_NE(e("x"), e("y"));
  EXPECT_EQ(e("y*x*3"), e("3*x*y"));
}

TEST_F(SymIntTest, DivisionCancelsOnlyWhatRangesProve) {
  EXPECT_EQ(e("(B*M)//B"), e("M"));
  EXPECT_EQ(e("(B*M + B)//B"), e("M + 1"));
  EXPECT_NE(e("(x*y)//x"), e("y")); // x may be zero
  EXPECT_EQ(e("(16*x) % 16"), c(0));
  EXPECT_EQ(e("(16*x + 5) % 16"), c(5));
  EXPECT_EQ(e("(16*x + 5) // 16"), e("x"));
  EXPECT_EQ(e("(4*x + 3) // 8"), e("x // 2"));
  EXPECT_EQ(e("(4*x + 3) % 8"), e("4*(x % 2) + 3"));
  EXPECT_EQ(e("(x // 4) // 8"), e("x // 32"));
  EXPECT_EQ(e("(x % 64) % 16"), e("x % 16"));
  EXPECT_EQ(e("small // 8"), c(0));
  EXPECT_EQ(e("small % 8"), e("small"));
  EXPECT_EQ(e("n16 % 16"), c(0));
  EXPECT_EQ(e("(n16 + 3) // 16"), e("n16 // 16"));
  EXPECT_EQ(e("n16 // 16 * 16"), e("n16"));
  EXPECT_EQ(e("B*(x // B) + x % B"), e("x"));
  EXPECT_EQ(e("x // -4"), e("(-x) // 4"));
  EXPECT_EQ(e("(pid % B) // B"), c(0));
  EXPECT_EQ(e("(B*M*N)//(B*N)"), e("M"));
}

TEST_F(SymIntTest, CeilingDivision) {
  EXPECT_EQ(context.cdiv(e("M"), e("B")), e("(M + B - 1)//B"));
  EXPECT_EQ(e("(M - 1)//B + 1"), e("cdiv(M, B)"));
  EXPECT_EQ(toString(e("cdiv(M, B)")), "cdiv(M, B)");
  EXPECT_EQ(toString(e("cdiv(M, 64)")), "cdiv(M, 64)");
  EXPECT_EQ(toString(e("cdiv(x, y)")), "cdiv(x, y)");
  EXPECT_EQ(e("cdiv(cdiv(M, 4), 8)"), e("cdiv(M, 32)"));
  EXPECT_EQ(toString(e("cdiv(M, B)*cdiv(N, 16) - 1")), "cdiv(M, B)*cdiv(N, 16) - 1");
  EXPECT_GE(e("cdiv(N, B)").range().min, 1);
  EXPECT_TRUE(context.provablyLe(e("cdiv(N, 16)"), e("N")));
}

TEST_F(SymIntTest, MinMaxSelect) {
  EXPECT_EQ(e("min(small, 7)"), e("small"));
  EXPECT_EQ(e("min(min(x, y), x)"), e("min(x, y)"));
  EXPECT_EQ(e("min(x, x + 1)"), e("x"));
  EXPECT_EQ(e("max(x, min(x, y))"), e("x"));
  EXPECT_EQ(e("max(M, 0)"), e("M"));
  EXPECT_EQ(e("select(x < y, x, y)"), e("min(x, y)"));
  EXPECT_EQ(e("select(x < y, y, x)"), e("max(x, y)"));
  EXPECT_EQ(e("select(1 < 2, x, y)"), e("x"));
  EXPECT_EQ(e("select(x < y, 1, 0)"), e("x < y"));
  EXPECT_EQ(e("min(x, min(4, min(y, 9)))"), e("min(4, min(x, y))"));
}

TEST_F(SymIntTest, ComparisonsFoldByRanges) {
  EXPECT_EQ(e("M < 0"), c(0));
  EXPECT_EQ(e("small <= 7"), c(1));
  EXPECT_EQ(e("B >= 1"), c(1));
  EXPECT_EQ(e("B != 0"), c(1));
  EXPECT_EQ(e("x + 1 > x"), c(1));
  EXPECT_EQ(e("16*x == 8"), c(0));
  EXPECT_EQ(e("not x < y"), e("y <= x"));
  EXPECT_EQ(e("not (x < y and y < 4)"), e("y <= x or 4 <= y"));
  EXPECT_EQ(e("x < y and y <= x"), c(0));
  EXPECT_EQ(e("x < 3 and not x < 3"), c(0));
  EXPECT_EQ(e("4*x < 18"), e("x <= 4"));
  EXPECT_EQ(e("x - y == 0"), e("y == x"));
  EXPECT_EQ(e("M // B * B <= M"), c(1));
  EXPECT_EQ(e("min(x, 5) <= 5"), c(1));
}

TEST_F(SymIntTest, BitsOnWholePowersBecomeArithmetic) {
  EXPECT_EQ(e("x & 15"), e("x % 16"));
  EXPECT_EQ(e("x >> 3"), e("x // 8"));
  EXPECT_EQ(e("x << 3"), e("8*x"));
  EXPECT_EQ(e("x ^ x"), c(0));
  EXPECT_EQ(e("x ^ y"), e("y ^ x"));
  EXPECT_EQ(e("x | 0"), e("x"));
}

TEST_F(SymIntTest, PrintsAsPeopleWrite) {
  EXPECT_EQ(toString(e("B*pid + 3")), "B*pid + 3");
  EXPECT_EQ(toString(e("x - y")), "x - y");
  EXPECT_EQ(toString(e("-x")), "-x");
  EXPECT_EQ(toString(e("x // 4")), "(x // 4)");
  EXPECT_EQ(toString(e("n16 < 64")), "n16 < 64");
  EXPECT_EQ(toString(e("M <= 1024")), "M <= 1024");
  EXPECT_EQ(toString(e("M > 64")), "64 < M");
  EXPECT_EQ(toString(e("x != y")), "x != y");
  EXPECT_EQ(toString(e("min(x, M - B*pid)")), "min(x, -B*pid + M)");
  EXPECT_EQ(toString(e("next_power_of_2(M)")), "next_power_of_2(M)");
}

TEST_F(SymIntTest, OverflowIsLeftUnfolded) {
  const SymInt huge = context.add(c(INT64_MAX), c(1));
  EXPECT_FALSE(huge.isConstant());
  EXPECT_EQ(context.add(huge, c(-1)), c(INT64_MAX));
  EXPECT_FALSE(evaluate(huge, {}));
  EXPECT_FALSE(context.mul(c(INT64_MAX), c(2)).isConstant());
  EXPECT_FALSE(context.neg(c(INT64_MIN)).isConstant());
  EXPECT_FALSE(
      context.mul(context.mul(c(INT64_MAX), e("x")), context.mul(c(INT64_MAX), e("x"))).isConstant());
  EXPECT_EQ(context.floorDiv(c(INT64_MIN), c(2)), c(INT64_MIN / 2));
  EXPECT_FALSE(context.floorDiv(c(INT64_MIN), c(-1)).isConstant());
}

TEST_F(SymIntTest, UndefinedPartsMatterOnlyWhereTheyDecide) {
  SymValues values;
  values.set(named["x"].symbolId(), 0);
  values.set(named["y"].symbolId(), 12);
  EXPECT_FALSE(evaluate(e("y // x"), values));
  EXPECT_EQ(evaluate(e("x != 0 and y // x < 3"), values), 0);
  EXPECT_EQ(evaluate(e("select(x == 0, 5, y // x)"), values), 5);
  EXPECT_FALSE(evaluate(e("small"), values));
}

TEST_F(SymIntTest, AffineForm) {
  const auto isPid = [&](uint32_t id) {
    return id == named["pid"].symbolId() || id == named["x"].symbolId();
  };
  const auto form = affineIn(e("B*pid + 2*x + M + 1 + N*x"), isPid);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->constant, e("M + 1"));
  ASSERT_EQ(form->terms.size(), 2u);
  std::map<uint32_t, SymInt> terms(form->terms.begin(), form->terms.end());
  EXPECT_EQ(terms[named["pid"].symbolId()], e("B"));
  EXPECT_EQ(terms[named["x"].symbolId()], e("N + 2"));
  EXPECT_FALSE(affineIn(e("pid*x"), isPid));
  EXPECT_FALSE(affineIn(e("pid // 4"), isPid));
  EXPECT_TRUE(affineIn(e("(M // 4)*pid"), isPid));
}

TEST_F(SymIntTest, SubstituteRenormalises) {
  const auto with = [&](SymInt expression, const std::string &name, SymInt value) {
    return context.substitute(expression, [&, id = named[name].symbolId()](uint32_t symbol) {
      return symbol == id ? value : SymInt();
    });
  };
  EXPECT_EQ(with(e("cdiv(M, B)"), "B", c(1)), e("M"));
  EXPECT_EQ(with(e("x*y + x"), "y", c(-1)), c(0));
  EXPECT_EQ(with(e("min(x, y)"), "x", e("y + 1")), e("y"));
}

TEST_F(SymIntTest, ParseErrorsName) {
  const auto none = [](std::string_view) { return SymInt(); };
  for (const char *text : {"", "x +", "(1", "1 2", "foo(1)", "q", "min()", "99999999999999999999"})
    EXPECT_FALSE(parseSymInt(context, text, none)) << text;
  EXPECT_FALSE(parseSymInt(context, std::string(100000, '('), none));
  EXPECT_FALSE(parseSymInt(context, std::string(100000, '-') + "1", none));
}

TEST_F(SymIntTest, WeightSaturatesForSharedGraphs) {
  SymInt value = e("x");
  for (int i = 0; i < 200; ++i)
    value = context.bit(SymOp::Xor, context.nextPow2(value), context.mul(value, value));
  EXPECT_EQ(value.weight(), UINT32_MAX);
  EXPECT_EQ(symbolsOf(value).size(), 1u);
}

TEST(SymContext, BuildsFromManyThreads) {
  SymContext context;
  std::vector<SymInt> symbols;
  for (int i = 0; i < 8; ++i)
    symbols.push_back(context.newSymbol(SymbolKind::Opaque, "s" + std::to_string(i), {0, 100}));
  std::vector<SymInt> results(4);
  std::vector<std::thread> threads;
  for (SymInt &result : results)
    threads.emplace_back([&] {
      SymInt total = context.constant(0);
      for (int i = 0; i < 400; ++i)
        total = context.add(
            context.mod(total, context.constant(97)),
            context.mul(symbols[i % 8], context.floorDiv(symbols[(i + 3) % 8], context.constant(3))));
      result = total;
    });
  for (auto &thread : threads)
    thread.join();
  for (SymInt result : results)
    EXPECT_EQ(result, results[0]);
}

/// An expression built twice: through the context, and as a plain tree that is evaluated literally.
struct Plain {
  SymOp op = SymOp::Constant;
  int64_t value = 0;
  std::vector<Plain> operands;
};

class RandomExpressions {
public:
  RandomExpressions(SymContext &context, uint32_t seed) : context_(context), random_(seed) {
    const SymRange ranges[] = {{}, {0, INT64_MAX}, {1, INT64_MAX}, {1, 64}, {0, 15}, {-8, 8}};
    for (int i = 0; i < 6; ++i)
      symbols_.push_back(
          context.newSymbol(SymbolKind::RuntimeScalar, "v" + std::to_string(i), ranges[i], i == 1 ? 8 : 1));
  }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  std::vector<int64_t> values() {
    return {pick(-40, 40), 8 * pick(0, 6), pick(1, 40), pick(1, 64), pick(0, 15), pick(-8, 8)};
  }

  SymInt build(int depth, Plain &plain) {
    if (depth == 0 || pick(0, 9) == 0) {
      if (pick(0, 2) == 0) {
        plain = {SymOp::Constant, pick(-9, 20), {}};
        return context_.constant(plain.value);
      }
      const auto index = static_cast<size_t>(pick(0, 5));
      plain = {SymOp::Symbol, static_cast<int64_t>(symbols_[index].symbolId()), {}};
      return symbols_[index];
    }
    static constexpr SymOp kOps[] = {
        SymOp::Add,      SymOp::Add, SymOp::Add, SymOp::Mul, SymOp::Mul,    SymOp::FloorDiv,
        SymOp::FloorDiv, SymOp::Mod, SymOp::Mod, SymOp::Min, SymOp::Max,    SymOp::Select,
        SymOp::NextPow2, SymOp::Lt,  SymOp::Le,  SymOp::Eq,  SymOp::And,    SymOp::Or,
        SymOp::Not,      SymOp::Xor, SymOp::Shl, SymOp::Shr, SymOp::BitAnd, SymOp::BitOr};
    const SymOp op = kOps[pick(0, std::size(kOps) - 1)];
    const size_t count = op == SymOp::Select ? 3 : op == SymOp::Not || op == SymOp::NextPow2 ? 1 : 2;
    plain = {op, 0, std::vector<Plain>(count)};
    std::vector<SymInt> x;
    for (size_t i = 0; i < count; ++i)
      x.push_back(build(depth - 1, plain.operands[i]));
    switch (op) {
    case SymOp::Add:
      return context_.add(x[0], x[1]);
    case SymOp::Mul:
      return context_.mul(x[0], x[1]);
    case SymOp::FloorDiv:
      return context_.floorDiv(x[0], x[1]);
    case SymOp::Mod:
      return context_.mod(x[0], x[1]);
    case SymOp::Min:
      return context_.min(x[0], x[1]);
    case SymOp::Max:
      return context_.max(x[0], x[1]);
    case SymOp::Select:
      return context_.select(x[0], x[1], x[2]);
    case SymOp::NextPow2:
      return context_.nextPow2(x[0]);
    case SymOp::Lt:
      return context_.lt(x[0], x[1]);
    case SymOp::Le:
      return context_.le(x[0], x[1]);
    case SymOp::Eq:
      return context_.eq(x[0], x[1]);
    case SymOp::And:
      return context_.logicalAnd(x[0], x[1]);
    case SymOp::Or:
      return context_.logicalOr(x[0], x[1]);
    case SymOp::Not:
      return context_.logicalNot(x[0]);
    default:
      return context_.bit(op, x[0], x[1]);
    }
  }

  const std::vector<SymInt> &symbols() const { return symbols_; }

private:
  SymContext &context_;
  std::mt19937 random_;
  std::vector<SymInt> symbols_;
};

/// Python's arithmetic, written down a second time and without any cleverness.
std::optional<int64_t> plainly(const Plain &p, const std::vector<int64_t> &values) {
  if (p.op == SymOp::Constant)
    return p.value;
  if (p.op == SymOp::Symbol)
    return values[static_cast<size_t>(p.value)];
  std::vector<std::optional<int64_t>> maybe;
  for (const Plain &operand : p.operands)
    maybe.push_back(plainly(operand, values));
  for (const auto &value : maybe)
    if (!value || *value > (int64_t(1) << 40) || *value < -(int64_t(1) << 40))
      return std::nullopt;
  const int64_t a = *maybe[0], b = maybe.size() > 1 ? *maybe[1] : 0;
  const auto floorOf = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(std::floor(static_cast<long double>(x) / y));
  };
  __extension__ typedef __int128 Wide;
  switch (p.op) {
  case SymOp::Add:
    return a + b;
  case SymOp::Mul: {
    const Wide product = Wide(a) * b;
    return product > INT64_MAX || product < INT64_MIN ? std::nullopt
                                                      : std::optional(static_cast<int64_t>(product));
  }
  case SymOp::FloorDiv:
    return b == 0 ? std::nullopt : std::optional(floorOf(a, b));
  case SymOp::Mod:
    return b == 0 ? std::nullopt : std::optional(a - b * floorOf(a, b));
  case SymOp::Min:
    return a < b ? a : b;
  case SymOp::Max:
    return a < b ? b : a;
  case SymOp::Select:
    return a ? b : *maybe[2];
  case SymOp::NextPow2: {
    int64_t power = 1;
    while (power < a)
      power *= 2;
    return power;
  }
  case SymOp::Lt:
    return a < b;
  case SymOp::Le:
    return a <= b;
  case SymOp::Eq:
    return a == b;
  case SymOp::And:
    return a && b;
  case SymOp::Or:
    return a || b;
  case SymOp::Not:
    return !a;
  case SymOp::Xor:
    return a ^ b;
  case SymOp::BitAnd:
    return a & b;
  case SymOp::BitOr:
    return a | b;
  case SymOp::Shl:
    return b < 0 || b > 20 ? std::nullopt : std::optional(a * (int64_t(1) << b));
  case SymOp::Shr:
    return b < 0 ? std::nullopt : std::optional(b > 62 ? (a < 0 ? -1 : 0) : floorOf(a, int64_t(1) << b));
  default:
    return std::nullopt;
  }
}

TEST(SymIntProperty, NormalFormKeepsTheValue) {
  size_t compared = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SymContext context;
    RandomExpressions random(context, seed);
    for (int n = 0; n < 120; ++n) {
      Plain plain;
      const SymInt expression = random.build(static_cast<int>(random.pick(1, 4)), plain);
      const CompiledSym compiled(expression);
      const auto text = toString(expression);
      const auto read = parseSymInt(context, text, [&](std::string_view name) {
        return random.symbols()[static_cast<size_t>(name[1] - '0')];
      });
      ASSERT_TRUE(read) << text << ": " << read.error().message;
      // Replaces v0 by v4 - 3: the value must follow.
      const SymInt substituted = context.substitute(expression, [&](uint32_t id) {
        return id == 0 ? context.sub(random.symbols()[4], context.constant(3)) : SymInt();
      });
      for (int k = 0; k < 12; ++k) {
        auto values = random.values();
        SymValues bound;
        for (uint32_t id = 0; id < values.size(); ++id)
          bound.set(id, values[id]);
        const auto wanted = plainly(plain, values), got = evaluate(expression, bound);
        EXPECT_EQ(compiled.evaluate(values), got) << text;
        if (wanted) {
          ++compared;
          ASSERT_EQ(got, wanted) << text << " seed " << seed;
          EXPECT_EQ(evaluate(*read, bound), wanted) << text << " reads back as " << toString(*read);
          EXPECT_LE(expression.range().min, *wanted) << text;
          EXPECT_GE(expression.range().max, *wanted) << text;
          if (expression.divisor() == 0)
            EXPECT_EQ(*wanted, 0) << text;
          else
            EXPECT_EQ(*wanted % expression.divisor(), 0) << text;
        }
        values[0] = values[4] - 3;
        if (const auto replaced = plainly(plain, values)) {
          EXPECT_EQ(evaluate(substituted, bound), replaced) << text << " became " << toString(substituted);
        }
      }
      if (::testing::Test::HasFailure())
        return;
    }
  }
  EXPECT_GT(compared, 40'000u);
}

/// What the context claims to have proved must hold for every value.
TEST(SymIntProperty, ProofsAreTrue) {
  size_t proved = 0;
  for (uint32_t seed = 1000; seed < 1040; ++seed) {
    SymContext context;
    RandomExpressions random(context, seed);
    for (int n = 0; n < 60; ++n) {
      Plain plainA, plainB;
      const SymInt a = random.build(static_cast<int>(random.pick(1, 3)), plainA);
      const SymInt b = random.build(static_cast<int>(random.pick(1, 3)), plainB);
      const bool less = context.provablyLe(a, b), equal = context.provablyEqual(a, b);
      if (!less && !equal)
        continue;
      ++proved;
      for (int k = 0; k < 40; ++k) {
        const auto values = random.values();
        const auto x = plainly(plainA, values), y = plainly(plainB, values);
        if (!x || !y)
          continue;
        if (less) {
          ASSERT_LE(*x, *y) << toString(a) << " <= " << toString(b);
        }
        if (equal) {
          ASSERT_EQ(*x, *y) << toString(a) << " == " << toString(b);
        }
      }
    }
  }
  EXPECT_GT(proved, 100u);
}

} // namespace

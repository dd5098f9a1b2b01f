#include "Builtins.h"

#include <array>
#include <fmt/format.h>

namespace tilewright::lowering {

namespace {

using lang::BinaryOperator;

// tl.rand and its kin are Philox-4x32 or 4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011): a counter of four words, encrypted with a key of two in ten rounds. They become plain arithmetic,
// so that every back end runs them and every analysis sees what they cost.

using Four = std::array<FrontValue, 4>;

/// The round's multipliers (to be multiplied with words 0 and 2) and what the key grows by, from the paper;
/// bit patterns of unsigned words.
struct PhiloxConstants {
  uint64_t multiplierA, multiplierB, keyA, keyB;
};
constexpr PhiloxConstants kPhilox32{0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85};
constexpr PhiloxConstants kPhilox64{0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15,
                                    0xBB67AE8584CAA73B};

class Random {
public:
  explicit Random(BuiltinCall &call) : call_(call), c_(call.c) {}

  FrontValue binary(BinaryOperator op, const FrontValue &a, const FrontValue &b) {
    return FrontValue::runtime(call_.emit.binary(op, a, b));
  }
  FrontValue to(const FrontValue &value, DType dtype) {
    return FrontValue::runtime(call_.emit.cast(call_.emit.toTensor(value), dtype));
  }
  FrontValue bits(const FrontValue &value, DType dtype) {
    return FrontValue::runtime(call_.emit.bitcast(call_.emit.toTensor(value), Type::scalar(dtype)));
  }
  DType dtypeOf(const FrontValue &value) { return c_.typeOf(value.value).dtype; }
  FrontValue integerTensor(size_t argument) {
    const ValueId value = call_.tensor(argument);
    if (c_.typeOf(value).kind != Type::Kind::Value || !isInteger(c_.typeOf(value).dtype))
      call_.failArgument(argument, "an integer or a tile of integers");
    return FrontValue::runtime(value);
  }

  Four rounds(Four counter, FrontValue key0, FrontValue key1, int64_t count) {
    const DType word = dtypeOf(counter[0]);
    if (word != DType::UInt32 && word != DType::UInt64)
      c_.failType(call_.range, fmt::format("the words of {} must be uint32 or uint64, not {}",
                                           call_.nameRange.text(), tritonName(word)));
    const PhiloxConstants &k = word == DType::UInt32 ? kPhilox32 : kPhilox64;
    const FrontValue a = constant(k.multiplierA, word), b = constant(k.multiplierB, word);
    const FrontValue growA = constant(k.keyA, word), growB = constant(k.keyB, word);
    for (int64_t round = 0; round < count; ++round) {
      const FrontValue c0 = counter[0], c2 = counter[2];
      counter[0] = exclusive(exclusive(high(b, c2), counter[1]), key0);
      counter[2] = exclusive(exclusive(high(a, c0), counter[3]), key1);
      counter[1] = binary(BinaryOperator::Mult, b, c2);
      counter[3] = binary(BinaryOperator::Mult, a, c0);
      key0 = binary(BinaryOperator::Add, key0, growA);
      key1 = binary(BinaryOperator::Add, key1, growB);
    }
    return counter;
  }

  /// Counter and seed as Triton spreads them over the words: words of 32 bits take a 64-bit seed in two.
  Four philox(const FrontValue &seed, Four counter, int64_t count) {
    const FrontValue wide = to(seed, DType::UInt64);
    const bool narrow = bitWidth(dtypeOf(counter[0])) == 32;
    if (!narrow && bitWidth(dtypeOf(counter[0])) != 64)
      c_.failType(call_.range, fmt::format("the counter of {} must have 32 or 64 bits, not {}",
                                           call_.nameRange.text(), tritonName(dtypeOf(counter[0]))));
    const DType word = narrow ? DType::UInt32 : DType::UInt64;
    for (FrontValue &c : counter) {
      if (bitWidth(dtypeOf(c)) != bitWidth(word))
        c_.failType(call_.range,
                    fmt::format("the counter's words of {} must have equal width", call_.nameRange.text()));
      c = bits(c, word);
    }
    if (!narrow)
      return rounds(counter, wide, constant(0, word), count);
    const FrontValue low = to(binary(BinaryOperator::BitAnd, wide, c_.integer(0xffffffff)), word);
    const FrontValue high32 =
        to(binary(BinaryOperator::BitAnd, binary(BinaryOperator::RShift, wide, c_.integer(32)),
                  c_.integer(0xffffffff)),
           word);
    return rounds(counter, low, high32, count);
  }

  /// tl.randint4x: the offset is words 0 and 1 of the counter.
  Four integers() {
    const FrontValue offset = integerTensor(1);
    const FrontValue low = to(offset, DType::UInt32);
    const FrontValue zero = binary(BinaryOperator::Mult, low, c_.integer(0));
    const FrontValue high = bitWidth(dtypeOf(offset)) > 32
                                ? to(binary(BinaryOperator::RShift, offset, c_.integer(32)), DType::UInt32)
                                : zero;
    return philox(integerTensor(0), {low, high, zero, zero}, call_.integer(2, 10));
  }

  /// Uniform in [0, 1): the magnitude of the word as a signed number, scaled so that the largest stays
  /// below 1.
  FrontValue uniform(const FrontValue &word) {
    const DType dtype = dtypeOf(word);
    if (!isInteger(dtype) || bitWidth(dtype) < 32)
      c_.failType(call_.range, fmt::format("{} takes integers of 32 or 64 bits, not {}",
                                           call_.nameRange.text(), tritonName(dtype)));
    const bool narrow = bitWidth(dtype) == 32;
    const FrontValue x = bits(word, narrow ? DType::Int32 : DType::Int64);
    const FrontValue negative =
        FrontValue::runtime(call_.emit.compare(lang::CompareOperator::Lt, x, c_.integer(0)));
    const FrontValue inverted = FrontValue::runtime(call_.emit.invert(x.value));
    const FrontValue magnitude = FrontValue::runtime(call_.emit.select(negative, inverted, x));
    return binary(BinaryOperator::Mult, magnitude,
                  FrontValue::floating(narrow ? 4.6566127342e-10 : 1.0842020432385337e-19));
  }

  /// Box and Muller's transform: two uniform numbers to two normal ones.
  std::pair<FrontValue, FrontValue> normal(const FrontValue &u1, const FrontValue &u2) {
    const FrontValue positive =
        FrontValue::runtime(call_.emit.minMax(OpKind::Max, FrontValue::floating(1.0e-7), u1, false));
    const FrontValue angle = binary(BinaryOperator::Mult, FrontValue::floating(6.283185307179586), u2);
    const FrontValue logarithm = FrontValue::runtime(call_.emit.unary("log", positive.value));
    const FrontValue radius = FrontValue::runtime(
        call_.emit.unary("sqrt", binary(BinaryOperator::Mult, FrontValue::floating(-2.0), logarithm).value));
    return {binary(BinaryOperator::Mult, radius, FrontValue::runtime(call_.emit.unary("cos", angle.value))),
            binary(BinaryOperator::Mult, radius, FrontValue::runtime(call_.emit.unary("sin", angle.value)))};
  }

private:
  /// A word as an SSA value: 64-bit ones are more than a Python number of ours can hold unsigned.
  FrontValue constant(uint64_t value, DType dtype) {
    Attributes attributes;
    attributes.set("value", c_.syms.constant(static_cast<int64_t>(value)));
    return FrontValue::runtime(c_.create(OpKind::Constant, {}, Type::scalar(dtype), std::move(attributes)));
  }
  FrontValue high(const FrontValue &a, const FrontValue &b) {
    const auto [x, y] = call_.emit.convert(a, b);
    return FrontValue::runtime(c_.create(OpKind::MulHi, {x, y}, c_.typeOf(x)));
  }
  FrontValue exclusive(const FrontValue &a, const FrontValue &b) {
    return binary(BinaryOperator::BitXor, a, b);
  }

  BuiltinCall &call_;
  LoweringContext &c_;
};

FrontValue tupleOf(const Four &values) {
  return FrontValue::tuple({values[0], values[1], values[2], values[3]});
}

FrontValue randint(BuiltinCall &call) { return Random(call).integers()[0]; }
FrontValue randint4x(BuiltinCall &call) { return tupleOf(Random(call).integers()); }
FrontValue rand(BuiltinCall &call) {
  Random random(call);
  return random.uniform(random.integers()[0]);
}
FrontValue rand4x(BuiltinCall &call) {
  Random random(call);
  Four values = random.integers();
  for (FrontValue &value : values)
    value = random.uniform(value);
  return tupleOf(values);
}
FrontValue randn(BuiltinCall &call) {
  Random random(call);
  const Four words = random.integers();
  const FrontValue u1 = random.uniform(words[0]), u2 = random.uniform(words[1]);
  return random.normal(u1, u2).first;
}
FrontValue randn4x(BuiltinCall &call) {
  Random random(call);
  Four u = random.integers();
  for (FrontValue &value : u)
    value = random.uniform(value);
  const auto [n1, n2] = random.normal(u[0], u[1]);
  const auto [n3, n4] = random.normal(u[2], u[3]);
  return FrontValue::tuple({n1, n2, n3, n4});
}

FrontValue philox(BuiltinCall &call) {
  Random random(call);
  Four counter;
  for (size_t i = 0; i < 4; ++i)
    counter[i] = random.integerTensor(1 + i);
  return tupleOf(random.philox(random.integerTensor(0), counter, call.integer(5, 10)));
}
FrontValue philoxImpl(BuiltinCall &call) {
  Random random(call);
  Four counter;
  for (size_t i = 0; i < 4; ++i)
    counter[i] = random.integerTensor(i);
  return tupleOf(
      random.rounds(counter, random.integerTensor(4), random.integerTensor(5), call.integer(6, 10)));
}

FrontValue uniformOf(BuiltinCall &call) {
  Random random(call);
  return random.uniform(random.integerTensor(0));
}
FrontValue pairToNormal(BuiltinCall &call) {
  const ValueId u1 = call.floating(0), u2 = call.floating(1);
  const auto [a, b] = Random(call).normal(FrontValue::runtime(u1), FrontValue::runtime(u2));
  return FrontValue::tuple({a, b});
}

constexpr std::string_view kSeedAndOffset = "seed, offset, n_rounds=";
constexpr std::string_view kSeedAndOffsets = "seed, offsets, n_rounds=";

constexpr Builtin kRows[] = {
    {"randint", kSeedAndOffset, randint},
    {"randint4x", kSeedAndOffset, randint4x},
    {"rand", kSeedAndOffset, rand},
    {"rand4x", kSeedAndOffsets, rand4x},
    {"randn", kSeedAndOffset, randn},
    {"randn4x", kSeedAndOffset, randn4x},
    {"philox", "seed, c0, c1, c2, c3, n_rounds=", philox},
    {"philox_impl", "c0, c1, c2, c3, k0, k1, n_rounds=", philoxImpl},
    {"uint_to_uniform_float", "x", uniformOf},
    {"pair_uniform_to_normal", "u1, u2", pairToNormal},
};

} // namespace

std::span<const Builtin> randomBuiltins() { return kRows; }

} // namespace tilewright::lowering

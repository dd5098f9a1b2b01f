#include "backend/cpu/runtime/ReductionLength.h"
#include "backend/cpu/runtime/ResultCompare.h"
#include "backend/cpu/runtime/TrialMemory.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace tilewright;
using namespace tilewright::cpu;

namespace {

template <class T>
Comparison compare(const std::vector<T> &got, const std::vector<T> &reference, DType dtype,
                   Tolerance tolerance = {}) {
  return compareBuffers(std::as_bytes(std::span(got)), std::as_bytes(std::span(reference)), dtype, tolerance);
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

} // namespace

TEST(RuntimeCompare, IntegersAreComparedBitByBit) {
  const auto result = compare<int32_t>({1, -2, 3}, {1, -3, 3}, DType::Int32);
  EXPECT_EQ(result.different, 1u);
  EXPECT_EQ(result.firstIndex, 1u);
  EXPECT_EQ(result.got, -2);
  EXPECT_EQ(result.expected, -3);
}

TEST(RuntimeCompare, FloatsWithinTheToleranceAreEqual) {
  const Tolerance tolerance = toleranceFor(DType::Float32, DType::Float32, 1);
  EXPECT_TRUE(compare<float>({1.0000002f, 100}, {1, 100}, DType::Float32, tolerance).equal());
  EXPECT_FALSE(compare<float>({1.001f, 1}, {1, 1}, DType::Float32, tolerance).equal());
  EXPECT_TRUE(compare<float>({1e-7f, 10}, {0, 10}, DType::Float32, tolerance).equal())
      << "a cancelled sum beside large results";
  EXPECT_FALSE(compare<float>({1e-7f, 0}, {0, 0}, DType::Float32, tolerance).equal());
}

TEST(RuntimeCompare, SpecialValuesMustMatch) {
  const Tolerance tolerance{0.1};
  EXPECT_TRUE(
      compare<float>({kNaN, kInf, -kInf, 0.0f}, {-kNaN, kInf, -kInf, -0.0f}, DType::Float32, tolerance)
          .equal());
  EXPECT_FALSE(compare<float>({1, 2}, {kNaN, 2}, DType::Float32, tolerance).equal());
  EXPECT_FALSE(compare<float>({kNaN, 2}, {1, 2}, DType::Float32, tolerance).equal());
  EXPECT_FALSE(compare<float>({kInf, 2}, {-kInf, 2}, DType::Float32, tolerance).equal());
  EXPECT_FALSE(compare<float>({kInf, 2}, {3e38f, 2}, DType::Float32, tolerance).equal());
}

TEST(RuntimeCompare, ShortFloatsAreDecoded) {
  const auto half = toleranceFor(DType::Float16, DType::Float32, 64),
             bfloat = toleranceFor(DType::BFloat16, DType::Float32, 64);
  EXPECT_TRUE(compare<uint16_t>({0x3c01}, {0x3c00}, DType::Float16, half).equal());
  EXPECT_FALSE(compare<uint16_t>({0x3c40}, {0x3c00}, DType::Float16, half).equal());
  EXPECT_TRUE(compare<uint16_t>({0x7e01}, {0x7e00}, DType::Float16, half).equal()) << "both NaN";
  EXPECT_FALSE(compare<uint16_t>({0x7c00}, {0x7bff}, DType::Float16, half).equal()) << "infinity";
  EXPECT_TRUE(compare<uint16_t>({0x3f81}, {0x3f80}, DType::BFloat16, bfloat).equal());
  EXPECT_FALSE(compare<uint16_t>({0x3fa0}, {0x3f80}, DType::BFloat16, bfloat).equal());
  EXPECT_FALSE(compare<uint8_t>({0x40}, {0x38}, DType::Fp8E4M3, {0.25}).equal()) << "2 and 1";
}

TEST(RuntimeCompare, LongSumsMayDifferMore) {
  EXPECT_GT(toleranceFor(DType::Float32, DType::Float32, 4096).relative,
            10 * toleranceFor(DType::Float32, DType::Float32, 1).relative);
  EXPECT_EQ(toleranceFor(DType::Int32, DType::Float32, 4096).relative, 0);
  EXPECT_LT(toleranceFor(DType::Float16, DType::Float32, 4096).relative, 0.01);
}

TEST(RuntimeCompare, ReductionLengthComesFromTheFacts) {
  SymContext symbols;
  const SymInt columns = symbols.newSymbol(SymbolKind::RuntimeScalar, "n"),
               block = symbols.newSymbol(SymbolKind::OpenParameter, "BLOCK");
  KernelFacts facts;
  facts.axes.push_back({.name = "n", .extent = columns, .reduction = true});
  facts.work.push_back({.kind = WorkItem::Kind::Reduce, .dtype = DType::Float16, .shape = {block}});
  LaunchArguments arguments;
  arguments.set("n", int64_t{3000});
  Config config;
  config.set("BLOCK", int64_t{4096});
  const auto found = accumulationOf(facts, arguments, config);
  EXPECT_EQ(found.terms, 4096);
  EXPECT_EQ(found.dtype, DType::Float16);
}

TEST(RuntimeTrialMemory, OverlappingArgumentsShareARegionAndNeighboursDoNot) {
  std::vector<std::byte> memory(1000);
  const std::span<std::byte> all(memory);
  const std::vector<PointerMemory> pointers = {
      {.name = "tail", .argument = 3, .memory = all.subspan(600, 100)},
      {.name = "a", .argument = 0, .memory = all.first(200)},
      {.name = "b", .argument = 1, .memory = all.subspan(100, 200)},
      {.name = "next", .argument = 2, .memory = all.subspan(300, 50)},
      {.name = "none", .argument = 4, .memory = {}}};
  const TrialLayout layout = layOut(pointers);
  ASSERT_EQ(layout.regions.size(), 3u);
  EXPECT_EQ(layout.pointers[1].region, layout.pointers[2].region);
  EXPECT_EQ(layout.pointers[2].offset, 100u);
  EXPECT_EQ(layout.regions[static_cast<size_t>(layout.pointers[1].region)].bytes, 300u);
  EXPECT_NE(layout.pointers[3].region, layout.pointers[1].region);
  EXPECT_EQ(layout.pointers[4].region, -1);
  EXPECT_EQ(layout.pointers[0].name, "tail");
  for (const auto &region : layout.regions)
    EXPECT_EQ(region.pristineOffset % 4096, 0u);
}

TEST(RuntimeTrialMemory, FaultsReadAsSentences) {
  TrialLayout layout;
  layout.regions.push_back({.bytes = 40});
  layout.pointers = {{.name = "x", .region = 0}, {.name = "y", .region = 0}, {.name = "z", .region = -1}};
  EXPECT_EQ(describe({.kind = FaultRecord::OutOfBounds, .region = 0, .distance = 4, .isWrite = 1}, layout),
            "the kernel writes past the end of x or y: at byte 44 of 40");
  EXPECT_EQ(describe({.kind = FaultRecord::OutOfBounds, .region = 0, .distance = -8}, layout),
            "the kernel reads 8 bytes before the start of x or y (40 bytes long)");
  EXPECT_EQ(describe({.kind = FaultRecord::OutOfBounds, .region = -1}, layout),
            "the kernel reads through a null pointer (z)");
}

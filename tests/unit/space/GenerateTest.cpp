#include "SpaceFixture.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SpaceFixture addOf(const std::string &dtype, int64_t n, const std::string &target) {
  const std::string length = fmt::format("[{}]", n);
  return {vectorAdd(dtype), target, {"x=" + dtype + length, "y=" + dtype + length, "z=" + dtype + length, fmt::format("n={}", n)}, "(cdiv(n, BLOCK),)"};
}

TEST(Generate, ElementwiseOnCpuGetsPowersOfTwo) {
  const SpaceFixture add = addOf("f32", 98432, "cpu");
  const CandidateSpace space = add.generated();
  EXPECT_EQ(SpaceFixture::valuesIn(space, "BLOCK"), (std::vector<int64_t>{64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}));
  EXPECT_FALSE(space.emptyReason);
  EXPECT_EQ(space.candidates.front().grid[0], 98432 / 64);
}

} // namespace
} // namespace tilewright

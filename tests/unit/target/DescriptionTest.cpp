#include "tilewright/target/Target.h"

#include <gmock/gmock.h>

namespace tilewright {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char *kSmall = R"({
  "name": "ascend-toy",
  "kind": "ascend",
  "cores": 4,
  "memory": [
    {"name": "ub", "bytes": 1024, "alignment_bytes": 32, "read_bytes_per_ns_by_active_cores": {"1": 10, "4": 5.5}, "source": "a manual"}
  ],
  "rates": {"launch_ns": {"value": 12, "source": "a stopwatch"}}
})";

std::string messageOf(std::string_view json) {
  auto target = readTarget(json, "toy.json");
  return target ? "accepted" : target.error().message;
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = kSmall;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Description, ReadsLimitsRatesAndSources) {
  const auto target = readTarget(kSmall, "toy.json");
  ASSERT_TRUE(target) << render(target.error());
  EXPECT_EQ(target->name, "ascend-toy");
  EXPECT_EQ(target->kind, TargetKind::Ascend);
  EXPECT_EQ(target->cores, 4);
  ASSERT_NE(target->space("ub"), nullptr);
  EXPECT_EQ(target->space("ub")->readByActiveCores.at(4), 5.5);
  EXPECT_EQ(target->rate("launch_ns", 0), 12);
  EXPECT_EQ(target->rate("absent", 3.5), 3.5);
  EXPECT_EQ(target->space("l1"), nullptr);
}

TEST(Description, JsonRoundTripKeepsEverything) {
  for (const auto &name : targetNames()) {
    const auto target = findTarget(name);
    ASSERT_TRUE(target) << render(target.error());
    const std::string text = toJson(*target);
    const auto again = readTarget(text, "again.json");
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ(toJson(*again), text);
    EXPECT_EQ(again->fingerprint, target->fingerprint);
  }
}

TEST(Description, ErrorsNameFieldAndLine) {
  EXPECT_THAT(messageOf(with("\"cores\": 4", "\"cores\": \"four\"")),
              HasSubstr("toy.json:4: field 'cores' must be an integer"));
  EXPECT_THAT(messageOf(with("\"cores\": 4", "\"cores\": 0")), HasSubstr("at least 1, not 0"));
  EXPECT_THAT(messageOf(with("\"cores\": 4", "\"coers\": 4")),
              HasSubstr("toy.json:4: field 'coers' is unknown"));
  EXPECT_THAT(messageOf(with("\"ascend\"", "\"tpu\"")),
              HasSubstr("field 'kind' must be cpu, ascend or cuda, not 'tpu'"));
  EXPECT_THAT(messageOf(with(", \"source\": \"a manual\"", "")),
              HasSubstr("field 'memory[0].source' is missing"));
  EXPECT_THAT(messageOf(with(", \"source\": \"a stopwatch\"", "")),
              HasSubstr("field 'rates.launch_ns.source' is missing"));
  EXPECT_THAT(messageOf(with("\"value\": 12", "\"value\": -12")),
              HasSubstr("field 'rates.launch_ns.value' must be a number"));
  EXPECT_THAT(messageOf(with("{\"1\": 10", "{\"one\": 10")), HasSubstr("holds 'one'"));
  EXPECT_THAT(messageOf(with("\"name\": \"ascend-toy\",", "")), HasSubstr("field 'name' is missing"));
  EXPECT_THAT(messageOf("[1]"), HasSubstr("a device description is a JSON object"));
  EXPECT_THAT(messageOf("{\n \"name\": \"x\",\n"), HasSubstr("toy.json:3: not valid JSON"));
  EXPECT_THAT(messageOf(R"({"name": "x", "based_on": "nothing-like-this"})"),
              HasSubstr("of which there is no description"));
}

TEST(Description, ErrorRendersWithCaret) {
  const auto target = readTarget(with("\"cores\": 4", "\"cores\": -1"), "toy.json");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, "target.description");
  EXPECT_THAT(render(target.error()), HasSubstr("toy.json:4:3: error: field 'cores'"));
  EXPECT_THAT(render(target.error()), HasSubstr("^~~~~~~"));
}

TEST(Description, BasedOnTakesTheRest) {
  const auto base = findTarget("ascend910b1");
  const auto derived = findTarget("ascend910b4");
  ASSERT_TRUE(base && derived);
  EXPECT_EQ(derived->cores, 40);
  EXPECT_EQ(derived->space("ub")->bytes, base->space("ub")->bytes);
  EXPECT_EQ(derived->space("ub")->alignmentBytes, 32);
  EXPECT_LT(derived->space("dram")->readBytesPerNs, base->space("dram")->readBytesPerNs);
  EXPECT_EQ(derived->rate("vector_op_ns", 0), base->rate("vector_op_ns", -1));
  EXPECT_NE(derived->fingerprint, base->fingerprint);
}

TEST(Description, OverriddenRatesOfTheHostKeepItsFingerprint) {
  const auto tuned = readTarget(
      R"({"name": "mine", "based_on": "cpu", "rates": {"launch_ns": {"value": 1, "source": "test"}}})",
      "mine.json");
  ASSERT_TRUE(tuned) << render(tuned.error());
  EXPECT_EQ(tuned->fingerprint, probeCpu().fingerprint);
  EXPECT_EQ(tuned->rate("launch_ns", 0), 1);
  EXPECT_EQ(tuned->cores, probeCpu().cores);
}

TEST(Description, KnownChipsHaveThePublishedSizes) {
  struct Expectation {
    const char *name;
    int64_t cores, cubeCores, ubBytes;
  };
  for (const auto &each :
       {Expectation{"ascend910b1", 48, 24, 192 << 10}, Expectation{"ascend910b2", 48, 24, 192 << 10},
        Expectation{"ascend910b3", 40, 20, 192 << 10}, Expectation{"ascend910b4", 40, 20, 192 << 10},
        Expectation{"ascend910_9382", 48, 24, 192 << 10}, Expectation{"ascend950pr_9579", 56, 28, 248 << 10},
        Expectation{"ascend950pr_9589", 64, 32, 248 << 10}}) {
    const auto target = findTarget(each.name);
    ASSERT_TRUE(target) << render(target.error());
    EXPECT_EQ(target->cores, each.cores) << each.name;
    EXPECT_EQ(target->cubeCores, each.cubeCores) << each.name;
    EXPECT_EQ(target->space("ub")->bytes, each.ubBytes) << each.name;
    EXPECT_EQ(target->maxPrograms, 65535) << each.name;
    EXPECT_FALSE(target->powerOfTwoTiles) << each.name;
  }
  EXPECT_EQ(findTarget("cuda-h200")->space("shared")->bytes, 227 << 10);
}

TEST(Description, EveryNumberHasASource) {
  for (const auto &name : targetNames()) {
    const auto target = findTarget(name);
    ASSERT_TRUE(target);
    for (const auto &space : target->memory)
      EXPECT_FALSE(space.source.empty()) << name << " " << space.name;
    for (const auto &[rate, sourced] : target->rates)
      EXPECT_FALSE(sourced.source.empty()) << name << " " << rate;
  }
}

TEST(FindTarget, UnknownNameListsAndSuggests) {
  const auto target = findTarget("ascend910b7");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, "target.unknown");
  EXPECT_THAT(target.error().message, HasSubstr("cuda-h200"));
  EXPECT_THAT(render(target.error()), HasSubstr("did you mean 'ascend910b"));
  EXPECT_EQ(findTarget("/nowhere/at/all.json").error().code, "io.read");
}

TEST(ProbeCpu, DescribesThisMachine) {
  const Target cpu = probeCpu();
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_EQ(cpu.kind, TargetKind::Cpu);
  EXPECT_GE(cpu.cores, 1);
  EXPECT_THAT((std::vector<int64_t>{16, 32, 64}), Contains(cpu.vectorBytes));
  ASSERT_NE(cpu.space("l1d"), nullptr);
  EXPECT_GE(cpu.space("l1d")->bytes, 8 << 10);
  ASSERT_NE(cpu.space("dram"), nullptr);
  EXPECT_GT(cpu.rate("f32_flops_per_ns_per_core", 0), 0);
  EXPECT_EQ(cpu.fingerprint, probeCpu().fingerprint);
  EXPECT_THAT(cpu.fingerprint, HasSubstr("cpu:"));
}

TEST(ProbeCpu, FollowsTheEnvironment) {
  const Target whole = probeCpu();
  setenv("TILEWRIGHT_THREADS", "3", 1);
  const Target three = probeCpu();
  unsetenv("TILEWRIGHT_THREADS");
  EXPECT_EQ(three.cores, 3);
  EXPECT_NE(three.fingerprint, whole.fingerprint);
  setenv("TILEWRIGHT_CPU_ISA", "sse2", 1);
  const Target narrow = probeCpu();
  unsetenv("TILEWRIGHT_CPU_ISA");
  if (whole.vectorBytes > 16) {
    EXPECT_NE(narrow.fingerprint, whole.fingerprint);
  }
  EXPECT_EQ(narrow.vectorBytes, 16);
}

} // namespace
} // namespace tilewright

#include "StoreFixture.h"

#include "tilewright/support/ReasonCodes.h"

#include <cmath>

namespace tilewright::store {

TEST(TuningKeyTest, DigestCoversWhatResultsDependOn) {
  TuningKey key{"k", "t", "c", "s", "v", "name", "file.py", "cpu"};
  for (auto field : {&TuningKey::kernelIdentity, &TuningKey::targetFingerprint, &TuningKey::toolchain,
                     &TuningKey::specialization, &TuningKey::keyValues}) {
    TuningKey other = key;
    other.*field += "x";
    EXPECT_NE(other.digest(), key.digest());
  }
  TuningKey moved = key;
  moved.file = "elsewhere.py", moved.kernelName = "renamed", moved.target = "CPU";
  EXPECT_EQ(moved.digest(), key.digest());
  TuningKey shifted = key;
  shifted.kernelIdentity = "kt", shifted.targetFingerprint = "";
  EXPECT_NE(shifted.digest(), key.digest());
}

TEST(TuningKeyTest, DigestIsTheSameInEveryVersion) {
  EXPECT_EQ((TuningKey{"k", "t", "c", "s", "v"}).digest(), "16d5064ce030fd0f645190b69c7c8f42");
}

TEST(TuningKeyTest, FamilyIsAllButTheKeyValues) {
  TuningKey key{"k", "t", "c", "s", "n=1"}, neighbour{"k", "t", "c", "s", "n=2"},
      stranger{"k", "t", "c2", "s", "n=1"};
  EXPECT_TRUE(key.sameFamily(neighbour));
  EXPECT_FALSE(key.sameFamily(stranger));
}

TEST(RecordsTest, WordsReadBack) {
  for (int i = 0; i <= static_cast<int>(TrialStatus::InFlight); ++i)
    EXPECT_EQ(parseTrialStatus(toString(static_cast<TrialStatus>(i))), static_cast<TrialStatus>(i));
  for (int i = 0; i <= static_cast<int>(Method::Predicted); ++i)
    EXPECT_EQ(parseMethod(toString(static_cast<Method>(i))), static_cast<Method>(i));
  EXPECT_FALSE(parseTrialStatus("OK"));
  EXPECT_FALSE(parseMethod(""));
}

TEST(ConfigJsonTest, KeepsKindsApart) {
  Config config;
  config.set("a", int64_t(1));
  config.set("b", 1.0);
  config.set("c", std::string("1"));
  config.set("d", true);
  config.set("e", std::string("true\n\"x\""));
  config.set("f", std::numeric_limits<int64_t>::min());
  config.set("g", 0.1);
  EXPECT_EQ(configToJson(config),
            R"({"a":1,"b":1.0,"c":"1","d":true,"e":"true\n\"x\"","f":-9223372036854775808,"g":0.1})");
  auto back = configFromJson(configToJson(config));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, config);
}

TEST(ConfigJsonTest, ReadsAnyJsonOfTheForm) {
  for (const char *text : {"{}", R"({ "a" : 1 })", R"({"a":1,"b":"x","c":false})", R"({"a":1.5})",
                           R"({"a":-3e2,"b":"\u00e9"})", R"({"a":-0})", R"({"a":"true"})"}) {
    auto config = configFromJson(text);
    ASSERT_TRUE(config) << text;
    auto again = configFromJson(configToJson(*config));
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *config) << text;
  }
  EXPECT_EQ(*configFromJson(R"({ "a" : 1 })"), *configFromJson(R"({"a":1})"));
}

TEST(ConfigJsonTest, RefusesWhatIsNoConfiguration) {
  for (const char *text : {"", "[]", "1", "{", R"({"a":[1]})", R"({"a":{"b":1}})",
                           R"({"a":18446744073709551615})", R"({"a":01})", R"({"a":1)", R"({"a":1}})",
                           R"({"a":1,})", R"({"a":truee})", R"({"a":+1})", R"({a:1})", "{\"a\":\"\n\"}"})
    EXPECT_FALSE(configFromJson(text)) << text;
}

TEST(OriginTest, KnowsLivingAndDeadProcesses) {
  Origin self = Origin::current();
  EXPECT_TRUE(self.mayBeAlive());
  EXPECT_GT(self.processStart, 0);
  Origin reused = self;
  reused.processStart -= 1;
  EXPECT_FALSE(reused.mayBeAlive()) << "another process with the pid of an old one";
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  waitpid(child, nullptr, 0);
  Origin dead = self;
  dead.pid = child;
  EXPECT_FALSE(dead.mayBeAlive());
  dead.host = "elsewhere";
  EXPECT_TRUE(dead.mayBeAlive()) << "nothing is known about other hosts";
}

TEST(StorePathTest, FollowsTheEnvironment) {
  setenv("XDG_CACHE_HOME", "/somewhere/cache", 1);
  unsetenv("TILEWRIGHT_STORE");
  EXPECT_EQ(defaultStorePath(), "/somewhere/cache/tilewright/store.db");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(defaultStorePath(), "/home/someone/.cache/tilewright/store.db");
  setenv("TILEWRIGHT_STORE", "my.db", 1);
  EXPECT_EQ(defaultStorePath(), "my.db");
  unsetenv("TILEWRIGHT_STORE");
}

} // namespace tilewright::store

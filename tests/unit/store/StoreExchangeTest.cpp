// Export, import and merge.
#include "StoreFixture.h"

#include <sstream>

namespace tilewright::store {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreExchangeTest : public StoreTest {
protected:
  static std::string exported(Store &store) {
    std::ostringstream out;
    auto result = store.exportJson(out);
    EXPECT_TRUE(result) << render(result.error());
    return out.str();
  }
  static void fill(Store &store) {
    TrialRecord failed = trial(256, 0);
    failed.status = TrialStatus::CompileFailed;
    failed.code = "compile.failed";
    failed.text = "line 1\n\"quoted\" \xc3\xa9";
    ASSERT_TRUE(store.append(key("n=1"), trial(64, 812.25)));
    ASSERT_TRUE(store.append(key("n=1"), failed));
    ASSERT_TRUE(store.append(key("n=2"), trial(128, 10)));
    ASSERT_TRUE(store.appendChoice(key("n=1"), choice(64, 812.25)));
    ASSERT_TRUE(store.putObject("aa", "machine code"));
  }
  static std::string replaced(std::string text, std::string_view from, std::string_view to) {
    size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return at == text.npos ? text : text.replace(at, from.size(), to);
  }
};

TEST_F(StoreExchangeTest, ExportHasThisForm) {
  auto store = Store::inMemory();
  TrialRecord record = trial(64, 10);
  record.createdUnixMs = 5;
  record.origin = {"node", "me", 1, 2};
  record.id = "a1";
  ASSERT_TRUE(store->append(key(), record));
  EXPECT_EQ(
      exported(*store),
      R"({
  "format": "tilewright-store",
  "version": 1,
  "keys": [
   {
    "key": {"digest":")" +
          key().digest() +
          R"(","kernelName":"softmax","file":"kernels/softmax.py","target":"cpu","kernelIdentity":"softmax:1f","targetFingerprint":"cpu:avx2:8","toolchain":"llvm-22","specialization":"x:*fp32","keyValues":"n=781"},
    "trials": [
      {"id":"a1","config":{"BLOCK":64},"status":"ok","code":"","text":"","method":"measured","predictedNs":20.0,"bestEstimateNs":10.0,"samplesNs":[10.0,11.5,7.5],"createdUnixMs":5,"origin":{"host":"node","user":"me","pid":1,"processStart":2}}
    ],
    "choices": []
   }
  ]
}
)");
}

TEST_F(StoreExchangeTest, ImportGivesTheSameExport) {
  auto first = open();
  fill(*first);
  auto second = Store::inMemory();
  auto report = second->importJsonText(exported(*first));
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(report->keys, 2);
  EXPECT_EQ(report->trials, 3);
  EXPECT_EQ(report->choices, 1);
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_TRUE(exported(*second) == exported(*first));
  EXPECT_FALSE(second->object("aa")->has_value()) << "machine code does not travel";

  auto again = second->importJsonText(exported(*first));
  EXPECT_EQ(again->keys + again->trials + again->choices, 0);
  EXPECT_EQ(again->known, 4);
  EXPECT_TRUE(exported(*second) == exported(*first));
}

TEST_F(StoreExchangeTest, EmptyStoreTravelsToo) {
  auto report = Store::inMemory()->importJsonText(exported(*Store::inMemory()));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->keys, 0);
}

TEST_F(StoreExchangeTest, FilesAndTheirFailures) {
  auto store = open();
  fill(*store);
  auto file = directory / "export.json";
  ASSERT_TRUE(store->exportJson(file));
  EXPECT_EQ(read(file), exported(*store));
  EXPECT_EQ(Store::inMemory()->importJson(file)->trials, 3);
  EXPECT_EQ(store->exportJson(directory / "none" / "x.json").error().code, "io.write");
  EXPECT_EQ(store->importJson(directory / "none.json").error().code, "store.import");
  EXPECT_EQ(store->importJson(directory).error().code, "store.import");
  std::ranges::for_each(std::filesystem::directory_iterator(directory),
                        [](auto &entry) { EXPECT_NE(entry.path().extension(), ".partial"); });
}

TEST_F(StoreExchangeTest, TextThatIsNoExport) {
  auto store = Store::inMemory();
  for (const char *text :
       {"", "null", "[]", "{}", "{\"format\":\"tilewright-store\"}",
        R"({"format":"x","version":1,"keys":[]})", R"({"format":"tilewright-store","version":2,"keys":[]})",
        R"({"format":"tilewright-store","version":1,"keys":{}})",
        R"({"format":["tilewright-store"],"version":1,"keys":[]})", "{\"format\":\"tilewright-store\",",
        "\xff\xfe", "\x80\x04."}) {
    auto report = store->importJsonText(text);
    ASSERT_FALSE(report) << text;
    EXPECT_EQ(report.error().code, "store.import");
  }
  auto broken = store->importJsonText("{\n  \"format\": oops");
  EXPECT_THAT(broken.error().message, HasSubstr("line 2"));
}

TEST_F(StoreExchangeTest, DeepNestingIsNoStackOverflow) {
  std::string deep(200'000, '[');
  EXPECT_FALSE(Store::inMemory()->importJsonText(deep));
  deep = R"({"format":"tilewright-store","version":1,"keys":[)" + std::string(100'000, '[') +
         std::string(100'000, ']') + "]}";
  auto report = Store::inMemory()->importJsonText(deep);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->problems, ElementsAre("keys[0]: not an object with a key"));
}

TEST_F(StoreExchangeTest, EachBadRecordIsNamed) {
  auto source = Store::inMemory();
  fill(*source);
  std::string good = exported(*source);
  struct Case {
    const char *from, *to, *problem;
  };
  // In the export's order: keys[0] is n=1 with trials 64 and 256.
  for (const Case &c : std::initializer_list<Case>{
           {"\"status\":\"ok\"", "\"status\":\"great\"",
            "keys[0].trials[0]: status: \"great\" is not one of the known words"},
           {"\"status\":\"ok\"", "\"status\":7", "keys[0].trials[0]: status: not text"},
           {"\"samplesNs\":[812.25", "\"samplesNs\":[\"812\"",
            "keys[0].trials[0]: samplesNs[0]: not a number"},
           {"\"samplesNs\":[812.25", "\"samplesNs\":[-1", "keys[0].trials[0]: samplesNs[0]: a negative time"},
           {"\"bestEstimateNs\":812.25", "\"bestEstimateNs\":-5",
            "keys[0].trials[0]: bestEstimateNs: a negative time"},
           {"\"config\":{\"BLOCK\":64}", "\"config\":{\"BLOCK\":[64]}",
            "keys[0].trials[0]: config: configuration: \"BLOCK\" is neither a number, nor true or false, nor "
            "text"},
           {"\"config\":{\"BLOCK\":64}", "\"config\":\"BLOCK=64\"",
            "keys[0].trials[0]: config: configuration: not a JSON object"},
           {"\"code\":\"\"", "\"code\":\"../x\"", "keys[0].trials[0]: code: not a reason code"},
           {"\"text\":\"\",", "", "keys[0].trials[0]: text: missing"},
           {"\"createdUnixMs\":", "\"createdUnixMs\":99999",
            "keys[0].trials[0]: createdUnixMs: not a time between 1970 and 9999"},
           {"\"createdUnixMs\":", "\"createdUnixMs\":-",
            "keys[0].trials[0]: createdUnixMs: not a time between 1970 and 9999"},
           {"\"createdUnixMs\":", "\"createdUnixMs\":1e",
            "keys[0].trials[0]: createdUnixMs: not a whole number of 64 bits"},
           {"\"id\":\"", "\"id\":\"'; DROP TABLE trial; --",
            "keys[0].trials[0]: id: not up to 64 hexadecimal digits"},
           {"\"pid\":", "\"pid\":99999999999999999999",
            "keys[0].trials[0]: origin: pid: not a whole number of 64 bits"},
           {"\"status\":\"compile-failed\"", "\"status\":\"\"",
            "keys[0].trials[1]: status: \"\" is not one of the known words"},
           {"\"timeNs\":812.25", "\"timeNs\":{}", "keys[0].choices[0]: timeNs: not a number"},
           {"\"keyValues\":\"n=1\"", "\"keyValues\":\"n=3\"",
            "keys[0].key: digest: does not fit the key's fields; one of them was changed"},
           {"\"digest\":\"", "\"digest\":1,\"x\":\"", "keys[0].key: digest: not text"},
           {"\"trials\": [", "\"trials\": 1, \"x\": [", "keys[0]: trials: not a list"},
       }) {
    auto target = Store::inMemory();
    auto report = target->importJsonText(replaced(good, c.from, c.to));
    if (!report) { // 1e... overflows, which the JSON reader itself refuses
      EXPECT_THAT(report.error().message, HasSubstr("not JSON")) << c.to;
      continue;
    }
    EXPECT_THAT(report->problems, ElementsAre(c.problem)) << c.to;
    EXPECT_EQ(target->trials(key("n=2"))->size(), 1u) << "the rest comes in";
    EXPECT_THAT(*target->verify(), IsEmpty());
  }
}

TEST_F(StoreExchangeTest, ManyProblemsAreCounted) {
  std::string text = R"({"format":"tilewright-store","version":1,"keys":[0)";
  for (int i = 0; i < 500; ++i)
    text += ",0";
  auto report = Store::inMemory()->importJsonText(text + "]}");
  ASSERT_EQ(report->problems.size(), 101u);
  EXPECT_EQ(report->problems.back(), "and 401 more");
}

TEST_F(StoreExchangeTest, MergeAddsWhatIsNew) {
  auto here = open();
  fill(*here);
  auto otherPath = directory / "other.db";
  {
    auto other = open({.path = otherPath});
    ASSERT_TRUE(other->importJsonText(exported(*here)));
    ASSERT_TRUE(other->append(key("n=9"), trial(64, 9)));
    ASSERT_TRUE(other->appendChoice(key("n=1"), choice(32, 700)));
  }
  auto report = here->merge(otherPath);
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(report->keys, 1);
  EXPECT_EQ(report->trials, 1);
  EXPECT_EQ(report->choices, 1);
  EXPECT_EQ(report->known, 4);
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ((*here->choice(key("n=1")))->config, config(32)) << "the younger choice";
  EXPECT_EQ(exported(*here), exported(*open({.path = otherPath})));
  EXPECT_EQ(here->merge(directory / "none.db").error().code, "store.open");
  write(directory / "bad.db", std::string(9000, 'b'));
  EXPECT_EQ(here->merge(directory / "bad.db").error().code, "store.corrupt");
}

} // namespace tilewright::store

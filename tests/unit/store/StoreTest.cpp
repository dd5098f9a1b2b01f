#include "StoreFixture.h"

#include <cmath>
#include <thread>

namespace tilewright::store {

using testing::HasSubstr;

TEST_F(StoreTest, TrialsComeBackAsTheyWere) {
  TrialRecord written = trial(64, 812.25);
  written.status = TrialStatus::RunFailed;
  written.code = "run.crashed";
  written.text = std::string("signal 11\n\0\xff end", 16);
  written.samplesNs = {0.1, 1e-300, 1.7976931348623157e308, std::nan("")};
  written.method = Method::Simulated;
  written.createdUnixMs = 1'700'000'000'123;
  written.origin = {"node7", "someone", 42, 99};
  written.id = "0123456789abcdef";
  ASSERT_TRUE(open()->append(key(), written));

  auto store = open(); // another object, so that nothing comes from memory
  auto read = store->trials(key());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1u);
  ASSERT_TRUE(std::isnan((*read)[0].samplesNs.back()));
  written.samplesNs.pop_back();
  (*read)[0].samplesNs.pop_back();
  EXPECT_EQ((*read)[0], written);
}

TEST_F(StoreTest, FillsInWhoAndWhen) {
  auto store = open();
  ASSERT_TRUE(store->append(key(), trial(64, 10)));
  auto record = store->latestTrial(key(), config(64));
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->origin, Origin::current());
  EXPECT_GT((*record)->createdUnixMs, 1'600'000'000'000);
  EXPECT_EQ((*record)->id.size(), 32u);
}

TEST_F(StoreTest, LatestTrialIsPerConfigurationAndMethod) {
  auto store = open();
  ASSERT_TRUE(store->append(key(), trial(64, 10)));
  ASSERT_TRUE(store->append(key(), trial(64, 20)));
  ASSERT_TRUE(store->append(key(), trial(128, 30)));
  TrialRecord simulated = trial(64, 40);
  simulated.method = Method::Simulated;
  ASSERT_TRUE(store->append(key(), simulated));
  EXPECT_EQ((*store->latestTrial(key(), config(64)))->bestEstimateNs, 20);
  EXPECT_EQ((*store->latestTrial(key(), config(64), Method::Simulated))->bestEstimateNs, 40);
  EXPECT_FALSE(store->latestTrial(key(), config(256))->has_value());
  EXPECT_FALSE(store->latestTrial(key("n=782"), config(64))->has_value());
  EXPECT_EQ(store->trials(key())->size(), 4u) << "append-only: the first one stays";
}

TEST_F(StoreTest, SeveralAtOnceAreAllOrNone) {
  auto store = open({.maxPages = 40});
  std::vector<TrialRecord> trials(20, trial(64, 10));
  ASSERT_TRUE(store->append(key(), trials));
  trials.assign(20, trial(128, 10));
  trials.back().text.assign(1 << 20, 'x');
  auto refused = store->append(key(), trials);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "store.full");
  EXPECT_EQ(store->trials(key())->size(), 20u);
}

TEST_F(StoreTest, WhatAnImportWouldRefuseIsRefusedHereToo) {
  auto store = open();
  TrialRecord negative = trial(64, 10);
  negative.samplesNs[1] = -1;
  EXPECT_EQ(store->append(key(), negative).error().kind, ErrorKind::Internal);
  EXPECT_EQ(store->appendChoice(key(), choice(64, -1)).error().kind, ErrorKind::Internal);
  EXPECT_EQ(store->keys()->size(), 0u);
}

TEST_F(StoreTest, ChoiceIsTheLatest) {
  auto store = open();
  EXPECT_FALSE(store->choice(key())->has_value());
  ASSERT_TRUE(store->appendChoice(key(), choice(64, 10)));
  ASSERT_TRUE(store->appendChoice(key(), choice(128, 9)));
  auto latest = open()->choice(key());
  ASSERT_TRUE(latest && *latest);
  EXPECT_EQ((*latest)->config, config(128));
  EXPECT_EQ((*latest)->rule, "fastest");
  EXPECT_EQ((*latest)->why, "fastest of 3");
  EXPECT_EQ((*latest)->wallSeconds, 0.25);
  EXPECT_EQ(store->choices(key())->size(), 2u);
}

TEST_F(StoreTest, ClockSetBackDoesNotHideTheLatest) {
  auto store = open();
  ChoiceRecord future = choice(64, 10);
  future.createdUnixMs = 250'000'000'000'000;
  ASSERT_TRUE(store->appendChoice(key(), future));
  ASSERT_TRUE(store->appendChoice(key(), choice(128, 9)));
  EXPECT_EQ((*store->choice(key()))->config, config(128));
  TrialRecord early = trial(64, 10);
  early.createdUnixMs = 250'000'000'000'000;
  ASSERT_TRUE(store->append(key(), early));
  ASSERT_TRUE(store->append(key(), trial(64, 20)));
  EXPECT_EQ((*store->latestTrial(key(), config(64)))->bestEstimateNs, 20);
}

TEST_F(StoreTest, AMovedKernelKeepsItsResults) {
  auto store = open();
  ASSERT_TRUE(store->appendChoice(key(), choice(64, 10)));
  TuningKey moved = key();
  moved.file = "elsewhere.py";
  EXPECT_TRUE(store->choice(moved)->has_value());
  ASSERT_TRUE(store->append(moved, trial(64, 10)));
  auto keys = store->keys();
  ASSERT_EQ(keys->size(), 1u);
  EXPECT_EQ((*keys)[0].key.file, "elsewhere.py");
}

TEST_F(StoreTest, KeysAreListedWithCounts) {
  auto store = open();
  TrialRecord failed = trial(256, 0);
  failed.status = TrialStatus::CompileFailed;
  ASSERT_TRUE(store->append(key("n=2"), trial(64, 10)));
  ASSERT_TRUE(store->append(key("n=2"), failed));
  ASSERT_TRUE(store->beginTrial(key("n=2"), config(512)));
  ASSERT_TRUE(store->appendChoice(key("n=1"), choice(64, 10)));
  ASSERT_TRUE(store->append(key("n=1", "add"), trial(64, 10)));
  auto keys = store->keys();
  ASSERT_TRUE(keys);
  ASSERT_EQ(keys->size(), 3u);
  EXPECT_EQ((*keys)[0].key, key("n=1", "add"));
  EXPECT_EQ((*keys)[1].key, key("n=1"));
  EXPECT_EQ((*keys)[1].choice->config, config(64));
  EXPECT_EQ((*keys)[2].trials, 2);
  EXPECT_EQ((*keys)[2].okTrials, 1);
  EXPECT_FALSE((*keys)[2].choice);
  EXPECT_EQ(store->keys({.kernelName = "add"})->size(), 1u);
  EXPECT_EQ(store->keys({.digestPrefix = key("n=2").digest().substr(0, 12)})->size(), 1u);
  EXPECT_EQ(store->keys({.target = "cuda"})->size(), 0u);
  EXPECT_EQ(store->keys({.kernelIdentity = "softmax:1f"})->size(), 2u);
}

TEST_F(StoreTest, LastKeyIsTheYoungest) {
  auto store = open();
  EXPECT_FALSE(store->lastKey()->has_value());
  ASSERT_TRUE(store->append(key("n=1"), trial(64, 10)));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(store->appendChoice(key("n=2"), choice(64, 10)));
  EXPECT_EQ(**store->lastKey(), key("n=2"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(store->append(key("n=1"), trial(64, 10)));
  EXPECT_EQ(**store->lastKey(), key("n=1"));
}

TEST_F(StoreTest, AnEndedTrialReplacesItsMark) {
  auto store = open();
  ASSERT_TRUE(store->append(key(), trial(64, 10)));
  ASSERT_TRUE(store->beginTrial(key(), config(64)));
  auto running = store->latestTrial(key(), config(64));
  EXPECT_EQ((*running)->status, TrialStatus::InFlight);
  EXPECT_EQ((*running)->code, "") << "this process lives";
  ASSERT_TRUE(store->append(key(), trial(64, 11)));
  EXPECT_EQ((*store->latestTrial(key(), config(64)))->bestEstimateNs, 11);
  EXPECT_EQ(store->trials(key())->size(), 2u);
}

TEST_F(StoreTest, ADeathInATrialIsSeen) {
  pid_t child = inChild([&] {
    auto store = Store::open({.path = path});
    return store && (*store)->beginTrial(key(), config(64)) ? 0 : 1;
  });
  ASSERT_EQ(exitCode(child), 0);
  auto trials = open()->trials(key());
  ASSERT_EQ(trials->size(), 1u);
  EXPECT_EQ((*trials)[0].status, TrialStatus::InFlight);
  EXPECT_EQ((*trials)[0].code, "interrupted");
  EXPECT_THAT((*trials)[0].text, HasSubstr(std::to_string(child)));
}

TEST_F(StoreTest, ObjectsKeepEveryByte) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i)
    bytes += static_cast<char>(i * 7);
  auto store = open();
  EXPECT_FALSE(store->object("aa")->has_value());
  ASSERT_TRUE(store->putObject("aa", bytes));
  ASSERT_TRUE(store->putObject("bb", ""));
  ASSERT_TRUE(store->putObject("aa", "other"));
  EXPECT_EQ(**open()->object("aa"), bytes);
  EXPECT_EQ(**open()->object("bb"), "");
}

TEST_F(StoreTest, TwoObjectsOnOneFileSeeEachOther) {
  auto first = open(), second = open();
  ASSERT_TRUE(first->append(key(), trial(64, 10)));
  ASSERT_TRUE(second->append(key(), trial(128, 10)));
  EXPECT_EQ(first->trials(key())->size(), 2u);
  EXPECT_EQ(second->trials(key())->size(), 2u);
  auto reader = open({.readOnly = true});
  ASSERT_TRUE(first->append(key(), trial(256, 10)));
  EXPECT_EQ(reader->trials(key())->size(), 3u);
}

TEST_F(StoreTest, ManyThreadsShareOneObject) {
  auto store = open();
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        failures += !store->append(key(), trial(t, i));
        failures += !store->choice(key());
        failures += !store->trials(key("n=" + std::to_string(i)));
      }
    });
  for (auto &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(store->trials(key())->size(), 200u);
}

TEST_F(StoreTest, InMemoryForgets) {
  auto store = Store::inMemory();
  ASSERT_TRUE(store->append(key(), trial(64, 10)));
  ASSERT_TRUE(store->appendChoice(key(), choice(64, 10)));
  EXPECT_EQ(store->trials(key())->size(), 1u);
  EXPECT_EQ(Store::inMemory()->trials(key())->size(), 0u);
  EXPECT_EQ(store->location(), ":memory:");
}

TEST_F(StoreTest, GcCollectsWhatThePolicyNames) {
  auto store = open();
  TrialRecord old = trial(64, 10);
  old.createdUnixMs = 1000;
  ASSERT_TRUE(store->append(key("n=1"), old));
  ASSERT_TRUE(store->append(key("n=2"), trial(64, 10)));
  ASSERT_TRUE(store->beginTrial(key("n=2"), config(128)));
  ASSERT_TRUE(store->append(key("n=2"), trial(128, 10)));
  ASSERT_TRUE(store->putObject("old", std::string(1000, 'a')));
  ASSERT_TRUE(store->putObject("new", std::string(1000, 'b')));
  auto nothing = store->gc({});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->trials, 1) << "the ended mark";
  EXPECT_EQ(nothing->keys, 0);
  auto report = store->gc({.keysUnusedSinceUnixMs = 2000, .maxObjectBytes = 1500});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->keys, 1);
  EXPECT_EQ(report->trials, 1);
  EXPECT_EQ(report->objects, 1);
  EXPECT_EQ(store->trials(key("n=1"))->size(), 0u);
  EXPECT_EQ(store->trials(key("n=2"))->size(), 2u);
  EXPECT_FALSE(store->object("old")->has_value());
  EXPECT_TRUE(store->object("new")->has_value());
  EXPECT_THAT(*store->verify(), testing::IsEmpty());
}

TEST_F(StoreTest, GcDropsOlderVersionsOfAKernel) {
  auto store = open();
  TuningKey changed = key();
  changed.kernelIdentity = "softmax:2e";
  TrialRecord old = trial(64, 10);
  old.createdUnixMs = 1000;
  ASSERT_TRUE(store->append(key(), old));
  ASSERT_TRUE(store->append(key("n=1", "add"), old));
  ASSERT_TRUE(store->append(changed, trial(64, 10)));
  EXPECT_EQ(store->gc({.supersededKernels = true})->keys, 1);
  EXPECT_EQ(store->trials(key())->size(), 0u);
  EXPECT_EQ(store->trials(changed)->size(), 1u);
  EXPECT_EQ(store->trials(key("n=1", "add"))->size(), 1u);
}

} // namespace tilewright::store

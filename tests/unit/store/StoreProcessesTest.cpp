// Many processes, forks, and death at any instant.
#include "StoreFixture.h"

#include <csignal>
#include <random>
#include <thread>

namespace tilewright::store {

class StoreProcessesTest : public StoreTest {};

TEST_F(StoreProcessesTest, EightProcessesLoseNothing) {
  constexpr int kProcesses = 8, kAppends = 200;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p)
    children.push_back(inChild([&, p] {
      auto store = Store::open({.path = path}); // all create it at the same moment
      if (!store)
        return complain(store.error());
      for (int i = 0; i < kAppends; ++i)
        if (auto result = (*store)->append(key(), trial(p, i)); !result)
          return complain(result.error());
      return 0;
    }));
  for (pid_t child : children)
    EXPECT_EQ(exitCode(child), 0);
  auto store = open();
  auto trials = store->trials(key());
  ASSERT_TRUE(trials);
  EXPECT_EQ(trials->size(), size_t(kProcesses * kAppends));
  EXPECT_THAT(*store->verify(), testing::IsEmpty());
}

// A child writes and says so through a pipe; the parent kills it at a random instant. Every record that was
// acknowledged must be there, and at most one more.
TEST_F(StoreProcessesTest, AKillLosesNothingAcknowledged) {
  std::mt19937 random(7);
  int acknowledged = 0;
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    pid_t child = inChild([&, round] {
      close(ends[0]);
      auto store = Store::open({.path = path});
      if (!store)
        return 2;
      for (int i = 0;; ++i) {
        if (!(*store)->beginTrial(key(), config(i)) || !(*store)->append(key(), trial(i, round)))
          return 3;
        if (::write(ends[1], "+", 1) != 1)
          return 4;
      }
    });
    close(ends[1]);
    char buffer[4096];
    ssize_t count;
    int inThisRound = 0;
    // Every other round the child gets as far as its first record, however slow the machine; else any instant
    // will do.
    if (round % 2 == 1)
      inThisRound += static_cast<int>(::read(ends[0], buffer, 1));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25'000));
    kill(child, SIGKILL);
    EXPECT_EQ(exitCode(child), -1) << "ended by itself";
    while ((count = ::read(ends[0], buffer, sizeof buffer)) > 0)
      inThisRound += static_cast<int>(count);
    close(ends[0]);
    acknowledged += inThisRound;

    if (inThisRound == 0 && !std::filesystem::exists(path))
      continue;
    auto store = open();
    auto trials = store->trials(key());
    ASSERT_TRUE(trials) << render(trials.error());
    int ended = 0, inFlight = 0, ofThisRound = 0;
    for (const TrialRecord &record : *trials) {
      ended += record.status == TrialStatus::Ok;
      inFlight += record.status == TrialStatus::InFlight;
      ofThisRound += record.status == TrialStatus::Ok && record.bestEstimateNs == round;
    }
    EXPECT_GE(ofThisRound, inThisRound);
    EXPECT_LE(ofThisRound, inThisRound + 1);
    EXPECT_LE(inFlight, round + 1);
    ASSERT_THAT(*store->verify(), testing::IsEmpty());
  }
  EXPECT_GT(acknowledged, 10) << "the kills came before anything was written";
}

// SQLite's locks do not survive a fork: without care the child's records vanish with the parent's last close.
TEST_F(StoreProcessesTest, AForkedChildGoesOnWithItsParentsObject) {
  auto store = open();
  ASSERT_TRUE(store->append(key(), trial(1, 1)));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = inChild([&] {
    if (!store->append(key(), trial(2, 2)))
      return 2;
    char go;
    if (::read(ends[0], &go, 1) != 1) // the parent has closed its store
      return 3;
    for (int i = 0; i < 20; ++i)
      if (!store->append(key(), trial(3, i)))
        return 4;
    return store->trials(key())->size() == 23 ? 0 : 5;
  });
  ASSERT_TRUE(store->append(key(), trial(4, 4)));
  store.reset();
  ASSERT_EQ(::write(ends[1], "!", 1), 1);
  EXPECT_EQ(exitCode(child), 0);
  close(ends[0]);
  close(ends[1]);
  auto after = open();
  EXPECT_EQ(after->trials(key())->size(), 23u);
  auto trials = after->trials(key());
  EXPECT_EQ(trials->back().origin.pid, child);
}

TEST_F(StoreProcessesTest, ForksDuringWritesDoNotHang) {
  auto store = open();
  std::atomic<bool> stop = false;
  std::atomic<int> failures = 0;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i)
      failures += !store->append(key("n=1"), trial(i % 8, i));
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(exitCode(inChild([&] { return store->append(key("n=2"), trial(i, i)) ? 0 : 1; })), 0);
  stop = true;
  writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(store->trials(key("n=2"))->size(), 20u);
}

} // namespace tilewright::store

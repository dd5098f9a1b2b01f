// Files that are damaged, foreign, newer, in the wrong place or out of room: a clear answer, never a crash,
// and the file is left as it was.
#include "StoreFixture.h"

#include <csignal>
#include <sqlite3.h>
#include <sys/resource.h>

namespace tilewright::store {

using testing::HasSubstr;

class StoreFaultsTest : public StoreTest {
protected:
  void fill(int records) {
    auto store = open();
    for (int i = 0; i < records; ++i)
      ASSERT_TRUE(store->append(key("n=" + std::to_string(i)), trial(64, i)));
  }
  void execute(const char *sql) {
    sqlite3 *db = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
};

TEST_F(StoreFaultsTest, GarbageIsCorrupt) {
  std::string garbage(10'000, 'g');
  write(path, garbage);
  Error error = refusal();
  EXPECT_EQ(error.code, "store.corrupt");
  EXPECT_THAT(error.message, HasSubstr("mv " + path.string()));
  EXPECT_EQ(read(path), garbage);
}

TEST_F(StoreFaultsTest, TruncationIsNoticed) {
  fill(200);
  auto bytes = std::filesystem::file_size(path);
  int corrupt = 0;
  for (auto length : {bytes / 2, bytes - 4096, bytes - 1, uintmax_t(4096), uintmax_t(100), uintmax_t(17)}) {
    auto copy = directory / std::to_string(length);
    std::filesystem::copy_file(path, copy);
    std::filesystem::resize_file(copy, length);
    auto store = Store::open({.path = copy});
    auto problems =
        store ? (*store)->verify() : Expected<std::vector<std::string>>(tl::unexpected(store.error()));
    bool found = !problems ? problems.error().code == "store.corrupt" : !problems->empty();
    EXPECT_TRUE(found) << length << " of " << bytes << " bytes";
    corrupt += !store && store.error().code == "store.corrupt";
  }
  EXPECT_GE(corrupt, 5) << "seen when opening";
}

TEST_F(StoreFaultsTest, FlippedBytesNeverCrash) {
  fill(100);
  std::string bytes = read(path);
  unsigned random = 12345;
  for (int round = 0; round < 60; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 40; ++i) {
      random = random * 1664525 + 1013904223;
      damaged[random % damaged.size()] = static_cast<char>(random >> 24);
    }
    auto copy = directory / ("flipped" + std::to_string(round));
    write(copy, damaged);
    auto store = Store::open({.path = copy});
    if (!store)
      continue;
    (void)(*store)->verify();
    (void)(*store)->keys();
    for (int i = 0; i < 100; ++i)
      (void)(*store)->trials(key("n=" + std::to_string(i)));
    (void)(*store)->append(key(), trial(64, 10));
    (void)(*store)->gc({.supersededKernels = true});
  }
}

TEST_F(StoreFaultsTest, VerifyFindsAChangedByteOfAnObject) {
  ASSERT_TRUE(open()->putObject("aa", std::string(100, 'z')));
  execute("UPDATE object SET bytes = x'00'");
  EXPECT_THAT(*open()->verify(), testing::ElementsAre("compiled code aa: its bytes have changed"));
  EXPECT_EQ(open()->object("aa").error().code, "store.corrupt");
}

TEST_F(StoreFaultsTest, VerifyFindsChangedRecords) {
  fill(2);
  execute(
      "UPDATE trial SET status = 'fine' WHERE id = 1; UPDATE tuning_key SET key_values = 'n=7' WHERE id = 2");
  auto problems = open()->verify();
  ASSERT_EQ(problems->size(), 2u);
  EXPECT_THAT((*problems)[0], HasSubstr("unknown status"));
  EXPECT_THAT((*problems)[1], HasSubstr("digest"));
  EXPECT_EQ(open()->trials(key("n=0")).error().code, "store.corrupt");
}

TEST_F(StoreFaultsTest, OneBadRecordDoesNotHideTheOthers) {
  fill(2);
  ASSERT_TRUE(open()->appendChoice(key("n=1"), choice(64, 10)));
  execute("UPDATE trial SET config = '{' WHERE id = 1; UPDATE choice SET method = 'guessed'");
  EXPECT_EQ(open()->keys()->size(), 2u);
  EXPECT_EQ(open()->choice(key("n=1")).error().code, "store.corrupt");
  auto fresh = Store::inMemory();
  execute("UPDATE choice SET method = 'measured'");
  auto report = fresh->merge(path);
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(report->trials, 1);
  EXPECT_EQ(report->choices, 1);
  ASSERT_EQ(report->problems.size(), 1u);
  EXPECT_THAT(report->problems[0], HasSubstr("no readable configuration"));
}

TEST_F(StoreFaultsTest, ANewerFormatIsLeftAlone) {
  fill(1);
  execute("PRAGMA user_version = 7");
  for (bool readOnly : {false, true}) {
    Error error = refusal({.readOnly = readOnly});
    EXPECT_EQ(error.code, "store.version");
    EXPECT_THAT(error.message, HasSubstr("format 7"));
  }
  execute("PRAGMA user_version = 1");
  EXPECT_EQ(open()->keys()->size(), 1u);
}

TEST_F(StoreFaultsTest, AnotherProgramsDatabaseIsLeftAlone) {
  execute("CREATE TABLE important (x); INSERT INTO important VALUES (1)");
  std::string before = read(path);
  EXPECT_EQ(refusal().code, "store.open");
  EXPECT_EQ(read(path), before);
}

TEST_F(StoreFaultsTest, AnEmptyFileBecomesAStore) {
  write(path, "");
  ASSERT_TRUE(open()->append(key(), trial(64, 10)));
  EXPECT_EQ(open({.readOnly = true})->trials(key())->size(), 1u);
}

TEST_F(StoreFaultsTest, PlacesThatCannotHoldAStore) {
  write(directory / "file", "x");
  EXPECT_EQ(refusal({.path = directory / "file" / "store.db"}).code, "store.readonly");
  EXPECT_EQ(refusal({.path = directory}).code, "store.open");
  EXPECT_EQ(refusal({.path = "/proc/store.db"}).kind, ErrorKind::Unavailable);
  EXPECT_EQ(refusal({.path = "postgresql://host/store"}).code, "store.open");
  Error missing = refusal({.readOnly = true});
  EXPECT_EQ(missing.code, "store.open");
  EXPECT_THAT(missing.message, HasSubstr("no store at"));
  EXPECT_FALSE(std::filesystem::exists(path)) << "opened for reading only";
}

TEST_F(StoreFaultsTest, ReadOnlyRefusesEveryWrite) {
  fill(1);
  auto store = open({.readOnly = true});
  EXPECT_TRUE(store->readOnly());
  EXPECT_EQ(store->append(key(), trial(64, 10)).error().code, "store.readonly");
  EXPECT_EQ(store->beginTrial(key(), config(64)).error().code, "store.readonly");
  EXPECT_EQ(store->appendChoice(key(), choice(64, 10)).error().code, "store.readonly");
  EXPECT_EQ(store->putObject("aa", "bb").error().code, "store.readonly");
  EXPECT_EQ(store->gc({}).error().code, "store.readonly");
  EXPECT_EQ(store->keys()->size(), 1u);
}

TEST_F(StoreFaultsTest, ADirectoryWithoutWritePermission) {
  using std::filesystem::perms;
  fill(1);
  std::filesystem::permissions(path, static_cast<perms>(0444));
  std::filesystem::permissions(directory, static_cast<perms>(0555));
  pid_t child = inChild([&] {
    if (geteuid() == 0 && setuid(65534) != 0) // permissions do not bind root
      return 2;
    auto writing = Store::open({.path = path});
    if (writing || writing.error().code != "store.readonly")
      return 3;
    auto creating = Store::open({.path = directory / "new.db"});
    if (creating || creating.error().code != "store.readonly")
      return 4;
    auto below = Store::open({.path = directory / "sub" / "new.db"});
    if (below || below.error().code != "store.readonly")
      return 5;
    auto reading = Store::open({.path = path, .readOnly = true});
    if (!reading)
      return complain(reading.error());
    if ((*reading)->keys()->size() != 1 || !(*reading)->verify()->empty())
      return 6;
    auto fallback = Store::openOrInMemory({.path = path}); // reads what is there, and goes on in memory
    if (!fallback.problem || fallback.store->trials(key("n=0"))->size() != 1)
      return 7;
    return fallback.store->append(key("n=0"), trial(64, 10)) ? 0 : 8;
  });
  EXPECT_EQ(exitCode(child), 0);
  std::filesystem::permissions(directory, perms::owner_all);
}

TEST_F(StoreFaultsTest, ABadFileNeverStopsTuning) {
  write(path, std::string(10'000, 'g'));
  auto opened = Store::openOrInMemory({.path = path});
  ASSERT_TRUE(opened.problem);
  EXPECT_EQ(opened.problem->code, "store.corrupt");
  ASSERT_TRUE(opened.store->append(key(), trial(64, 10)));
  EXPECT_EQ(opened.store->trials(key())->size(), 1u);
  std::filesystem::remove(path);
  EXPECT_FALSE(Store::openOrInMemory({.path = path}).problem);
}

TEST_F(StoreFaultsTest, AFullStoreKeepsWhatItHas) {
  auto store = open({.maxPages = 60});
  int kept = 0;
  Expected<void> result;
  for (; kept < 1000 && result; kept += result.has_value()) {
    TrialRecord record = trial(64, kept);
    record.text.assign(3000, 'x');
    result = store->append(key(), record);
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "store.full");
  EXPECT_EQ(store->trials(key())->size(), static_cast<size_t>(kept));
  store.reset();
  EXPECT_THAT(*open()->verify(), testing::IsEmpty());
  EXPECT_TRUE(open()->append(key(), trial(64, 10))) << "with room again";
}

// The file system itself refuses to let a file grow: the same path through SQLite as a full disk.
TEST_F(StoreFaultsTest, NoRoomOnTheFileSystem) {
  fill(1);
  pid_t child = inChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{512 * 1024, 512 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto store = Store::open({.path = path});
    if (!store)
      return 2;
    for (int i = 0; i < 1000; ++i) {
      TrialRecord record = trial(64, i);
      record.text.assign(3000, 'x');
      auto result = (*store)->append(key("full"), record);
      if (!result && result.error().code != "store.full")
        return std::fprintf(stderr, "%s\n", render(result.error()).c_str()), 3;
      if (!result) // everything that was acknowledged is still there, seen from the same process
        return (*store)->trials(key("full"))->size() == static_cast<size_t>(i) && i > 10 ? 0 : 4;
    }
    return 5;
  });
  EXPECT_EQ(exitCode(child), 0);
  auto store = open();
  EXPECT_THAT(*store->verify(), testing::IsEmpty());
  EXPECT_GT(store->trials(key("full"))->size(), 10u);
  EXPECT_TRUE(store->append(key(), trial(64, 10)));
}

TEST_F(StoreFaultsTest, AHolderOfTheLockIsNamedInTime) {
  fill(1);
  sqlite3 *db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  auto store = open({.busyTimeout = std::chrono::milliseconds(50)});
  auto result = store->append(key(), trial(64, 10));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "store.busy");
  EXPECT_EQ(store->keys()->size(), 1u) << "readers do not wait";
  sqlite3_close(db);
  EXPECT_TRUE(store->append(key(), trial(64, 10)));
}

// A file from elsewhere whose schema tries to run something must not get to.
TEST_F(StoreFaultsTest, AHostileSchemaRunsNothing) {
  fill(1);
  execute("CREATE TRIGGER evil AFTER INSERT ON trial BEGIN DELETE FROM tuning_key; END");
  auto store = open();
  ASSERT_TRUE(store->append(key("n=5"), trial(64, 10)));
  EXPECT_EQ(store->keys()->size(), 2u);
}

} // namespace tilewright::store

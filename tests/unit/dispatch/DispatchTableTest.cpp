#include "tilewright/dispatch/DispatchTable.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tilewright;

namespace {
DispatchEntry entryWith(int64_t block) {
  DispatchEntry entry;
  entry.config.set("B", block);
  return entry;
}
} // namespace

TEST(DispatchTable, FindsWhatWasInserted) {
  DispatchTable table;
  for (uint64_t i = 0; i < 100; ++i)
    table.insert(std::vector<uint64_t>{i, i * 7}, entryWith(static_cast<int64_t>(i)));
  EXPECT_EQ(table.size(), 100u);
  for (uint64_t i = 0; i < 100; ++i) {
    const DispatchEntry *found = table.find(std::vector<uint64_t>{i, i * 7});
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->config.integer("B"), static_cast<int64_t>(i));
  }
  EXPECT_EQ(table.find(std::vector<uint64_t>{1}), nullptr);
  EXPECT_EQ(table.find({}), nullptr);
}

TEST(DispatchTable, ReplacesAndForgets) {
  DispatchTable table;
  const std::vector<uint64_t> key{1};
  table.insert(key, entryWith(1));
  table.insert(key, entryWith(2));
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.find(key)->config.integer("B"), 2);
  table.clear();
  EXPECT_EQ(table.find(key), nullptr);
}

TEST(DispatchTable, ReadersRunBesideAWriter) {
  DispatchTable table;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done)
      for (uint64_t i = 0; i < 64; ++i)
        if (const DispatchEntry *found = table.find(std::vector<uint64_t>{i})) {
          ASSERT_EQ(found->config.integer("B"), static_cast<int64_t>(i));
        }
  });
  for (uint64_t i = 0; i < 64; ++i)
    table.insert(std::vector<uint64_t>{i}, entryWith(static_cast<int64_t>(i)));
  done = true;
  reader.join();
  EXPECT_EQ(table.size(), 64u);
}

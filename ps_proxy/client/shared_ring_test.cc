#include "ps_proxy/client/shared_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace tictac::native {
namespace {

struct Entry {
  uint64_t value = 0;
  uint64_t rest[7] = {};
};

class Ring : public ::testing::Test {
 protected:
  static constexpr uint32_t kCapacity = 8;
  std::unique_ptr<RingIndexes> indexes = std::make_unique<RingIndexes>();
  std::vector<SharedEntry> entries{kCapacity};
  RingWriter writer{indexes.get(), entries.data(), kCapacity};
  RingReader reader{indexes.get(), entries.data(), kCapacity};
};

TEST_F(Ring, EntriesComeInOrderOverTheEdge) {
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(writer.room(), kCapacity);
    writer.push(Entry{i});
    EXPECT_EQ(reader.available(), 0U);  // not published yet
    writer.publish();
    ASSERT_EQ(reader.available(), 1U);
    EXPECT_EQ(reader.peek<Entry>().value, i);
    reader.release(1);
  }
}

TEST_F(Ring, FullMeansNoRoom) {
  for (uint64_t i = 0; i < kCapacity; ++i) writer.push(Entry{i});
  writer.publish();
  EXPECT_EQ(writer.room(), 0U);
  EXPECT_EQ(reader.peek<Entry>(7).value, 7U);
  reader.release(3);
  EXPECT_EQ(writer.room(), 3U);
}

TEST_F(Ring, IndexesWrapAround) {
  indexes->tail = indexes->head = 0;
  for (uint64_t i = 0; i < 10; ++i) {
    writer.push(Entry{i});
    writer.publish();
    reader.release(1);
  }
  EXPECT_FALSE(writer.broken());
  EXPECT_EQ(indexes->tail.load(), 10U);
}

TEST_F(Ring, ImpossibleIndexesBreakItForGood) {
  indexes->tail = kCapacity + 1;
  EXPECT_EQ(reader.available(), 0U);
  EXPECT_TRUE(reader.broken());
  indexes->tail = 1;
  EXPECT_EQ(reader.available(), 0U);
  indexes->head = 5;  // ahead of the writer
  EXPECT_EQ(writer.room(), 0U);
  EXPECT_TRUE(writer.broken());
}

TEST_F(Ring, RingsOnlyForASleeperAndOnlyOnce) {
  writer.push(Entry{1});
  EXPECT_FALSE(writer.publish());
  EXPECT_FALSE(reader.prepare_to_sleep());  // something is there
  reader.release(reader.available());
  EXPECT_TRUE(reader.prepare_to_sleep());
  writer.push(Entry{2});
  EXPECT_TRUE(writer.publish());
  writer.push(Entry{3});
  EXPECT_FALSE(writer.publish());
  EXPECT_FALSE(writer.publish());  // nothing new
}

// A reader that sleeps whenever it may, woken only by the writer's word: a lost wake-up would hang it.
TEST_F(Ring, NoWakeUpIsLost) {
  constexpr uint64_t kCount = 200'000;
  std::atomic<uint32_t> bell{0};
  std::thread consumer([&] {
    uint64_t expected = 0;
    while (expected < kCount) {
      const uint32_t heard = bell.load();
      if (reader.available() == 0) {
        if (reader.prepare_to_sleep()) bell.wait(heard);
        reader.resume();
        continue;
      }
      ASSERT_EQ(reader.peek<Entry>().value, expected++);
      reader.release(1);
    }
  });
  for (uint64_t i = 0; i < kCount; ++i) {
    while (writer.room() == 0) std::this_thread::yield();
    writer.push(Entry{i});
    if (writer.publish()) {
      bell.fetch_add(1);
      bell.notify_one();
    }
  }
  consumer.join();
}

}  // namespace
}  // namespace tictac::native

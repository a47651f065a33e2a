#include "dataplane/transport/stream/stream_table.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

TEST(StreamTable, FindsByIdAndBySlotUntilRemoved) {
  StreamTable table(4);
  Stream* stream = table.add(10, true);
  ASSERT_TRUE(stream);
  EXPECT_EQ(table.find(10), stream);
  EXPECT_EQ(table.find(stream->slot, stream->generation), stream);
  EXPECT_EQ(table.find(stream->slot, stream->generation + 1), nullptr);
  EXPECT_EQ(table.find(1000, 1), nullptr);
  const uint32_t old = stream->generation;
  table.remove(*stream);
  EXPECT_EQ(table.find(10), nullptr);
  EXPECT_EQ(table.find(stream->slot, old), nullptr);
  Stream* next = table.add(12, true);
  EXPECT_EQ(next, stream) << "slots are reused";
  EXPECT_EQ(table.find(next->slot, old), nullptr) << "an old reference finds nothing";
}

TEST(StreamTable, EachSideHasItsOwnPlaces) {
  StreamTable table(2);
  EXPECT_TRUE(table.add(0, true));
  Stream* second = table.add(2, true);
  EXPECT_TRUE(second);
  EXPECT_FALSE(table.add(4, true));
  EXPECT_TRUE(table.add(1, false));
  EXPECT_FALSE(table.add(1, false)) << "taken";
  EXPECT_TRUE(table.add(3, false));
  EXPECT_FALSE(table.add(5, false));
  table.remove(*second);
  EXPECT_FALSE(table.add(5, false));
  EXPECT_TRUE(table.add(4, true));
  EXPECT_EQ(table.size(), 4U);
}

TEST(StreamTable, VisitorMayRemove) {
  StreamTable table(10);
  for (uint64_t id = 0; id < 10; ++id) table.add(id, true);
  table.for_each([&](Stream& stream) { table.remove(stream); });
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace tictac

#include "dataplane/runtime/stats_board.h"

#include <array>
#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace tictac {
namespace {

struct Many {
  std::array<uint64_t, 50> values{};
  uint8_t last = 0;
};

TEST(StatsBoard, EmptyBeforeTheFirstPublish) {
  StatsBoard<Many> board;
  EXPECT_EQ(board.read().values[7], 0U);
}

TEST(StatsBoard, ReadersNeverSeeAMixOfTwoCopies) {
  StatsBoard<Many> board;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    Many many;
    for (uint64_t i = 1; !stop; ++i) {
      many.values.fill(i);
      many.last = static_cast<uint8_t>(i);
      board.publish(many);
    }
  });
  uint64_t newest = 0;
  for (int i = 0; i < 20000; ++i) {
    const Many many = board.read();
    for (const uint64_t value : many.values) ASSERT_EQ(value, many.values[0]);
    ASSERT_EQ(many.last, static_cast<uint8_t>(many.values[0]));
    ASSERT_GE(many.values[0], newest);
    newest = many.values[0];
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace tictac

#include "control/replay/statistics.h"

#include <gtest/gtest.h>

namespace tictac::replay {
namespace {

std::vector<Duration> values(std::initializer_list<int> list) {
  std::vector<Duration> v;
  for (const int i : list) v.emplace_back(i);
  return v;
}

TEST(Statistics, NearestRank) {
  EXPECT_EQ(percentile(values({5}), 5), 5ns);
  EXPECT_EQ(median(values({3, 1, 2})), 2ns);
  EXPECT_EQ(median(values({4, 1, 2, 3})), 2ns);
  EXPECT_EQ(percentile(values({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 95), 10ns);
  EXPECT_EQ(percentile(values({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 5), 1ns);
}

TEST(Statistics, IntervalHoldsTheGainAndRepeats) {
  std::vector<Duration> slow;
  std::vector<Duration> fast;
  for (int i = 0; i < 100; ++i) {
    slow.emplace_back(200 + i % 7);
    fast.emplace_back(100 + i % 5);
  }
  const Interval interval = gain_interval(slow, fast);
  EXPECT_LE(interval.low, 203.0 / 102 - 1);
  EXPECT_GE(interval.high, 203.0 / 102 - 1);
  EXPECT_LT(interval.high - interval.low, 0.1);
  EXPECT_EQ(interval.low, gain_interval(slow, fast).low);
}

}  // namespace
}  // namespace tictac::replay

#include "dataplane/sched/rank_table.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

TEST(RankTable, MakesRanksDenseAndKeepsTies) {
  const RankTable table({"job",
                         ScheduleVersion(3),
                         {{"a", Rank(20)}, {"b", Rank(7)}, {"c", Rank(7)}, {"d", Rank(2147483647)}},
                         {}});
  EXPECT_EQ(table.find("b"), Rank(0));
  EXPECT_EQ(table.find("c"), Rank(0));
  EXPECT_EQ(table.find("a"), Rank(1));
  EXPECT_EQ(table.find("d"), Rank(2));
  EXPECT_EQ(table.find("e"), std::nullopt);
  EXPECT_EQ(table.default_level(), std::nullopt);
  EXPECT_EQ(table.levels(), 3U);
  EXPECT_EQ(table.levels_shared(), 0U);
  EXPECT_EQ(table.version(), ScheduleVersion(3));
}

TEST(RankTable, DefaultRankTakesItsPlaceAmongTheEntries) {
  const RankTable table({"job", ScheduleVersion(1), {{"a", Rank(0)}, {"b", Rank(9)}}, Rank(5)});
  EXPECT_EQ(table.default_level(), Rank(1));
  EXPECT_EQ(table.find("b"), Rank(2));
}

TEST(RankTable, EmptyScheduleWithDefaultIsFifo) {
  const RankTable table({"job", ScheduleVersion(1), {}, Rank(0)});
  EXPECT_EQ(table.default_level(), Rank(0));
  EXPECT_EQ(table.levels(), 1U);
}

TEST(RankTable, NeighboursShareLevelsAboveTheLimit) {
  ScheduleEntries schedule{"job", ScheduleVersion(1), {}, {}};
  constexpr uint32_t kRanks = 10'000;
  for (uint32_t i = 0; i < kRanks; ++i) schedule.entries.emplace_back("t" + std::to_string(i), Rank(i));
  const RankTable table(schedule);
  EXPECT_EQ(table.levels(), RankTable::kMaxLevels);
  EXPECT_EQ(table.levels_shared(), kRanks - RankTable::kMaxLevels);
  uint32_t previous = 0;
  for (uint32_t i = 0; i < kRanks; ++i) {
    const uint32_t level = table.find("t" + std::to_string(i))->value();
    ASSERT_GE(level, previous);
    ASSERT_LT(level, RankTable::kMaxLevels);
    previous = level;
  }
  EXPECT_EQ(previous, RankTable::kMaxLevels - 1);
}

}  // namespace
}  // namespace tictac

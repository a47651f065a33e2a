#include "ps_proxy/native/auto_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tictac::native {
namespace {

constexpr AutoKey parameter(uint64_t number) { return {.is_gradient = false, .number = number}; }

TEST(AutoRanks, AreDenseInOrderOfTheKeys) {
  AutoRanks ranks;
  for (const uint64_t number : {70, 5, 300}) ranks.add(parameter(number));
  EXPECT_TRUE(ranks.refresh(Time{1s}));
  EXPECT_EQ(ranks.levels(), 3U);
  EXPECT_EQ(ranks.rank_of(parameter(5)), 0U);
  EXPECT_EQ(ranks.rank_of(parameter(70)), 1U);
  EXPECT_EQ(ranks.rank_of(parameter(300)), 2U);
}

TEST(AutoRanks, EqualKeysShareARankUntilTheLastGoes) {
  AutoRanks ranks;
  ranks.add(parameter(1));
  ranks.add(parameter(1));
  ranks.add(parameter(2));
  ranks.refresh(Time{1s});
  EXPECT_EQ(ranks.levels(), 2U);
  ranks.remove(parameter(1));
  EXPECT_FALSE(ranks.refresh(Time{2s}));
  ranks.remove(parameter(1));
  EXPECT_TRUE(ranks.refresh(Time{3s}));
  EXPECT_EQ(ranks.rank_of(parameter(2)), 0U);
}

TEST(AutoRanks, RefreshesAreLimitedAndComeInTheEnd) {
  AutoRanks ranks;
  for (uint64_t i = 0; i < 1000; ++i) ranks.add(parameter(i * 2));
  Time now{1s};
  EXPECT_TRUE(ranks.refresh(now));
  ranks.add(parameter(1));
  EXPECT_FALSE(ranks.refresh(now));
  EXPECT_EQ(ranks.rank_of(parameter(1)), 1U);  // where it will stand
  EXPECT_GT(ranks.refresh_due(), now);
  now = ranks.refresh_due();
  EXPECT_TRUE(ranks.refresh(now));
  EXPECT_EQ(ranks.rank_of(parameter(2)), 2U);
  EXPECT_EQ(ranks.refresh_due(), kNever);
}

TEST(AutoRanks, EqualASortOfRandomKeys) {
  const uint32_t seed = 20261;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  AutoRanks ranks;
  std::vector<AutoKey> keys;
  for (int i = 0; i < 2000; ++i) keys.push_back({random() % 2 == 0, random() % 500});
  for (const AutoKey& key : keys) ranks.add(key);
  ranks.refresh(Time{1s});
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  ASSERT_EQ(ranks.levels(), keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i) EXPECT_EQ(ranks.rank_of(keys[i]), i);
}

}  // namespace
}  // namespace tictac::native

#include "dataplane/sched/index_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace tictac {
namespace {

TEST(IndexSet, EmptyHasNoNext) {
  IndexSet set;
  EXPECT_EQ(set.next(0), IndexSet::kNone);
  set.resize(70);
  EXPECT_EQ(set.next(69), IndexSet::kNone);
}

TEST(IndexSet, NextGoesRoundTheEnd) {
  IndexSet set;
  set.resize(200);
  set.insert(3);
  set.insert(130);
  EXPECT_EQ(set.next(0), 3U);
  EXPECT_EQ(set.next(4), 130U);
  EXPECT_EQ(set.next(131), 3U);
  EXPECT_EQ(set.next(256), 3U);
}

TEST(IndexSet, IntersectionEqualsANaiveOne) {
  std::mt19937 random(7);
  constexpr size_t kSize = 150;
  for (int round = 0; round < 300; ++round) {
    IndexSet a;
    IndexSet b;
    a.resize(kSize);
    b.resize(kSize);
    std::set<size_t> common;
    for (size_t i = 0; i < kSize; ++i) {
      const bool in_a = random() % 8 == 0;
      const bool in_b = random() % 8 == 0;
      if (in_a) a.insert(i);
      if (in_b) b.insert(i);
      if (in_a && in_b) common.insert(i);
    }
    const size_t from = random() % kSize;
    auto expected = common.lower_bound(from);
    if (expected == common.end()) expected = common.begin();
    EXPECT_EQ(a.next_common(b, from), common.empty() ? IndexSet::kNone : *expected);
  }
}

}  // namespace
}  // namespace tictac

#include "dataplane/transport/stream/range_set.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tictac {
namespace {

TEST(RangeSet, JoinsWhatTouches) {
  RangeSet set;
  set.add({10, 20});
  set.add({30, 40});
  set.add({20, 30});
  EXPECT_EQ(set.ranges(), (std::vector<ByteRange>{{10, 40}}));
  set.add({5, 5});
  EXPECT_EQ(set.count(), 1U);
}

TEST(RangeSet, RemoveSplits) {
  RangeSet set;
  set.add({0, 100});
  set.remove({40, 60});
  set.remove({90, 200});
  EXPECT_EQ(set.ranges(), (std::vector<ByteRange>{{0, 40}, {60, 90}}));
}

TEST(RangeSet, EndOfRun) {
  RangeSet set;
  set.add({0, 10});
  set.add({20, 30});
  EXPECT_EQ(set.end_of_run(0), 10U);
  EXPECT_EQ(set.end_of_run(10), 10U);
  EXPECT_EQ(set.end_of_run(25), 30U);
  EXPECT_FALSE(set.contains(15));
}

// Against a plain array of booleans.
TEST(RangeSet, RandomOperationsAgreeWithAModel) {
  constexpr uint64_t kSize = 200;
  std::mt19937_64 random(7);
  RangeSet set;
  std::vector<bool> model(kSize);
  for (int step = 0; step < 20'000; ++step) {
    SCOPED_TRACE("seed 7, step " + std::to_string(step));
    const uint64_t begin = random() % kSize;
    const uint64_t end = begin + random() % std::min<uint64_t>(20, kSize - begin);
    std::vector<bool> fresh(kSize);
    std::vector<bool> missing(kSize);
    const auto note = [](std::vector<bool>& where) {
      return [&where](ByteRange range) {
        for (uint64_t i = range.begin; i < range.end; ++i) {
          ASSERT_FALSE(where[i]);
          where[i] = true;
        }
      };
    };
    set.for_each_missing({begin, end}, note(missing));
    const bool adds = random() % 2;
    adds ? set.add({begin, end}, note(fresh)) : set.remove({begin, end});
    for (uint64_t i = begin; i < end; ++i) {
      ASSERT_EQ(missing[i], !model[i]);
      ASSERT_EQ(fresh[i], adds && !model[i]);
      model[i] = adds;
    }
    for (uint64_t i = 0; i < kSize; ++i) ASSERT_EQ(set.contains(i), model[i]) << i;
    for (size_t i = 1; i < set.count(); ++i) ASSERT_LT(set.ranges()[i - 1].end, set.ranges()[i].begin);
  }
}

}  // namespace
}  // namespace tictac

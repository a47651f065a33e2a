#include "ps_proxy/client/arena.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tictac::native {
namespace {

TEST(Arena, GivesAlignedPiecesUntilItIsFull) {
  Arena arena(256);
  EXPECT_EQ(arena.allocate(1), 0U);
  EXPECT_EQ(arena.allocate(65), 64U);
  EXPECT_EQ(arena.allocate(64), 192U);
  EXPECT_EQ(arena.allocate(0), std::nullopt);
  EXPECT_EQ(arena.in_use(), 256U);
}

TEST(Arena, JoinsWhatIsFreed) {
  Arena arena(192);
  const auto a = arena.allocate(64);
  const auto b = arena.allocate(64);
  const auto c = arena.allocate(64);
  EXPECT_TRUE(arena.release(*a));
  EXPECT_TRUE(arena.release(*c));
  EXPECT_EQ(arena.allocate(128), std::nullopt);
  EXPECT_TRUE(arena.release(*b));
  EXPECT_EQ(arena.allocate(192), 0U);
}

TEST(Arena, WarmMemoryComesBackFirst) {
  Arena arena(1 << 20);
  const auto first = arena.allocate(1000);
  arena.release(*first);
  EXPECT_EQ(arena.allocate(1000), first);
}

TEST(Arena, RefusesWhatItCannotGiveOrNeverGave) {
  Arena arena(1000);  // 15 steps of 64
  EXPECT_EQ(arena.size(), 960U);
  EXPECT_EQ(arena.allocate(961), std::nullopt);
  EXPECT_EQ(arena.allocate(UINT64_MAX), std::nullopt);
  EXPECT_FALSE(arena.release(64));
  EXPECT_EQ(arena.allocate(960), 0U);
  EXPECT_TRUE(arena.release(0));
  EXPECT_FALSE(arena.release(0));
}

TEST(Arena, RandomUseNeverOverlapsAndEndsEmpty) {
  const uint32_t seed = 4;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  Arena arena(1 << 16);
  std::map<uint64_t, uint64_t> live;
  for (int i = 0; i < 20'000; ++i) {
    if (live.empty() || random() % 2 == 0) {
      const uint64_t size = random() % 3000 + 1;
      const auto offset = arena.allocate(size);
      if (!offset) continue;
      ASSERT_EQ(*offset % 64, 0U);
      const auto after = live.lower_bound(*offset);
      ASSERT_TRUE(after == live.end() || *offset + size <= after->first);
      ASSERT_TRUE(after == live.begin() || std::prev(after)->first + std::prev(after)->second <= *offset);
      live[*offset] = size;
    } else {
      auto victim = std::next(live.begin(), static_cast<ptrdiff_t>(random() % live.size()));
      ASSERT_TRUE(arena.release(victim->first));
      live.erase(victim);
    }
  }
  for (const auto& [offset, size] : live) ASSERT_TRUE(arena.release(offset));
  EXPECT_EQ(arena.largest_free(), uint64_t{1} << 16);
}

}  // namespace
}  // namespace tictac::native

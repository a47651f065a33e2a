#include "dataplane/base/spsc_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace tictac {
namespace {

TEST(SpscRing, IsFirstInFirstOutAndBounded) {
  SpscRing<int> ring(4);
  EXPECT_TRUE(ring.empty());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.try_push(int{i}));
  EXPECT_FALSE(ring.try_push(99));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ring.try_pop(), i);
  EXPECT_EQ(ring.try_pop(), std::nullopt);
}

TEST(SpscRing, KeepsTheItemWhenFull) {
  SpscRing<std::unique_ptr<int>> ring(1);
  EXPECT_TRUE(ring.try_push(std::make_unique<int>(1)));
  auto second = std::make_unique<int>(2);
  EXPECT_FALSE(ring.try_push(std::move(second)));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(**ring.try_pop(), 1);
}

TEST(SpscRing, CarriesEveryItemOnceAcrossThreads) {
  constexpr int kItems = 200'000;
  SpscRing<int> ring(64);
  std::jthread producer([&] {
    for (int i = 0; i < kItems;) {
      if (ring.try_push(int{i})) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (int expected = 0; expected < kItems;) {
    if (const auto item = ring.try_pop()) {
      ASSERT_EQ(*item, expected++);
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace
}  // namespace tictac

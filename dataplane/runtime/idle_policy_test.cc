#include "dataplane/runtime/idle_policy.h"

#include "gtest/gtest.h"

namespace tictac {
namespace {

constexpr Time kStart{100s};

TEST(IdlePolicy, SpinsShortlyAfterWorkThenSleepsToTheDeadline) {
  IdlePolicy policy({});
  policy.on_work(kStart);
  EXPECT_EQ(policy.sleep_for(kStart + 19us, kStart + 1ms, true), 0ns);
  EXPECT_EQ(policy.sleep_for(kStart + 20us, kStart + 1ms, true), 980us - 5us);
}

TEST(IdlePolicy, NearDeadlinesAreSpunForAndPastOnesToo) {
  IdlePolicy policy({});
  EXPECT_EQ(policy.sleep_for(kStart, kStart + 24us, true), 0ns);
  EXPECT_EQ(policy.sleep_for(kStart, kStart - 1s, true), 0ns);
  EXPECT_EQ(policy.sleep_for(kStart, Time::min(), true), 0ns);
  EXPECT_EQ(policy.sleep_for(kStart, kStart + 25us, true), 20us);
}

TEST(IdlePolicy, SleepsAreBounded) {
  IdlePolicy policy({});
  EXPECT_EQ(policy.sleep_for(kStart, kNever, true), 10ms);
}

TEST(IdlePolicy, NapsGrowWhileNothingComesAndStartAgainAfterWork) {
  IdlePolicy policy({});
  Duration longest{0};
  for (int i = 0; i < 20; ++i) {
    longest = policy.sleep_for(kStart + 1s, kNever, false);
    policy.on_idle_sleep();
    EXPECT_EQ(longest, std::min<Duration>(50us * (1 << std::min(i, 10)), 700us));
  }
  EXPECT_LT(longest, 1ms);
  policy.on_work(kStart + 2s);
  EXPECT_EQ(policy.sleep_for(kStart + 3s, kNever, false), 50us);
}

}  // namespace
}  // namespace tictac

#include "dataplane/transport/recovery/rate_controller.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tictac {
namespace {

constexpr Duration kRtt = 1ms;

class RateControllerTest : public ::testing::Test {
 protected:
  RateControllerTest() { rtt.on_sample(kRtt, 0us, now); }

  // One round in which the window is full; `sample(i)` is the RTT of ack i of 20, `lost` the share lost.
  template <typename Sample>
  void round(Sample sample, double lost = 0, Duration span = kRtt) {
    const uint64_t flight = control.window();
    control.on_sent(flight);
    control.on_lost(static_cast<uint64_t>(lost * static_cast<double>(flight)));
    constexpr int kAcks = 20;
    for (int i = 0; i < kAcks; ++i) {
      now += span / (kAcks - 1);
      rtt.on_sample(sample(i), 0us, now);
      control.on_ack(static_cast<uint64_t>((1 - lost) * static_cast<double>(flight)) / kAcks, rtt, now);
    }
  }
  void rounds(int count, Duration sample, double lost = 0) {
    for (int i = 0; i < count; ++i) round([&](int) { return sample; }, lost, sample);
  }

  Time now{1s};
  RttEstimator rtt;
  RateController control;
};

TEST_F(RateControllerTest, StartsFast) {
  EXPECT_EQ(RateController().pacing_rate(rtt), Rate(0)) << "the first round trip is not paced";
  const uint64_t first = control.window();
  EXPECT_EQ(first, RateController::kInitialWindow);
  rounds(4, kRtt);
  EXPECT_TRUE(control.in_slow_start());
  EXPECT_GE(control.window(), 8 * first);
  rounds(30, kRtt);
  EXPECT_EQ(control.window(), RateController::kMostWindow);
  // 64 MiB a millisecond: no limit on any link of ours.
  EXPECT_GT(control.pacing_rate(rtt).value(), 100'000'000'000U);
}

TEST_F(RateControllerTest, AWindowThatIsNotUsedDoesNotGrow) {
  for (int i = 0; i < 200; ++i) {
    now += 100us;
    rtt.on_sample(kRtt, 0us, now);
    control.on_sent(10'000);
    control.on_ack(10'000, rtt, now);
  }
  EXPECT_EQ(control.window(), RateController::kInitialWindow);
}

TEST_F(RateControllerTest, AStandingQueueEndsSlowStartAndShrinksTheWindow) {
  rounds(5, kRtt);
  const uint64_t before = control.window();
  rounds(1, kRtt + 5ms);
  EXPECT_FALSE(control.in_slow_start());
  rounds(5, kRtt + 5ms);
  EXPECT_LT(control.window(), before / 4);
  rounds(100, kRtt + 50ms);
  EXPECT_EQ(control.window(), RateController::kLeastWindow);
  rounds(5, kRtt);
  EXPECT_GT(control.window(), RateController::kLeastWindow) << "and grows again when it has gone";
}

TEST_F(RateControllerTest, RandomLossIsNotCongestion) {
  rounds(4, kRtt);
  const uint64_t before = control.window();
  rounds(50, kRtt, 0.01);
  EXPECT_GE(control.window(), before);
}

TEST_F(RateControllerTest, HeavyLossBoundsTheWindowByWhatIsDelivered) {
  rounds(4, kRtt);
  const uint64_t before = control.window();
  rounds(50, kRtt, 0.10);
  EXPECT_GT(control.window(), before / 2) << "10 % random loss does not collapse it";
  const uint64_t peak = control.window();
  rounds(50, kRtt, 0.5);
  EXPECT_LT(control.window(), peak / 4) << "an overloaded shallow buffer does shrink it";
}

// A core lost for milliseconds inflates some samples of a round, not all.
TEST_F(RateControllerTest, NoisySamplesDoNotShrinkTheWindow) {
  rounds(4, kRtt);
  const uint64_t before = control.window();
  for (int i = 0; i < 50; ++i) round([](int ack) { return ack % 4 ? kRtt + 5ms : kRtt; });
  EXPECT_GE(control.window(), before);
}

// 1 Gbit/s, 1 ms, a buffer without end, and a sender that never pauses.
TEST_F(RateControllerTest, AStandingQueueDoesNotBecomeTheLeastRtt) {
  constexpr double kBytesPerSecond = 125e6;
  Duration worst{0};
  const Time start = now;
  while (now - start < 60s) {
    const auto flight = static_cast<double>(control.window());
    const Duration sample =
        std::max<Duration>(kRtt, Duration(static_cast<int64_t>(flight / kBytesPerSecond * 1e9)));
    control.on_sent(control.window());
    now += sample / 20;
    rtt.on_sample(sample, 0us, now);
    control.on_ack(control.window() / 20, rtt, now);
    if (now - start > 1s) worst = std::max(worst, sample);
  }
  EXPECT_EQ(rtt.min(), kRtt);
  EXPECT_LT(worst, kRtt + 2 * RateController::kTargetQueueing);
}

// RFC 9002, section 7.6.
TEST_F(RateControllerTest, PersistentCongestion) {
  rounds(6, kRtt);
  control.on_persistent_congestion();
  EXPECT_EQ(control.window(), RateController::kLeastWindow);
  EXPECT_TRUE(control.in_slow_start());
  rounds(8, kRtt);
  EXPECT_GE(control.window(), RateController::kInitialWindow) << "back within a few round trips";
}

}  // namespace
}  // namespace tictac

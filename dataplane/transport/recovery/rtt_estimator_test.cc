#include "dataplane/transport/recovery/rtt_estimator.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

// RFC 9002, section 5.3.
TEST(RttEstimator, FirstSampleSetsAll) {
  RttEstimator rtt;
  EXPECT_FALSE(rtt.has_sample());
  EXPECT_EQ(rtt.smoothed(), RttEstimator::kInitial);
  rtt.on_sample(800us, 0us, Time{1s});
  EXPECT_TRUE(rtt.has_sample());
  EXPECT_EQ(rtt.smoothed(), 800us);
  EXPECT_EQ(rtt.variation(), 400us);
  EXPECT_EQ(rtt.min(), 800us);
}

TEST(RttEstimator, LaterSamplesAreSmoothed) {
  RttEstimator rtt;
  rtt.on_sample(800us, 0us, Time{1s});
  rtt.on_sample(1600us, 0us, Time{1s});
  EXPECT_EQ(rtt.latest(), 1600us);
  EXPECT_EQ(rtt.variation(), (3 * 400us + 800us) / 4);
  EXPECT_EQ(rtt.smoothed(), (7 * 800us + 1600us) / 8);
  EXPECT_EQ(rtt.min(), 800us);
}

TEST(RttEstimator, AckDelayIsTakenOffButNotBelowTheLeast) {
  RttEstimator rtt;
  rtt.on_sample(800us, 0us, Time{1s});
  rtt.on_sample(1000us, 200us, Time{1s});
  EXPECT_EQ(rtt.smoothed(), 800us);
  rtt.on_sample(900us, 500us, Time{1s});  // 400 us would be below the least
  EXPECT_EQ(rtt.smoothed(), (7 * Duration(800us) + 900us) / 8);
  EXPECT_EQ(rtt.min(), 800us) << "the least ignores what the peer says";
}

TEST(RttEstimator, TheLeastGrowsOld) {
  RttEstimator rtt;
  rtt.on_sample(100us, 0us, Time{1s});
  rtt.on_sample(500us, 0us, Time{1s} + RttEstimator::kMinRttLifetime / 2);
  EXPECT_EQ(rtt.min(), 100us);
  rtt.on_sample(400us, 0us, Time{1s} + RttEstimator::kMinRttLifetime);
  EXPECT_EQ(rtt.min(), 400us) << "the path has changed";
}

TEST(RttEstimator, AfterSilenceTheLeastIsNew) {
  RttEstimator rtt;
  rtt.on_sample(100us, 0us, Time{1s});
  rtt.on_sample(500us, 0us, Time{1s} + RttEstimator::kMinRttLifetime);
  EXPECT_EQ(rtt.min(), 500us);
}

TEST(RttEstimator, AClockThatStandsStillGivesAPositiveSample) {
  RttEstimator rtt;
  rtt.on_sample(0us, 0us, Time{1s});
  EXPECT_GT(rtt.smoothed(), Duration::zero());
}

}  // namespace
}  // namespace tictac

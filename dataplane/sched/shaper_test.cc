#include "dataplane/sched/shaper.h"

#include <gtest/gtest.h>

namespace tictac {
namespace {

using std::chrono_literals::operator""h;
constexpr Time kStart = Time(1s);

// Sends frames as early as the shaper lets; returns the bytes that left until `end`.
uint64_t send_until(Shaper& shaper, Time end, uint32_t frame) {
  uint64_t sent = 0;
  Time now = kStart;
  while (true) {
    if (!shaper.may_send(now)) now = shaper.ready_at();
    if (now >= end) return sent;
    shaper.on_sent(frame, now);
    sent += frame;
  }
}

TEST(Shaper, KeepsTheRateFrom10MbitTo40Gbit) {
  for (const uint64_t rate : {10'000'000ULL, 997'000'001ULL, 3'103'870'000ULL, 40'000'000'000ULL}) {
    for (const uint32_t frame : {60U, 1514U, 9014U}) {
      Shaper shaper;
      shaper.configure(Rate(rate), 0);
      const Duration span = rate < 100'000'000 ? Duration(20s) : Duration(200ms);
      const auto expected = static_cast<double>(rate) / 8 * std::chrono::duration<double>(span).count();
      const double burst = std::max(static_cast<double>(rate) / 8 * 200e-6, 3028.0) + frame;
      const auto sent = static_cast<double>(send_until(shaper, kStart + span, frame));
      EXPECT_GE(sent, expected * 0.9999 - frame) << rate << " " << frame;
      EXPECT_LE(sent, expected * 1.0001 + burst) << rate << " " << frame;
    }
  }
}

TEST(Shaper, BurstIsTheDepthAndOneFrame) {
  Shaper shaper;
  shaper.configure(Rate(1'000'000'000), 10'000);
  uint32_t burst = 0;
  while (shaper.may_send(kStart)) {
    shaper.on_sent(1000, kStart);
    burst += 1000;
  }
  EXPECT_EQ(burst, 10'000U);
  EXPECT_FALSE(shaper.may_send(shaper.ready_at() - 1ns));
  EXPECT_TRUE(shaper.may_send(shaper.ready_at()));
}

TEST(Shaper, IdleTimeIsNotSavedUp) {
  Shaper shaper;
  shaper.configure(Rate(1'000'000'000), 10'000);
  const Time late = kStart + 1h;
  uint32_t burst = 0;
  for (; shaper.may_send(late); burst += 1000) shaper.on_sent(1000, late);
  EXPECT_EQ(burst, 10'000U);
}

TEST(Shaper, RateZeroIsNoLimit) {
  Shaper shaper;
  shaper.configure(Rate(0), 0);
  for (int i = 0; i < 1000; ++i) shaper.on_sent(1514, kStart);
  EXPECT_TRUE(shaper.may_send(kStart));
}

}  // namespace
}  // namespace tictac

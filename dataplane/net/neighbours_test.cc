#include "dataplane/net/neighbours.h"

#include <vector>

#include "gtest/gtest.h"

namespace tictac {
namespace {

const MacAddress kMac = {{2, 0, 0, 0, 0, 1}};
const MacAddress kOtherMac = {{2, 0, 0, 0, 0, 2}};
constexpr Ipv4 kIp = 0x0a000002;
constexpr Time kStart{100s};

TEST(Neighbours, AsksAtOnceThenBacksOff) {
  Neighbours table({});
  EXPECT_EQ(table.find(kStart, kIp), std::nullopt);
  std::vector<Duration> asked;
  for (Time now = kStart; now < kStart + 5s; now += 1ms) {
    if ((now - kStart) % 100ms == 0ms) table.find(now, kIp);  // somebody still wants it
    while (const auto ask = table.next_ask(now)) {
      EXPECT_EQ(ask->ip, kIp);
      EXPECT_EQ(ask->at, std::nullopt);
      asked.push_back(now - kStart);
    }
  }
  EXPECT_EQ(asked, (std::vector<Duration>{0ms, 50ms, 150ms, 350ms, 750ms, 1550ms, 2550ms, 3550ms, 4550ms}));
}

TEST(Neighbours, AsksEndWhenNobodyWantsIt) {
  Neighbours table({});
  table.find(kStart, kIp);
  Time last{};
  for (Time now = kStart; now < kStart + 20s; now += 10ms) {
    if (table.next_ask(now)) last = now;
  }
  EXPECT_LE(last - kStart, 3s);
  EXPECT_EQ(table.next_deadline(), kNever);
  table.find(kStart + 30s, kIp);
  EXPECT_TRUE(table.next_ask(kStart + 30s));
}

TEST(Neighbours, DeadlineTellsWhenAnAskIsDue) {
  Neighbours table({});
  EXPECT_EQ(table.next_deadline(), kNever);
  table.find(kStart, kIp);
  EXPECT_EQ(table.next_deadline(), kStart);
  table.next_ask(kStart);
  EXPECT_EQ(table.next_deadline(), kStart + 50ms);
  EXPECT_FALSE(table.next_ask(kStart + 50ms - 1ns));
  EXPECT_TRUE(table.next_ask(kStart + 50ms));
}

TEST(Neighbours, AnswerSettlesAndGivesTheHeldFrameBackOnce) {
  Neighbours table({});
  table.find(kStart, kIp);
  table.next_ask(kStart);
  const std::vector<uint8_t> old_frame = {9};
  const std::vector<uint8_t> frame = {1, 2, 3};
  EXPECT_TRUE(table.hold(kIp, old_frame));
  EXPECT_TRUE(table.hold(kIp, frame));
  const ByteSpan held = table.learn(kStart + 1ms, kIp, kMac);
  EXPECT_EQ(std::vector<uint8_t>(held.begin(), held.end()), frame);
  EXPECT_TRUE(table.learn(kStart + 2ms, kIp, kMac).empty());
  EXPECT_EQ(table.find(kStart + 3ms, kIp), kMac);
  EXPECT_FALSE(table.next_ask(kStart + 10s));
}

TEST(Neighbours, HoldsOnlySmallFramesOfUnknownNeighbours) {
  Neighbours table({});
  const std::vector<uint8_t> frame(Neighbours::kHeldBytes + 1);
  EXPECT_FALSE(table.hold(kIp, ByteSpan(frame).first(1)));  // nobody asked for it
  table.find(kStart, kIp);
  EXPECT_FALSE(table.hold(kIp, frame));
  table.learn(kStart, kIp, kMac);
  EXPECT_FALSE(table.hold(kIp, ByteSpan(frame).first(1)));
}

TEST(Neighbours, ADatagramFillsInButOnlyArpChanges) {
  Neighbours table({});
  table.find(kStart, kIp);
  table.confirm(kStart, kIp, kMac);
  EXPECT_EQ(table.find(kStart, kIp), kMac);
  table.confirm(kStart, kIp, kOtherMac);
  EXPECT_EQ(table.find(kStart, kIp), kMac);
  table.learn(kStart, kIp, kOtherMac);
  EXPECT_EQ(table.find(kStart, kIp), kOtherMac);
}

TEST(Neighbours, StrangersFillNothing) {
  Neighbours table({.capacity = 4});
  table.find(kStart, kIp);
  for (uint32_t i = 0; i < 1000; ++i) table.learn(kStart, 0x0a010000 + i, kMac);
  EXPECT_EQ(table.size(), 1U);
}

TEST(Neighbours, SilentNeighbourIsAskedDirectlyThenByBroadcastAndStaysInUse) {
  Neighbours table({});
  table.find(kStart, kIp);
  table.learn(kStart, kIp, kMac);
  std::vector<bool> direct;
  Time first{};
  for (Time now = kStart; now < kStart + 17s; now += 10ms) {
    EXPECT_EQ(table.find(now, kIp), kMac);
    while (const auto ask = table.next_ask(now)) {
      if (direct.empty()) first = now;
      direct.push_back(ask->at.has_value());
    }
  }
  EXPECT_EQ(first, kStart + 15s);
  ASSERT_GE(direct.size(), 5U);
  EXPECT_EQ(std::vector<bool>(direct.begin(), direct.begin() + 4),
            (std::vector<bool>{true, true, true, false}));
}

TEST(Neighbours, TrafficKeepsItFreshWithoutAsks) {
  Neighbours table({});
  table.find(kStart, kIp);
  table.learn(kStart, kIp, kMac);
  for (Time now = kStart; now < kStart + 120s; now += 100ms) {
    table.find(now, kIp);
    table.confirm(now, kIp, kMac);
    EXPECT_FALSE(table.next_ask(now));
  }
}

TEST(Neighbours, FullTableDropsTheOneUsedLongestAgoButNoStatic) {
  Neighbours table({.capacity = 3});
  table.add_static(1, kMac);
  table.find(kStart, 2);
  table.find(kStart + 1s, 3);
  table.find(kStart + 2s, 4);  // replaces 2
  EXPECT_EQ(table.size(), 3U);
  EXPECT_EQ(table.evicted(), 1U);
  EXPECT_EQ(table.find(kStart + 3s, 1), kMac);
  table.learn(kStart + 3s, 2, kMac);
  table.learn(kStart + 3s, 3, kMac);
  EXPECT_EQ(table.find(kStart + 3s, 3), kMac);
  EXPECT_EQ(table.evicted(), 1U);
}

TEST(Neighbours, StaticNeverAsksAndNeverChanges) {
  Neighbours table({});
  table.add_static(kIp, kMac);
  EXPECT_EQ(table.find(kStart, kIp), kMac);
  table.learn(kStart, kIp, kOtherMac);
  EXPECT_EQ(table.find(kStart + 100s, kIp), kMac);
  EXPECT_EQ(table.next_deadline(), kNever);
}

}  // namespace
}  // namespace tictac

#include "dataplane/transport/recovery/received_packets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tictac {
namespace {

using Verdict = ReceivedPackets::Verdict;
constexpr Time kNow{1s};
constexpr uint64_t kWindow = ReceivedPackets::kWindow;

std::vector<std::pair<uint64_t, uint64_t>> ranges_of(const ReceivedPackets& packets) {
  ReceivedPackets::Ranges next(packets);
  std::vector<std::pair<uint64_t, uint64_t>> out;
  for (wire::NumberRange range; next(&range);) out.emplace_back(range.first, range.last);
  return out;
}

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

TEST(ReceivedPackets, NewDuplicateTooOld) {
  ReceivedPackets packets;
  EXPECT_EQ(packets.classify(0), Verdict::kTooOld) << "numbers start at 1";
  EXPECT_EQ(packets.classify(1), Verdict::kNew);
  packets.add(1, true, kNow);
  EXPECT_EQ(packets.classify(1), Verdict::kDuplicate);
  packets.add(kWindow + 1, true, kNow);
  EXPECT_EQ(packets.classify(1), Verdict::kTooOld);
  EXPECT_EQ(packets.classify(2), Verdict::kNew) << "reordered by a whole window";
  packets.add(10 * kWindow, true, kNow);
  EXPECT_EQ(packets.classify(9 * kWindow), Verdict::kTooOld);
  EXPECT_EQ(packets.classify(9 * kWindow + 1), Verdict::kNew);
  EXPECT_EQ(ranges_of(packets), (Ranges{{10 * kWindow, 10 * kWindow}}));
}

TEST(ReceivedPackets, RangesDownwards) {
  ReceivedPackets packets;
  EXPECT_TRUE(ranges_of(packets).empty());
  for (const uint64_t n : {1, 2, 3, 5, 64, 65, 200}) packets.add(n, true, kNow);
  EXPECT_EQ(ranges_of(packets), (Ranges{{200, 200}, {64, 65}, {5, 5}, {1, 3}}));
  packets.raise_floor(3);
  EXPECT_EQ(ranges_of(packets), (Ranges{{200, 200}, {64, 65}, {5, 5}, {3, 3}}));
  packets.raise_floor(1'000'000);
  EXPECT_EQ(ranges_of(packets), (Ranges{{200, 200}})) << "a floor above all numbers is not believed";
}

// Against a plain set: 25 % of the packets are displaced by thousands, some are lost, some come twice.
TEST(ReceivedPackets, AgreesWithAPlainSet) {
  constexpr uint64_t kCount = 150'000;
  const uint64_t seed = 5;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<std::pair<uint64_t, uint64_t>> arrivals;  // place, number
  for (uint64_t n = 1; n <= kCount; ++n) {
    if (random() % 50 == 0) continue;
    arrivals.emplace_back(n + (random() % 4 == 0 ? random() % 8000 : 0), n);
    if (random() % 100 == 0) arrivals.emplace_back(n + random() % 8000, n);
  }
  std::sort(arrivals.begin(), arrivals.end());
  ReceivedPackets packets;
  std::set<uint64_t> plain;
  for (const auto& [place, n] : arrivals) {
    ASSERT_EQ(packets.classify(n), plain.contains(n) ? Verdict::kDuplicate : Verdict::kNew) << n;
    if (plain.insert(n).second) packets.add(n, true, kNow);
  }
  Ranges expected;
  const uint64_t floor = *plain.rbegin() - kWindow + 1;
  for (auto n = plain.rbegin(); n != plain.rend() && *n >= floor; ++n) {
    if (!expected.empty() && expected.back().first == *n + 1) {
      expected.back().first = *n;
    } else {
      expected.emplace_back(*n, *n);
    }
  }
  EXPECT_EQ(ranges_of(packets), expected);
}

TEST(ReceivedPackets, AckAfterSomeOrSoon) {
  ReceivedPackets packets;
  packets.add(1, false, kNow);
  EXPECT_FALSE(packets.ack_owed()) << "acks are not acknowledged";
  for (uint64_t n = 2; n <= ReceivedPackets::kAckEvery; ++n) {
    packets.add(n, true, kNow + 10us);
    EXPECT_EQ(packets.ack_due_at(), kNow + 10us + ReceivedPackets::kMaxAckDelay) << n;
  }
  packets.add(ReceivedPackets::kAckEvery + 1, true, kNow + 20us);
  EXPECT_EQ(packets.ack_due_at(), kNow + 20us);
  packets.on_ack_sent();
  EXPECT_FALSE(packets.ack_owed());
  EXPECT_EQ(packets.ack_due_at(), kNever);
}

// RFC 9000, section 13.2.1.
TEST(ReceivedPackets, AGapAndADuplicateAreToldAtOnce) {
  ReceivedPackets packets;
  packets.add(1, true, kNow);
  packets.add(3, true, kNow);
  EXPECT_EQ(packets.ack_due_at(), kNow);
  packets.on_ack_sent();
  packets.on_duplicate(true, kNow + 1ms);
  EXPECT_EQ(packets.ack_due_at(), kNow + 1ms);
  packets.on_ack_sent();
  packets.on_duplicate(false, kNow + 1ms);
  EXPECT_FALSE(packets.ack_owed());
  packets.add(4, true, kNow + 2ms);
  EXPECT_EQ(packets.ack_due_at(), kNow + 2ms + ReceivedPackets::kMaxAckDelay) << "one gap, one ack";
  EXPECT_EQ(packets.delay_of_largest(kNow + 3ms), 1ms);
}

}  // namespace
}  // namespace tictac

#include "dataplane/transport/session/late_meter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tictac {
namespace {

constexpr uint32_t kSlack = 100;

ArrivingTransfer transfer(uint32_t rank, uint64_t version = 1, uint16_t job = 0) {
  return {.job = JobId(job), .rank = Rank(rank), .version = ScheduleVersion(version)};
}

struct LateMeterTest : ::testing::Test {
  // A packet of `t`, cut at `sent`, that brings bytes accepted at `accepted`.
  uint64_t arrives(ArrivingTransfer& t, uint32_t accepted, uint32_t sent) {
    const uint64_t late = meter.on_bytes(t, accepted, sent, kSlack);
    meter.on_packet(t, sent);
    return late;
  }
  LateMeter meter;
  ArrivingTransfer good = transfer(1);
  ArrivingTransfer bad = transfer(5);
};

TEST_F(LateMeterTest, CountsWorsePacketsCutTooLate) {
  EXPECT_EQ(arrives(bad, 0, 1000), 0U);
  EXPECT_EQ(arrives(bad, 0, 1050), 0U);
  EXPECT_EQ(arrives(bad, 0, 1200), 0U);
  EXPECT_EQ(arrives(bad, 0, 1300), 0U);
  // Accepted at 1010: 1200 and 1300 are beyond the slack, 1050 is not.
  EXPECT_EQ(arrives(good, 1010, 1310), 2U);
  EXPECT_EQ(arrives(good, 1010, 1320), 0U) << "each packet counts once";
  EXPECT_EQ(arrives(bad, 0, 1500), 0U);
  EXPECT_EQ(arrives(good, 1010, 1510), 1U);
}

TEST_F(LateMeterTest, BytesAcceptedLaterBlameNobodyForBefore) {
  arrives(good, 1000, 1000);
  arrives(bad, 0, 2000);
  arrives(bad, 0, 3000);
  EXPECT_EQ(arrives(good, 2990, 3010), 0U) << "the source had nothing until then";
}

TEST_F(LateMeterTest, OlderBytesOfTheSameTransferAreJudgedToo) {
  arrives(bad, 0, 2000);
  EXPECT_EQ(arrives(good, 1990, 2010), 0U);
  EXPECT_EQ(arrives(good, 1000, 2020), 1U) << "a retransmission";
}

TEST_F(LateMeterTest, OnlyTheSameJobVersionAndABetterRank) {
  ArrivingTransfer other_job = transfer(5, 1, 1);
  ArrivingTransfer other_version = transfer(5, 2);
  ArrivingTransfer equal = transfer(1);
  ArrivingTransfer better = transfer(0);
  for (ArrivingTransfer* t : {&other_job, &other_version, &equal, &better}) arrives(*t, 0, 5000);
  EXPECT_EQ(arrives(good, 1000, 5010), 0U);
}

TEST_F(LateMeterTest, TheClockMayWrap) {
  arrives(bad, 0, 0xfffffff0);
  arrives(bad, 0, 300);
  EXPECT_EQ(arrives(good, 0xffffffe0, 310), 1U);
}

TEST_F(LateMeterTest, APacketFromAnHourAgoIsNotFromTheFuture) {
  arrives(bad, 0, 1000);
  const uint32_t hour = 3'600'000'000;
  EXPECT_EQ(arrives(good, 1000 + hour, 1050 + hour), 0U);
}

TEST_F(LateMeterTest, ALocalRerankCountsOnceTheSenderKnows) {
  arrives(bad, 0, 1000);
  ArrivingTransfer turned = transfer(9);
  LateMeter::on_rerank(turned, Rank(0), ScheduleVersion(1), 2000);
  arrives(bad, 0, 2050);
  EXPECT_EQ(arrives(turned, 500, 2060), 0U);
  arrives(bad, 0, 2200);
  EXPECT_EQ(arrives(turned, 500, 2210), 1U);
}

// Against a plain reading of the rule, with ranks, accept and cut times at random.
TEST_F(LateMeterTest, AgreesWithThePlainRule) {
  struct Arrival {
    uint32_t rank, sent;
    bool late;
  };
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("seed 3, round " + std::to_string(round));
    LateMeter fresh;
    std::vector<Arrival> arrivals;
    std::vector<ArrivingTransfer> transfers;
    for (uint32_t rank = 0; rank < 8; ++rank) transfers.push_back(transfer(rank));
    uint64_t counted = 0;
    uint64_t expected = 0;
    uint32_t sent = 10'000;
    for (int i = 0; i < 200; ++i) {
      sent += static_cast<uint32_t>(random() % 50);
      const auto rank = static_cast<uint32_t>(random() % 8);
      const uint32_t accepted = sent - static_cast<uint32_t>(random() % 400);
      for (Arrival& before : arrivals) {
        const bool late = before.rank > rank && before.sent > accepted + kSlack;
        expected += late && !before.late;
        before.late |= late;
      }
      counted += fresh.on_bytes(transfers[rank], accepted, sent, kSlack);
      fresh.on_packet(transfers[rank], sent);
      arrivals.push_back({rank, sent, false});
      ASSERT_EQ(counted, expected) << i;
    }
  }
}

TEST_F(LateMeterTest, MemoryIsBounded) {
  for (uint32_t i = 0; i < 3 * LateMeter::kLogSize; ++i) arrives(bad, 0, 5000 + i);
  EXPECT_EQ(arrives(good, 1000, 5000 + 3 * LateMeter::kLogSize), LateMeter::kLogSize);
}

}  // namespace
}  // namespace tictac

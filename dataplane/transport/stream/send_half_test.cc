#include "dataplane/transport/stream/send_half.h"

#include <gtest/gtest.h>

#include "tests/fakes/transfers.h"

namespace tictac {
namespace {

using fakes::BufferSource;
using fakes::Ended;

constexpr uint64_t kNoLimit = UINT64_MAX;

struct SendHalfTest : ::testing::Test {
  BufferSource source{std::string(100, 'x')};
  SendHalf half;
};

TEST_F(SendHalfTest, CutsInOrderAndMarksTheEnd) {
  half.start(&source, 1000, 7);
  const SendHalf::Cut first = half.cut(60, kNoLimit);
  EXPECT_EQ(first.offset, 0U);
  EXPECT_EQ(first.length, 60);
  EXPECT_EQ(first.new_bytes, 60U);
  EXPECT_FALSE(first.end);
  const SendHalf::Cut second = half.cut(60, kNoLimit);
  EXPECT_EQ(second.offset, 60U);
  EXPECT_EQ(second.length, 40);
  EXPECT_TRUE(second.end);
  EXPECT_FALSE(half.sendable(kNoLimit));
}

TEST_F(SendHalfTest, CompletesWhenAllIsAcknowledgedInAnyOrder) {
  half.start(&source, 1000, 0);
  half.cut(60, kNoLimit);
  half.cut(60, kNoLimit);
  half.on_acked(60, 40, true);
  EXPECT_EQ(source.acked, 0U);
  EXPECT_FALSE(source.ended);
  half.on_acked(60, 40, true);  // duplicate
  half.on_acked(0, 60, false);
  EXPECT_EQ(source.ended, (Ended{StreamEnd::kComplete, 100, 0}));
  EXPECT_TRUE(half.done());
  half.on_acked(0, 60, false);  // past
  half.on_lost(0, 60, false);
  EXPECT_FALSE(half.sendable(kNoLimit));
}

TEST_F(SendHalfTest, LostBytesGoFirstAndAreNotCharged) {
  half.start(&source, 1000, 0);
  half.cut(30, kNoLimit);
  half.cut(30, kNoLimit);
  half.on_lost(0, 30, false);
  const SendHalf::Cut again = half.cut(20, 0);
  EXPECT_TRUE(again.retransmission);
  EXPECT_EQ(again.offset, 0U);
  EXPECT_EQ(again.length, 20);
  EXPECT_EQ(again.new_bytes, 0U);
  EXPECT_EQ(half.cut(20, 0).length, 10);
  EXPECT_EQ(half.cut(20, kNoLimit).offset, 60U);
}

TEST_F(SendHalfTest, LostBytesThatArrivedMeanwhileStay) {
  half.start(&source, 1000, 0);
  half.cut(90, kNoLimit);
  half.on_acked(10, 20, false);
  half.on_lost(0, 50, false);
  half.on_acked(40, 5, false);
  EXPECT_EQ(half.cut(100, 0).length, 10);
  const SendHalf::Cut middle = half.cut(100, 0);
  EXPECT_EQ(middle.offset, 30U);
  EXPECT_EQ(middle.length, 10);
  EXPECT_EQ(half.cut(100, 0).offset, 45U);
  EXPECT_FALSE(half.sendable(0));
}

TEST_F(SendHalfTest, ALostEndGoesAgainWithoutBytes) {
  BufferSource growing("abc", false);
  half.start(&growing, 1000, 0);
  half.cut(10, kNoLimit);
  EXPECT_FALSE(half.sendable(kNoLimit));
  growing.finish();
  half.refresh(5);
  ASSERT_TRUE(half.sendable(0)) << "an end needs no window";
  EXPECT_TRUE(half.cut(10, 0).end);
  half.on_lost(3, 0, true);
  ASSERT_TRUE(half.sendable(0));
  const SendHalf::Cut end = half.cut(10, 0);
  EXPECT_EQ(end.offset, 3U);
  EXPECT_EQ(end.length, 0);
  EXPECT_TRUE(end.end);
  EXPECT_TRUE(end.retransmission);
  half.on_acked(3, 0, true);
  EXPECT_FALSE(growing.ended);
  half.on_acked(0, 3, false);
  EXPECT_TRUE(growing.ended);
}

TEST_F(SendHalfTest, AnEmptyTransferIsItsEnd) {
  BufferSource empty("");
  half.start(&empty, 0, 0);
  ASSERT_TRUE(half.sendable(0));
  const SendHalf::Cut cut = half.cut(100, 0);
  EXPECT_TRUE(cut.end);
  EXPECT_EQ(cut.length, 0);
  half.on_acked(0, 0, true);
  EXPECT_EQ(empty.ended, (Ended{StreamEnd::kComplete, 0, 0}));
}

TEST_F(SendHalfTest, LimitsHold) {
  half.start(&source, 10, 0);
  EXPECT_EQ(half.cut(100, kNoLimit).length, 10);
  EXPECT_FALSE(half.sendable(kNoLimit));
  half.raise_limit(5, 0);  // an older one, late
  EXPECT_FALSE(half.sendable(kNoLimit));
  half.raise_limit(50, 0);
  EXPECT_FALSE(half.sendable(0));
  EXPECT_TRUE(half.blocked_by_session(0));
  EXPECT_EQ(half.cut(100, 7).length, 7);
  EXPECT_EQ(half.cut(100, kNoLimit).length, 33);
}

TEST_F(SendHalfTest, AcceptTimeIsWhenTheBytesCouldGo) {
  BufferSource growing(std::string(10, 'a'), false);
  half.start(&growing, 15, 100);
  growing.append(std::string(10, 'b'));
  half.refresh(200);  // 5 of them fit into the limit
  half.raise_limit(100, 300);
  EXPECT_EQ(half.cut(10, kNoLimit).accept_time_us, 100U);
  EXPECT_EQ(half.cut(5, kNoLimit).accept_time_us, 200U);
  EXPECT_EQ(half.cut(5, kNoLimit).accept_time_us, 300U);
  half.on_lost(0, 10, false);
  EXPECT_EQ(half.cut(10, 0).accept_time_us, 100U);
  half.on_lost(0, 10, false);
  half.on_rerank(400);
  EXPECT_EQ(half.cut(10, 0).accept_time_us, 400U);
}

TEST_F(SendHalfTest, ManyAcceptTimesNeverMakeBytesLookOlder) {
  BufferSource growing("", false);
  half.start(&growing, kNoLimit, 0);
  for (uint32_t us = 1; us <= 20; ++us) {
    growing.append("z");
    half.refresh(us);
  }
  for (uint32_t us = 1; us <= 20; ++us) EXPECT_GE(half.cut(1, kNoLimit).accept_time_us, us);
}

TEST_F(SendHalfTest, AbortTellsTheSourceOnce) {
  half.start(&source, 1000, 0);
  half.cut(30, kNoLimit);
  half.on_lost(0, 30, false);
  half.abort(StreamEnd::kStopped, 9);
  EXPECT_EQ(source.ended, (Ended{StreamEnd::kStopped, 0, 9}));
  half.abort(StreamEnd::kReset, 1);
  half.on_acked(0, 30, false);
  EXPECT_FALSE(half.sendable(kNoLimit));
  EXPECT_EQ(half.sent_size(), 30U);
}

TEST_F(SendHalfTest, APooledHalfStartsNew) {
  half.start(&source, 1000, 0);
  half.cut(100, kNoLimit);
  half.on_lost(0, 50, false);
  half.abort(StreamEnd::kReset, 0);
  BufferSource next("n");
  half.start(&next, 1000, 0);
  EXPECT_EQ(half.sent_size(), 0U);
  const SendHalf::Cut cut = half.cut(100, kNoLimit);
  EXPECT_EQ(cut.offset, 0U);
  EXPECT_EQ(cut.length, 1);
  EXPECT_FALSE(cut.retransmission);
}

}  // namespace
}  // namespace tictac

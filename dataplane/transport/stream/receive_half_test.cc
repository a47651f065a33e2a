#include "dataplane/transport/stream/receive_half.h"

#include <gtest/gtest.h>

#include "tests/fakes/transfers.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::Ended;
using Result = ReceiveHalf::Result;

ByteSpan bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

struct ReceiveHalfTest : ::testing::Test {
  BufferSink sink{100};
  ReceiveHalf half;
};

TEST_F(ReceiveHalfTest, AnyOrderEachByteOnce) {
  half.start(&sink, 100);
  EXPECT_EQ(half.on_bytes(4, bytes("efgh"), true), Result::kOk);
  EXPECT_EQ(sink.progress, 0U);
  EXPECT_EQ(half.on_bytes(0, bytes("abcdef"), false), Result::kOk);  // overlaps
  EXPECT_EQ(sink.bytes, "abcdefgh");
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kComplete, 8, 0}));
  EXPECT_EQ(half.received(), 8U);
  EXPECT_EQ(half.on_bytes(0, bytes("abcdef"), false), Result::kOk) << "late duplicates are no error";
}

TEST_F(ReceiveHalfTest, EmptyTransfer) {
  half.start(&sink, 0);
  EXPECT_EQ(half.on_bytes(0, {}, true), Result::kOk);
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kComplete, 0, 0}));
}

TEST_F(ReceiveHalfTest, HostileSizes) {
  half.start(&sink, 10);
  EXPECT_EQ(half.on_bytes(5, bytes("123456"), false), Result::kBeyondLimit);
  EXPECT_EQ(half.on_bytes(UINT64_MAX / 4, bytes("1"), false), Result::kBeyondLimit);
  EXPECT_EQ(half.on_bytes(0, bytes("12345"), false), Result::kOk);
  EXPECT_EQ(half.on_bytes(0, bytes("12"), true), Result::kBadFinalSize) << "shorter than what came";
  EXPECT_EQ(half.on_bytes(5, bytes("6"), true), Result::kOk);
  BufferSink other;
  half.start(&other, 10);
  EXPECT_EQ(half.on_bytes(4, bytes("5"), true), Result::kOk);
  EXPECT_EQ(half.on_bytes(5, bytes("6"), false), Result::kBadFinalSize) << "behind the end";
  EXPECT_EQ(half.on_bytes(3, bytes("4"), true), Result::kBadFinalSize) << "another end";
  EXPECT_EQ(half.on_reset(4, 0), Result::kBadFinalSize);
}

TEST_F(ReceiveHalfTest, TooManyHolesAreRefusedAndTheFirstHoleCanStillClose) {
  BufferSink large(1 << 20);
  half.start(&large, 1 << 20);
  for (uint64_t i = 0; i < ReceiveHalf::kMostRanges; ++i) {
    ASSERT_EQ(half.on_bytes(2 + 2 * i, bytes("x"), false), Result::kOk);
  }
  EXPECT_EQ(half.on_bytes(500'000, bytes("x"), false), Result::kTooManyHoles);
  EXPECT_EQ(half.on_bytes(0, bytes("xx"), false), Result::kOk);
  EXPECT_EQ(large.progress, 3U);
}

TEST_F(ReceiveHalfTest, Reset) {
  half.start(&sink, 100);
  half.on_bytes(0, bytes("ab"), false);
  EXPECT_EQ(half.on_reset(200, 1), Result::kBeyondLimit);
  EXPECT_EQ(half.on_reset(50, 77), Result::kOk);
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kReset, 50, 77}));
  EXPECT_EQ(half.highest(), 50U) << "what the sender charged to the session";
  EXPECT_EQ(half.on_reset(50, 77), Result::kOk);
}

TEST_F(ReceiveHalfTest, StopThrowsAwayAndStillCounts) {
  half.start(&sink, 100);
  half.stop(StreamEnd::kStopped, 3);
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kStopped, 0, 3}));
  EXPECT_EQ(half.on_bytes(0, bytes("abc"), false), Result::kOk);
  EXPECT_EQ(half.highest(), 3U);
  EXPECT_FALSE(half.done());
  EXPECT_EQ(half.on_reset(3, 0), Result::kOk);
  EXPECT_TRUE(half.done());
}

TEST_F(ReceiveHalfTest, TellsALimitWhenHalfIsUsed) {
  half.start(&sink, 100);
  EXPECT_FALSE(half.new_limit());
  sink.set_limit(110);
  EXPECT_FALSE(half.new_limit()) << "the sender has enough for now";
  half.on_bytes(0, bytes(std::string(90, 'a')), false);
  EXPECT_EQ(half.new_limit(), 110U);
  EXPECT_FALSE(half.new_limit());
}

// Whatever small steps the limit grows in, the sender is never left without knowing.
TEST_F(ReceiveHalfTest, SmallStepsNeverStallTheSender) {
  half.start(&sink, 100);
  uint64_t limit = 100;
  uint64_t told = 100;
  int frames = 0;
  for (uint64_t sent = 0; sent < 2000; ++sent) {
    ASSERT_LT(sent, told) << "the sender waits and nobody tells it";
    ASSERT_EQ(half.on_bytes(sent, bytes("a"), false), Result::kOk);
    sink.set_limit(++limit);
    if (const auto news = half.new_limit()) {
      told = *news;
      ++frames;
    }
  }
  EXPECT_LT(frames, 60);
}

TEST_F(ReceiveHalfTest, UnwantedBytesMoveTheirLimit) {
  half.start(nullptr, 64 * 1024);
  EXPECT_EQ(half.on_bytes(0, bytes(std::string(60'000, 'a')), false), Result::kOk);
  EXPECT_GT(half.new_limit().value_or(0), 64U * 1024);
}

}  // namespace
}  // namespace tictac

#include "dataplane/transport/recovery/sent_packets.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace tictac {
namespace {

using Numbers = std::vector<uint64_t>;

// Each packet carries one chunk whose offset is the packet's number.
class SentPacketsTest : public ::testing::Test, public SentPacketsObserver {
 protected:
  SentPacketsTest() { rtt.on_sample(1ms, 0us, now); }

  void on_chunks_acked(std::span<const SentChunk> chunks) override {
    for (const SentChunk& c : chunks) acked.push_back(c.offset);
  }
  void on_chunks_lost(std::span<const SentChunk> chunks) override {
    for (const SentChunk& c : chunks) lost.push_back(c.offset);
  }

  void send(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const SentChunk chunk{.type = wire::FrameType::kStream, .offset = sent.next_number()};
      sent.on_sent(1000, {&chunk, 1}, now);
    }
  }

  // Ranges newest first.
  SentPackets::AckResult ack(const std::vector<wire::NumberRange>& ranges) {
    std::array<uint8_t, 1024> buffer{};
    ByteWriter out(buffer);
    size_t next = 0;
    EXPECT_TRUE(wire::AckFrame::write(out, buffer.size(), 0, [&](wire::NumberRange* range) {
      if (next == ranges.size()) return false;
      *range = ranges[next++];
      return true;
    }));
    ByteReader in(out.written().subspan(1));
    wire::AckFrame frame;
    EXPECT_TRUE(wire::AckFrame::read(in, &frame));
    return sent.on_ack(frame, now);
  }

  Time now{1s};
  RttEstimator rtt;
  Numbers acked;
  Numbers lost;
  SentPackets sent{*this};
};

TEST_F(SentPacketsTest, AcksCountOnce) {
  send(3);
  EXPECT_EQ(sent.bytes_in_flight(), 3000U);
  now += 800us;
  const auto result = ack({{1, 3}});
  EXPECT_TRUE(result.valid);
  EXPECT_EQ(result.newly_acked_bytes, 3000U);
  EXPECT_TRUE(result.has_rtt_sample);
  EXPECT_EQ(result.rtt_sample, 800us);
  EXPECT_EQ(acked, (Numbers{1, 2, 3}));
  EXPECT_EQ(sent.bytes_in_flight(), 0U);
  const auto again = ack({{1, 3}});
  EXPECT_TRUE(again.valid);
  EXPECT_EQ(again.newly_acked_bytes, 0U);
  EXPECT_FALSE(again.has_rtt_sample) << "RFC 9002, section 5.1";
  EXPECT_EQ(acked.size(), 3U);
}

TEST_F(SentPacketsTest, AnAckOfWhatWasNeverSentIsRefused) {
  send(3);
  EXPECT_FALSE(ack({{1, 4}}).valid);
  EXPECT_TRUE(acked.empty());
  EXPECT_EQ(sent.bytes_in_flight(), 3000U);
}

// RFC 9002, section 6.1.1.
TEST_F(SentPacketsTest, ThreeLaterPacketsMeanLoss) {
  send(5);
  now += 100us;
  ack({{2, 3}});
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 0U) << "two are not enough";
  EXPECT_NE(sent.loss_time(), kNever);
  ack({{2, 4}});
  const auto result = sent.detect_losses(rtt, now);
  EXPECT_EQ(result.packets, 1U);
  EXPECT_EQ(result.bytes, 1000U);
  EXPECT_EQ(lost, (Numbers{1}));
  EXPECT_EQ(sent.bytes_in_flight(), 1000U);
}

// RFC 9002, section 6.1.2.
TEST_F(SentPacketsTest, TimeMeansLoss) {
  send(1);
  const Time first = now;
  now += 10us;
  send(1);
  now += 500us;
  ack({{2, 2}});
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 0U);
  EXPECT_EQ(sent.loss_time(), first + 1ms + 125us + 1us);
  now = sent.loss_time();
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 1U);
  EXPECT_EQ(sent.loss_time(), kNever);
}

TEST_F(SentPacketsTest, NothingIsLostBeforeALaterOneArrived) {
  send(3);
  now += 10ms;
  ack({{1, 1}});
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 0U);
  EXPECT_EQ(sent.loss_time(), kNever) << "the probe time-out watches these";
}

// RFC 8985, section 6.2: reordering widens the window, and order alone no longer means loss.
TEST_F(SentPacketsTest, ASpuriousLossWidensTheWindow) {
  send(5);
  now += 1ms;
  ack({{2, 5}});
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 1U);
  now += 3ms;
  const auto late = ack({{1, 5}});
  EXPECT_EQ(late.spurious_losses, 1U);
  EXPECT_EQ(acked, (Numbers{2, 3, 4, 5, 1}));
  EXPECT_GE(sent.reorder_window(), 3ms);
  const Duration wide = sent.reorder_window();

  send(10);
  now += 1ms;
  ack({{7, 15}});
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 0U);
  now += wide + 1us;
  EXPECT_EQ(sent.detect_losses(rtt, now).packets, 1U) << "a real loss is still found";

  for (int second = 0; second < 40; ++second) {
    now += 1s;
    sent.detect_losses(rtt, now);
  }
  EXPECT_LT(sent.reorder_window(), 10us) << "and forgets";
}

TEST_F(SentPacketsTest, TheWindowHasABound) {
  for (int i = 0; i < 20; ++i) {
    send(5);
    const uint64_t last = sent.next_number() - 1;
    now += 1ms;
    ack({{last, last}});
    now += 200ms;
    sent.detect_losses(rtt, now);
    now += 2ms;
    ack({{last - 4, last}});
    EXPECT_LE(sent.reorder_window(), SentPackets::kMostReorderWindow);
  }
}

// RFC 9002, section 6.2.
TEST_F(SentPacketsTest, ProbesBackOffToACap) {
  EXPECT_EQ(sent.probe_time(rtt), kNever);
  send(30);
  Duration before{0};
  for (int i = 0; i < 14; ++i) {
    const Duration wait = sent.probe_time(rtt) - now;
    EXPECT_GT(wait, rtt.smoothed());
    EXPECT_LE(wait, SentPackets::kMostProbeTimeout);
    EXPECT_TRUE(wait == SentPackets::kMostProbeTimeout || before == Duration::zero() || wait == 2 * before);
    before = wait;
    now += wait;
    EXPECT_EQ(sent.on_probe_timeout(now).packets, 2U);
  }
  EXPECT_EQ(before, SentPackets::kMostProbeTimeout);
  EXPECT_EQ(lost.size(), 28U);
  EXPECT_EQ(lost.front(), 1U) << "the oldest first";
  ack({{30, 30}});
  send(1);
  EXPECT_LT(sent.probe_time(rtt) - now, 20ms) << "an ack ends the back-off";
}

TEST_F(SentPacketsTest, ALateAckAfterAProbeSaysNothingOfReordering) {
  send(2);
  now = sent.probe_time(rtt);
  sent.on_probe_timeout(now);
  now += 1ms;
  const auto result = ack({{1, 2}});
  EXPECT_EQ(result.spurious_losses, 2U);
  EXPECT_EQ(sent.reorder_window(), Duration::zero());
}

TEST_F(SentPacketsTest, PacketsWithoutChunksAreNotWatched) {
  sent.on_sent(60, {}, now);
  EXPECT_EQ(sent.bytes_in_flight(), 0U);
  EXPECT_EQ(sent.probe_time(rtt), kNever);
  EXPECT_EQ(sent.least_awaited(), 2U);
}

TEST_F(SentPacketsTest, LeastAwaitedFollows) {
  send(4);
  now += 1ms;
  ack({{2, 3}});
  sent.detect_losses(rtt, now);
  EXPECT_EQ(sent.least_awaited(), 1U);
  ack({{1, 3}});
  sent.detect_losses(rtt, now);
  EXPECT_EQ(sent.least_awaited(), 4U);
}

// Rings grow while packets are in flight; numbers start near 2^62; every chunk is told once, unchanged.
TEST_F(SentPacketsTest, RingsGrowAndKeepEverything) {
  constexpr uint64_t kStart = (uint64_t{1} << 62) - 100'000;
  SentPackets from_high(*this, kStart);
  Numbers expected;
  for (uint64_t i = 0; i < 20'000; ++i) {
    std::array<SentChunk, 7> chunks;
    const size_t count = 1 + i % chunks.size();
    for (size_t c = 0; c < count; ++c) {
      chunks[c].offset = i * 10 + c;
      expected.push_back(i * 10 + c);
    }
    from_high.on_sent(100, std::span(chunks).first(count), now);
  }
  std::array<uint8_t, 64> buffer{};
  ByteWriter out(buffer);
  bool first = true;
  ASSERT_TRUE(wire::AckFrame::write(out, buffer.size(), 0, [&](wire::NumberRange* range) {
    *range = {kStart, kStart + 19'999};
    return std::exchange(first, false);
  }));
  ByteReader in(out.written().subspan(1));
  wire::AckFrame frame;
  ASSERT_TRUE(wire::AckFrame::read(in, &frame));
  EXPECT_EQ(from_high.on_ack(frame, now).newly_acked_bytes, 2'000'000U);
  EXPECT_EQ(acked, expected);
  EXPECT_EQ(from_high.bytes_in_flight(), 0U);
}

TEST_F(SentPacketsTest, IsFullAtItsBound) {
  send(SentPackets::kMostPackets - 1);
  EXPECT_FALSE(sent.full());
  send(1);
  EXPECT_TRUE(sent.full());
  now += 1ms;
  ack({{1, 1000}});
  sent.detect_losses(rtt, now);
  EXPECT_FALSE(sent.full());
}

}  // namespace
}  // namespace tictac

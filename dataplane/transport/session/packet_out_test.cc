// What a session puts into its packets, and in which order.
#include <gtest/gtest.h>

#include "tests/fakes/session_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::Seen;
using fakes::SessionFixture;

using Sending = SessionFixture;

TEST_F(Sending, SmallTransfersShareAPacket) {
  connect();
  std::vector<BufferSource> sources(50, BufferSource("0123456789"));
  for (uint64_t i = 0; i < sources.size(); ++i) {
    open_from_peer(2 * i, true);
    endpoint.answer(now, events.opened[i].stream, &sources[i]);
  }
  const Seen seen = drain();
  EXPECT_EQ(seen.streams.size(), 50U);
  EXPECT_LE(seen.headers.size(), 2U);
}

TEST_F(Sending, ManyReranksShareFewPackets) {
  connect();
  BufferSink sink;
  std::vector<StreamRef> streams;
  streams.reserve(300);
  for (int i = 0; i < 300; ++i) {
    streams.push_back(endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink));
  }
  Seen seen = drain();
  peer.ack(now, 1, seen.headers.back().number);
  uint32_t rank = 300;
  for (const StreamRef& stream : streams) endpoint.rerank(stream, Rank(rank--), ScheduleVersion(2));
  seen = drain();
  EXPECT_EQ(seen.reranks.size(), 300U);
  EXPECT_LE(seen.headers.size(), 3U);
}

TEST_F(Sending, ALostRerankComesAgainWithTheNewestRankOnly) {
  connect();
  BufferSink sink;
  const StreamRef stream = endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink);
  Seen seen = drain();
  peer.ack(now, 1, seen.headers.back().number);
  endpoint.rerank(stream, Rank(5), ScheduleVersion(2));
  ASSERT_EQ(drain().reranks.size(), 1U);  // lost
  endpoint.rerank(stream, Rank(6), ScheduleVersion(3));
  seen = drain();
  ASSERT_EQ(seen.reranks.size(), 1U);
  peer.ack(now, seen.headers.back().number, seen.headers.back().number);
  now += 500ms;
  seen = drain();
  ASSERT_EQ(seen.reranks.size(), 1U);
  EXPECT_EQ(seen.reranks[0].rank, 6U);
  EXPECT_EQ(seen.reranks[0].version, 3U);
}

TEST_F(Sending, ARerankBeforeTheOpenHasLeftIsPartOfIt) {
  connect();
  BufferSink sink;
  const StreamRef stream = endpoint.open(
      now, peer_id, {.job = "job", .rank = Rank(1), .version = ScheduleVersion(1)}, nullptr, &sink);
  endpoint.rerank(stream, Rank(5), ScheduleVersion(2));
  const Seen seen = drain();
  ASSERT_EQ(seen.opens.size(), 1U);
  EXPECT_EQ(seen.opens[0].rank, 5U);
  EXPECT_TRUE(seen.reranks.empty());
}

// A ranked request may be picked before the control frames' turn: its OPEN goes first all the same.
TEST_F(Sending, NoByteLeavesBeforeItsOpen) {
  connect();
  std::vector<BufferSource> sources(200, BufferSource(std::string(500, 'g')));
  const std::string preamble(1000, 'p');  // together more than control frames may take at once
  uint32_t rank = 0;
  for (BufferSource& source : sources) {
    const OpenParams params{
        .job = "job",
        .rank = Rank(rank++),
        .request_class = TransferClass::kRanked,
        .preamble = ByteSpan(reinterpret_cast<const uint8_t*>(preamble.data()), preamble.size())};
    ASSERT_TRUE(endpoint.open(now, peer_id, params, &source, nullptr));
  }
  std::vector<bool> open(1000);
  std::array<uint8_t, 1472> buffer{};
  while (const auto datagram = endpoint.next_datagram(now, buffer)) {
    Seen seen;
    seen.add(ByteSpan(buffer).first(datagram->size));
    for (const auto& frame : seen.opens) open[frame.stream] = true;
    for (const auto& frame : seen.streams) ASSERT_TRUE(open[frame.stream]) << frame.stream;
  }
}

TEST_F(Sending, AnExhaustedSessionWindowCostsNoEmptyFrames) {
  connect();  // the hand-written peer never raises the first window of 1 MiB
  std::vector<BufferSource> sources(30, BufferSource(std::string(100'000, 'g')));
  for (uint64_t i = 0; i < sources.size(); ++i) {
    open_from_peer(2 * i, true);
    endpoint.answer(now, events.opened[i].stream, &sources[i]);
  }
  uint64_t bytes = 0;
  for (int i = 0; i < 400; ++i, now += 1ms) {
    const Seen seen = drain();
    for (const auto& frame : seen.streams) {
      bytes += frame.bytes.size();
      ASSERT_TRUE(!frame.bytes.empty() || frame.end);
    }
    if (!seen.headers.empty()) peer.ack(now, 1, seen.headers.back().number);
  }
  EXPECT_EQ(bytes, 1U << 20);
  drain();
  EXPECT_GT(endpoint.next_deadline(now), now);
  send_frame(wire::MaxDataFrame{3'000'000});
  for (int i = 0; i < 400; ++i, now += 1ms) {
    const Seen seen = drain();
    for (const auto& frame : seen.streams) bytes += frame.bytes.size();
    if (!seen.headers.empty()) peer.ack(now, 1, seen.headers.back().number);
  }
  EXPECT_EQ(bytes, 3'000'000U);
  for (const BufferSource& source : sources) EXPECT_TRUE(source.ended);
}

}  // namespace
}  // namespace tictac

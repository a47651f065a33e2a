// What frames about streams do to an endpoint: good, duplicate, past, future, truncated, hostile.
#include <gtest/gtest.h>

#include "tests/fakes/session_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::Ended;
using fakes::Seen;
using fakes::SessionFixture;

struct StreamFrames : SessionFixture {
  StreamFrames() {
    connect();
    events.on_open_do = [this](StreamRef) { return &sink; };
  }
  bool went_down() const { return !events.downs.empty(); }
  BufferSink sink;
};

TEST_F(StreamFrames, OpenReachesTheApplication) {
  const uint64_t number = open_from_peer(0);
  ASSERT_EQ(events.opened.size(), 1U);
  EXPECT_EQ(events.opened[0].job, "job");
  EXPECT_EQ(events.opened[0].rank, Rank(3));
  EXPECT_EQ(endpoint.counters().streams_accepted, 1U);
  EXPECT_TRUE(drain_later().acks(number));
}

TEST_F(StreamFrames, OpenTwiceIsOneStream) {
  open_from_peer(0);
  const uint64_t again = open_from_peer(0);
  EXPECT_EQ(events.opened.size(), 1U);
  EXPECT_TRUE(drain_later().acks(again));
}

TEST_F(StreamFrames, OpenOfOurOwnNumbersEndsTheSession) {
  open_from_peer(1);
  EXPECT_EQ(events.downs, (std::vector{PeerDownReason::kProtocolError}));
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 1U);
}

TEST_F(StreamFrames, OpenWithABadNameIsMalformed) {
  const std::string long_name(200, 'j');
  for (const std::string& job : {std::string(), long_name}) {
    const uint64_t number = send_frame(wire::OpenFrame{.stream = 0, .job = job});
    EXPECT_FALSE(drain_later().acks(number));
  }
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 2U);
  EXPECT_EQ(events.opened.size(), 0U);
}

TEST_F(StreamFrames, BytesReachTheSinkInAnyOrder) {
  open_from_peer(0);
  send_bytes(0, 3, "lo", true);
  send_bytes(0, 0, "hel");
  EXPECT_EQ(sink.bytes, "hello");
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kComplete, 5, 0}));
  EXPECT_EQ(endpoint.counters().stream_bytes_received, 5U);
}

TEST_F(StreamFrames, DuplicateBytesComeOnce) {
  open_from_peer(0);
  send_bytes(0, 0, "hel");
  send_bytes(0, 0, "hel");
  EXPECT_EQ(endpoint.counters().stream_bytes_received, 3U);
}

TEST_F(StreamFrames, BytesBeforeTheirOpenAreNotAcknowledged) {
  const uint64_t early = send_bytes(0, 0, "hello", true);
  EXPECT_EQ(drops(DropReason::kEarlyStream), 1U);
  open_from_peer(0);
  EXPECT_FALSE(drain_later().acks(early));
  EXPECT_TRUE(sink.bytes.empty());
}

// RERANK, limits and ends that overtake an OPEN must not get lost: the sender sends them again.
TEST_F(StreamFrames, NothingAboutAStreamIsAcknowledgedBeforeItsOpen) {
  const uint64_t numbers[] = {send_frame(wire::RerankFrame{0, 1, 2}), send_frame(wire::ResetFrame{0, 0, 1}),
                              send_frame(wire::StopSendingFrame{0, 1}),
                              send_frame(wire::MaxStreamDataFrame{0, 100})};
  const uint64_t open = open_from_peer(0);
  const Seen seen = drain_later();
  for (const uint64_t number : numbers) EXPECT_FALSE(seen.acks(number));
  EXPECT_TRUE(seen.acks(open));
  EXPECT_FALSE(went_down());
}

TEST_F(StreamFrames, FramesAboutAGoneStreamAreHarmless) {
  open_from_peer(0, true);
  BufferSource source("");
  ASSERT_TRUE(endpoint.answer(now, events.opened[0].stream, &source));
  const Seen answer = drain();
  ASSERT_EQ(answer.streams.size(), 1U);
  peer.ack(now, answer.headers.back().number, answer.headers.back().number);
  ASSERT_EQ(open_streams(), 0U);
  const uint64_t numbers[] = {
      send_bytes(0, 0, ""),
      send_frame(wire::RerankFrame{0, 1, 2}),
      send_frame(wire::ResetFrame{0, 0, 1}),
      send_frame(wire::StopSendingFrame{0, 1}),
      send_frame(wire::MaxStreamDataFrame{0, 100}),
      open_from_peer(0),
  };
  const Seen seen = drain_later();
  for (const uint64_t number : numbers) EXPECT_TRUE(seen.acks(number)) << "or the peer sends it for ever";
  EXPECT_EQ(open_streams(), 0U);
  EXPECT_EQ(events.opened.size(), 1U);
}

TEST_F(StreamFrames, BytesBeyondTheLimitEndTheSession) {
  open_from_peer(0);
  send_bytes(0, sink.limit(), "x");
  EXPECT_EQ(drops(DropReason::kFlowControl), 1U);
  EXPECT_TRUE(went_down());
  EXPECT_EQ(sink.ended->how, StreamEnd::kPeerLost);
}

TEST_F(StreamFrames, BytesForAStreamThatWeNeverOpenedEndTheSession) {
  send_bytes(11, 0, "x");
  EXPECT_TRUE(went_down());
}

TEST_F(StreamFrames, TwoFinalSizesEndTheSession) {
  open_from_peer(0);
  send_bytes(0, 5, "x", true);
  send_bytes(0, 3, "x", true);
  EXPECT_TRUE(went_down());
}

TEST_F(StreamFrames, ACutFrameIsCountedAndNotAcknowledged) {
  open_from_peer(0);
  const uint64_t number = peer.send(now, [](ByteWriter& out) {
    out.u8(static_cast<uint8_t>(wire::FrameType::kStream));
    out.u8(0);
  });
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 1U);
  EXPECT_FALSE(drain_later().acks(number));
  EXPECT_FALSE(went_down());
}

TEST_F(StreamFrames, UnknownFramesAreMalformed) {
  const uint64_t number = peer.send(now, [](ByteWriter& out) { out.u8(99); });
  EXPECT_FALSE(drain_later().acks(number));
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 1U);
}

TEST_F(StreamFrames, ResetEndsTheRequestOnly) {
  open_from_peer(0);
  send_frame(wire::ResetFrame{0, 0, 42});
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kReset, 0, 42}));
  send_frame(wire::ResetFrame{0, 0, 42});
  EXPECT_EQ(open_streams(), 1U) << "the answer is still owed";
}

TEST_F(StreamFrames, StopSendingBeforeTheAnswerAbandons) {
  open_from_peer(0, true);
  send_frame(wire::StopSendingFrame{0, 13});
  ASSERT_EQ(events.abandoned.size(), 1U);
  EXPECT_EQ(events.abandoned[0].second, 13U);
  BufferSource source("x");
  EXPECT_FALSE(endpoint.answer(now, events.opened[0].stream, &source));
  const Seen seen = drain_later();
  ASSERT_EQ(seen.resets.size(), 1U) << "the opener waits for the final size";
  peer.ack(now, 1, seen.headers.back().number);
  EXPECT_EQ(open_streams(), 0U);
}

TEST_F(StreamFrames, StopSendingEndsTheAnswer) {
  open_from_peer(0, true);
  BufferSource source("hello");
  endpoint.answer(now, events.opened[0].stream, &source);
  drain();
  send_frame(wire::StopSendingFrame{0, 13});
  EXPECT_EQ(source.ended, (Ended{StreamEnd::kStopped, 0, 13}));
  const Seen seen = drain_later();
  ASSERT_EQ(seen.resets.size(), 1U);
  EXPECT_EQ(seen.resets[0].final_size, 5U);
}

TEST_F(StreamFrames, TheAnswerHeedsItsLimit) {
  open_from_peer(0, true, 3, 4);
  BufferSource source("hello world");
  endpoint.answer(now, events.opened[0].stream, &source);
  Seen seen = drain();
  ASSERT_EQ(seen.streams.size(), 1U);
  EXPECT_EQ(seen.streams[0].bytes.size(), 4U);
  EXPECT_FALSE(seen.streams[0].end);
  send_frame(wire::MaxStreamDataFrame{0, 11});
  send_frame(wire::MaxStreamDataFrame{0, 6});  // an older one, late
  seen = drain_later();
  ASSERT_EQ(seen.streams.size(), 1U);
  EXPECT_EQ(seen.streams[0].bytes.size(), 7U);
  EXPECT_TRUE(seen.streams[0].end);
}

TEST_F(StreamFrames, ALimitBeforeTheAnswerCounts) {
  open_from_peer(0, true, 3, 0);
  send_frame(wire::MaxStreamDataFrame{0, 5});
  BufferSource source("hello");
  endpoint.answer(now, events.opened[0].stream, &source);
  EXPECT_EQ(drain_later().streams.at(0).bytes.size(), 5U);
}

TEST_F(StreamFrames, RerankTurnsTheQueueRound) {
  events.on_open_do = {};
  BufferSource sources[2] = {BufferSource(std::string(3000, 'a')), BufferSource(std::string(3000, 'b'))};
  for (uint64_t i = 0; i < 2; ++i) {
    open_from_peer(2 * i, true, static_cast<uint32_t>(i));
    endpoint.answer(now, events.opened[i].stream, &sources[i]);
  }
  peer.send(now, [](ByteWriter& out) {
    wire::write(out, wire::RerankFrame{0, 7, 2});
    wire::write(out, wire::RerankFrame{2, 6, 2});
  });
  const Seen seen = drain();
  EXPECT_EQ(seen.streams.front().stream, 2U);
  EXPECT_EQ(seen.streams.back().stream, 0U);
}

TEST_F(StreamFrames, AnOlderRerankThatComesLateChangesNothing) {
  BufferSource source(std::string(100, 'a'));
  open_from_peer(0, true);
  endpoint.answer(now, events.opened[0].stream, &source);
  const uint64_t old_number = peer.next_number++;
  send_frame(wire::RerankFrame{0, 11, 2});
  peer.send_as(now, old_number, [](ByteWriter& out) { wire::write(out, wire::RerankFrame{0, 99, 2}); });
  EXPECT_EQ(drain().headers.front().rank, 11U);
}

TEST_F(StreamFrames, RerankOfOurOwnStreamEndsTheSession) {
  StreamRef stream = endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink);
  ASSERT_TRUE(stream);
  send_frame(wire::RerankFrame{1, 1, 1});
  EXPECT_TRUE(went_down());
}

TEST_F(StreamFrames, CancelInsideOnOpen) {
  events.on_open_do = [this](StreamRef stream) {
    endpoint.cancel(stream, 5);
    return &sink;
  };
  open_from_peer(0);
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kStopped, 0, 5}));
  const Seen seen = drain_later();
  EXPECT_EQ(seen.resets.size(), 1U);
  EXPECT_EQ(seen.stops.size(), 1U);
  send_bytes(0, 0, "late");
  send_frame(wire::ResetFrame{0, 4, 0});
  peer.ack(now, 1, seen.headers.back().number);
  EXPECT_EQ(open_streams(), 0U);
}

TEST_F(StreamFrames, AnswerInsideOnOpen) {
  BufferSource source("now");
  events.on_open_do = [&](StreamRef stream) {
    EXPECT_TRUE(endpoint.answer(now, stream, &source));
    return nullptr;
  };
  open_from_peer(0, true);
  EXPECT_EQ(drain().streams.at(0).bytes.size(), 3U);
}

}  // namespace
}  // namespace tictac

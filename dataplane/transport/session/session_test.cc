// What a session does by itself: headers, hellos, acks, timers, the end.
#include <gtest/gtest.h>

#include "tests/fakes/session_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::Seen;
using fakes::SessionFixture;

using Drops = SessionFixture;

TEST_F(Drops, EveryReasonHasItsCounter) {
  connect();
  std::array<uint8_t, 64> datagram{};
  endpoint.on_datagram(now, kPeerAddress, ByteSpan(datagram).first(31));
  EXPECT_EQ(drops(DropReason::kTruncated), 1U);
  endpoint.on_datagram(now, kPeerAddress, datagram);
  EXPECT_EQ(drops(DropReason::kBadMagic), 1U);
  wire::seal(datagram, {.session = peer.their_session, .number = 1});
  datagram.back() ^= 1;
  endpoint.on_datagram(now, kPeerAddress, datagram);
  EXPECT_EQ(drops(DropReason::kBadChecksum), 1U);
  datagram.back() ^= 1;
  endpoint.on_datagram(now, {0x0a000099, 7471}, datagram);
  EXPECT_EQ(drops(DropReason::kUnknownPeer), 1U);
  wire::seal(datagram, {.session = peer.their_session + 1, .number = 1});
  endpoint.on_datagram(now, kPeerAddress, datagram);
  EXPECT_EQ(drops(DropReason::kStaleSession), 1U);
  peer.send_as(now, 5, [](ByteWriter& out) { out.u8(1); });
  peer.send_as(now, 5, [](ByteWriter& out) { out.u8(1); });
  EXPECT_EQ(drops(DropReason::kDuplicate), 1U);
  peer.send_as(now, 0, [](ByteWriter& out) { out.u8(1); });
  EXPECT_EQ(drops(DropReason::kTooOld), 1U);
  peer.send_as(now, UINT64_MAX, [](ByteWriter& out) { out.u8(1); });
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 1U) << "no ack could name this number";
  for (const wire::Header& header : drain_later().headers) EXPECT_GT(header.number, 0U);
}

using Hello = SessionFixture;

TEST_F(Hello, ComesUpAndAgreesOnTheSize) {
  EXPECT_FALSE(endpoint.peer_is_up(peer_id));
  connect();
  EXPECT_EQ(events.ups, 1);
  EXPECT_EQ(events.incarnation, 7U);
  EXPECT_EQ(events.max_datagram, 1472U);
}

TEST_F(Hello, RetriesUntilThePeerIsThere) {
  int hellos = 0;
  for (int ms = 0; ms < 2000; ++ms, now += 1ms) hellos += static_cast<int>(drain().hellos.size());
  EXPECT_GE(hellos, 8);
  EXPECT_LE(hellos, 12);
}

TEST_F(Hello, CutHelloIsCounted) {
  peer.send_header(now, {.flags = wire::kHello}, [](ByteWriter& out) { out.u8(11); });
  peer.send_header(now, {.flags = wire::kHello}, [](ByteWriter&) {});
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 2U);
  peer.hello(now, {.lowest_version = 1,
                   .highest_version = 1,
                   .incarnation = 1,
                   .session = 1,
                   .max_datagram = 1472,
                   .name = "mallory"});
  EXPECT_EQ(drops(DropReason::kUnknownPeer), 1U);
}

TEST_F(Hello, AHelloInsideASessionPacketIsMalformed) {
  connect();
  send_frame(wire::HelloFrame{.name = "b"});
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 1U);
}

TEST_F(Hello, ARepeatedOneIsAnsweredWithAPacketOfTheSession) {
  connect();
  drain_later();
  peer.hello(now, {.lowest_version = 1,
                   .highest_version = 1,
                   .incarnation = 7,
                   .echoed_incarnation = 50,
                   .session = fakes::RawPeer::kSession,
                   .max_datagram = 1472,
                   .name = "b"});
  const Seen seen = drain();
  EXPECT_EQ(seen.pings, 1);
  EXPECT_EQ(seen.hellos.size(), 0U);
}

TEST_F(Hello, ARestartedPeerIsANewSession) {
  connect();
  BufferSink sink;
  const StreamRef stream = endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink);
  const uint32_t old_session = peer.their_session;
  peer.hello(now, {.lowest_version = 1,
                   .highest_version = 1,
                   .incarnation = 8,
                   .session = 1,
                   .max_datagram = 1472,
                   .name = "b"});
  EXPECT_EQ(events.downs, (std::vector{PeerDownReason::kRestarted}));
  EXPECT_EQ(sink.ended->how, StreamEnd::kPeerLost);
  endpoint.cancel(stream, 1);  // stale: nothing
  send_bytes(1, 0, "old");
  EXPECT_EQ(drops(DropReason::kStaleSession), 1U);
  const Seen seen = drain();
  ASSERT_EQ(seen.hellos.size(), 1U);
  EXPECT_NE(seen.hellos[0].session, old_session);
  EXPECT_EQ(seen.opens.size(), 0U) << "nothing of the old session is replayed";
}

// The last calls of a session's streams may use the endpoint; what they say about other streams of that
// session is void.
TEST_F(Hello, CallbacksWhileTheSessionEndsMayCancel) {
  struct CancellingSink : BufferSink {
    void on_done(StreamEnd end, uint64_t size, uint32_t code) override {
      BufferSink::on_done(end, size, code);
      for (const StreamRef& other : others) endpoint->cancel(other, 1);
      EXPECT_FALSE(endpoint->open({}, PeerId(0), {.job = "job"}, nullptr, nullptr));
    }
    Endpoint* endpoint = nullptr;
    std::vector<StreamRef> others;
  };
  connect();
  std::array<CancellingSink, 3> sinks;
  std::vector<StreamRef> streams;
  streams.reserve(sinks.size());
  for (CancellingSink& sink : sinks) {
    sink.endpoint = &endpoint;
    streams.push_back(endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink));
  }
  for (CancellingSink& sink : sinks) sink.others = streams;
  drain();
  send_frame(wire::CloseFrame{0});
  for (const CancellingSink& sink : sinks) EXPECT_EQ(sink.ended->how, StreamEnd::kPeerLost);
  EXPECT_EQ(open_streams(), 0U);
  peer.next_number = 1;
  peer.connect(now += 50ms, 8);
  EXPECT_TRUE(endpoint.peer_is_up(peer_id));
  const Seen seen = drain_later();
  EXPECT_TRUE(seen.resets.empty() && seen.stops.empty()) << "nothing of the old session is left";
}

using Timers = SessionFixture;

TEST_F(Timers, PingsAfterSilence) {
  connect();
  drain_later();
  EXPECT_GT(endpoint.next_deadline(now), now);
  now += 250ms;
  EXPECT_EQ(drain().pings, 1);
}

TEST_F(Timers, DeadlineIsEnough) {
  connect();
  // Nothing but what next_deadline() names happens: the peer is silent and is given up in time.
  const Time start = now;
  while (events.downs.empty() && now < start + 5s) {
    drain();
    if (!events.downs.empty()) break;
    const Time next = endpoint.next_deadline(now);
    ASSERT_GT(next, now);
    now = next;
  }
  EXPECT_EQ(events.downs, (std::vector{PeerDownReason::kTimeout}));
  EXPECT_LE(now - start, 1500ms);
  EXPECT_FALSE(endpoint.peer_is_up(peer_id));
}

TEST_F(Timers, AckWaitsForMoreButNotLong) {
  connect();
  drain_later();
  peer.send(now, [](ByteWriter& out) { out.u8(1); });
  EXPECT_TRUE(drain().acked.empty());
  EXPECT_FALSE(drain_later().acked.empty());
}

TEST_F(Timers, AckOfAGapIsAtOnce) {
  connect();
  drain_later();
  peer.next_number += 1;
  const uint64_t number = peer.send(now, [](ByteWriter& out) { out.u8(1); });
  EXPECT_TRUE(drain().acks(number));
}

TEST_F(Timers, WhatIsNotAcknowledgedIsProbedAndComesAgain) {
  connect();
  BufferSink sink;
  ASSERT_TRUE(endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink));
  ASSERT_EQ(drain().opens.size(), 1U);
  int again = 0;
  for (int ms = 0; ms < 1000; ++ms, now += 1ms) again += static_cast<int>(drain().opens.size());
  EXPECT_GE(again, 2);
  EXPECT_LE(again, 20);
}

using Acks = SessionFixture;

TEST_F(Acks, OfPacketsNeverSentAreMalformed) {
  connect();
  peer.ack(now, 1, 1'000'000);
  EXPECT_EQ(drops(DropReason::kMalformedFrame), 1U);
  EXPECT_TRUE(endpoint.peer_is_up(peer_id));
}

TEST_F(Acks, TwiceIsOnce) {
  connect();
  BufferSource source("hello");
  open_from_peer(0, true);
  endpoint.answer(now, events.opened[0].stream, &source);
  const uint64_t last = drain().headers.back().number;
  peer.ack(now, 1, last);
  EXPECT_EQ(source.ended->how, StreamEnd::kComplete);
  peer.ack(now, 1, last);
  EXPECT_EQ(endpoint.session_stats(peer_id).bytes_in_flight, 0U);
}

using Close = SessionFixture;

TEST_F(Close, TellsThePeerAndStaysDown) {
  connect();
  BufferSink sink;
  ASSERT_TRUE(endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink));
  endpoint.close();
  EXPECT_FALSE(endpoint.open(now, peer_id, {.job = "job"}, nullptr, &sink));
  EXPECT_EQ(drain().closes.size(), 1U);
  EXPECT_EQ(events.downs, (std::vector{PeerDownReason::kLocalClose}));
  EXPECT_EQ(sink.ended->how, StreamEnd::kPeerLost);
  now += 10s;
  EXPECT_TRUE(drain().headers.empty());
  EXPECT_EQ(endpoint.next_deadline(now), kNever);
}

TEST_F(Close, OfThePeerIsNoticedAtOnce) {
  connect();
  send_frame(wire::CloseFrame{0});
  EXPECT_EQ(events.downs, (std::vector{PeerDownReason::kClosed}));
  EXPECT_EQ(drain().hellos.size(), 1U) << "the peer may come back";
}

}  // namespace
}  // namespace tictac

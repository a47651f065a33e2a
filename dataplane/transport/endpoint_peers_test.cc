// How two endpoints find each other, lose each other and end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>

#include "dataplane/transport/endpoint.h"
#include "tests/fakes/endpoint_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::content;
using fakes::EndpointPair;

using EndpointPeers = fakes::EndpointFixture;

TEST_F(EndpointPeers, EitherStartOrderComesUpFast) {
  const auto up = [this] { return pair.a->up() && pair.b->up(); };
  pair.a->knows(*pair.b, pair.now);
  pair.run_for(3s);
  const Time start = pair.now;
  pair.b->knows(*pair.a, pair.now);
  ASSERT_TRUE(pair.run_until(up));
  EXPECT_LE(pair.now - start, 250ms);
  EXPECT_EQ(pair.a->events.ups, 1);
  EXPECT_EQ(pair.b->events.ups, 1);
}

TEST_F(EndpointPeers, SimultaneousOpenTakesOneRoundTrip) {
  const Time start = pair.now;
  pair.connect();
  EXPECT_LE(pair.now - start, 2 * pair.delay);
}

TEST_F(EndpointPeers, AnyHelloMayBeLost) {
  for (int lost = 0; lost < 6; ++lost) {
    SCOPED_TRACE(lost);
    EndpointPair other;
    int count = 0;
    other.drop = [&](const Address&, ByteSpan) { return count++ == lost; };
    const Time start = other.now;
    other.connect();
    EXPECT_TRUE(other.a->up() && other.b->up());
    EXPECT_LE(other.now - start, 100ms);
    other.run_for(3s);
    EXPECT_EQ(other.a->events.downs.size() + other.b->events.downs.size(), 0U);
  }
}

TEST_F(EndpointPeers, AnIdleSessionSaysLittle) {
  pair.connect();
  pair.run_for(100ms);
  const uint64_t before = pair.a->endpoint.counters().packets_sent;
  pair.run_for(10s);
  EXPECT_LT(pair.a->endpoint.counters().packets_sent - before, 120U);
  EXPECT_TRUE(pair.a->events.downs.empty());
}

TEST_F(EndpointPeers, ADeadPeerIsNoticedAndItsStreamsEnd) {
  serve(false);
  pair.connect();
  BufferSink sink;
  fetch(Rank(1), sink);
  pair.run_for(10ms);
  pair.b.reset();
  const Time start = pair.now;
  ASSERT_TRUE(pair.run_until([&] { return sink.ended.has_value(); }));
  EXPECT_EQ(sink.ended->how, StreamEnd::kPeerLost);
  EXPECT_LE(pair.now - start, 2s);
  EXPECT_EQ(pair.a->events.downs, (std::vector{PeerDownReason::kTimeout}));
  // Its next start is found by itself.
  pair.b.emplace(Endpoint::Config{.name = "b", .incarnation = 3}, Address{2, 2});
  pair.b->knows(*pair.a, pair.now);
  ASSERT_TRUE(pair.run_until([&] { return pair.a->up() && pair.b->up(); }, 1s));
  EXPECT_EQ(pair.a->events.incarnation, 3U);
}

TEST_F(EndpointPeers, AQuickRestartIsAnotherSession) {
  serve(false);
  pair.connect();
  BufferSink sink;
  fetch(Rank(1), sink);
  pair.run_for(10ms);
  pair.b.emplace(Endpoint::Config{.name = "b", .incarnation = 3}, Address{2, 2});
  pair.b->knows(*pair.a, pair.now);
  ASSERT_TRUE(pair.run_until([&] { return pair.a->up() && pair.b->up() && pair.a->events.ups == 2; }, 1s));
  EXPECT_EQ(pair.a->events.downs, (std::vector{PeerDownReason::kRestarted}));
  EXPECT_EQ(sink.ended->how, StreamEnd::kPeerLost);
  EXPECT_TRUE(pair.b->events.opened.empty()) << "nothing is replayed";
}

TEST_F(EndpointPeers, OneSideThatLostTheSessionTakesTheOtherAlong) {
  pair.connect();
  // Only what goes to a is lost, long enough for a to give up and not for b.
  const Time until = pair.now + 1600ms;
  pair.drop = [&](const Address& from, ByteSpan) { return from == Address{2, 2} && pair.now < until; };
  pair.run_for(4s);
  EXPECT_TRUE(pair.a->up() && pair.b->up());
  EXPECT_EQ(pair.a->events.downs, (std::vector{PeerDownReason::kTimeout}));
  EXPECT_EQ(pair.b->events.downs, (std::vector{PeerDownReason::kRestarted}));
}

TEST_F(EndpointPeers, CloseIsKnownAtOnce) {
  serve(false);
  pair.connect();
  BufferSink sink;
  fetch(Rank(1), sink);
  pair.run_for(1ms);
  pair.b->endpoint.close();
  const Time start = pair.now;
  ASSERT_TRUE(pair.run_until([&] { return sink.ended.has_value(); }));
  EXPECT_LE(pair.now - start, 1ms);
  EXPECT_EQ(pair.a->events.downs, (std::vector{PeerDownReason::kClosed}));
  EXPECT_EQ(pair.b->events.downs, (std::vector{PeerDownReason::kLocalClose}));
}

// One endpoint with several peers: each gets its own, and a dead one holds up nobody.
TEST(ManyPeers, EachGetsItsOwn) {
  constexpr size_t kPeers = 5;
  Time now{1s};
  const auto address = [](size_t i) { return Address{static_cast<Ipv4>(100 + i), 7}; };
  fakes::EndpointSide hub({.name = "hub", .incarnation = 9}, {1, 1});
  std::deque<fakes::EndpointSide> spokes;
  std::deque<BufferSource> answers;
  for (size_t i = 0; i < kPeers; ++i) {
    spokes.emplace_back(Endpoint::Config{.name = "spoke" + std::to_string(i), .incarnation = i + 1},
                        address(i));
    hub.knows(spokes[i], now);
    spokes[i].knows(hub, now);
  }
  hub.endpoint.add_peer("nobody", {200, 7}, now);
  hub.events.on_open_do = [&](StreamRef stream) {
    answers.emplace_back(content(300'000, stream.peer.value()));
    hub.endpoint.answer(now, stream, &answers.back());
    return nullptr;
  };
  std::array<BufferSink, kPeers> sinks;
  bool asked = false;
  size_t done = 0;
  for (int step = 0; step < 5000 && done < kPeers; ++step, now += 50us) {
    std::array<uint8_t, 1472> buffer{};
    while (const auto out = hub.endpoint.next_datagram(now, buffer)) {
      for (auto& spoke : spokes) {
        if (spoke.address == out->to)
          spoke.endpoint.on_datagram(now, hub.address, ByteSpan(buffer).first(out->size));
      }
    }
    for (auto& spoke : spokes) {
      while (const auto out = spoke.endpoint.next_datagram(now, buffer)) {
        hub.endpoint.on_datagram(now, spoke.address, ByteSpan(buffer).first(out->size));
      }
    }
    const bool all_up =
        std::all_of(spokes.begin(), spokes.end(), [](const auto& spoke) { return spoke.up(); });
    if (all_up && !asked) {
      asked = true;
      for (size_t i = 0; i < kPeers; ++i) {
        spokes[i].endpoint.open(now, PeerId(0), {.job = "job", .rank = Rank(1)}, nullptr, &sinks[i]);
      }
    }
    done =
        static_cast<size_t>(std::count_if(sinks.begin(), sinks.end(), [](const auto& s) { return s.ended; }));
  }
  ASSERT_EQ(done, kPeers);
  for (uint32_t i = 0; i < kPeers; ++i) EXPECT_EQ(sinks[i].bytes, content(300'000, i)) << i;
  EXPECT_FALSE(hub.endpoint.peer_is_up(PeerId(kPeers)));
}

}  // namespace
}  // namespace tictac

// Two real endpoints over a pipe.
#include "dataplane/transport/endpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <random>

#include "dataplane/transport/wire/header.h"
#include "tests/fakes/endpoint_pair.h"
#include "tests/fakes/transfers.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::Ended;
using fakes::EndpointPair;

std::string content(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// a asks b; b answers every request from `answers` in the order of arrival, at once or when told.
struct EndpointTest : ::testing::Test {
  void serve(bool at_once = true) {
    pair.b->events.on_open_do = [this, at_once](StreamRef stream) {
      if (at_once) answer(stream);
      requests.emplace_back(1 << 20);
      return &requests.back();
    };
  }
  void answer(StreamRef stream) {
    ASSERT_LT(answered, answers.size());
    EXPECT_TRUE(pair.b->endpoint.answer(pair.now, stream, &answers[answered++]));
  }
  StreamRef fetch(Rank rank, BufferSink& sink, ScheduleVersion version = ScheduleVersion(1)) {
    return pair.a->endpoint.open(pair.now, EndpointPair::kPeer,
                                 {.job = "job", .rank = rank, .version = version}, nullptr, &sink);
  }
  uint32_t streams_left() {
    return pair.a->endpoint.session_stats(EndpointPair::kPeer).open_streams +
           pair.b->endpoint.session_stats(EndpointPair::kPeer).open_streams;
  }

  EndpointPair pair;
  std::deque<BufferSource> answers;
  size_t answered = 0;
  std::list<BufferSink> requests;
};

TEST_F(EndpointTest, EitherStartOrderComesUpFast) {
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

TEST_F(EndpointTest, SimultaneousOpenTakesOneRoundTrip) {
  const Time start = pair.now;
  pair.connect();
  EXPECT_LE(pair.now - start, 2 * pair.delay);
}

TEST_F(EndpointTest, AnyHelloMayBeLost) {
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

TEST_F(EndpointTest, AnIdleSessionSaysLittle) {
  pair.connect();
  pair.run_for(100ms);
  const uint64_t before = pair.a->endpoint.counters().packets_sent;
  pair.run_for(10s);
  EXPECT_LT(pair.a->endpoint.counters().packets_sent - before, 120U);
  EXPECT_TRUE(pair.a->events.downs.empty());
}

TEST_F(EndpointTest, RequestAndAnswer) {
  serve();
  pair.connect();
  BufferSource request(content(200'000, 1));
  answers.emplace_back(content(500'000, 2));
  BufferSink sink;
  ASSERT_TRUE(pair.a->endpoint.open(
      pair.now, EndpointPair::kPeer,
      {.job = "job", .preamble = ByteSpan(reinterpret_cast<const uint8_t*>("pre"), 3)}, &request, &sink));
  ASSERT_TRUE(pair.run_until([&] { return sink.ended && answers[0].ended && request.ended; }));
  EXPECT_EQ(pair.b->events.opened.at(0).preamble, "pre");
  EXPECT_EQ(sink.bytes, content(500'000, 2));
  EXPECT_EQ(requests.front().bytes, content(200'000, 1));
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kComplete, 500'000, 0}));
  EXPECT_EQ(request.ended->how, StreamEnd::kComplete);
  pair.run_for(100ms);
  EXPECT_EQ(streams_left(), 0U);
  EXPECT_EQ(pair.a->endpoint.counters().stream_bytes_received, 500'000U);
  EXPECT_EQ(pair.b->endpoint.counters().stream_bytes_sent, 500'000U);
  EXPECT_EQ(pair.b->endpoint.counters().retransmitted_packets, 0U);
}

TEST_F(EndpointTest, AnyDatagramMayBeLost) {
  for (int lost = 0; lost < 60; ++lost) {
    SCOPED_TRACE(lost);
    EndpointPair other;
    other.connect();
    BufferSource request(content(3'000, 1));
    BufferSource reply(content(20'000, 2));
    BufferSink asked;
    BufferSink sink;
    other.b->events.on_open_do = [&](StreamRef stream) {
      other.b->endpoint.answer(other.now, stream, &reply);
      return &asked;
    };
    int count = 0;
    other.drop = [&](const Address&, ByteSpan) { return count++ == lost; };
    ASSERT_TRUE(other.a->endpoint.open(other.now, EndpointPair::kPeer, {.job = "job"}, &request, &sink));
    const Time start = other.now;
    ASSERT_TRUE(other.run_until([&] { return sink.ended && request.ended && reply.ended && asked.ended; }));
    EXPECT_LE(other.now - start, 200ms);
    EXPECT_EQ(sink.bytes, content(20'000, 2));
    EXPECT_EQ(asked.bytes, content(3'000, 1));
    other.run_for(1s);
    EXPECT_EQ(other.a->endpoint.session_stats(EndpointPair::kPeer).open_streams, 0U);
    EXPECT_EQ(other.b->endpoint.session_stats(EndpointPair::kPeer).open_streams, 0U);
  }
}

TEST_F(EndpointTest, CancelAtAnyMomentLeavesNothing) {
  for (int step = 0; step < 40; ++step) {
    SCOPED_TRACE(step);
    EndpointPair other;
    other.connect();
    BufferSource request(content(50'000, 1));
    BufferSource reply(content(200'000, 2));
    BufferSink asked;
    BufferSink sink;
    StreamRef accepted;
    other.b->events.on_open_do = [&](StreamRef stream) {
      accepted = stream;
      other.b->endpoint.answer(other.now, stream, &reply);
      return &asked;
    };
    std::mt19937 random(static_cast<uint32_t>(step));
    other.drop = [&](const Address&, ByteSpan) { return random() % 10 == 0; };
    const StreamRef stream =
        other.a->endpoint.open(other.now, EndpointPair::kPeer, {.job = "job"}, &request, &sink);
    other.run_for(step * 20us);
    if (step % 2) {
      other.a->endpoint.cancel(stream, 9);
      other.a->endpoint.cancel(stream, 10);
    } else {
      other.b->endpoint.cancel(accepted, 9);
    }
    other.run_for(2s);
    EXPECT_TRUE(sink.ended);
    EXPECT_TRUE(request.ended);
    if (accepted) {
      EXPECT_TRUE(asked.ended);
      EXPECT_TRUE(reply.ended);
    }
    if (step > 0 || step % 2) {
      EXPECT_EQ(other.a->endpoint.session_stats(EndpointPair::kPeer).open_streams, 0U);
      EXPECT_EQ(other.b->endpoint.session_stats(EndpointPair::kPeer).open_streams, 0U);
    }
  }
}

TEST_F(EndpointTest, ARerankTurnsRoundWhatIsQueued) {
  EndpointPair slow({.name = "a", .incarnation = 1}, {.name = "b", .incarnation = 2}, Rate(100'000'000));
  slow.connect();
  std::deque<BufferSource> replies;
  slow.b->events.on_open_do = [&](StreamRef stream) {
    replies.emplace_back(content(100'000, 0));
    slow.b->endpoint.answer(slow.now, stream, &replies.back());
    return nullptr;
  };
  std::deque<BufferSink> sinks;
  std::vector<StreamRef> streams;
  for (uint32_t i = 0; i < 10; ++i) {
    sinks.emplace_back();
    streams.push_back(slow.a->endpoint.open(slow.now, EndpointPair::kPeer,
                                            {.job = "job", .rank = Rank(i), .version = ScheduleVersion(1)},
                                            nullptr, &sinks.back()));
  }
  ASSERT_TRUE(slow.run_until([&] { return sinks[2].ended.has_value(); }));
  for (uint32_t i = 0; i < 10; ++i) slow.a->endpoint.rerank(streams[i], Rank(9 - i), ScheduleVersion(2));
  std::vector<size_t> order;
  ASSERT_TRUE(slow.run_until([&] {
    for (size_t i = 3; i < 10; ++i) {
      if (sinks[i].ended && std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
    }
    return order.size() == 7;
  }));
  EXPECT_EQ(order, (std::vector<size_t>{9, 8, 7, 6, 5, 4, 3}));
  EXPECT_EQ(slow.a->endpoint.counters().late_packets, 0U);
  EXPECT_EQ(slow.b->scheduler.counters().inversions, 0U);
}

TEST_F(EndpointTest, AnUrgentTransferOvertakesAndNothingIsLate) {
  EndpointPair slow({.name = "a", .incarnation = 1}, {.name = "b", .incarnation = 2}, Rate(100'000'000));
  slow.connect();
  std::deque<BufferSource> replies;
  slow.b->events.on_open_do = [&](StreamRef stream) {
    replies.emplace_back(content(500'000, 0));
    slow.b->endpoint.answer(slow.now, stream, &replies.back());
    return nullptr;
  };
  BufferSink large;
  BufferSink urgent;
  slow.a->endpoint.open(slow.now, EndpointPair::kPeer, {.job = "job", .rank = Rank(5)}, nullptr, &large);
  slow.run_for(5ms);
  const uint64_t before = large.progress;
  EXPECT_GT(before, 0U);
  slow.a->endpoint.open(slow.now, EndpointPair::kPeer, {.job = "job", .rank = Rank(1)}, nullptr, &urgent);
  ASSERT_TRUE(slow.run_until([&] { return urgent.ended.has_value(); }));
  EXPECT_FALSE(large.ended);
  EXPECT_LT(large.progress - before, 20'000U);
  ASSERT_TRUE(slow.run_until([&] { return large.ended.has_value(); }));
  EXPECT_EQ(slow.a->endpoint.counters().late_packets, 0U);
}

// The counter would be worth nothing if it could not count: the one packet of the better transfer is lost
// again and again, and worse ones pass meanwhile.
TEST_F(EndpointTest, LatePacketsAreCounted) {
  EndpointPair slow({.name = "a", .incarnation = 1}, {.name = "b", .incarnation = 2}, Rate(1'000'000'000));
  slow.connect();
  slow.run_for(1s);  // both have measured the round trip
  std::deque<BufferSource> replies;
  slow.b->events.on_open_do = [&](StreamRef stream) {
    replies.emplace_back(content(replies.empty() ? 500 : 2'000'000, 0));
    slow.b->endpoint.answer(slow.now, stream, &replies.back());
    return nullptr;
  };
  const Time until = slow.now + 20ms;
  slow.drop = [&](const Address& from, ByteSpan datagram) {
    wire::Header header;
    wire::parse_header(datagram, &header);
    return from == slow.b->address && header.rank == 1 && slow.now < until;
  };
  BufferSink better;
  BufferSink worse(2'000'000);
  slow.a->endpoint.open(slow.now, EndpointPair::kPeer, {.job = "job", .rank = Rank(1)}, nullptr, &better);
  slow.a->endpoint.open(slow.now, EndpointPair::kPeer, {.job = "job", .rank = Rank(2)}, nullptr, &worse);
  ASSERT_TRUE(slow.run_until([&] { return better.ended && worse.ended; }, 60s));
  EXPECT_GT(slow.a->endpoint.counters().late_packets, 10U);
}

TEST_F(EndpointTest, ASlowSourceIsServedAsItGrows) {
  serve();
  pair.connect();
  answers.emplace_back("", false);
  BufferSink sink;
  fetch(Rank(1), sink);
  pair.run_for(1ms);
  std::string all;
  for (uint32_t i = 0; i < 20; ++i) {
    const std::string more = content(1000, i);
    all += more;
    answers[0].append(more);
    pair.b->endpoint.notify(pair.b->events.opened[0].stream);
    pair.run_for(1ms);
    EXPECT_EQ(sink.progress, all.size());
  }
  answers[0].finish();
  pair.b->endpoint.notify(pair.b->events.opened[0].stream);
  ASSERT_TRUE(pair.run_until([&] { return sink.ended.has_value(); }));
  EXPECT_EQ(sink.bytes, all);
}

TEST_F(EndpointTest, ASinkThatOpensSlowlyGetsEverything) {
  serve();
  pair.connect();
  answers.emplace_back(content(100'000, 1));
  BufferSink sink(1000);
  const StreamRef stream = fetch(Rank(1), sink);
  uint64_t limit = 1000;
  while (!sink.ended && limit < 200'000) {
    pair.run_for(1ms);
    ASSERT_EQ(sink.progress, std::min<uint64_t>(limit, 100'000));
    limit += 1000;
    sink.set_limit(limit);
    pair.a->endpoint.notify(stream);
  }
  pair.run_for(1ms);
  EXPECT_EQ(sink.ended, (Ended{StreamEnd::kComplete, 100'000, 0}));
}

TEST_F(EndpointTest, AStalledTransferDoesNotHoldOthers) {
  serve();
  pair.connect();
  answers.emplace_back(content(500'000, 1));
  answers.emplace_back(content(500'000, 2));
  BufferSink stalled(10);
  BufferSink other;
  fetch(Rank(1), stalled);
  fetch(Rank(2), other);
  ASSERT_TRUE(pair.run_until([&] { return other.ended.has_value(); }));
  EXPECT_EQ(stalled.progress, 10U);
}

TEST_F(EndpointTest, ADeadPeerIsNoticedAndItsStreamsEnd) {
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

TEST_F(EndpointTest, AQuickRestartIsAnotherSession) {
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

TEST_F(EndpointTest, OneSideThatLostTheSessionTakesTheOtherAlong) {
  pair.connect();
  // Only what goes to a is lost, long enough for a to give up and not for b.
  const Time until = pair.now + 1600ms;
  pair.drop = [&](const Address& from, ByteSpan) { return from == Address{2, 2} && pair.now < until; };
  pair.run_for(4s);
  EXPECT_TRUE(pair.a->up() && pair.b->up());
  EXPECT_EQ(pair.a->events.downs, (std::vector{PeerDownReason::kTimeout}));
  EXPECT_EQ(pair.b->events.downs, (std::vector{PeerDownReason::kRestarted}));
}

TEST_F(EndpointTest, CloseIsKnownAtOnce) {
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

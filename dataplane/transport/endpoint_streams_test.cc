// What streams carry between two endpoints, whatever is lost on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "dataplane/transport/endpoint.h"
#include "tests/fakes/endpoint_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::content;
using fakes::Ended;
using fakes::EndpointPair;

using EndpointStreams = fakes::EndpointFixture;

TEST_F(EndpointStreams, RequestAndAnswer) {
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

TEST_F(EndpointStreams, AnyDatagramMayBeLost) {
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

TEST_F(EndpointStreams, CancelAtAnyMomentLeavesNothing) {
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

TEST_F(EndpointStreams, ASlowSourceIsServedAsItGrows) {
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

TEST_F(EndpointStreams, ASinkThatOpensSlowlyGetsEverything) {
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

TEST_F(EndpointStreams, AStalledTransferDoesNotHoldOthers) {
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

}  // namespace
}  // namespace tictac

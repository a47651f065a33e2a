// In which order two endpoints send what both know the ranks of.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "dataplane/transport/endpoint.h"
#include "dataplane/transport/wire/header.h"
#include "tests/fakes/endpoint_fixture.h"

namespace tictac {
namespace {

using fakes::BufferSink;
using fakes::BufferSource;
using fakes::content;
using fakes::EndpointPair;

using EndpointOrder = fakes::EndpointFixture;

TEST_F(EndpointOrder, ARerankTurnsRoundWhatIsQueued) {
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

TEST_F(EndpointOrder, AnUrgentTransferOvertakesAndNothingIsLate) {
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
TEST_F(EndpointOrder, LatePacketsAreCounted) {
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

}  // namespace
}  // namespace tictac

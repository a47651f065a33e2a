#include <gtest/gtest.h>

#include <random>

#include "tests/simulator/pair.h"

// What becomes of sessions and of many transfers on a bad path; transport_test.cc has the figures.
namespace tictac::simulator {
namespace {

using Reasons = std::vector<PeerDownReason>;
constexpr Rate kGigabit{1'000'000'000};

uint64_t drops(const Host& host, DropReason reason) {
  return host.endpoint().counters().drops[static_cast<size_t>(reason)];
}

Pair::Config with_loss(double loss) {
  Pair::Config config;
  config.to_worker.loss = config.to_ps.loss = loss;
  return config;
}

void expect_all_lost(const Pair& pair) {
  for (const auto& sink : pair.sinks) EXPECT_EQ(sink->end(), StreamEnd::kPeerLost);
  EXPECT_EQ(pair.worker->endpoint().session_stats(PeerId(0)).open_streams, 0U);
  EXPECT_EQ(pair.ps->endpoint().session_stats(PeerId(0)).open_streams, 0U);
}

// The pair comes up (again) within a second and moves data.
void expect_works(Pair& pair) {
  ASSERT_TRUE(pair.simulation.run_until([&] { return pair.worker->up() && pair.ps->up(); },
                                        pair.simulation.now() + 1s));
  pair.sinks.clear();
  pair.streams.clear();
  pair.fetch_all(10, 100'000);
  pair.run_to_completion(5s);
}

TEST(Sessions, EitherStartOrder) {
  for (const bool worker_first : {true, false}) {
    Pair pair({});
    worker_first ? pair.start_worker() : pair.start_ps();
    pair.simulation.run_for(3s);
    EXPECT_FALSE(pair.worker->up() || pair.ps->up());
    worker_first ? pair.start_ps() : pair.start_worker();
    const Time start = pair.simulation.now();
    expect_works(pair);
    EXPECT_LT(pair.simulation.now() - start, 300ms);
  }
}

TEST(Sessions, ComeUpThroughHeavyLoss) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Pair::Config config = with_loss(0.5);
    config.seed = seed;
    Pair pair(config);
    pair.start_worker();
    pair.start_ps();
    EXPECT_TRUE(pair.simulation.run_until([&] { return pair.worker->up() && pair.ps->up(); },
                                          pair.simulation.now() + 10s))
        << "seed " << seed;
  }
}

// Old datagrams are still under way, some for milliseconds, when the new process is there.
TEST(Sessions, ARestartReplaysNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Pair::Config config = with_loss(0.01);
    config.seed = seed;
    config.to_worker.reorder = config.to_ps.reorder = 0.25;
    Pair pair(config);
    pair.connect();
    pair.fetch_all(20, 500'000);
    pair.simulation.run_for(4ms);
    pair.restart_ps();
    ASSERT_TRUE(
        pair.simulation.run_until([&] { return !pair.worker->downs().empty(); }, pair.simulation.now() + 1s));
    EXPECT_EQ(pair.worker->downs(), Reasons{PeerDownReason::kRestarted});
    expect_works(pair);
    EXPECT_EQ(pair.ps->endpoint().counters().streams_accepted, 10U) << "old requests came again";
    EXPECT_GT(drops(*pair.ps, DropReason::kStaleSession) + drops(*pair.worker, DropReason::kStaleSession),
              0U);
  }
}

TEST(Sessions, ADeadPeerIsNoticedWithinTwoSecondsAndItsReturnToo) {
  Pair pair({});
  pair.connect();
  pair.fetch_all(20, 5'000'000);
  pair.simulation.run_for(5ms);
  const Time start = pair.simulation.now();
  pair.to_ps->black_hole_until(start + 10s);
  pair.to_worker->black_hole_until(start + 10s);
  ASSERT_TRUE(pair.simulation.run_until(
      [&] { return !pair.worker->downs().empty() && !pair.ps->downs().empty(); }, start + 2s));
  EXPECT_EQ(pair.worker->downs(), Reasons{PeerDownReason::kTimeout});
  expect_all_lost(pair);
  EXPECT_EQ(pair.ps->unfinished_answers(), 0U);
  pair.simulation.run_until([] { return false; }, start + 10s);
  expect_works(pair);
}

TEST(Sessions, AProcessStoppedForHalfAMinute) {
  Pair pair({});
  pair.connect();
  pair.fetch_all(20, 5'000'000);
  pair.simulation.run_for(5ms);
  const Time start = pair.simulation.now();
  pair.ps->stop_until(start + 30s);
  ASSERT_TRUE(pair.simulation.run_until([&] { return !pair.worker->downs().empty(); }, start + 2s));
  for (const auto& sink : pair.sinks) EXPECT_EQ(sink->end(), StreamEnd::kPeerLost);
  const uint64_t before = pair.to_ps->sent();
  pair.simulation.run_until([] { return false; }, start + 30s);
  EXPECT_LT(pair.to_ps->sent() - before, 150U) << "a peer that is gone is asked for quietly";
  expect_works(pair);
  pair.simulation.run_for(100ms);  // the last acknowledgements
  EXPECT_EQ(pair.ps->unfinished_answers(), 0U);
}

TEST(Sessions, ACleanCloseIsKnownAtOnceAndStays) {
  Pair pair({});
  pair.connect();
  pair.fetch_all(20, 5'000'000);
  pair.simulation.run_for(5ms);
  pair.ps->close();
  pair.simulation.run_for(20ms);
  EXPECT_EQ(pair.worker->downs(), Reasons{PeerDownReason::kClosed});
  EXPECT_EQ(pair.ps->downs(), Reasons{PeerDownReason::kLocalClose});
  expect_all_lost(pair);
  pair.simulation.run_for(5s);
  EXPECT_FALSE(pair.worker->up() || pair.ps->up());
}

TEST(Sessions, UnequalDatagramSizes) {
  for (const auto& [worker, ps] : {std::pair<size_t, size_t>{1252, 8972}, {8972, 1252}, {1252, 1252}}) {
    Pair::Config config = with_loss(0.02);
    config.worker_max_datagram = worker;
    config.ps_max_datagram = ps;
    Pair pair(config);
    size_t largest = 0;
    pair.to_worker->set_filter([&](ByteSpan datagram) {
      largest = std::max(largest, datagram.size());
      return false;
    });
    pair.connect();
    expect_works(pair);
    EXPECT_GT(largest, 1200U);
    EXPECT_LE(largest, 1252U);
  }
}

TEST(Order, AnUrgentTransferOvertakesSixtyFour) {
  for (const TransferClass others : {TransferClass::kRanked, TransferClass::kBulk}) {
    Pair::Config config;
    config.ps_link_rate = kGigabit;
    Pair pair(config);
    pair.connect();
    for (uint32_t i = 0; i < 64; ++i) {
      pair.sinks.push_back(std::make_unique<CheckingSink>(i, 500'000));
      pair.worker->fetch(*pair.sinks.back(), 500'000, Rank(100 + i), ScheduleVersion(1), "job", others);
    }
    pair.simulation.run_for(20ms);
    CheckingSink urgent(1000, 100'000);
    const Time start = pair.simulation.now();
    pair.worker->fetch(urgent, 100'000, Rank(0));
    ASSERT_TRUE(pair.simulation.run_until([&] { return urgent.end().has_value(); }, start + 1s));
    // One round trip of 1 ms, 0.83 ms for the bytes, and what was cut already.
    EXPECT_LT(pair.simulation.now() - start, 4ms);
    pair.run_to_completion(5s);
    EXPECT_EQ(pair.ps->scheduler().counters().inversions, 0U);
    EXPECT_EQ(pair.worker->endpoint().counters().late_packets, 0U);
  }
}

TEST(Order, ARerankTurnsTheQueueRoundThoughPacketsAreLost) {
  Pair::Config config = with_loss(0.05);
  config.ps_link_rate = kGigabit;
  Pair pair(config);
  pair.connect();
  constexpr uint32_t kCount = 20;
  pair.fetch_all(kCount, 500'000);  // 4 ms each
  pair.simulation.run_for(10ms);
  for (uint32_t i = 0; i < kCount; ++i) {
    pair.worker->rerank(pair.streams[i], Rank(kCount - i), ScheduleVersion(2));
  }
  const size_t before = pair.completion_order.size();
  pair.run_to_completion(10s);
  ASSERT_EQ(pair.completion_order.size(), kCount);
  ASSERT_LT(before, 4U);
  // The one that was being sent may end first; losses may swap neighbours.
  for (size_t i = before + 2; i < kCount; ++i) {
    const auto expected = static_cast<int64_t>(kCount - 1 - (i - before));
    EXPECT_NEAR(static_cast<double>(pair.completion_order[i]), static_cast<double>(expected), 3) << i;
  }
  EXPECT_EQ(pair.ps->scheduler().counters().inversions, 0U);
}

TEST(Many, ThousandSmallTransfersShareFewPackets) {
  Pair pair({});
  pair.connect();
  const uint64_t requests = pair.to_ps->sent();
  const uint64_t answers = pair.to_worker->sent();
  pair.fetch_all(1000, 64);
  pair.run_to_completion(1s);
  std::printf("1000 fetches of 64 B: %llu packets of requests and acks, %llu of answers\n",
              static_cast<unsigned long long>(pair.to_ps->sent() - requests),
              static_cast<unsigned long long>(pair.to_worker->sent() - answers));
  EXPECT_LT(pair.to_ps->sent() - requests, 250U);
  EXPECT_LT(pair.to_worker->sent() - answers, 250U);
}

TEST(Many, ACancelStormLeavesNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Pair::Config config = with_loss(0.05);
    config.seed = seed;
    config.to_worker.reorder = config.to_ps.reorder = 0.1;
    Pair pair(config);
    pair.connect();
    pair.fetch_all(500, 20'000);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 400; ++i) {
      pair.simulation.run_for(Duration(random() % 50'000));
      pair.worker->cancel(pair.streams[random() % pair.streams.size()], 7);
    }
    ASSERT_TRUE(pair.simulation.run_until([&] { return pair.all_complete(); }, pair.simulation.now() + 10s));
    const auto stopped = std::count_if(pair.sinks.begin(), pair.sinks.end(),
                                       [](const auto& s) { return s->end() == StreamEnd::kStopped; });
    EXPECT_GT(stopped, 50);
    for (const auto& sink : pair.sinks) {
      EXPECT_TRUE(sink->end() == StreamEnd::kComplete || sink->end() == StreamEnd::kStopped);
    }
    pair.simulation.run_for(3s);
    EXPECT_EQ(pair.ps->unfinished_answers(), 0U);
    EXPECT_EQ(pair.worker->endpoint().session_stats(PeerId(0)).open_streams, 0U);
    EXPECT_EQ(pair.ps->endpoint().session_stats(PeerId(0)).open_streams, 0U);
    EXPECT_TRUE(pair.worker->downs().empty());
  }
}

TEST(Flow, ASlowReaderHoldsNobodyElse) {
  Pair::Config config = with_loss(0.01);
  config.session_window = 4 << 20;
  Pair pair(config);
  pair.connect();
  constexpr uint64_t kSize = 2'000'000;
  CheckingSink slow(77, 100'000);
  const StreamRef stream = pair.worker->fetch(slow, kSize, Rank(0));
  pair.fetch_all(20, 500'000);
  pair.run_to_completion(2s);
  EXPECT_FALSE(slow.end());
  EXPECT_LE(slow.progress(), 100'000U);
  for (uint64_t limit = 200'000; limit <= kSize; limit += 100'000) {
    slow.set_limit(limit);
    pair.worker->notify(stream);
    ASSERT_TRUE(
        pair.simulation.run_until([&] { return slow.progress() == limit; }, pair.simulation.now() + 500ms))
        << "stuck at " << slow.progress() << " of " << limit;
  }
  pair.simulation.run_for(100ms);
  EXPECT_EQ(slow.end(), StreamEnd::kComplete);
}

// The least RTT is forgotten after ten seconds; a queue of our own must not become the new least.
TEST(Flow, ALongTransferKeepsTheQueueShort) {
  Pair::Config config;
  config.to_worker.rate = Rate(100'000'000);
  Pair pair(config);
  pair.connect();
  pair.fetch_all(40, 10'000'000);  // 32 s
  Duration worst{0};
  for (int i = 0; i < 300 && !pair.all_complete(); ++i) {
    pair.simulation.run_for(100ms);
    const bool started = i >= 10;  // the unscheduled first window alone is 21 ms of this link
    if (started) worst = std::max(worst, pair.ps->endpoint().session_stats(PeerId(0)).smoothed_rtt);
  }
  std::printf("30 s at 100 Mbit/s into a deep buffer: smoothed RTT at most %s\n",
              format_duration(worst).c_str());
  EXPECT_LT(worst, 3500us);  // 1 ms of path, 1.3 ms of the least window, 1 ms of target
  pair.run_to_completion(20s);
}

}  // namespace
}  // namespace tictac::simulator

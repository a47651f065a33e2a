#include <gtest/gtest.h>

#include "dataplane/transport/wire/header.h"
#include "tests/simulator/pair.h"

namespace tictac::simulator {
namespace {

constexpr size_t kTransfers = 40;
constexpr uint64_t kSize = 500'000;

uint64_t drops(const Host& host, DropReason reason) {
  return host.endpoint().counters().drops[static_cast<size_t>(reason)];
}

struct Outcome {
  double goodput_bps = 0;
  double retransmitted = 0;  // share of the packets sent
  Duration longest_stall{0};
};

// Fetches 20 MB and prints what the path cost.
Outcome run(const char* name, const Pair::Config& config, const std::function<void(Pair&)>& fault = {}) {
  Pair pair(config);
  pair.connect();
  pair.fetch_all(kTransfers, kSize);
  if (fault) fault(pair);
  const Duration took = pair.run_to_completion(60s);
  const TransportCounters& sent = pair.ps->endpoint().counters();
  Outcome result{.goodput_bps = 8 * kTransfers * kSize / std::chrono::duration<double>(took).count(),
                 .retransmitted =
                     static_cast<double>(sent.retransmitted_packets) / static_cast<double>(sent.packets_sent),
                 .longest_stall = pair.longest_stall};
  std::printf("%-28s goodput %7.1f Mbit/s, retransmitted %5.2f %%, spurious %llu, longest stall %s\n", name,
              result.goodput_bps / 1e6, result.retransmitted * 100,
              static_cast<unsigned long long>(sent.spurious_losses),
              format_duration(result.longest_stall).c_str());
  EXPECT_EQ(pair.ps->scheduler().counters().inversions, 0U);
  pair.simulation.run_for(5s);
  EXPECT_EQ(pair.ps->unfinished_answers(), 0U);
  EXPECT_EQ(pair.worker->endpoint().session_stats(PeerId(0)).open_streams, 0U);
  EXPECT_EQ(pair.ps->endpoint().session_stats(PeerId(0)).open_streams, 0U);
  return result;
}

Pair::Config with_loss(double loss) {
  Pair::Config config;
  config.to_worker.loss = config.to_ps.loss = loss;
  return config;
}

const Outcome& clean() {
  static const Outcome result = run("clean", {});
  return result;
}

TEST(Transport, CleanPathUsesTheLink) {
  EXPECT_GT(clean().goodput_bps, 0.85 * 10e9 * 0.95 * 0.9);
  EXPECT_EQ(clean().retransmitted, 0);
}

TEST(Transport, RandomLoss) {
  const Outcome tenth = run("loss 0.1 %", with_loss(0.001));
  EXPECT_GT(tenth.goodput_bps, 0.9 * clean().goodput_bps);
  EXPECT_LT(tenth.retransmitted, 0.003);
  const Outcome one = run("loss 1 %", with_loss(0.01));
  EXPECT_GT(one.goodput_bps, 0.8 * clean().goodput_bps);
  EXPECT_LT(one.retransmitted, 0.02);
  EXPECT_LT(one.longest_stall, 20ms);
  const Outcome ten = run("loss 10 %", with_loss(0.1));
  EXPECT_GT(ten.goodput_bps, 0.4 * clean().goodput_bps);
  EXPECT_LT(ten.retransmitted, 0.15);
  EXPECT_LT(ten.longest_stall, 100ms);
}

TEST(Transport, ReorderingIsNotLoss) {
  Pair::Config config;
  config.to_worker.reorder = 0.25;
  config.to_worker.duplicate = 0.01;
  config.to_worker.delay = 50us;
  const Outcome result = run("reorder 25 % by 1-5 ms", config);
  EXPECT_GT(result.goodput_bps, 0.5 * clean().goodput_bps);
  EXPECT_LT(result.retransmitted, 0.10);
}

TEST(Transport, Duplication) {
  Pair::Config config;
  config.to_worker.duplicate = config.to_ps.duplicate = 0.01;
  const Outcome result = run("duplicates 1 %", config);
  EXPECT_GT(result.goodput_bps, 0.95 * clean().goodput_bps);
  EXPECT_LT(result.retransmitted, 0.001);
}

TEST(Transport, CorruptionNeverReachesATensor) {
  Pair::Config config;
  config.to_worker.corrupt = config.to_ps.corrupt = 0.02;
  const Outcome result = run("bit flips 2 %", config);
  EXPECT_GT(result.goodput_bps, 0.7 * clean().goodput_bps);
}

TEST(Transport, LostAcks) {
  Pair::Config config;
  config.to_ps.loss = 0.3;
  const Outcome thirty = run("30 % of the acks lost", config);
  EXPECT_GT(thirty.goodput_bps, 0.8 * clean().goodput_bps);
  EXPECT_LT(thirty.retransmitted, 0.02);
  const Outcome none = run("all acks lost for 200 ms", {}, [](Pair& pair) {
    pair.simulation.run_for(5ms);
    pair.to_ps->black_hole_until(pair.simulation.now() + 200ms);
  });
  EXPECT_LT(none.longest_stall, 500ms);
  EXPECT_LT(none.retransmitted, 0.20);
}

TEST(Transport, BlackHoleAndReturn) {
  const Outcome result = run("black hole for 300 ms", {}, [](Pair& pair) {
    pair.simulation.run_for(5ms);
    const Time end = pair.simulation.now() + 300ms;
    pair.to_ps->black_hole_until(end);
    pair.to_worker->black_hole_until(end);
  });
  EXPECT_LT(result.longest_stall, 300ms + 350ms);
}

TEST(Transport, TheSamePacketLostThreeTimes) {
  const Outcome result = run("one packet lost three times", {}, [](Pair& pair) {
    // Whatever carries bytes of stream 0 at offset 0: every datagram that begins with that stream, three
    // times.
    int left = 3;
    pair.to_worker->set_filter([left](ByteSpan datagram) mutable {
      wire::Header header;
      wire::parse_header(datagram, &header);
      return header.stream == 0 && left > 0 && left-- > 0;
    });
  });
  EXPECT_LT(result.longest_stall, 50ms);
}

TEST(Transport, APauseOfTheReceiverIsSurvived) {
  const Outcome result = run("worker stopped for 20 ms", {}, [](Pair& pair) {
    pair.simulation.run_for(3ms);
    pair.worker->stop_until(pair.simulation.now() + 20ms);
  });
  EXPECT_LT(result.longest_stall, 60ms);
}

TEST(Transport, ShallowBufferDoesNotCollapse) {
  Pair::Config config;
  config.to_worker.queue_bytes = 128 * 1024;
  const Outcome result = run("buffer of 128 KiB", config);
  EXPECT_GT(result.goodput_bps, 0.5 * clean().goodput_bps);
  EXPECT_LT(result.retransmitted, 0.3);
}

TEST(Transport, SameSeedSameRun) {
  const Outcome a = run("seed 9", with_loss(0.05));
  const Outcome b = run("seed 9 again", with_loss(0.05));
  EXPECT_EQ(a.goodput_bps, b.goodput_bps);
  EXPECT_EQ(a.retransmitted, b.retransmitted);
}

TEST(Transport, ManySeedsWithEverythingAtOnce) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Pair::Config config = with_loss(0.03);
    config.seed = seed;
    for (LinkConfig* link : {&config.to_worker, &config.to_ps}) {
      link->duplicate = 0.02;
      link->corrupt = 0.01;
      link->reorder = 0.05;
    }
    config.ps_max_datagram = seed % 2 ? 1472 : 8972;
    config.worker_max_datagram = seed % 3 ? 1472 : 8972;
    config.session_window = seed % 4 ? 64 << 20 : 2 << 20;
    Pair pair(config);
    pair.connect();
    pair.fetch_all(200, 20'000);
    pair.run_to_completion(30s);
    EXPECT_EQ(drops(*pair.worker, DropReason::kMalformedFrame), 0U);
    EXPECT_EQ(drops(*pair.worker, DropReason::kFlowControl), 0U);
  }
}

}  // namespace
}  // namespace tictac::simulator

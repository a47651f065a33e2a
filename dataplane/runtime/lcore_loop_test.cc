#include "dataplane/runtime/lcore_loop.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include "dataplane/runtime/mailbox.h"
#include "dataplane/runtime/steady_clock.h"
#include "gtest/gtest.h"
#include "tests/fakes/cable_port.h"

namespace {
// Counts what the thread under test takes from the heap.
thread_local uint64_t heap_calls = 0;
}  // namespace
[[gnu::noinline]] void* operator new(size_t size) {
  ++heap_calls;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  ++heap_calls;
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept {
  ++heap_calls;
  std::free(p);
}

namespace tictac {
namespace {

constexpr Time kStart{100s};
constexpr uint32_t kFrame = 1514;

class Source : public TransferSource {
 public:
  explicit Source(uint64_t size) : size_(size) {}
  uint64_t available() const override { return size_; }
  bool finished() const override { return true; }
  void read(uint64_t offset, MutableByteSpan out) override {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>((offset + i) * 31);
  }
  void on_acked(uint64_t) override {}
  void on_done(StreamEnd, uint32_t) override {}

 private:
  uint64_t size_;
};

class Sink : public TransferSink {
 public:
  uint64_t limit() const override { return uint64_t{1} << 40; }
  void write(uint64_t offset, ByteSpan bytes) override {
    for (size_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != static_cast<uint8_t>((offset + i) * 31);
    written += bytes.size();
  }
  void on_progress(uint64_t) override {}
  void on_done(StreamEnd end, uint64_t, uint32_t) override { complete = end == StreamEnd::kComplete; }
  uint64_t written = 0;
  uint64_t wrong = 0;
  bool complete = false;
};

// One side: fake port, stack, endpoint, loop.
struct Side : EndpointEvents {
  Side(const std::string& name, uint8_t id, CablePort& fake)
      : stack({.mac = {{2, 0, 0, 0, 0, id}}, .local = {0x0a000000U + id, 7471}}, kStart),
        scheduler({}),
        endpoint({.name = name, .incarnation = id}, scheduler, *this),
        loop({}, fake, stack, endpoint) {}
  void on_peer_up(PeerId, const PeerUp&) override { up = true; }
  void on_peer_down(PeerId, PeerDownReason) override { up = false; }
  TransferSink* on_open(StreamRef stream, const OpenParams&) override {
    endpoint.answer(now, stream, source);
    return nullptr;
  }
  void on_abandoned(StreamRef, uint32_t) override {}

  Source* source = nullptr;
  Time now{};
  bool up = false;
  UdpStack stack;
  Scheduler scheduler;
  Endpoint endpoint;
  LcoreLoop loop;
};

struct LcoreLoopTest : testing::Test {
  LcoreLoopTest() {
    port_a.connect(port_b);
    port_b.connect(port_a);
    a->endpoint.add_peer("b", {0x0a000002, 7471}, kStart);
    b->endpoint.add_peer("a", {0x0a000001, 7471}, kStart);
  }
  void step(Duration step = 10us) {
    a->now = b->now = now;
    a->loop.poll_once(now);
    b->loop.poll_once(now);
    now += step;
  }
  template <typename Done>
  bool run_until(Done done, Duration limit) {
    for (const Time end = now + limit; now < end; step()) {
      if (done()) return true;
    }
    return done();
  }
  void connect() {
    ASSERT_TRUE(run_until([&] { return a->up && b->up; }, 1s));
  }
  void fetch(Source& source, Sink& sink) {
    b->source = &source;
    ASSERT_TRUE(a->endpoint.open(now, PeerId(0), {.job = "j", .rank = Rank(1), .version = ScheduleVersion(1)},
                                 nullptr, &sink));
  }
  CablePort port_a{600, kFrame, 128};
  CablePort port_b{600, kFrame, 128};
  Time now = kStart;
  std::unique_ptr<Side> a = std::make_unique<Side>("a", uint8_t{1}, port_a);
  std::unique_ptr<Side> b = std::make_unique<Side>("b", uint8_t{2}, port_b);
};

TEST_F(LcoreLoopTest, TransfersBytesOverArpIpAndUdp) {
  connect();
  Source source(3'000'000);
  Sink sink;
  fetch(source, sink);
  EXPECT_TRUE(run_until([&] { return sink.complete; }, 2s));
  EXPECT_EQ(sink.written, 3'000'000U);
  EXPECT_EQ(sink.wrong, 0U);
}

TEST_F(LcoreLoopTest, RefusedFramesAreNeverLostAndNothingNewIsCutMeanwhile) {
  connect();
  port_b.takes_at_most = 3;  // of each offer
  Source source(1'000'000);
  Sink sink;
  fetch(source, sink);
  EXPECT_TRUE(run_until([&] { return sink.complete; }, 2s));
  EXPECT_EQ(sink.wrong, 0U);
  EXPECT_EQ(b->endpoint.counters().retransmitted_packets, 0U);
  EXPECT_EQ(b->loop.counters().frames_discarded, 0U);
}

TEST_F(LcoreLoopTest, NothingIsCutWhileTheDeviceRefuses) {
  connect();
  Source source(100'000'000);
  Sink sink;
  fetch(source, sink);
  run_until([&] { return sink.written > 1'000'000; }, 1s);
  port_b.takes_at_most = 0;
  step();
  const uint64_t cut = b->endpoint.counters().packets_sent;
  for (int i = 0; i < 100; ++i) step(100us);
  EXPECT_EQ(b->endpoint.counters().packets_sent, cut);
  EXPECT_GT(b->loop.next_deadline(now), now - 200us);
  port_b.takes_at_most = SIZE_MAX;
  const uint64_t before = sink.written;
  run_until([] { return false; }, 10ms);
  EXPECT_GT(sink.written, before);
}

TEST_F(LcoreLoopTest, DeviceThatTakesNothingForLongIsACutCableAndTimersGoOn) {
  connect();
  Source source(1'000'000'000);
  Sink sink;
  fetch(source, sink);
  run_until([&] { return sink.written > 1'000'000; }, 1s);
  port_a.link = port_b.link = false;
  EXPECT_TRUE(run_until([&] { return !a->up && !b->up; }, 3s)) << "dead peers must be noticed";
  EXPECT_EQ(b->loop.counters().stalls, 1U);
  EXPECT_GT(b->loop.counters().frames_discarded, 0U);
  port_a.link = port_b.link = true;
  EXPECT_TRUE(run_until([&] { return a->up && b->up; }, 3s));
  a.reset();
  b.reset();
  EXPECT_EQ(port_a.free_frames() + port_b.waiting() + port_b.free_frames() + port_a.waiting(), 1200U);
}

TEST_F(LcoreLoopTest, BlockedLoopDoesNotAskToBePolledAtOnce) {
  connect();
  Source source(100'000'000);
  Sink sink;
  fetch(source, sink);
  run_until([&] { return sink.written > 100'000; }, 1s);
  port_b.takes_at_most = 0;
  step();
  int due = 0;
  for (const Time end = now + 10ms; now < end;) {
    now = std::max(now + 1us, std::min(b->loop.next_deadline(now), end));
    b->loop.poll_once(now);
    ++due;
  }
  EXPECT_LT(due, 20);
}

TEST_F(LcoreLoopTest, ABurstIsTheMostThatAnUrgentTransferWaitsFor) {
  connect();
  Source source(100'000'000);
  Sink sink;
  fetch(source, sink);
  run_until([&] { return sink.written > 3'000'000; }, 1s);
  for (int i = 0; i < 100; ++i) {
    const size_t before = port_b.sent;
    step();
    EXPECT_LE(port_b.sent - before, 32U);
  }
}

TEST_F(LcoreLoopTest, NoHeapAfterWarmUp) {
  connect();
  Source source(200'000'000);
  Sink sink;
  fetch(source, sink);
  run_until([&] { return sink.written > 10'000'000; }, 5s);
  const uint64_t before = heap_calls;
  const uint64_t written = sink.written;
  run_until([&] { return sink.written > 40'000'000; }, 5s);
  EXPECT_GT(sink.written, written + 20'000'000);
  EXPECT_EQ(heap_calls - before, 0U);
}

// Real time, but only upper bounds that a hang would break.
TEST_F(LcoreLoopTest, RunStopsAtOnceAlsoFromSleepAndServesTheMailbox) {
  Mailbox mailbox;
  a->loop.add_task(mailbox);
  std::thread lcore([&] { a->loop.run(); });
  bool ran = false;
  EXPECT_TRUE(mailbox.call(5s, [&](Time) { ran = true; }));
  EXPECT_TRUE(ran);
  a->loop.stop();
  lcore.join();
  EXPECT_GT(a->loop.counters().iterations, 0U);
}

TEST_F(LcoreLoopTest, StopBeforeRunEndsIt) {
  a->loop.stop();
  a->loop.run();
}

}  // namespace
}  // namespace tictac

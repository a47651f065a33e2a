#include "tests/simulator/pair.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace tictac::simulator {
namespace {

constexpr Address kWorker{0x0a000001, 7471};
constexpr Address kPs{0x0a000002, 7471};

uint64_t seed_or_environment(uint64_t seed) {
  const char* text = std::getenv("TICTAC_SEED");
  return text ? std::strtoull(text, nullptr, 10) : seed;
}

}  // namespace

Pair::Pair(const Config& c)
    : config(c), trace_(__FILE__, __LINE__, "TICTAC_SEED=" + std::to_string(seed_or_environment(c.seed))) {
  const uint64_t seed = seed_or_environment(c.seed);
  worker = std::make_unique<Host>(simulation, Host::Config{.name = "worker",
                                                           .address = kWorker,
                                                           .incarnation = 1,
                                                           .max_datagram = c.worker_max_datagram,
                                                           .session_window = c.session_window,
                                                           .max_streams = c.max_streams});
  ps = std::make_unique<Host>(simulation, Host::Config{.name = "ps",
                                                       .address = kPs,
                                                       .incarnation = 2,
                                                       .max_datagram = c.ps_max_datagram,
                                                       .link_rate = c.ps_link_rate,
                                                       .session_window = c.session_window,
                                                       .max_streams = c.max_streams});
  to_worker = std::make_unique<Link>(simulation, c.to_worker, seed * 2,
                                     [this](ByteSpan datagram) { worker->receive(kPs, datagram); });
  to_ps = std::make_unique<Link>(simulation, c.to_ps, seed * 2 + 1,
                                 [this](ByteSpan datagram) { ps->receive(kWorker, datagram); });
}

void Pair::connect() {
  start_worker();
  start_ps();
  ASSERT_TRUE(simulation.run_until([this] { return worker->up() && ps->up(); }, simulation.now() + 1s));
}

void Pair::restart_ps() {
  Host::Config again = ps->config();
  ++again.incarnation;
  ps->stop_until(kNever);
  dead.push_back(std::move(ps));
  ps = std::make_unique<Host>(simulation, again);
  start_ps();
}

void Pair::fetch_all(size_t count, uint64_t size) {
  for (size_t i = 0; i < count; ++i) {
    sinks.push_back(std::make_unique<CheckingSink>(
        sinks.size(), size, [this](CheckingSink& sink) { completion_order.push_back(sink.seed()); }));
    streams.push_back(worker->fetch(*sinks.back(), size, Rank(static_cast<uint32_t>(i))));
    ASSERT_TRUE(streams.back());
  }
}

bool Pair::all_complete() const {
  return std::all_of(sinks.begin(), sinks.end(), [](const auto& s) { return s->end().has_value(); });
}

Duration Pair::run_to_completion(Duration limit) {
  const Time start = simulation.now();
  Time last_progress = start;
  uint64_t received = 0;
  const bool done = simulation.run_until(
      [&] {
        const uint64_t now_received = worker->endpoint().counters().stream_bytes_received;
        if (now_received != received) {
          longest_stall = std::max(longest_stall, simulation.now() - last_progress);
          last_progress = simulation.now();
          received = now_received;
        }
        return all_complete();
      },
      start + limit);
  EXPECT_TRUE(done) << "not complete within the limit";
  for (const auto& sink : sinks) EXPECT_EQ(sink->end(), StreamEnd::kComplete);
  return simulation.now() - start;
}

}  // namespace tictac::simulator

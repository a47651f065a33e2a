#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/runtime/lcore_task.h"
#include "dataplane/transport/endpoint.h"
#include "tests/integration/node/pattern.h"

namespace tictac::integration {

// What a node did; written by the lcore.
struct ApplicationStats {
  uint64_t ups = 0;
  uint64_t downs = 0;
  uint64_t completed = 0;
  uint64_t failed = 0;  // ended by the peer's death; asked for again when it is back
  uint64_t bytes = 0;   // of completed fetches
  uint64_t mismatches = 0;
  int64_t first_open_ns = 0;
  int64_t last_done_ns = 0;
  int64_t longest_gap_ns = 0;  // between two completed fetches
  int64_t fetch_min_ns = 0;
  int64_t fetch_median_ns = 0;
  int64_t fetch_p99_ns = 0;
  int64_t fetch_max_ns = 0;
};

// Answers every request with pattern bytes, and fetches from its peer: `parallel` at once, `count` in all (0:
// for ever), or one every `interval`.
class Application : public EndpointEvents, public LcoreTask {
 public:
  struct Config {
    uint64_t count = 0;
    uint32_t parallel = 0;  // 0: only serves
    uint64_t size = 1 << 20;
    Duration interval{0};
  };

  explicit Application(const Config& config);
  ~Application() override;
  void use(Endpoint& endpoint) { endpoint_ = &endpoint; }

  void on_peer_up(PeerId peer, const PeerUp& info) override;
  void on_peer_down(PeerId peer, PeerDownReason reason) override;
  TransferSink* on_open(StreamRef stream, const OpenParams& params) override;
  void on_abandoned(StreamRef, uint32_t) override {}

  size_t poll(Time now) override;
  Time next_deadline() const override;
  bool prepare_to_sleep() override { return true; }
  void resume() override {}
  int wake_fd() const override { return wake_fd_; }

  // Any thread: sessions that came up so far.
  uint64_t ups() const { return ups_.load(std::memory_order_relaxed); }
  // Lcore, or after it.
  ApplicationStats stats() const;
  bool has_fetched() const { return stats_.completed > 0; }
  bool finished() const { return config_.count != 0 && stats_.completed >= config_.count; }

 private:
  class Source;
  class Sink;
  bool fetch(Time now);
  void on_fetched(Sink& sink, StreamEnd end, uint64_t size);

  Config config_;
  Pattern pattern_;
  Endpoint* endpoint_ = nullptr;
  int wake_fd_;
  bool up_ = false;
  std::atomic<uint64_t> ups_{0};
  uint64_t next_seed_ = 1;
  Time now_{};
  Time next_fetch_{};
  uint32_t active_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;  // all ever made; reused
  std::vector<Source*> free_sources_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  std::vector<Sink*> free_sinks_;
  std::vector<int64_t> times_;
  ApplicationStats stats_;
};

}  // namespace tictac::integration

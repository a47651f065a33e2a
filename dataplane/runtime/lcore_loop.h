#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/clock.h"
#include "dataplane/net/udp_stack.h"
#include "dataplane/port/packet_port.h"
#include "dataplane/runtime/doorbell.h"
#include "dataplane/runtime/idle_policy.h"
#include "dataplane/runtime/lcore_task.h"
#include "dataplane/transport/endpoint.h"

namespace tictac {

// Written by the lcore only; others get copies through the mailbox.
struct LoopCounters {
  uint64_t iterations = 0;
  uint64_t busy_iterations = 0;
  uint64_t sleeps = 0;
  uint64_t stalls = 0;            // times that the device took nothing for `stall_after`
  uint64_t frames_discarded = 0;  // while stalled: lost as by a cut cable, the transport repairs it
};

// The sidecar's one busy thread: packets in, tasks, packets out, in a fixed visible order, with one reading
// of the clock an iteration. Sleeps when there is nothing to do. No lock, no heap, no system call per packet.
//
// A packet is cut only when the device took all earlier ones, and at most `burst` at a time, so that an
// urgent transfer overtakes everything but those. Refused frames are offered again; a device that takes
// nothing for `stall_after` (peer gone, link down) loses frames from then on like a cut cable, so that timers
// go on.
class LcoreLoop {
 public:
  struct Config {
    size_t burst = 32;  // frames received, and frames cut, in one iteration; <= 64
    Duration stall_after = 20ms;
    Duration first_retry = 50us;    // a blocked device is looked at again after this; doubles ...
    Duration last_retry = 4ms;      // ... up to this
    Duration link_interval = 10ms;  // how often the link is looked at
    IdlePolicy::Config idle;
  };

  // All borrowed for the loop's life. The port's max_frame() fits the endpoint's max_datagram and headers.
  LcoreLoop(const Config& config, PacketPort& port, UdpStack& stack, Endpoint& endpoint);
  // Gives its frames back. On the lcore or after it.
  ~LcoreLoop();
  LcoreLoop(const LcoreLoop&) = delete;
  LcoreLoop& operator=(const LcoreLoop&) = delete;

  // Before run(). Tasks are polled in this order; borrowed.
  void add_task(LcoreTask& task);

  // One iteration; returns how many things it did. Lcore, or a test.
  size_t poll_once(Time now);
  // When poll_once has something to do though nothing arrives.
  Time next_deadline(Time now) const;

  // Polls and sleeps until stop(). On the calling thread, which becomes the lcore.
  void run();
  // Any thread, also before run(); at once.
  void stop();

  // Lcore.
  const LoopCounters& counters() const { return counters_; }

 private:
  static constexpr size_t kMaxBurst = 64;

  size_t receive(Time now);
  size_t transmit(Time now);
  size_t cut(Time now);
  bool flush(Time now);
  void note_blocked(Time now);
  void watch_link(Time now);
  bool arm();
  void disarm();
  void sleep(Duration duration);

  Config config_;
  PacketPort& port_;
  UdpStack& stack_;
  Endpoint& endpoint_;
  std::vector<LcoreTask*> tasks_;
  IdlePolicy idle_;
  Doorbell stop_bell_;
  std::atomic<bool> stopping_{false};

  std::array<Frame, kMaxBurst> in_;
  std::array<Frame, kMaxBurst> out_;  // [first_pending_, end_pending_) cut but refused so far
  size_t first_pending_ = 0;
  size_t end_pending_ = 0;
  std::array<Frame, kMaxBurst> spare_;  // empty frames for the next cut
  size_t spares_ = 0;
  Time refused_since_ = kNever;
  bool stalled_ = false;
  bool pool_empty_ = false;
  Duration retry_;
  Time retry_at_ = kNever;  // while blocked
  bool link_up_ = true;
  Time link_check_{};
  size_t armed_ = 0;
  bool port_armed_ = false;
  LoopCounters counters_;
};

}  // namespace tictac

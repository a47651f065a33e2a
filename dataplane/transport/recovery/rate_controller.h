#pragma once

#include <cstdint>

#include "dataplane/base/clock.h"
#include "dataplane/base/units.h"
#include "dataplane/transport/recovery/rtt_estimator.h"

namespace tictac {

// How much may be in flight towards one peer, and how fast it may leave.
//
// Delay decides, as in Swift (Kumar et al., SIGCOMM 2020): below the target the window grows, above it
// shrinks in proportion to the excess, once a round. The signal is the least RTT of a round, not the mean: a
// process that lost its core for milliseconds inflates some samples, a standing queue inflates all. Slow
// start ends inside a round, when its first samples show a queue (HyStart++, RFC 9406). Isolated loss does
// nothing. When more than kLossThreshold of a round is lost and the delivery rate no longer grows, the window
// is bounded by what was delivered (inflight_hi of BBRv2): that ends an overload of a shallow buffer without
// the collapse that halving brings at 10 % random loss. When nothing comes back for several probe time-outs,
// the window falls to its least. Every kDrainEvery, if a queue stands, the window is half of what the path
// holds for two rounds, so that the least RTT stays that of the empty path (PROBE_RTT of BBRv2).
class RateController {
 public:
  static constexpr uint64_t kInitialWindow = 256 * 1024;  // the unscheduled first round trip
  static constexpr uint64_t kLeastWindow = 16 * 1024;
  static constexpr uint64_t kMostWindow = 64 * 1024 * 1024;
  static constexpr Duration kTargetQueueing = 1ms;
  static constexpr double kLossThreshold = 0.02;
  static constexpr Duration kDrainEvery = 4s;  // < kMinRttLifetime / 2 of the estimator

  void on_sent(uint64_t bytes_in_flight) { limited_ |= bytes_in_flight + kRoomThatCounts >= window_; }
  void on_lost(uint64_t bytes) { lost_in_round_ += bytes; }
  // After rtt took in the ack's sample.
  void on_ack(uint64_t newly_acked_bytes, const RttEstimator& rtt, Time now);
  void on_persistent_congestion() {
    window_ = kLeastWindow;
    slow_start_ = true;
    drain_rounds_ = 0;
  }

  uint64_t window() const { return window_; }
  // Above the rate at which the window turns over, so that pacing smooths bursts and does not limit; 0 before
  // the first RTT sample: no limit.
  Rate pacing_rate(const RttEstimator& rtt) const;
  bool in_slow_start() const { return slow_start_; }

 private:
  static constexpr uint64_t kRoomThatCounts = 16 * 1024;

  void watch_for_queue(const RttEstimator& rtt);
  void end_round(const RttEstimator& rtt, Time now);
  void adjust_window(Duration queueing, const RttEstimator& rtt, bool growing);
  void drain(const RttEstimator& rtt, Time now);
  double delivery_bound(const RttEstimator& rtt) const;  // bytes

  uint64_t window_ = kInitialWindow;
  bool slow_start_ = true;
  bool limited_ = false;  // the window held something back in this round
  Time round_start_{};
  bool in_round_ = false;
  uint32_t samples_with_queue_ = 0;  // in a row
  Duration least_in_round_ = Duration::max();
  Duration least_of_last_round_{0};
  uint64_t acked_in_round_ = 0;
  uint64_t lost_in_round_ = 0;
  int drain_rounds_ = 0;  // left
  uint64_t window_before_drain_ = 0;
  Time drained_at_{};
  double delivery_rate_ = 0;  // bytes/s, a maximum that fades
};

}  // namespace tictac

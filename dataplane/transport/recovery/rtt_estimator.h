#pragma once

#include <algorithm>

#include "dataplane/base/clock.h"

namespace tictac {

// Round-trip time of one session, as RFC 9002, section 5 estimates it, plus the least sample of the current
// and of the last round (a round is one smoothed RTT): a process that was not scheduled inflates some samples
// of a round, a standing queue inflates all.
class RttEstimator {
 public:
  static constexpr Duration kInitial = 10ms;
  static constexpr Duration kMinRttLifetime = 10s;

  // `ack_delay` is what the peer says it held the ack back.
  void on_sample(Duration sample, Duration ack_delay, Time now) {
    sample = std::max(sample, Duration(1us));
    latest_ = sample;
    if (!has_sample_ || sample < min_ || now - min_at_ > kMinRttLifetime) {
      min_ = sample;
      min_at_ = now;
    }
    if (sample - min_ >= ack_delay) sample -= ack_delay;
    if (!has_sample_) {
      has_sample_ = true;
      smoothed_ = sample;
      variation_ = sample / 2;
      return;
    }
    const Duration error = smoothed_ > sample ? smoothed_ - sample : sample - smoothed_;
    variation_ = (3 * variation_ + error) / 4;
    smoothed_ = (7 * smoothed_ + sample) / 8;
  }

  bool has_sample() const { return has_sample_; }
  Duration latest() const { return latest_; }
  Duration smoothed() const { return smoothed_; }
  Duration variation() const { return variation_; }
  Duration min() const { return min_; }

 private:
  bool has_sample_ = false;
  Duration latest_ = kInitial;
  Duration smoothed_ = kInitial;
  Duration variation_ = kInitial / 2;
  Duration min_ = kInitial;
  Time min_at_{};
};

}  // namespace tictac

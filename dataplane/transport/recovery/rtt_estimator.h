#pragma once

#include <algorithm>

#include "dataplane/base/clock.h"

namespace tictac {

// Round-trip time of one session, as RFC 9002, section 5 estimates it, plus the least sample of the last
// kMinRttLifetime/2 to kMinRttLifetime. RateController sees to it that the queue is short now and then in
// that time: otherwise our own standing queue would become the least.
class RttEstimator {
 public:
  static constexpr Duration kInitial = 10ms;
  static constexpr Duration kMinRttLifetime = 10s;

  // `ack_delay` is what the peer says it held the ack back.
  void on_sample(Duration sample, Duration ack_delay, Time now) {
    sample = std::max(sample, Duration(1us));
    latest_ = sample;
    watch_least(sample, now);
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
  void watch_least(Duration sample, Time now) {
    const Duration age = now - window_start_;
    if (!has_sample_ || age >= kMinRttLifetime / 2) {
      least_before_ = has_sample_ && age < kMinRttLifetime ? least_ : sample;
      least_ = sample;
      window_start_ = now;
    }
    least_ = std::min(least_, sample);
    min_ = std::min(least_before_, least_);
  }

  bool has_sample_ = false;
  Duration latest_ = kInitial;
  Duration smoothed_ = kInitial;
  Duration variation_ = kInitial / 2;
  Duration min_ = kInitial;
  Duration least_{0};         // since window_start_
  Duration least_before_{0};  // in the window before
  Time window_start_{};
};

}  // namespace tictac

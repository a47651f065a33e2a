#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/base/clock.h"
#include "dataplane/base/units.h"

namespace tictac {

// Token bucket in its virtual-scheduling form (GCRA, ITU-T I.371): instead of counting tokens it keeps the
// time at which the link would be free, exact to the remainder, so that no rounding adds up. Counts frame
// bytes without FCS. A frame may leave while the link is busy for less than the depth; so at most depth + one
// frame leave at once.
//
// Default depth: what the link sends in 200 us, at least two frames of 1,514 bytes. That bridges a lcore's
// nap; a deeper bucket only moves the queue, and with it the order, to where nobody sorts any more.
class Shaper {
 public:
  static constexpr Duration kDefaultDepth = 200us;
  static constexpr uint64_t kLeastDepthBytes = 2 * 1514;

  // Rate 0: no shaping. Depth 0: the default.
  void configure(Rate rate, uint64_t depth_bytes) {
    rate_ = rate;
    remainder_ = 0;
    if (rate.value() == 0) return;
    depth_ = depth_bytes ? transfer_time(depth_bytes, rate)
                         : std::max(kDefaultDepth, transfer_time(kLeastDepthBytes, rate));
  }

  // Another rate for the same depth in bytes; what was sent stays counted.
  void set_rate(Rate rate, uint64_t depth_bytes) {
    rate_ = rate;
    remainder_ = 0;
    depth_ = rate.value() ? transfer_time(depth_bytes, rate) : Duration(0);
  }

  bool may_send(Time now) const { return rate_.value() == 0 || free_at_ - now < depth_; }

  // Earliest time at which may_send() is true if nothing is sent.
  Time ready_at() const { return rate_.value() == 0 ? Time::min() : free_at_ - depth_ + 1ns; }

  void on_sent(uint32_t frame_bytes, Time now) {
    if (rate_.value() == 0) return;
    if (free_at_ < now) {
      free_at_ = now;
      remainder_ = 0;
    }
    const uint64_t bit_ns = uint64_t{frame_bytes} * 8 * 1'000'000'000 + remainder_;
    free_at_ += Duration(static_cast<int64_t>(bit_ns / rate_.value()));
    remainder_ = bit_ns % rate_.value();
  }

 private:
  Rate rate_{0};
  Duration depth_{0};
  Time free_at_{};
  uint64_t remainder_ = 0;  // of the last division: nanoseconds / rate
};

}  // namespace tictac

#pragma once

#include <algorithm>

#include "dataplane/base/clock.h"

namespace tictac {

// How long to do nothing. Busy while there is work, then a short spin (another packet of a burst often
// follows), then sleep: until the next deadline, a doorbell or a packet. A device without interrupts is
// looked at in naps that grow while nothing comes. Pure: the caller says what happened and sleeps itself.
class IdlePolicy {
 public:
  struct Config {
    Duration spin = 20us;            // after the last work; two sidecars and applications may share two cores
    Duration shortest_sleep = 25us;  // a deadline nearer than this is spun for: waking takes about as long
    Duration early = 5us;            // wake this much before a deadline
    Duration first_nap = 50us;       // device without interrupts; doubles ...
    Duration longest_nap = 700us;    // ... up to this: bounds the delay of the first packet after idle
    Duration longest_sleep = 10ms;   // with interrupts: counters and link state are looked at this often
  };

  explicit IdlePolicy(const Config& config) : config_(config), nap_(config.first_nap) {}

  // An iteration of the loop at `now` did some work.
  void on_work(Time now) {
    last_work_ = now;
    nap_ = config_.first_nap;
  }

  // Nothing to do at `now` until `deadline`: how long to sleep; zero means poll again at once.
  Duration sleep_for(Time now, Time deadline, bool has_interrupts) {
    if (deadline <= now || now < last_work_ + config_.spin) return Duration{0};
    const Duration longest = has_interrupts ? config_.longest_sleep : nap_;
    if (deadline >= now + longest) return longest;
    const Duration left = deadline - now;
    return left < config_.shortest_sleep ? Duration{0} : left - config_.early;
  }

  // A sleep ended without work.
  void on_idle_sleep() { nap_ = std::min(nap_ * 2, config_.longest_nap); }

 private:
  Config config_;
  Time last_work_{};
  Duration nap_;
};

}  // namespace tictac

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "dataplane/base/clock.h"

namespace tictac::simulator {

// Virtual time: runs actions in the order of their times, and of their scheduling where times are equal.
class Simulation {
 public:
  Time now() const { return now_; }
  void at(Time when, std::function<void()> action) {
    queue_.push({std::max(when, now_), sequence_++, std::move(action)});
  }
  void after(Duration delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }

  // Runs until `done` holds or `limit` is reached; returns whether `done` holds.
  bool run_until(const std::function<bool()>& done, Time limit) {
    while (!done()) {
      if (queue_.empty() || queue_.top().when > limit) {
        now_ = limit;
        return done();
      }
      now_ = queue_.top().when;
      auto action = std::move(const_cast<Event&>(queue_.top()).action);
      queue_.pop();
      action();
    }
    return true;
  }
  void run_for(Duration span) {
    run_until([] { return false; }, now_ + span);
  }

 private:
  struct Event {
    Time when;
    uint64_t sequence;
    std::function<void()> action;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : sequence > other.sequence;
    }
  };
  Time now_{1s};
  uint64_t sequence_ = 0;
  std::priority_queue<Event> queue_;
};

}  // namespace tictac::simulator

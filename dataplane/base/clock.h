#pragma once

#include <chrono>

namespace tictac {

using Duration = std::chrono::nanoseconds;

// The clock of the dataplane. It has no now(): who needs the time gets it as an argument, so that tests and
// the simulator own it. Its epoch is arbitrary and its readings never go back.
struct VirtualClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<VirtualClock>;
  static constexpr bool is_steady = true;
};
using Time = VirtualClock::time_point;

inline constexpr Time kNever = Time::max();

using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

}  // namespace tictac

#pragma once

#include <chrono>

#include "dataplane/base/clock.h"

namespace tictac {

// The real clock as the dataplane's Time: CLOCK_MONOTONIC, so all processes of a host agree. Any thread.
inline Time steady_now() {
  return Time(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

}  // namespace tictac

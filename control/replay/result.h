#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "control/replay/channel.h"
#include "control/replay/options.h"
#include "dataplane/base/clock.h"

namespace tictac::replay {

// What a policy's steps gave.
struct PolicyResult {
  std::string policy;
  std::vector<Duration> steps;
  Duration predicted{0};  // the simulator's makespan at the payload rate
  Counters counters;
  uint64_t distinct_orders = 0;
  uint64_t bytes_verified = 0;
  uint64_t mismatches = 0;
  uint64_t schedule_version = 0;
};

// What pushing the reversed order in the middle of a step did to what was still queued.
struct FlipResult {
  uint64_t completed_before = 0;  // transfers that had completed by the old version
  uint64_t completed_after = 0;   // by the new one
  double reversed_share = 0;      // of the neighbours after it, those that came in reversed order
  std::vector<Completion> completions;
  std::vector<std::string> names;  // of the recvs
};

// What a replay gives.
struct Result {
  std::string model;
  bool train = false;
  Options options;
  size_t transfers = 0;
  uint64_t bytes_per_step = 0;
  Duration upper{0};  // U and L at the payload rate, computation stretched
  Duration lower{0};
  std::vector<PolicyResult> policies;
  std::vector<FlipResult> flip;  // none or one
};

}  // namespace tictac::replay

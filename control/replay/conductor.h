#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "control/order/order.h"
#include "control/replay/channel.h"
#include "control/replay/plan.h"
#include "control/replay/statistics.h"

namespace tictac::replay {

struct Options {
  std::vector<std::string> policies = {"random", "fifo", "tic", "tac", "auto"};
  Order file_order;   // of policy "file"
  Rate link_rate{0};  // in frame bytes
  uint32_t mtu = 9000;
  double time_scale = 1;
  uint64_t steps = 30;
  uint64_t warm_up = 2;  // steps of each policy that do not count
  uint64_t seed = 1;
  bool keep = false;  // at the end leave all running until SIGINT or SIGTERM
  bool flip = false;  // at the end: push the reversed order in the middle of a step
  std::function<void(const std::string&)> progress;  // one line; may be empty
};

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

// The link rate at which communication takes as long as computation.
Rate balanced_rate(const ModelGraph& graph, double time_scale, uint32_t mtu);

// Replays the graph's step under each policy in turn, over real sidecars that it starts and stops. Forks:
// call it before this process has threads.
absl::StatusOr<Result> replay(const ModelGraph& graph, const Options& options);

}  // namespace tictac::replay

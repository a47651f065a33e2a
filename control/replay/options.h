#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "control/order/order.h"
#include "dataplane/base/units.h"

namespace tictac::replay {

// What a replay is asked for.
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

}  // namespace tictac::replay

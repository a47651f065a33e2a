#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "control/order/order.h"
#include "control/replay/plan.h"
#include "control/schedule/client.h"

namespace tictac::replay {

// What each policy pushes through the daemon, and what step time that promises.
//   auto: nothing, the names decide; fifo: no entries and default rank 0; random: another order for every
//   step; tic, tac, reverse, file: their order, once.
class Schedules {
 public:
  // `plan` and `file_order` are borrowed; `payload` is the rate for policy tac.
  Schedules(const std::string& daemon_socket, const Plan& plan, const Order& file_order, Rate payload);

  // Before the first step.
  absl::Status push_first(const std::string& policy, uint64_t* version);
  // Before every step; only random has something to push.
  absl::Status push_for_step(const std::string& policy, uint64_t seed, uint64_t* version);
  // The TIC order, or its reverse, for any job.
  absl::Status push_tic(const std::string& job, bool reversed, uint64_t* version);

  // Ranks by recv index with which the step should arrive; `seed` is the step's.
  std::vector<uint32_t> expected_ranks(const std::string& policy, uint64_t seed) const;

 private:
  absl::Status push(const std::string& job, const std::vector<uint32_t>* ranks, uint64_t* version);
  absl::Status wait_until_in_force(const std::string& job, uint64_t version);

  ScheduleClient client_;
  const Plan& plan_;
  const Order& file_order_;
  Rate payload_;
};

// Of the policies that a replay knows.
bool is_replay_policy(const std::string& name);

}  // namespace tictac::replay

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "control/graph/model_graph.h"
#include "dataplane/base/clock.h"

namespace tictac::replay {

// Runs the recorded operations of one step on one compute unit, as control/order's simulator does: not
// preemptive, of the ready ops the first in the file, an op starts at the later of the unit's freedom and its
// last input. All times are deadlines on one timeline, so an owner that looks late changes nothing as long as
// its inputs had arrived. Pure: time is an argument. Reused for every step.
class Executor {
 public:
  // `graph` is borrowed. Op times are multiplied by `time_scale`.
  Executor(const ModelGraph& graph, double time_scale);

  // Begins a step whose timeline starts at `now`.
  void start(Time now);
  // All bytes of the recv (by index) were there at `when`.
  void on_arrival(uint32_t recv, Time when);
  // Runs everything that ends by `now`, given all arrivals up to it; calls `done(op, end)` for each op in
  // order.
  void advance(Time now, const std::function<void(uint32_t op, Time end)>& done);
  // When advance() has something to do if nothing arrives; kNever when it only waits for arrivals.
  Time next_deadline() const;
  bool finished() const { return left_ == 0; }
  // End of the last op so far.
  Time end() const { return end_; }

 private:
  using ReadyAt = std::pair<Time, uint32_t>;

  void complete(uint32_t op, Time when);
  // Chooses the next op for the free unit; false when none is ready by `now`.
  bool choose(Time now);

  const ModelGraph& graph_;
  std::vector<Duration> times_;
  std::vector<std::vector<uint32_t>> users_;        // by op
  std::vector<std::vector<uint32_t>> ops_of_recv_;  // by recv
  std::vector<uint32_t> missing_;
  std::vector<Time> ready_at_;
  std::priority_queue<ReadyAt, std::vector<ReadyAt>, std::greater<>>
      waiting_;  // by the time they become ready
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready_;
  bool running_ = false;
  uint32_t running_op_ = 0;
  Time unit_free_at_{};  // end of the running op, or of the last one
  Time end_{};
  size_t left_ = 0;
};

}  // namespace tictac::replay

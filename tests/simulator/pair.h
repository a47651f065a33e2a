#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simulator/host.h"

namespace tictac::simulator {

//   worker  --- requests, acks --->  ps
//           <--- answers ----------
//
// Two hosts over a link each way. TICTAC_SEED=N in the environment replays a seed.
class Pair {
 public:
  struct Config {
    LinkConfig to_worker;
    LinkConfig to_ps;
    Rate ps_link_rate{0};
    size_t worker_max_datagram = 1472;
    size_t ps_max_datagram = 1472;
    uint64_t session_window = 64 << 20;
    uint32_t max_streams = 65536;
    uint64_t seed = 1;
  };

  explicit Pair(const Config& config);

  // Both ends know each other; fails the test when not within a second.
  void connect();
  void start_worker() { worker->connect(*ps, to_ps.get()); }
  void start_ps() { ps->connect(*worker, to_worker.get()); }
  // The process dies without a word and is back at once with another incarnation.
  void restart_ps();

  // Fetches `count` transfers of `size` bytes with ranks from 0; all are answered when their requests arrive.
  void fetch_all(size_t count, uint64_t size);
  bool all_complete() const;
  // Runs until all fetched are complete; returns how long it took, or fails the test at `limit`.
  Duration run_to_completion(Duration limit);

  Simulation simulation;
  Config config;
  std::unique_ptr<Link> to_worker;
  std::unique_ptr<Link> to_ps;
  std::unique_ptr<Host> worker;
  std::unique_ptr<Host> ps;
  std::vector<std::unique_ptr<Host>> dead;
  std::vector<std::unique_ptr<CheckingSink>> sinks;
  std::vector<StreamRef> streams;
  std::vector<uint64_t> completion_order;  // seeds of the sinks

  // Longest time between two bits of progress of run_to_completion.
  Duration longest_stall{0};

 private:
  ::testing::ScopedTrace trace_;
};

}  // namespace tictac::simulator

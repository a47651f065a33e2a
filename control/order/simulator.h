#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/graph/model_graph.h"

namespace tictac {

// What a step takes when the recvs are sent in an order.
struct Simulation {
  Duration makespan{0};           // end of the last op or recv
  Duration upper{0};              // U: all communication + all computation
  Duration lower{0};              // L: the larger of the two
  double efficiency = 1;          // E = (U - makespan) / (U - L)
  double speedup = 0;             // S = (U - L) / L
  std::vector<uint32_t> order;    // recvs as they were sent
  std::vector<Duration> op_ends;  // by op; of a recv op its arrival
};

// One channel sends whole tensors one after the other by rank, equal ranks in file order; one compute unit,
// not preemptive, runs of the ready ops the first in the file, and sees what arrives at T before it chooses
// at T. `ranks` by recv index.
Simulation simulate(const ModelGraph& graph, const std::vector<uint32_t>& ranks, Rate bandwidth);

// E of a step of `measured` between U and L; 1 when they are equal.
double efficiency_of(Duration measured, Duration upper, Duration lower);

// Largest number of ops for which lower_bound() looks at every op's followers.
inline constexpr size_t kMostOpsForFollowers = 20'000;

// A makespan that no order can beat: the largest of all transfers; all computation; all transfers + the least
// computation that can follow a last one; the least sum of transfers that any op with recvs needs + the
// computation of all ops that need a recv; and for every op the transfers it needs + the computation of it
// and of all that follow it (left out above kMostOpsForFollowers).
Duration lower_bound(const ModelGraph& graph, Rate bandwidth);

}  // namespace tictac

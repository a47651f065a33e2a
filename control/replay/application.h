#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "control/replay/channel.h"
#include "control/replay/plan.h"
#include "dataplane/base/clock.h"
#include "ps_proxy/client/tictac.hpp"

namespace tictac::replay {

// CLOCK_MONOTONIC, the clock of the events' times.
Time monotonic_now();

// One tensor of one job in an application's arena.
struct Tensor {
  std::string wire_name;
  uint64_t size = 0;
  tictac_name_id name = 0;
  native::Buffer buffer;
};

// An application's side of one job: its client, its tensors. `incoming` ones are fetched, `outgoing` ones
// served.
struct JobClient {
  // Who connects, to whom, and what is exchanged: lists of (wire name, bytes).
  struct Role {
    std::string socket;  // of its sidecar
    std::string application;
    std::string peer;  // name of the other sidecar
    std::vector<std::pair<std::string, uint64_t>> incoming;
    std::vector<std::pair<std::string, uint64_t>> outgoing;
  };

  native::Client client;
  tictac_peer_id peer = 0;
  std::vector<Tensor> incoming;
  std::vector<Tensor> outgoing;
  std::vector<uint32_t> outgoing_of_name;  // by name id; UINT32_MAX when none

  // Connects, waits for the peer, registers and serves the names, takes the memory. Errors say what to do.
  static absl::StatusOr<JobClient> connect(const Role& role, const std::string& job);
};

// One client for each of the jobs, in their order; `counters` gets the sidecar's.
absl::StatusOr<std::vector<JobClient>> connect_all(const JobClient::Role& role,
                                                   const std::vector<std::string>& jobs, Counters* counters);

// The parameters (name, bytes) and the gradients of a graph.
std::vector<std::pair<std::string, uint64_t>> parameters_of(const ModelGraph& graph);
std::vector<std::pair<std::string, uint64_t>> gradients_of(const ModelGraph& graph);

// Asks its sidecar for the counters.
absl::Status read_counters(native::Client& client, Counters* counters);

// Answers commands until the channel ends. `handle` fills the reply; its error becomes the reply's.
void serve_commands(
    Channel& channel,
    const std::function<absl::Status(const Command&, Reply*, std::vector<Completion>*)>& handle);

// One line for a failed call of the client library.
absl::Status client_error(const std::string& doing);

}  // namespace tictac::replay
